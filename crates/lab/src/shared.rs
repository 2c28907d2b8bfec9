//! What the threads of a laboratory share.

use crate::{LabConfig, Truth};
use mio::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The protocol of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Mysql,
    Postgres,
}

/// A connection on its way to its thread.
#[derive(Debug)]
pub(crate) struct Newcomer {
    pub stream: TcpStream,
    pub protocol: Protocol,
    /// It is one too many.
    pub refused: bool,
}

/// One thread's part.
#[derive(Debug)]
pub(crate) struct Desk {
    pub waker: mio::Waker,
    pub newcomers: Mutex<Vec<Newcomer>>,
    /// Held while the thread works, free while it waits.
    pub truth: Mutex<Truth>,
}

#[derive(Debug)]
pub(crate) struct SharedLab {
    pub config: LabConfig,
    pub started: Instant,
    pub desks: Vec<Desk>,
    pub stop: AtomicBool,
    /// Sessions let in, of both protocols.
    pub open: AtomicUsize,
    /// A stall that was asked for lasts until then, in nanoseconds since the start.
    pub stalled_until: AtomicU64,
    /// How often all sessions were ended.
    pub outages: AtomicU64,
    /// The door stays closed until then, in nanoseconds since the start.
    pub down_until: AtomicU64,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a thread that panicked counted is still true.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedLab {
    pub fn new(config: LabConfig, desks: Vec<Desk>) -> Self {
        Self {
            config,
            started: Instant::now(),
            desks,
            stop: AtomicBool::new(false),
            open: AtomicUsize::new(0),
            stalled_until: AtomicU64::new(0),
            outages: AtomicU64::new(0),
            down_until: AtomicU64::new(0),
        }
    }

    fn nanos_from_now(&self, length: Duration) -> u64 {
        let end = self.started.elapsed().saturating_add(length);
        u64::try_from(end.as_nanos()).unwrap_or(u64::MAX)
    }

    /// When what would be answered at `moment` may be.
    pub fn after_stall(&self, moment: Instant) -> Instant {
        let since = moment.saturating_duration_since(self.started);
        let asked = Duration::from_nanos(self.stalled_until.load(Ordering::Relaxed));
        let until = self.config.stalled_until(since).unwrap_or_default();
        match until.max(asked) {
            end if end > since => self.started + end,
            _ => moment,
        }
    }

    pub fn stall(&self, length: Duration) {
        let end = self.nanos_from_now(length);
        self.stalled_until.fetch_max(end, Ordering::Relaxed);
    }

    /// Ends all sessions and lets nobody in for a time.
    pub fn outage(&self, length: Duration) {
        let end = self.nanos_from_now(length);
        self.down_until.fetch_max(end, Ordering::Relaxed);
        self.outages.fetch_add(1, Ordering::Release);
        self.wake();
    }

    pub fn back_at(&self) -> Instant {
        self.started + Duration::from_nanos(self.down_until.load(Ordering::Relaxed))
    }

    pub fn wake(&self) {
        for desk in &self.desks {
            // A thread that can't be woken has ended.
            let _ = desk.waker.wake();
        }
    }

    pub fn truth(&self) -> Truth {
        let mut all = Truth::default();
        for desk in &self.desks {
            all.merge(&lock(&desk.truth));
        }
        all
    }
}
