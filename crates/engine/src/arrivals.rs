//! A schedule of arrivals that all sessions share.

mod cursor;
#[cfg(test)]
mod tests;
mod upcoming;

use self::cursor::{Cursor, RatePhase, Whose};
pub(crate) use self::upcoming::Arrival;
use self::upcoming::Awaited;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tidemark_core::{Arrivals as Process, Shard};

/// What a free session is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Turn {
    /// There is no schedule: start at once.
    Now,
    /// Start this one, which is due.
    Begin(BegunArrival),
    /// Await this one, and ask to [`Arrivals::begin`] it then.
    Await(Arrival),
    /// Start nothing until the schedule changes.
    Hold,
}

/// An arrival that begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BegunArrival {
    pub due: Instant,
    /// Whether a free session awaited it, though maybe another than begins it.
    pub awaited: bool,
    /// Whether there are others that are late and wait for whoever is awake.
    pub more: bool,
}

/// Arrivals at a rate that may change.
///
/// A free session takes the next arrival and waits for its time; when all are busy, arrivals queue
/// up in order. So latency counts from the scheduled time, whatever the database does. Where the
/// thread of a session that waits is late, sessions of other threads take the arrival over.
pub(crate) struct Arrivals {
    epoch: AtomicU64,
    /// Since when the first arrival that is awaited is late, in nanoseconds after `made`; found here
    /// without the lock by executors that look all the time.
    late_ns: OwnLine<AtomicU64>,
    made: Instant,
    schedule: Mutex<Schedule>,
}

/// What many read is not beside what others write.
#[repr(align(128))]
struct OwnLine<T>(T);

struct Schedule {
    of: Whose,
    max_backlog: u64,
    phases: Vec<RatePhase>,
    /// Whether sessions start at once where no phase holds.
    free_running: bool,
    /// The arrivals that sessions took.
    taken: Cursor,
    /// Those of them that are still to begin.
    awaited: Awaited,
    /// A second pass over the same arrivals that only counts what has come due.
    due: Cursor,
    dropped: u64,
}

impl Arrivals {
    /// A schedule that holds all sessions until it is given a rate. Its rates are those of all clients
    /// together; arrivals are those of this one.
    pub fn new(process: Process, seed: u64, max_backlog: u64, shard: Shard) -> Self {
        Self {
            epoch: AtomicU64::new(0),
            late_ns: OwnLine(AtomicU64::new(u64::MAX)),
            made: Instant::now(),
            schedule: Mutex::new(Schedule {
                of: Whose {
                    process,
                    seed,
                    shard,
                },
                max_backlog,
                phases: Vec::new(),
                free_running: false,
                taken: Cursor::new(),
                awaited: Awaited::default(),
                due: Cursor::new(),
                dropped: 0,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets those know that look without the lock.
    fn tell_first(&self, schedule: &Schedule) {
        let at = schedule.awaited.first_late_at();
        let late_ns = at.map_or(u64::MAX, |at| self.since_made(at));
        if self.late_ns.0.load(Ordering::Relaxed) != late_ns {
            self.late_ns.0.store(late_ns, Ordering::Relaxed);
        }
    }

    fn since_made(&self, at: Instant) -> u64 {
        let after = at.saturating_duration_since(self.made).as_nanos();
        after.try_into().unwrap_or(u64::MAX)
    }

    /// Whether an arrival is late that a session of `executor` could take over.
    pub fn is_any_late(&self, executor: usize, now: Instant) -> bool {
        self.late_ns.0.load(Ordering::Relaxed) <= self.since_made(now)
            && self.lock().awaited.is_any_late(executor, now)
    }

    /// Changes with every change of the schedule.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Whether an arrival is still its session's to begin: its rate may have been ended before.
    pub fn is_awaited(&self, arrival: &Arrival) -> bool {
        self.lock().awaited.is_awaited(arrival)
    }

    /// Begins an arrival that a session of `executor` awaited; `None` when it is no longer its own.
    pub fn begin(&self, arrival: &Arrival, executor: usize, now: Instant) -> Option<BegunArrival> {
        let mut schedule = self.lock();
        let is_own = schedule.awaited.begin(arrival);
        self.tell_first(&schedule);
        is_own.then(|| schedule.begun(arrival.due, true, executor, now))
    }

    /// Leaves an arrival that a session awaits to others, for something more urgent.
    pub fn give_back(&self, arrival: &Arrival) {
        self.lock().awaited.give_back(arrival);
    }

    /// Holds a rate from `at` on. Arrivals that came due before and that nobody took stay due.
    pub fn set_rate(&self, per_second: f64, at: Instant) {
        let mut schedule = self.lock();
        schedule.end_phase(at);
        schedule.free_running = false;
        schedule.phases.push(RatePhase {
            start: at,
            end: None,
            mean_gap_s: 1.0 / per_second,
        });
        self.tell_first(&schedule);
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends the schedule at `at`; sessions then start at once, or not at all. Gives the arrivals that
    /// were due and that nobody took: they are forgotten.
    pub fn clear(&self, at: Instant, free_running: bool) -> u64 {
        let mut schedule = self.lock();
        let forgotten = schedule.backlog(at);
        schedule.end_phase(at);
        schedule.free_running = free_running;
        let (phases, counted) = (schedule.phases.len(), schedule.due.count);
        schedule.taken.go_to(phases);
        schedule.taken.count = counted;
        schedule.awaited.forget_left();
        self.tell_first(&schedule);
        self.epoch.fetch_add(1, Ordering::AcqRel);
        forgotten
    }

    /// The next arrival for a free session of `executor`: maybe to come, maybe overdue.
    pub fn take(&self, executor: usize, now: Instant) -> Turn {
        let mut schedule = self.lock();
        if let Some(arrival) = schedule.awaited.take_over(executor, now) {
            self.tell_first(&schedule);
            return if arrival.due <= now {
                Turn::Begin(schedule.begun(arrival.due, true, executor, now))
            } else {
                Turn::Await(arrival)
            };
        }
        // One cursor goes before the other, so that no controller has to catch up with both.
        schedule.count_some(now);
        while let Some(due) = schedule.take() {
            if due < now && schedule.backlog(now) >= schedule.max_backlog {
                schedule.dropped += 1;
                continue;
            }
            return if due <= now {
                Turn::Begin(schedule.begun(due, false, executor, now))
            } else {
                let arrival = schedule.awaited.wait(due, executor);
                self.tell_first(&schedule);
                Turn::Await(arrival)
            };
        }
        if schedule.free_running {
            Turn::Now
        } else {
            Turn::Hold
        }
    }

    /// Arrivals whose time has come and which no session has taken, or has left.
    pub fn backlog(&self, now: Instant) -> u64 {
        self.lock().backlog(now)
    }

    /// Arrivals dropped since the last call because the backlog was full.
    pub fn take_dropped(&self) -> u64 {
        std::mem::take(&mut self.lock().dropped)
    }

    /// This client's arrivals a second at present; `None` without a schedule.
    pub fn rate(&self) -> Option<f64> {
        let schedule = self.lock();
        let last = schedule.phases.last().filter(|p| p.end.is_none());
        last.map(|p| schedule.of.shard.of_rate(1.0 / p.mean_gap_s))
    }
}

impl Schedule {
    fn take(&mut self) -> Option<Instant> {
        let due = self.taken.peek(&self.phases, self.of)?;
        self.taken.pass(&self.phases, self.of);
        Some(due)
    }

    fn begun(&self, due: Instant, awaited: bool, executor: usize, now: Instant) -> BegunArrival {
        let more = self.awaited.is_any_late(executor, now);
        BegunArrival { due, awaited, more }
    }

    /// Counts up to two arrivals that have come due.
    fn count_some(&mut self, now: Instant) {
        for _ in 0..2 {
            match self.due.peek(&self.phases, self.of) {
                Some(next) if next <= now => self.due.pass(&self.phases, self.of),
                _ => return,
            }
        }
    }

    fn backlog(&mut self, now: Instant) -> u64 {
        self.untaken(now) + self.awaited.left(now)
    }

    /// Arrivals whose time has come and which no session ever took.
    fn untaken(&mut self, now: Instant) -> u64 {
        while let Some(next) = self.due.peek(&self.phases, self.of)
            && next <= now
        {
            self.due.pass(&self.phases, self.of);
        }
        // Sessions may await arrivals that are still to come.
        self.due.count.saturating_sub(self.taken.count)
    }

    fn end_phase(&mut self, at: Instant) {
        let untaken = self.untaken(at);
        if let Some(last) = self.phases.last_mut().filter(|p| p.end.is_none()) {
            last.end = Some(at);
        }
        // Those that sessions await for later will never come.
        self.awaited.end(at);
        if untaken == 0 {
            self.taken.count = self.due.count;
            self.taken.go_to(self.phases.len());
        }
        self.due.go_to(self.phases.len());
    }
}
