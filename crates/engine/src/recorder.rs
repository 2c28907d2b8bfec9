//! What sessions record: one set of counters per executor, swapped out once an interval.

use crate::tally::ErrorTally;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tidemark_core::DbError;
use tidemark_core::record::StatementCounts;
use tidemark_stats::Histogram;

/// One transaction type's latencies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    /// From send to last reply.
    pub service: Histogram,
    /// From scheduled arrival to last reply; empty in closed loop.
    pub response: Histogram,
}

/// Everything counted between two swaps.
#[derive(Debug, Clone)]
pub(crate) struct Counters {
    pub types: Vec<Latencies>,
    pub statements: StatementCounts,
    pub ignored_errors: u64,
    pub reconnects: u64,
    pub errors: ErrorTally,
}

impl Counters {
    pub fn new(types: usize) -> Self {
        Self {
            types: (0..types).map(|_| Latencies::default()).collect(),
            statements: StatementCounts::default(),
            ignored_errors: 0,
            reconnects: 0,
            errors: ErrorTally::default(),
        }
    }

    pub fn merge(&mut self, other: &Counters) {
        for (mine, theirs) in self.types.iter_mut().zip(&other.types) {
            mine.service.merge(&theirs.service);
            mine.response.merge(&theirs.response);
        }
        self.statements += other.statements;
        self.ignored_errors += other.ignored_errors;
        self.reconnects += other.reconnects;
        self.errors.merge(&other.errors);
    }

    pub fn clear(&mut self) {
        for latencies in &mut self.types {
            latencies.service.clear();
            latencies.response.clear();
        }
        self.statements = StatementCounts::default();
        self.ignored_errors = 0;
        self.reconnects = 0;
        self.errors.clear();
    }
}

/// One session's share of the work.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionTally {
    pub events: u64,
    pub busy: Duration,
}

struct State {
    counters: Counters,
    sessions: Vec<SessionTally>,
    /// Sessions connected.
    connected: u64,
    /// Transactions in progress; kept only on a schedule of arrivals.
    in_progress: u64,
}

/// The counters of one executor.
///
/// Behind a lock that only the interval's swap ever contends for: it costs an uncontended pair of
/// atomic operations a transaction, and makes every interval exact. Histograms belong to the
/// executor and not to a session: ten thousand of them would be gigabytes.
pub struct Recorder(Mutex<State>);

impl Recorder {
    /// Counters for a number of transaction types and sessions.
    pub fn new(types: usize, sessions: usize) -> Self {
        Self(Mutex::new(State {
            counters: Counters::new(types),
            sessions: vec![SessionTally::default(); sessions],
            connected: 0,
            in_progress: 0,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock means that another thread panicked while counting; its counters are
        // still whole numbers, and the panic itself fails the run.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one transaction: its type, the session's number on this executor, its statements,
    /// its service time, and its response time when arrivals are scheduled.
    #[inline]
    pub fn record(
        &self,
        kind: usize,
        session: usize,
        statements: StatementCounts,
        service: Duration,
        response: Option<Duration>,
    ) {
        let mut state = self.lock();
        state.counters.statements += statements;
        if let Some(latencies) = state.counters.types.get_mut(kind) {
            latencies.service.record(service);
            if let Some(response) = response {
                latencies.response.record(response);
            }
        }
        if let Some(tally) = state.sessions.get_mut(session) {
            tally.events += 1;
            tally.busy += service;
        }
        if response.is_some() {
            state.in_progress = state.in_progress.saturating_sub(1);
        }
    }

    pub(crate) fn begin_scheduled(&self) {
        self.lock().in_progress += 1;
    }

    pub(crate) fn end_unfinished(&self) {
        let mut state = self.lock();
        state.in_progress = state.in_progress.saturating_sub(1);
    }

    /// Counts an error that was retried, with the statements of the failed try.
    pub(crate) fn ignored(&self, error: &DbError, statements: StatementCounts) {
        let mut state = self.lock();
        state.counters.ignored_errors += 1;
        state.counters.statements += statements;
        state.counters.errors.add(error);
    }

    /// Counts an error that was not retried.
    pub(crate) fn failed(&self, error: &DbError) {
        self.lock().counters.errors.add(error);
    }

    pub(crate) fn connected(&self) {
        self.lock().connected += 1;
    }

    pub(crate) fn disconnected(&self) {
        let mut state = self.lock();
        state.connected = state.connected.saturating_sub(1);
    }

    pub(crate) fn reconnected(&self) {
        self.lock().counters.reconnects += 1;
    }

    /// Exchanges the counters for cleared ones; gives sessions connected and transactions in
    /// progress.
    pub(crate) fn swap(&self, cleared: &mut Counters) -> (u64, u64) {
        let mut state = self.lock();
        std::mem::swap(&mut state.counters, cleared);
        (state.connected, state.in_progress)
    }

    /// Each session's share since the last reset.
    pub(crate) fn sessions(&self, into: &mut Vec<SessionTally>) {
        into.extend_from_slice(&self.lock().sessions);
    }

    pub(crate) fn reset_sessions(&self) {
        self.lock().sessions.fill(SessionTally::default());
    }
}
