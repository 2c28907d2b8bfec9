//! One thread's tasks.

use crate::busy_poll::BusyPoll;
use crate::reactor::{Reactor, TaskId};
use slab::Slab;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    /// Tasks spawned from within a task, taken over by the executor before its next turn.
    static SPAWNED: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
}

/// Runs tasks on the calling thread until all have ended.
///
/// Futures that run here wait only for what this crate offers: [`crate::Stream`], timers and
/// [`crate::remote_signal`]. Their waker does nothing, because a task is found by its socket or
/// timer; combinators that keep wakers of their own (`FuturesUnordered`) would wait for ever.
pub struct Executor {
    reactor: Rc<Reactor>,
    tasks: Slab<Option<Task>>,
    abort: Arc<AtomicBool>,
}

/// Reaches an executor from other threads.
#[derive(Debug, Clone)]
pub struct Remote {
    waker: Arc<mio::Waker>,
    abort: Arc<AtomicBool>,
}

impl Remote {
    /// Polls every task: those that wait in [`crate::remote_signal`] go on, the others look whether
    /// what they wait for has come.
    ///
    /// # Errors
    /// When the operating system refuses the wake-up.
    pub fn signal(&self) -> io::Result<()> {
        self.waker.wake()
    }

    /// Ends [`Executor::run`] soon, dropping the tasks that have not ended.
    ///
    /// # Errors
    /// When the operating system refuses the wake-up.
    pub fn abort(&self) -> io::Result<()> {
        self.abort.store(true, Ordering::Release);
        self.waker.wake()
    }
}

impl Executor {
    /// An executor without tasks.
    ///
    /// # Errors
    /// When no poller can be had (open files used up).
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            reactor: Reactor::new()?,
            tasks: Slab::new(),
            abort: Arc::default(),
        })
    }

    /// A handle to wake this executor from other threads.
    pub fn remote(&self) -> Remote {
        Remote {
            waker: Arc::clone(&self.reactor.remote),
            abort: Arc::clone(&self.abort),
        }
    }

    /// Stays awake for moments that are near from now on.
    pub fn busy_poll(&mut self, how: BusyPoll) {
        *self.reactor.busy_poll.borrow_mut() = Some(how);
    }

    /// Adds a task; it is first polled in [`Executor::run`].
    pub fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.add(Box::pin(task));
    }

    fn add(&mut self, task: Task) {
        let id = self.tasks.insert(Some(task));
        self.reactor.wake(id);
    }

    /// Polls tasks until all have ended, or until [`Remote::abort`].
    ///
    /// # Errors
    /// When the poller fails.
    pub fn run(&mut self) -> io::Result<()> {
        let _entered = self.reactor.enter();
        loop {
            let spawned = SPAWNED.with(|s| std::mem::take(&mut *s.borrow_mut()));
            spawned.into_iter().for_each(|task| self.add(task));
            let due = self.reactor.ready.borrow().len();
            for _ in 0..due {
                let next = self.reactor.ready.borrow_mut().pop_front();
                if let Some(id) = next {
                    self.poll(id);
                }
            }
            let more = SPAWNED.with(|s| !s.borrow().is_empty());
            if self.tasks.is_empty() && !more {
                return Ok(());
            }
            let idle = self.reactor.ready.borrow().is_empty() && !more;
            self.reactor.turn(idle)?;
            if self.reactor.take_signal() {
                self.tasks.iter().for_each(|(id, _)| self.reactor.wake(id));
            }
            if self.abort.load(Ordering::Acquire) {
                self.tasks.clear();
                return Ok(());
            }
        }
    }

    fn poll(&mut self, id: TaskId) {
        // A task may be queued twice (socket and timer), or end before its second turn.
        let Some(task) = self.tasks.get_mut(id).and_then(Option::as_mut) else {
            return;
        };
        self.reactor.current.set(id);
        let mut context = Context::from_waker(Waker::noop());
        if task.as_mut().poll(&mut context).is_ready() {
            self.tasks.remove(id);
        }
    }
}

/// Adds a task to the executor that runs on this thread.
pub fn spawn(task: impl Future<Output = ()> + 'static) {
    SPAWNED.with(|s| s.borrow_mut().push(Box::pin(task)));
}

/// Lets the other ready tasks run first.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|_| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        if let Ok(reactor) = Reactor::current() {
            reactor.wake(reactor.current.get());
        }
        Poll::Pending
    })
    .await;
}

/// Runs one future on an executor of its own, on the calling thread.
///
/// # Errors
/// When the executor can't be made or its poller fails.
pub fn block_on<T: 'static>(future: impl Future<Output = T> + 'static) -> io::Result<T> {
    let mut executor = Executor::new()?;
    let result = Rc::new(RefCell::new(None));
    let slot = Rc::clone(&result);
    executor.spawn(async move {
        let value = future.await;
        *slot.borrow_mut() = Some(value);
    });
    executor.run()?;
    result
        .borrow_mut()
        .take()
        .ok_or_else(|| io::Error::other("the task ended without a result"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{remote_signal, sleep, timeout};
    use std::cell::Cell;
    use std::time::{Duration, Instant};

    #[test]
    fn tasks_and_spawned_tasks_all_run_to_their_end() {
        let ended = Rc::new(Cell::new(0));
        let mut executor = Executor::new().unwrap();
        for _ in 0..100 {
            let ended = Rc::clone(&ended);
            executor.spawn(async move {
                yield_now().await;
                let inner = Rc::clone(&ended);
                spawn(async move {
                    sleep(Duration::from_millis(1)).await;
                    inner.set(inner.get() + 1);
                });
                ended.set(ended.get() + 1);
            });
        }
        executor.run().unwrap();
        assert_eq!(ended.get(), 200);
    }

    #[test]
    fn timers_fire_in_order_and_not_early() {
        let order = Rc::new(RefCell::new(Vec::new()));
        let mut executor = Executor::new().unwrap();
        for ms in [30u64, 10, 20] {
            let order = Rc::clone(&order);
            executor.spawn(async move {
                let start = Instant::now();
                sleep(Duration::from_millis(ms)).await;
                assert!(start.elapsed() >= Duration::from_millis(ms));
                order.borrow_mut().push(ms);
            });
        }
        executor.run().unwrap();
        assert_eq!(*order.borrow(), [10, 20, 30]);
    }

    #[test]
    fn a_signal_from_another_thread_is_seen() {
        let mut executor = Executor::new().unwrap();
        let remote = executor.remote();
        let told = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = Arc::clone(&told);
        executor.spawn(async move {
            while !seen.load(std::sync::atomic::Ordering::Acquire) {
                remote_signal().await;
            }
        });
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            told.store(true, std::sync::atomic::Ordering::Release);
            remote.signal().unwrap();
        });
        executor.run().unwrap();
        other.join().unwrap();
    }

    #[test]
    fn an_abort_drops_tasks_that_would_never_end() {
        let mut executor = Executor::new().unwrap();
        let remote = executor.remote();
        let dropped = Rc::new(());
        let held = Rc::clone(&dropped);
        executor.spawn(async move {
            sleep(Duration::from_secs(3600)).await;
            drop(held);
        });
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            remote.abort().unwrap();
        });
        executor.run().unwrap();
        other.join().unwrap();
        assert_eq!(Rc::strong_count(&dropped), 1);
    }

    #[test]
    fn a_timeout_ends_what_takes_too_long() {
        let slow = block_on(timeout(
            Duration::from_millis(5),
            sleep(Duration::from_secs(60)),
        ));
        assert!(slow.unwrap().is_err());
        let quick = block_on(timeout(
            Duration::from_secs(60),
            sleep(Duration::from_millis(5)),
        ));
        assert!(quick.unwrap().is_ok());
    }
}
