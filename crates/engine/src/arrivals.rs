//! A schedule of arrivals that all sessions share.

mod upcoming;

pub(crate) use self::upcoming::Arrival;
use self::upcoming::Awaited;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidemark_core::{Arrivals as Process, Shard};
use tidemark_workloads::random::Rng;

/// What a free session is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Turn {
    /// There is no schedule: start at once.
    Now,
    /// Start this one, which is due.
    Begin(Begun),
    /// Await this one, and ask to [`Arrivals::begin`] it then.
    Await(Arrival),
    /// Start nothing until the schedule changes.
    Hold,
}

/// An arrival that begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Begun {
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
    phases: Vec<Phase>,
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

/// How arrivals are made, and which of them are this client's.
#[derive(Debug, Clone, Copy)]
struct Whose {
    process: Process,
    seed: u64,
    shard: Shard,
}

impl Whose {
    /// Whether the arrival of this number in a phase of the whole schedule is this client's. Of equal
    /// distances each takes every n-th, and has equal distances too. A Poisson process of which every
    /// arrival goes to somebody by chance falls into Poisson processes that are independent of each
    /// other (Kingman, "Poisson Processes", 1993, colouring theorem); every n-th would be too regular.
    fn is_own(self, phase: usize, number: u64) -> bool {
        if self.shard.is_whole() {
            return true;
        }
        match self.process {
            Process::Constant => self.shard.is_own(number),
            Process::Poisson => {
                let path = [self.seed, COLOUR, phase as u64, number];
                Rng::of(&path).below(self.shard.of.into()) == u64::from(self.shard.index)
            }
        }
    }
}

/// Tells the clients' draw from every other that the seed makes.
const COLOUR: u64 = 0x636c_6965_6e74_7321;

/// A rate that is held.
#[derive(Debug, Clone, Copy)]
struct Phase {
    start: Instant,
    /// `None` while it is the last.
    end: Option<Instant>,
    mean_gap_s: f64,
}

/// Walks over the arrivals of all phases.
struct Cursor {
    phase: usize,
    random: SmallRng,
    /// The next arrival of the phase; `None` before the phase is entered.
    next: Option<Instant>,
    /// Arrivals of the whole schedule that the phase had before `next`.
    before: u64,
    /// Own arrivals passed.
    count: u64,
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
    pub fn begin(&self, arrival: &Arrival, executor: usize, now: Instant) -> Option<Begun> {
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
        schedule.phases.push(Phase {
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

    fn begun(&self, due: Instant, awaited: bool, executor: usize, now: Instant) -> Begun {
        let more = self.awaited.is_any_late(executor, now);
        Begun { due, awaited, more }
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

impl Cursor {
    fn new() -> Self {
        Self {
            phase: 0,
            random: SmallRng::seed_from_u64(0),
            next: None,
            before: 0,
            count: 0,
        }
    }

    fn go_to(&mut self, phase: usize) {
        self.phase = phase;
        self.next = None;
        self.before = 0;
    }

    /// The next own arrival, in the phase that holds then.
    fn peek(&mut self, phases: &[Phase], of: Whose) -> Option<Instant> {
        loop {
            let phase = phases.get(self.phase)?;
            let next = match self.next {
                Some(next) => next,
                None => {
                    self.random = SmallRng::seed_from_u64(of.seed.wrapping_add(self.phase as u64));
                    phase.start + gap(&mut self.random, of.process, phase.mean_gap_s)
                }
            };
            if phase.end.is_some_and(|end| next > end) {
                self.go_to(self.phase + 1);
                continue;
            }
            self.next = Some(next);
            if of.is_own(self.phase, self.before) {
                return Some(next);
            }
            self.advance(phase, of);
        }
    }

    /// Goes past the arrival that [`Cursor::peek`] gave.
    fn pass(&mut self, phases: &[Phase], of: Whose) {
        if let Some(phase) = phases.get(self.phase)
            && self.next.is_some()
        {
            self.advance(phase, of);
            self.count += 1;
        }
    }

    /// To the next arrival of the whole schedule.
    fn advance(&mut self, phase: &Phase, of: Whose) {
        if let Some(next) = self.next {
            self.next = Some(next + gap(&mut self.random, of.process, phase.mean_gap_s));
            self.before += 1;
        }
    }
}

fn gap(random: &mut SmallRng, process: Process, mean_s: f64) -> Duration {
    Duration::from_secs_f64(match process {
        Process::Constant => mean_s,
        // 1 - u lies in (0, 1], where the logarithm is finite.
        Process::Poisson => -(1.0 - random.random::<f64>()).ln() * mean_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(arrivals: &Arrivals, now: Instant) -> Instant {
        match arrivals.take(0, now) {
            Turn::Begin(begun) => begun.due,
            Turn::Await(arrival) => arrival.due,
            other => panic!("{other:?}"),
        }
    }

    fn awaits(arrivals: &Arrivals, executor: usize, now: Instant) -> Arrival {
        match arrivals.take(executor, now) {
            Turn::Await(arrival) => arrival,
            other => panic!("{other:?}"),
        }
    }

    fn poisson(rate: f64, start: Instant) -> Arrivals {
        let arrivals = Arrivals::new(Process::Poisson, 7, 100_000, Shard::WHOLE);
        arrivals.set_rate(rate, start);
        arrivals
    }

    #[test]
    fn arrivals_come_at_the_asked_rate_and_in_order() {
        let start = Instant::now();
        let arrivals = poisson(1000.0, start);
        let times: Vec<_> = (0..20_000).map(|_| at(&arrivals, start)).collect();
        assert!(times.is_sorted());
        let seconds = (times[19_999] - start).as_secs_f64();
        // 20,000 exponential gaps: standard deviation of the sum is 0.14 s.
        assert!((19.3..20.7).contains(&seconds), "{seconds}");
        // A Poisson process: the gaps' standard deviation is their mean.
        let gaps: Vec<f64> = times
            .windows(2)
            .map(|w| (w[1] - w[0]).as_secs_f64())
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.95..1.05).contains(&(variance.sqrt() / mean)));
    }

    #[test]
    fn constant_arrivals_have_equal_distances() {
        let start = Instant::now();
        let arrivals = Arrivals::new(Process::Constant, 7, 100, Shard::WHOLE);
        arrivals.set_rate(250.0, start);
        for n in 1..=1000 {
            let due = at(&arrivals, start) - start;
            assert!((due.as_secs_f64() - f64::from(n) * 0.004).abs() < 1e-6);
        }
    }

    #[test]
    fn what_nobody_took_is_the_backlog() {
        let start = Instant::now();
        let arrivals = poisson(100.0, start);
        let later = start + Duration::from_secs(10);
        let backlog = arrivals.backlog(later);
        assert!((850..1150).contains(&backlog), "{backlog}");
        at(&arrivals, start);
        assert_eq!(arrivals.backlog(later), backlog - 1);
    }

    #[test]
    fn a_full_backlog_drops_the_oldest_and_counts_them() {
        let start = Instant::now();
        let arrivals = Arrivals::new(Process::Constant, 7, 100, Shard::WHOLE);
        arrivals.set_rate(1000.0, start);
        let later = start + Duration::from_secs(1);
        let first = at(&arrivals, later);
        // 1000 are due; the taken one leaves less than 100 waiting.
        assert_eq!(arrivals.backlog(later), 99);
        assert_eq!(arrivals.take_dropped(), 900);
        assert_eq!(arrivals.take_dropped(), 0);
        assert_eq!((first - start).as_millis(), 901);
    }

    #[test]
    fn a_new_rate_keeps_what_is_due_and_voids_what_is_to_come() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let arrivals = Arrivals::new(Process::Constant, 7, 100_000, Shard::WHOLE);
        arrivals.set_rate(10.0, start);
        let epoch = arrivals.epoch();
        // Sessions are ahead: they hold arrivals up to 2 s.
        let held: Vec<_> = (0..20).map(|_| arrivals.take(0, start)).collect();
        arrivals.set_rate(100.0, start + second);
        assert_ne!(arrivals.epoch(), epoch);
        let is_void = |turn: &&Turn| matches!(turn, Turn::Await(a) if !arrivals.is_awaited(a));
        assert_eq!(held.iter().filter(is_void).count(), 10);
        assert_eq!((at(&arrivals, start) - start).as_millis(), 1010);
        assert_eq!(arrivals.rate(), Some(100.0));
        // Nobody takes any more: at 2 s, 99 wait, and a new rate forgets none of them.
        arrivals.set_rate(1.0, start + 2 * second);
        assert_eq!(arrivals.backlog(start + 2 * second), 99);
        let times: Vec<_> = (0..100)
            .map(|_| (at(&arrivals, start + 2 * second) - start).as_millis())
            .collect();
        assert_eq!((times[0], times[98], times[99]), (1020, 2000, 3000));
    }

    #[test]
    fn a_rate_that_ends_late_voids_what_came_due_after_its_end() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let arrivals = Arrivals::new(Process::Constant, 7, 100, Shard::WHOLE);
        arrivals.set_rate(10.0, start);
        let [first, second] = [0, 0].map(|executor| awaits(&arrivals, executor, start));
        // Somebody looked later than the moment that the controller goes by.
        assert_eq!(arrivals.backlog(at(1000)), 8);
        arrivals.set_rate(100.0, at(150));
        assert!(arrivals.is_awaited(&first) && !arrivals.is_awaited(&second));
    }

    #[test]
    fn what_a_late_thread_awaits_another_begins_as_awaited() {
        let start = Instant::now();
        let arrivals = Arrivals::new(Process::Constant, 7, 100, Shard::WHOLE);
        arrivals.set_rate(1000.0, start);
        // Executor 0 awaits those of 1 and 3 ms, executor 1 those of 2 and 4 ms.
        let [first, second, third, fourth] =
            [0, 1, 0, 1].map(|executor| awaits(&arrivals, executor, start));
        let later = start + Duration::from_micros(3500);
        let late_with_first = first.due + upcoming::LATE;
        let just_before = late_with_first - Duration::from_nanos(1);
        assert!(!arrivals.is_any_late(1, just_before));
        assert!(arrivals.is_any_late(1, late_with_first));
        assert!(!arrivals.is_any_late(0, late_with_first));
        let begun = arrivals.begin(&second, 1, later).unwrap();
        assert!(begun.awaited && begun.more, "{begun:?}");
        // The one of 4 ms is left for what is late, which begins in order, each once.
        arrivals.give_back(&fourth);
        for (due, more) in [(first.due, true), (third.due, false)] {
            let awaited = true;
            assert_eq!(
                arrivals.take(1, later),
                Turn::Begin(Begun { due, awaited, more })
            );
        }
        assert_eq!(arrivals.begin(&first, 0, later), None);
        assert!(!arrivals.is_awaited(&third));
        assert_eq!(arrivals.take(0, later), Turn::Await(fourth));
        arrivals.give_back(&fourth);
        // Left until its time has come, it waits as those do that nobody took.
        let end = start + Duration::from_millis(5);
        assert_eq!(arrivals.backlog(end), 2);
        assert!(arrivals.is_any_late(1, end));
        assert_eq!(arrivals.clear(end, false), 2);
        assert!(!arrivals.is_any_late(1, end));
        assert_eq!(arrivals.take(0, end), Turn::Hold);
    }

    #[test]
    fn without_a_schedule_sessions_hold_or_run_free() {
        let start = Instant::now();
        let arrivals = poisson(1000.0, start);
        let later = start + Duration::from_secs(1);
        assert!(arrivals.backlog(later) > 0);
        arrivals.clear(later, false);
        assert_eq!(
            (arrivals.take(0, later), arrivals.backlog(later)),
            (Turn::Hold, 0)
        );
        assert_eq!(arrivals.clear(later, true), 0);
        assert_eq!(arrivals.take(0, later), Turn::Now);
        assert_eq!(arrivals.rate(), None);
        arrivals.set_rate(10.0, later);
        assert!(at(&arrivals, later) > later);
    }

    /// What one client is given is what several are given together, whatever changes of rate come
    /// between, and each has its fair part.
    #[test]
    fn clients_share_the_arrivals_of_one() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let times = |process, shard| {
            let arrivals = Arrivals::new(process, 11, u64::MAX, shard);
            arrivals.set_rate(2000.0, start);
            arrivals.set_rate(500.0, start + second);
            arrivals.set_rate(1000.0, start + 2 * second);
            arrivals.clear(start + 4 * second, false);
            let mut all = Vec::new();
            let again = Arrivals::new(process, 11, u64::MAX, shard);
            again.set_rate(2000.0, start);
            for (rate, at) in [(500.0, 1), (1000.0, 2), (0.001, 4)] {
                let end = start + at * second;
                while let Turn::Begin(begun) = again.take(0, end) {
                    all.push(begun.due);
                }
                again.set_rate(rate, end);
            }
            // The cursor that only counts goes the same way.
            let counted = arrivals.lock().due.count;
            assert_eq!(counted, all.len() as u64);
            all
        };
        for process in [Process::Poisson, Process::Constant] {
            let whole = times(process, Shard::WHOLE);
            for of in [2u32, 3, 7] {
                let each: Vec<_> = (0..of)
                    .map(|index| times(process, Shard { index, of }))
                    .collect();
                let fair = whole.len() as f64 / f64::from(of);
                for own in &each {
                    let off = (own.len() as f64 - fair).abs();
                    assert!(off < 6.0 * fair.sqrt(), "{process:?} {of}: {}", own.len());
                }
                let mut together = each.concat();
                together.sort_unstable();
                assert_eq!(together, whole, "{process:?} {of}");
            }
        }
        let third = Shard { index: 1, of: 3 };
        let arrivals = Arrivals::new(Process::Poisson, 11, 100, third);
        arrivals.set_rate(300.0, start);
        assert_eq!(arrivals.rate(), Some(100.0));
    }

    /// A part of a Poisson process is one: gaps scatter as much as they are long.
    #[test]
    fn a_clients_arrivals_are_a_poisson_process() {
        let start = Instant::now();
        let shard = Shard { index: 2, of: 4 };
        let arrivals = Arrivals::new(Process::Poisson, 7, 100_000, shard);
        arrivals.set_rate(4000.0, start);
        let times: Vec<_> = (0..20_000).map(|_| at(&arrivals, start)).collect();
        let gaps = times.windows(2).map(|w| (w[1] - w[0]).as_secs_f64());
        let gaps: Vec<f64> = gaps.collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.00096..0.00104).contains(&mean), "{mean}");
        assert!((0.95..1.05).contains(&(variance.sqrt() / mean)));
    }
}
