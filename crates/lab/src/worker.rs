//! One thread's event loop.

use crate::alarm::Alarm;
use crate::arrivals::ArrivalClock;
use crate::listener::Door;
use crate::session::{NextAction, Sent, Session, SessionPhase};
use crate::shared::{Newcomer, Protocol, SharedLab, lock};
use crate::truth::{ProtocolTruth, Truth};
use mio::{Events, Interest, Poll, Token};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Token of [`crate::shared::Desk::waker`].
pub(crate) const WAKER: Token = Token(usize::MAX);
/// Token of [`Alarm`].
pub(crate) const ALARM: Token = Token(usize::MAX - 1);
/// Tokens of the doors, going down from here.
pub(crate) const FIRST_DOOR: usize = usize::MAX - 2;

/// Buffer that all sessions of a thread receive into.
const SCRATCH_BYTES: usize = 64 * 1024;
/// Readiness events taken at once.
const EVENTS: usize = 256;
/// Answers sent between two looks at what came: a request that waits unread while many answers go
/// out would wait for longer than the truth says.
const ANSWERS_AT_ONCE: usize = 4;
/// When the system has no file left for a connection, it is tried again after this.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

/// What is due at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DueAction {
    Answer { key: usize, serial: u32 },
    Accept,
    Outage(Duration),
    OpenDoors,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DueEvent {
    at: Instant,
    /// What was planned first goes first.
    order: u64,
    what: DueAction,
}

/// One thread's event loop with its sessions.
pub(crate) struct LabWorker {
    index: usize,
    shared: Arc<SharedLab>,
    poll: Poll,
    alarm: Alarm,
    /// Only the first thread has doors; it deals connections to all in turn.
    doors: Vec<Door>,
    next_desk: usize,
    sessions: Slab<Session>,
    serial: u32,
    plan: BinaryHeap<Reverse<DueEvent>>,
    order: u64,
    scratch: Box<[u8]>,
    arrivals: ArrivalClock,
    random: Xoshiro256PlusPlus,
    outages_seen: u64,
}

impl LabWorker {
    pub fn new(
        index: usize,
        shared: Arc<SharedLab>,
        poll: Poll,
        mut doors: Vec<Door>,
    ) -> io::Result<Self> {
        for door in &mut doors {
            door.open(poll.registry())?;
        }
        let seed = shared.config.seed.wrapping_add(index as u64);
        let mut worker = Self {
            index,
            alarm: Alarm::new(poll.registry(), ALARM)?,
            poll,
            next_desk: 0,
            sessions: Slab::new(),
            serial: 0,
            plan: BinaryHeap::new(),
            order: 0,
            scratch: vec![0; SCRATCH_BYTES].into_boxed_slice(),
            arrivals: ArrivalClock::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            outages_seen: 0,
            doors,
            shared,
        };
        if !worker.doors.is_empty() {
            for outage in worker.shared.config.outages.clone() {
                let at = worker.shared.started + outage.at;
                worker.plan(at, DueAction::Outage(outage.length));
            }
        }
        Ok(worker)
    }

    /// Serves until the laboratory stops.
    pub fn run(mut self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let desk = shared
            .desks
            .get(self.index)
            .ok_or_else(|| io::Error::other("a thread without a desk"))?;
        let mut events = Events::with_capacity(EVENTS);
        while !shared.stop.load(Ordering::Acquire) {
            let first = self.plan.peek().map(|Reverse(due)| due.at);
            let timeout = self.alarm.wake_at(first, Instant::now())?;
            match self.poll.poll(&mut events, timeout) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(e),
                _ => {}
            }
            let mut truth = lock(&desk.truth);
            self.see_outages(&mut truth)?;
            for event in &events {
                match event.token() {
                    ALARM => {}
                    WAKER => {
                        let newcomers = std::mem::take(&mut *lock(&desk.newcomers));
                        for newcomer in newcomers {
                            self.welcome(newcomer, &mut truth);
                        }
                    }
                    Token(door) if door > FIRST_DOOR - 2 => self.accept(&mut truth),
                    Token(key) => {
                        if let Some(session) = self.sessions.get_mut(key) {
                            session.readable |= event.is_readable() || event.is_error();
                            session.ended |= event.is_read_closed();
                            if session.waits == SessionPhase::ToSend {
                                self.send(key, &mut truth);
                            }
                            self.pump(key, false, &mut truth);
                        }
                    }
                }
                self.do_what_is_due(&mut truth)?;
            }
            self.do_what_is_due(&mut truth)?;
        }
        Ok(())
    }

    fn plan(&mut self, at: Instant, what: DueAction) {
        self.order += 1;
        let order = self.order;
        self.plan.push(Reverse(DueEvent { at, order, what }));
    }

    fn do_what_is_due(&mut self, truth: &mut Truth) -> io::Result<()> {
        for _ in 0..ANSWERS_AT_ONCE {
            let Some(Reverse(first)) = self.plan.peek() else {
                return Ok(());
            };
            let now = Instant::now();
            if first.at > now {
                return Ok(());
            }
            let Some(Reverse(due)) = self.plan.pop() else {
                return Ok(());
            };
            match due.what {
                DueAction::Answer { key, serial } => self.answer_due(key, serial, now, truth),
                DueAction::Accept => self.accept(truth),
                DueAction::Outage(length) => self.shared.outage(length),
                DueAction::OpenDoors => {
                    let back_at = self.shared.back_at();
                    if back_at > now {
                        self.plan(back_at, DueAction::OpenDoors);
                    } else {
                        for door in &mut self.doors {
                            door.open(self.poll.registry())?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn answer_due(&mut self, key: usize, serial: u32, now: Instant, truth: &mut Truth) {
        let Some(session) = self.sessions.get_mut(key) else {
            return;
        };
        if session.serial != serial || session.waits != SessionPhase::ToAnswer {
            return;
        }
        let after_stall = self.shared.after_stall(now);
        if after_stall > now {
            session.due = Some(after_stall);
            self.plan(after_stall, DueAction::Answer { key, serial });
        } else if self.send(key, truth) {
            self.pump(key, true, truth);
        }
    }

    /// Ends all sessions and closes the doors when an outage began.
    fn see_outages(&mut self, truth: &mut Truth) -> io::Result<()> {
        let outages = self.shared.outages.load(Ordering::Acquire);
        if outages == self.outages_seen {
            return Ok(());
        }
        self.outages_seen = outages;
        let keys: Vec<_> = self.sessions.iter().map(|(key, _)| key).collect();
        for key in keys {
            self.end(key, truth);
        }
        if !self.doors.is_empty() {
            self.doors.iter_mut().for_each(Door::close);
            self.plan(self.shared.back_at(), DueAction::OpenDoors);
        }
        Ok(())
    }

    /// Takes all connections that wait and deals them to the threads.
    fn accept(&mut self, truth: &mut Truth) {
        for number in 0..self.doors.len() {
            while let Some(door) = self.doors.get(number) {
                let stream = match door.accept() {
                    Ok(Some(stream)) => stream,
                    Ok(None) => break,
                    Err(_) => {
                        self.plan(Instant::now() + ACCEPT_AGAIN, DueAction::Accept);
                        break;
                    }
                };
                let protocol = door.protocol;
                // It matters only for answers in pieces.
                let _ = stream.set_nodelay(true);
                let open = self.shared.open.load(Ordering::Relaxed);
                let refused = self.shared.config.refuse_after.is_some_and(|n| open >= n);
                if !refused {
                    self.shared.open.fetch_add(1, Ordering::Relaxed);
                }
                let newcomer = Newcomer {
                    stream,
                    protocol,
                    refused,
                };
                let desk = self.next_desk;
                self.next_desk = (desk + 1) % self.shared.desks.len();
                match self.shared.desks.get(desk) {
                    Some(other) if desk != self.index => {
                        lock(&other.newcomers).push(newcomer);
                        // A thread that can't be woken has ended, and the laboratory with it.
                        let _ = other.waker.wake();
                    }
                    _ => self.welcome(newcomer, truth),
                }
            }
        }
    }

    fn welcome(&mut self, newcomer: Newcomer, truth: &mut Truth) {
        self.serial = self.serial.wrapping_add(1);
        let mut session = Session::new(newcomer, self.serial, Instant::now());
        let counts = counts(truth, session.protocol());
        if session.counted {
            counts.opened += 1;
            counts.open += 1;
        } else {
            counts.refused += 1;
        }
        let entry = self.sessions.vacant_entry();
        let key = entry.key();
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        let registered = registry.register(&mut session.stream, Token(key), interest);
        let greets = session.has_answer();
        entry.insert(session);
        if registered.is_err() {
            self.end(key, truth);
        } else if greets && self.answer(key, Instant::now(), truth) {
            self.pump(key, true, truth);
        }
    }

    fn end(&mut self, key: usize, truth: &mut Truth) {
        let Some(session) = self.sessions.try_remove(key) else {
            return;
        };
        if session.counted {
            counts(truth, session.protocol()).open -= 1;
            self.shared.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Takes a session's requests until it waits for something; `look` when there may be one
    /// among what was received before.
    fn pump(&mut self, key: usize, mut look: bool, truth: &mut Truth) {
        while let Some(session) = self.sessions.get_mut(key) {
            if session.waits != SessionPhase::ForRequest {
                return;
            }
            let (next, now) = if std::mem::take(&mut look) && session.has_input() {
                (session.take(&[], &self.shared), Instant::now())
            } else if session.readable || session.ended {
                let received = match session.receive(&mut self.scratch, &self.arrivals) {
                    Ok(Some(n)) if n > 0 => n,
                    Ok(None) if !session.ended => {
                        session.readable = false;
                        return;
                    }
                    _ => return self.end(key, truth),
                };
                // Less than there was room for is all there was (epoll(7), questions 9).
                session.readable = received == self.scratch.len();
                let received = self.scratch.get(..received).unwrap_or_default();
                (session.take(received, &self.shared), session.came_at)
            } else {
                return;
            };
            match next {
                NextAction::More => continue,
                NextAction::Answer => {}
                NextAction::Close => session.closing = true,
                NextAction::Broken => {
                    counts(truth, session.protocol()).broken += 1;
                    return self.end(key, truth);
                }
            }
            if !self.answer(key, now, truth) {
                return;
            }
            look = true;
        }
    }

    /// Sends a session's answer, now or when it is due; whether it was sent and the session goes
    /// on.
    fn answer(&mut self, key: usize, now: Instant, truth: &mut Truth) -> bool {
        let Some(session) = self.sessions.get_mut(key) else {
            return false;
        };
        let config = &self.shared.config;
        let mut due = now;
        for _ in 0..session.delayed(config.delay_queries) {
            due += config.delay.draw(&mut self.random);
        }
        due = self.shared.after_stall(due);
        if due <= now {
            return self.send(key, truth);
        }
        session.waits = SessionPhase::ToAnswer;
        session.due = Some(due);
        let serial = session.serial;
        self.plan(due, DueAction::Answer { key, serial });
        false
    }

    /// Sends a session's answer or the rest of it; whether all was sent and the session goes on.
    fn send(&mut self, key: usize, truth: &mut Truth) -> bool {
        let Some(session) = self.sessions.get_mut(key) else {
            return false;
        };
        // Before it is sent: who gets it may have the processor before this thread has it again.
        let now = Instant::now();
        match session.send() {
            Sent::All => {}
            Sent::Part => {
                session.waits = SessionPhase::ToSend;
                return false;
            }
            Sent::Lost => {
                self.end(key, truth);
                return false;
            }
        }
        session.waits = SessionPhase::ForRequest;
        let delayed = session.delayed(self.shared.config.delay_queries);
        if delayed > 0 {
            truth.delays.record(session.took(now));
            if let Some(due) = session.due {
                truth.lateness.record(now.saturating_duration_since(due));
            }
        }
        session.due = None;
        let done = std::mem::take(&mut session.done);
        let counts = counts(truth, session.protocol());
        counts.prepared += u64::from(done.prepared);
        counts.executed += u64::from(done.executed);
        counts.queries += u64::from(done.queries);
        if session.closing {
            self.end(key, truth);
            return false;
        }
        true
    }
}

fn counts(truth: &mut Truth, protocol: Protocol) -> &mut ProtocolTruth {
    match protocol {
        Protocol::Mysql => &mut truth.mysql,
        Protocol::Postgres => &mut truth.postgres,
    }
}
