//! What sessions record: one set of counters per executor or core, swapped out once an interval.

use crate::samples::Sampler;
use crate::tally::ErrorTally;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidemark_core::record::StatementCounts;
use tidemark_core::{DbError, ErrorKind};
use tidemark_stats::Histogram;
use tidemark_workloads::{Done, InnerOperation, MAX_NOTES};

/// One transaction type's latencies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    /// From handing the first statement over until the session can go on.
    pub service: Histogram,
    /// Of that, the time at the server and on the way; empty of an embedded database.
    pub server: Histogram,
    /// From the moment it was due until the session can go on; empty where nothing is due before it
    /// is sent.
    pub response: Histogram,
    /// From the moment it was due to the start of service, where no session was free; else 0. Empty
    /// as `response` is.
    pub wait: Histogram,
    /// What scripts paused within their service times.
    pub paused: Duration,
}

impl Latencies {
    /// Adds another's.
    pub fn merge(&mut self, other: &Latencies) {
        self.service.merge(&other.service);
        self.server.merge(&other.server);
        self.response.merge(&other.response);
        self.wait.merge(&other.wait);
        self.paused += other.paused;
    }
}

/// What one transaction took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// From handing the first statement over until the session can go on.
    pub service: Duration,
    /// Of that, the time at the server and on the way; `None` of an embedded database.
    pub server: Option<Duration>,
    /// Of it, what the transaction's own script paused.
    pub paused: Duration,
}

impl From<Duration> for Times {
    /// A service time alone.
    fn from(service: Duration) -> Self {
        Self {
            service,
            server: None,
            paused: Duration::ZERO,
        }
    }
}

/// A transaction that was due before it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// From the moment it was due to the start of service.
    pub wait: Duration,
    /// What it waited for.
    pub origin: Origin,
}

/// What made a transaction due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A free session awaited it: what it waited is the generator's lateness.
    Awaited,
    /// An arrival that came when no session was free.
    Delayed,
    /// A terminal that had thought when no session was free.
    Terminal,
}

/// Everything counted between two swaps.
#[derive(Debug, Clone)]
pub(crate) struct Counters {
    pub types: Vec<Latencies>,
    /// Of each type, the transactions that were parts of larger ones; they are in no sum.
    pub parts: Vec<Latencies>,
    /// Counted outcomes, in the workload's order.
    pub notes: [u64; MAX_NOTES],
    /// From scheduled to actual start, of arrivals that a free session awaited.
    pub lateness: Histogram,
    /// Arrivals that came when no session was free.
    pub delayed: u64,
    /// Arrivals that the schedule dropped.
    pub dropped: u64,
    /// Arrivals due and not served when their time was over.
    pub unserved: u64,
    /// Statements by host.
    pub hosts: Vec<u64>,
    pub statements: StatementCounts,
    pub ignored_errors: u64,
    pub reconnects: u64,
    pub errors: ErrorTally,
}

impl Counters {
    pub fn new(types: usize, hosts: usize) -> Self {
        Self {
            types: (0..types).map(|_| Latencies::default()).collect(),
            parts: (0..types).map(|_| Latencies::default()).collect(),
            notes: [0; MAX_NOTES],
            lateness: Histogram::new(),
            delayed: 0,
            dropped: 0,
            unserved: 0,
            hosts: vec![0; hosts],
            statements: StatementCounts::default(),
            ignored_errors: 0,
            reconnects: 0,
            errors: ErrorTally::default(),
        }
    }

    pub fn merge(&mut self, other: &Counters) {
        for (mine, theirs) in self.types.iter_mut().zip(&other.types) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.notes.iter_mut().zip(&other.notes) {
            *mine += theirs;
        }
        self.lateness.merge(&other.lateness);
        self.delayed += other.delayed;
        self.dropped += other.dropped;
        self.unserved += other.unserved;
        for (mine, theirs) in self.hosts.iter_mut().zip(&other.hosts) {
            *mine += theirs;
        }
        self.statements += other.statements;
        self.ignored_errors += other.ignored_errors;
        self.reconnects += other.reconnects;
        self.errors.merge(&other.errors);
    }

    pub fn clear(&mut self) {
        for latencies in self.types.iter_mut().chain(&mut self.parts) {
            latencies.service.clear();
            latencies.server.clear();
            latencies.response.clear();
            latencies.wait.clear();
            latencies.paused = Duration::ZERO;
        }
        self.notes.fill(0);
        self.lateness.clear();
        (self.delayed, self.dropped, self.unserved) = (0, 0, 0);
        self.hosts.fill(0);
        self.statements = StatementCounts::default();
        self.ignored_errors = 0;
        self.reconnects = 0;
        self.errors.clear();
    }
}

/// One session's share of the work.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionTally {
    pub opened: bool,
    pub events: u64,
    pub busy: Duration,
    /// From a transaction's end to the next one's begin.
    pub between: Duration,
}

impl std::ops::Add for SessionTally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            opened: self.opened || other.opened,
            events: self.events + other.events,
            busy: self.busy + other.busy,
            between: self.between + other.between,
        }
    }
}

/// Who ran a transaction, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct By {
    /// The terminal's number in the run.
    pub terminal: usize,
    /// The first statement.
    pub begun: Instant,
    /// Since the session's last transaction, where nothing else makes transactions due.
    pub between: Duration,
}

struct RecorderState {
    counters: Counters,
    /// Where each transaction goes, if anybody asked.
    sampler: Option<Sampler>,
    sessions: Vec<SessionTally>,
    /// Sessions connected, by host.
    connected: Vec<u64>,
    /// Transactions in progress, where something makes them due.
    in_progress: u64,
    /// Sessions that execute one transaction after the other: each has one in progress.
    in_loops: u64,
    /// Transactions that ended, well or with an error, since the sessions began.
    ended: u64,
    /// Of them, those that the server ended to break a deadlock.
    deadlocks: u64,
}

/// The counters of one executor, or of one core (`recorders`).
///
/// Behind a lock that only the interval's swap ever contends for, and on a core whoever was stopped in
/// the middle of counting: it costs an uncontended pair of
/// atomic operations a transaction, and makes every interval exact. Histograms belong to the
/// executor and not to a session: ten thousand of them would be gigabytes.
pub struct Recorder(Mutex<RecorderState>);

impl Recorder {
    /// Counters for a number of transaction types, sessions and hosts.
    pub fn new(types: usize, sessions: usize, hosts: usize) -> Self {
        Self(Mutex::new(RecorderState {
            counters: Counters::new(types, hosts),
            sampler: None,
            sessions: vec![SessionTally::default(); sessions],
            connected: vec![0; hosts.max(1)],
            in_progress: 0,
            in_loops: 0,
            ended: 0,
            deadlocks: 0,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        // A poisoned lock means that another thread panicked while counting; its counters are
        // still whole numbers, and the panic itself fails the run.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one transaction: what came of it, the session's number in this recorder, its
    /// statements, what it took, and its wait where it was due before it was sent.
    #[inline]
    pub fn record(
        &self,
        done: Done,
        session: usize,
        statements: StatementCounts,
        times: impl Into<Times>,
        due: Option<Due>,
    ) {
        self.record_by(None, done, &[], session, statements, times.into(), due);
    }

    /// As [`Recorder::record`], with what it was made of, and samples it where that is asked for.
    #[inline]
    #[allow(clippy::too_many_arguments)] // what is known of one transaction
    pub(crate) fn record_by(
        &self,
        by: Option<By>,
        done: Done,
        parts: &[InnerOperation],
        session: usize,
        statements: StatementCounts,
        times: Times,
        due: Option<Due>,
    ) {
        let Times {
            service,
            server,
            paused,
        } = times;
        let mut state = self.lock();
        if let (Some(sampler), Some(by)) = (&mut state.sampler, by) {
            let wait = due.map_or(Duration::ZERO, |due| due.wait);
            sampler.take(done, by.terminal, by.begun, service, wait);
        }
        let counters = &mut state.counters;
        counters.statements += statements;
        if let Some(latencies) = counters.types.get_mut(done.kind) {
            latencies.service.record(service);
            latencies.paused += paused;
            if let Some(server) = server {
                latencies.server.record(server);
            }
            if let Some(due) = due {
                latencies.response.record(due.wait + service);
                latencies.wait.record(match due.origin {
                    Origin::Awaited => Duration::ZERO,
                    _ => due.wait,
                });
            }
        }
        for part in parts {
            if let Some(latencies) = counters.parts.get_mut(part.kind) {
                latencies.service.record(part.service);
            }
        }
        if !done.notes.is_empty() {
            for (sum, noted) in counters.notes.iter_mut().zip(done.notes.counts()) {
                *sum += u64::from(*noted);
            }
        }
        match due.map(|d| (d.origin, d.wait)) {
            Some((Origin::Awaited, wait)) => counters.lateness.record(wait),
            Some((Origin::Delayed, _)) => counters.delayed += 1,
            _ => {}
        }
        if let Some(tally) = state.sessions.get_mut(session) {
            tally.events += 1;
            tally.busy += service;
            tally.between += by.map_or(Duration::ZERO, |by| by.between);
        }
        state.ended += 1;
        state.in_progress = state.in_progress.saturating_sub(1);
    }

    pub(crate) fn begin_scheduled(&self) {
        self.lock().in_progress += 1;
    }

    /// A session executes one transaction after the other from here on.
    pub(crate) fn begin_loop(&self) {
        self.lock().in_loops += 1;
    }

    pub(crate) fn end_loop(&self) {
        let mut state = self.lock();
        state.in_loops = state.in_loops.saturating_sub(1);
    }

    pub(crate) fn end_unfinished(&self) {
        let mut state = self.lock();
        state.in_progress = state.in_progress.saturating_sub(1);
        state.counters.unserved += 1;
    }

    /// Ends an arrival that is too late to be begun.
    pub(crate) fn skip(&self, terminal: usize, seen: Instant, wait: Duration) {
        let mut state = self.lock();
        if let Some(sampler) = &mut state.sampler {
            sampler.skip(terminal, seen, wait);
        }
        state.counters.dropped += 1;
        state.ended += 1;
        state.in_progress = state.in_progress.saturating_sub(1);
    }

    /// Ends what was begun and is not tried again; its error is counted.
    pub(crate) fn end_given_up(&self) {
        let mut state = self.lock();
        state.in_progress = state.in_progress.saturating_sub(1);
    }

    /// Counts an error that did not end the run, with the statements of the failed try.
    pub(crate) fn ignored(&self, error: &DbError, statements: StatementCounts) {
        let mut state = self.lock();
        state.counters.ignored_errors += 1;
        state.ended += 1;
        state.deadlocks += u64::from(error.kind == ErrorKind::Deadlock);
        state.counters.statements += statements;
        state.counters.errors.add(error);
    }

    /// Counts errors of a transaction that ended all the same.
    pub(crate) fn noted(&self, error: &DbError, times: u8) {
        let mut state = self.lock();
        state.counters.ignored_errors += u64::from(times);
        for _ in 0..times {
            state.counters.errors.add(error);
        }
    }

    /// Counts statements of no transaction.
    pub(crate) fn rest(&self, statements: StatementCounts) {
        self.lock().counters.statements += statements;
    }

    /// Counts an error that was not retried.
    pub(crate) fn failed(&self, error: &DbError) {
        self.lock().counters.errors.add(error);
    }

    /// A session was opened for the first time.
    pub(crate) fn opened(&self, session: usize) {
        if let Some(tally) = self.lock().sessions.get_mut(session) {
            tally.opened = true;
        }
    }

    /// Transactions that ended, well or with an error, since the sessions began, and how many of them
    /// by a deadlock.
    pub(crate) fn ended(&self) -> (u64, u64) {
        let state = self.lock();
        (state.ended, state.deadlocks)
    }

    /// Whether any session was opened.
    pub(crate) fn has_sessions(&self) -> bool {
        self.lock().sessions.iter().any(|s| s.opened)
    }

    /// Counts statements by the host they were sent to.
    pub(crate) fn sent(&self, host: usize, statements: u64) {
        if let Some(count) = self.lock().counters.hosts.get_mut(host) {
            *count += statements;
        }
    }

    pub(crate) fn connected(&self, host: usize) {
        if let Some(connected) = self.lock().connected.get_mut(host) {
            *connected += 1;
        }
    }

    pub(crate) fn disconnected(&self, host: usize) {
        if let Some(connected) = self.lock().connected.get_mut(host) {
            *connected = connected.saturating_sub(1);
        }
    }

    pub(crate) fn reconnected(&self) {
        self.lock().counters.reconnects += 1;
    }

    /// Exchanges the counters for cleared ones; adds the sessions connected, by host, and gives the
    /// transactions in progress. With `begins`, what is counted from now on is sampled, and in the
    /// sessions' shares.
    pub(crate) fn swap(&self, cleared: &mut Counters, connected: &mut [u64], begins: bool) -> u64 {
        let mut state = self.lock();
        if begins {
            if let Some(sampler) = &mut state.sampler {
                sampler.begin();
            }
            for tally in &mut state.sessions {
                *tally = SessionTally {
                    opened: tally.opened,
                    ..SessionTally::default()
                };
            }
        }
        std::mem::swap(&mut state.counters, cleared);
        for (sum, mine) in connected.iter_mut().zip(&state.connected) {
            *sum += mine;
        }
        state.in_progress + state.in_loops
    }

    /// Every transaction goes there, too.
    pub(crate) fn sample(&self, sampler: Sampler) {
        self.lock().sampler = Some(sampler);
    }

    /// The load is over: hands over what was sampled.
    pub(crate) fn end_samples(&self) {
        if let Some(mut sampler) = self.lock().sampler.take() {
            sampler.flush();
        }
    }

    /// Each session's share.
    pub(crate) fn sessions(&self, into: &mut Vec<SessionTally>) {
        into.extend_from_slice(&self.lock().sessions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_workloads::Notes;

    #[test]
    fn notes_are_summed_and_begin_anew_with_each_interval() {
        let recorder = Recorder::new(2, 1, 1);
        let mut notes = Notes::NONE;
        notes.add(0);
        notes.add(3);
        notes.add(3);
        let noted = Done { kind: 1, notes };
        for done in [noted, Done::of(0), noted] {
            let statements = StatementCounts::default();
            recorder.record(done, 0, statements, Duration::from_millis(1), None);
        }
        let mut sum = Counters::new(2, 1);
        let mut part = Counters::new(2, 1);
        recorder.swap(&mut part, &mut [0], false);
        sum.merge(&part);
        sum.merge(&part);
        assert_eq!(part.notes, [2, 0, 0, 4, 0, 0, 0, 0]);
        assert_eq!(sum.notes, [4, 0, 0, 8, 0, 0, 0, 0]);
        assert_eq!(part.types[1].service.count(), 2);
        part.clear();
        recorder.swap(&mut part, &mut [0], false);
        assert_eq!(part.notes, [0; MAX_NOTES]);
    }
}
