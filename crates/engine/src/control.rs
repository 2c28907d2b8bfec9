//! What the controller and the sessions tell each other.

use crate::arrivals::Arrivals;
use crate::error::EngineError;
use crate::outages::Outages;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tidemark_core::{DbError, RunSpec};
use tidemark_runtime::Remote;

const WAITING: u8 = 0;
const RUNNING: u8 = 1;
const STOPPING: u8 = 2;

/// Shared by the controller and every session of a run.
#[derive(Default)]
pub(crate) struct Control {
    state: AtomicU8,
    /// Sessions connected and prepared.
    pub ready: AtomicUsize,
    /// Transactions that may still be started; `None` is unlimited.
    pub budget: Option<AtomicI64>,
    /// The budget is used up.
    exhausted: AtomicBool,
    /// Transactions in progress were cut off.
    pub cut_off: AtomicBool,
    /// Whether transactions count: those of the warm-up use up nothing.
    pub measuring: AtomicBool,
    /// The schedule of an open loop.
    pub arrivals: Option<Arrivals>,
    pub outages: Outages,
    /// Sessions that wait for a schedule.
    pub holding: AtomicUsize,
    /// Statements that each session has the server keep prepared.
    pub prepared: AtomicUsize,
    /// Tasks that still open sessions.
    pub opening: AtomicUsize,
    /// What the target said when it took no more sessions.
    full: Mutex<Option<DbError>>,
    failure: Mutex<Option<EngineError>>,
    remotes: Mutex<Vec<Remote>>,
    /// Threads of the load that waited for a processor, on average, of those that have ended.
    waiting: Mutex<Option<f64>>,
}

impl Control {
    pub fn new(spec: &RunSpec) -> Self {
        Self {
            budget: spec
                .events
                .map(|n| AtomicI64::new(i64::try_from(n).unwrap_or(i64::MAX))),
            arrivals: spec
                .pacing
                .is_open_loop()
                .then(|| Arrivals::new(spec.arrivals, spec.seed, spec.max_backlog, spec.shard)),
            ..Self::default()
        }
    }

    /// The target takes no more sessions; the first reason counts.
    pub fn set_full(&self, error: DbError) {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        full.get_or_insert(error);
    }

    /// Why the target took no more sessions.
    pub fn full(&self) -> Option<DbError> {
        self.full
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A thread has ended, which waited for a processor for this share of its time.
    pub fn waited(&self, share: Option<f64>) {
        if let Some(share) = share {
            let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            *all = Some(all.unwrap_or(0.0) + share);
        }
    }

    /// Threads that waited for a processor, on average; `None` where none told.
    pub fn waiting_threads(&self) -> Option<f64> {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn attach(&self, remote: Remote) {
        self.remotes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(remote);
    }

    pub fn is_waiting(&self) -> bool {
        self.state.load(Ordering::Acquire) == WAITING
    }

    pub fn is_stopping(&self) -> bool {
        self.state.load(Ordering::Acquire) == STOPPING
    }

    /// Lets waiting sessions begin, unless they are to stop already.
    pub fn start(&self) {
        let (release, acquire) = (Ordering::AcqRel, Ordering::Acquire);
        let _stopping = self
            .state
            .compare_exchange(WAITING, RUNNING, release, acquire);
        self.signal();
    }

    /// Whether no transaction is to begin any more: the run stops, or its transactions are all
    /// begun. Those in progress go on in the second case, retries included.
    pub fn is_over(&self) -> bool {
        self.is_stopping() || self.exhausted.load(Ordering::Acquire)
    }

    /// Lets sessions end after their transaction in progress.
    pub fn stop(&self) {
        self.state.store(STOPPING, Ordering::Release);
        self.signal();
    }

    /// Stops with a reason; the first one counts.
    pub fn fail(&self, error: EngineError) {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        self.stop();
    }

    pub fn failure(&self) -> Option<EngineError> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Drops what does not end.
    pub fn abort(&self) {
        self.cut_off.store(true, Ordering::Relaxed);
        for remote in self
            .remotes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
        {
            // An executor that can't be woken has ended.
            let _ = remote.abort();
        }
    }

    /// Lets every session look what has changed.
    pub fn signal(&self) {
        for remote in self
            .remotes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
        {
            let _ = remote.signal();
        }
    }

    /// Takes leave to start one transaction.
    #[inline]
    pub fn take_event(&self) -> bool {
        self.take_event_of(&mut None)
    }

    /// The same for one that has a number of its own left, which is one less then.
    #[inline]
    pub fn take_event_of(&self, own: &mut Option<u64>) -> bool {
        match &self.budget {
            Some(left) if self.measuring.load(Ordering::Relaxed) => {
                if let Some(own) = own {
                    *own = own.saturating_sub(1);
                }
                let taken = left.fetch_sub(1, Ordering::Relaxed);
                // Who takes the last one tells those that wait for their turn.
                if taken <= 1 && !self.exhausted.swap(true, Ordering::AcqRel) {
                    self.signal();
                }
                taken > 0
            }
            _ => true,
        }
    }
}

/// Asks a run or a load to end; for signal handlers.
#[derive(Debug, Clone, Default)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// A handle that nobody has used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run gracefully: transactions in progress finish, and the summary follows.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether an end was asked for.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
