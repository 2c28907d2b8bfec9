//! What tasks wait for: socket readiness, timers, and signals from other threads.

use crate::alarm::Alarm;
use crate::busy_poll::BusyPoll;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Number of a task on its executor.
pub(crate) type TaskId = usize;

/// The poller's token of [`Reactor::remote`].
const REMOTE: mio::Token = mio::Token(usize::MAX);
/// The poller's token of [`Reactor::alarm`].
const ALARM: mio::Token = mio::Token(usize::MAX - 1);
/// Size of the buffer that all sessions of an executor receive into, at first and at most. Where a
/// session has an executor of its own and short replies, the first is what it costs.
const SCRATCH_BYTES: [usize; 2] = [4 * 1024, 64 * 1024];
/// Readiness events taken at once.
const EVENTS: usize = 1024;

/// One registered socket.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Who is polled when it is ready.
    pub task: TaskId,
    /// Bytes may be waiting.
    pub readable: bool,
    /// Bytes may be sent.
    pub writable: bool,
    /// The peer sends no more, and no other edge will tell.
    pub ended: bool,
}

pub(crate) struct Reactor {
    poll: RefCell<mio::Poll>,
    events: RefCell<mio::Events>,
    pub slots: RefCell<Slab<Slot>>,
    pub ready: RefCell<VecDeque<TaskId>>,
    timers: RefCell<BinaryHeap<Reverse<(Instant, TaskId)>>>,
    alarm: Alarm,
    /// Which moments are awaited awake; `None` sleeps until the alarm.
    pub busy_poll: RefCell<Option<BusyPoll>>,
    pub scratch: RefCell<Box<[u8]>>,
    pub current: Cell<TaskId>,
    /// The time since which nothing was waited for, once somebody has asked.
    now: Cell<Option<Instant>>,
    /// Waits so far, modulo their number: tells one turn from the next.
    pub turns: Cell<u32>,
    pub remote: Arc<mio::Waker>,
    /// A signal has come that the tasks have not been polled for.
    signalled: Cell<bool>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Reactor>>> = const { RefCell::new(None) };
}

impl Reactor {
    pub fn new() -> io::Result<Rc<Self>> {
        let poll = mio::Poll::new()?;
        let remote = Arc::new(mio::Waker::new(poll.registry(), REMOTE)?);
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        Ok(Rc::new(Self {
            poll: RefCell::new(poll),
            events: RefCell::new(mio::Events::with_capacity(EVENTS)),
            slots: RefCell::default(),
            ready: RefCell::default(),
            timers: RefCell::default(),
            alarm,
            busy_poll: RefCell::default(),
            scratch: RefCell::new(vec![0; SCRATCH_BYTES[0]].into_boxed_slice()),
            current: Cell::new(0),
            now: Cell::new(None),
            turns: Cell::new(0),
            remote,
            signalled: Cell::new(false),
        }))
    }

    /// The reactor of the executor that runs on this thread.
    ///
    /// # Errors
    /// When no executor runs here.
    pub fn current() -> io::Result<Rc<Self>> {
        CURRENT
            .with(|c| c.borrow().clone())
            .ok_or_else(|| io::Error::other("no executor runs on this thread"))
    }

    /// Makes this the thread's reactor until the guard is dropped.
    pub fn enter(self: &Rc<Self>) -> Entered {
        Entered(CURRENT.with(|c| c.borrow_mut().replace(Rc::clone(self))))
    }

    pub fn register(&self, io: &mut impl mio::event::Source) -> io::Result<usize> {
        let slot = self.slots.borrow_mut().insert(Slot::default());
        let interest = mio::Interest::READABLE | mio::Interest::WRITABLE;
        let registered = self
            .poll
            .borrow()
            .registry()
            .register(io, mio::Token(slot), interest);
        if let Err(error) = registered {
            self.slots.borrow_mut().remove(slot);
            return Err(error);
        }
        Ok(slot)
    }

    /// More room for the next receive, after one that took all there was.
    pub fn widen(scratch: &mut Box<[u8]>) {
        let [_, most] = SCRATCH_BYTES;
        if scratch.len() < most {
            *scratch = vec![0; (scratch.len() * 2).min(most)].into_boxed_slice();
        }
    }

    /// Forgets a slot; the socket leaves the poller when it is closed.
    pub fn forget(&self, slot: usize) {
        self.slots.borrow_mut().try_remove(slot);
    }

    pub fn wake(&self, task: TaskId) {
        self.ready.borrow_mut().push_back(task);
    }

    /// Polls the running task again at `deadline`.
    pub fn wake_at(&self, deadline: Instant) {
        self.timers
            .borrow_mut()
            .push(Reverse((deadline, self.current.get())));
    }

    /// Whether a signal has come since the last call.
    pub fn take_signal(&self) -> bool {
        self.signalled.take()
    }

    /// The time of the last wait's end, or later: the clock is read at most once a turn.
    pub fn now(&self) -> Instant {
        self.now.get().unwrap_or_else(|| {
            let now = Instant::now();
            self.now.set(Some(now));
            now
        })
    }

    /// Waits until something is ready (not at all when `idle` is false) and queues its tasks.
    pub fn turn(&self, idle: bool) -> io::Result<()> {
        let mut events = self.events.borrow_mut();
        self.now.set(None);
        self.turns.set(self.turns.get().wrapping_add(1));
        if !(idle && self.wait_awake(&mut events)?) {
            let timeout = match idle {
                true => self.longest_wait()?,
                false => Some(Duration::ZERO),
            };
            self.poll(&mut events, timeout)?;
        }
        let mut ready = self.ready.borrow_mut();
        let mut slots = self.slots.borrow_mut();
        for event in events.iter() {
            if event.token() == REMOTE {
                self.signalled.set(true);
            } else if let Some(slot) = slots.get_mut(event.token().0) {
                slot.readable |= event.is_readable() || event.is_error() || event.is_read_closed();
                slot.writable |= event.is_writable() || event.is_error();
                slot.ended |= event.is_read_closed();
                ready.push_back(slot.task);
            }
        }
        let mut timers = self.timers.borrow_mut();
        if !timers.is_empty() {
            let now = self.now();
            while let Some(&Reverse((deadline, task))) = timers.peek() {
                if deadline > now {
                    break;
                }
                timers.pop();
                ready.push_back(task);
            }
        }
        Ok(())
    }

    /// Takes what is ready; nothing when a signal of the operating system came between.
    fn poll(&self, events: &mut mio::Events, timeout: Option<Duration>) -> io::Result<()> {
        match self.poll.borrow_mut().poll(events, timeout) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            done => done,
        }
    }

    /// Waits for a moment that is near, or for what comes before it; false when none is near.
    fn wait_awake(&self, events: &mut mio::Events) -> io::Result<bool> {
        let busy_poll = self.busy_poll.borrow();
        let Some(busy_poll) = busy_poll.as_ref() else {
            return Ok(false);
        };
        events.clear();
        busy_poll.wait(self.next_timer(), || {
            self.poll(events, Some(Duration::ZERO))?;
            Ok(!events.is_empty())
        })
    }

    fn next_timer(&self) -> Option<Instant> {
        let timers = self.timers.borrow();
        timers.peek().map(|Reverse((deadline, _))| *deadline)
    }

    /// How long the poller may wait; what is due earlier rings the alarm.
    fn longest_wait(&self) -> io::Result<Option<Duration>> {
        let busy_poll = self.busy_poll.borrow();
        let awake_at = busy_poll.as_ref().and_then(BusyPoll::awake_at);
        match self.next_timer().into_iter().chain(awake_at).min() {
            Some(moment) => self.alarm.set(moment),
            None => Ok(None),
        }
    }
}

/// Restores the thread's former reactor.
pub(crate) struct Entered(Option<Rc<Reactor>>);

impl Drop for Entered {
    fn drop(&mut self) {
        let former = self.0.take();
        CURRENT.with(|c| *c.borrow_mut() = former);
    }
}

/// Waits for the next [`crate::Remote::signal`] to this executor, or for anything else that polls
/// the task: check your condition again afterwards.
pub async fn remote_signal() {
    let mut waited = false;
    poll_fn(|_| match std::mem::replace(&mut waited, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}
