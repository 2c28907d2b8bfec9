//! Looks at the run's progress from a thread of its own. Nothing holds that thread up but what holds
//! the whole process up, so that a look that comes late tells of the client; the controller may wait
//! for a terminal, a pipe or a file.

use crate::dead_time::{DeadTime, ProgressSample, Stretch, TICK};
use crate::recorders::Recorders;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use tidemark_runtime::process_cpu_time;

/// It does nothing but count.
const STACK: usize = 128 * 1024;

/// A run's progress, looked at while it goes on.
pub(crate) struct Pulse {
    shared: Arc<SharedPulse>,
    thread: Option<JoinHandle<()>>,
}

struct SharedPulse {
    /// `None` where nobody counts what ends: then only the client is looked at.
    recorders: Option<Arc<Recorders>>,
    state: Mutex<PulseState>,
    over: Condvar,
}

struct PulseState {
    dead: DeadTime,
    over: bool,
}

impl SharedPulse {
    fn lock(&self) -> MutexGuard<'_, PulseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn seen(recorders: Option<&Recorders>) -> ProgressSample {
    let (mut ended, mut deadlocks) = (0, 0);
    for recorder in recorders.into_iter().flat_map(Recorders::iter) {
        let (of_recorder, by_deadlock) = recorder.ended();
        ended += of_recorder;
        deadlocks += by_deadlock;
    }
    ProgressSample {
        ended,
        deadlocks,
        used: process_cpu_time(),
        at: Instant::now(),
    }
}

impl Pulse {
    /// Begins to look. Where the system refuses a thread, only the ends of the run are looked at.
    pub fn new(recorders: Arc<Recorders>) -> Self {
        Self::begin(Some(recorders))
    }

    /// Begins to look whether this process runs, and at nothing else.
    pub fn of_client() -> Self {
        Self::begin(None)
    }

    fn begin(recorders: Option<Arc<Recorders>>) -> Self {
        let shared = Arc::new(SharedPulse {
            state: Mutex::new(PulseState {
                dead: DeadTime::new(seen(recorders.as_deref())),
                over: false,
            }),
            recorders,
            over: Condvar::new(),
        });
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("pulse".into())
            .stack_size(STACK)
            .spawn(move || watch(&watched));
        Self {
            shared,
            thread: thread.ok(),
        }
    }

    /// What was seen until now does not count.
    pub fn restart(&self) {
        let now = seen(self.shared.recorders.as_deref());
        self.shared.lock().dead.restart(now);
    }

    /// No transaction is to begin any more.
    pub fn closing(&self) {
        let now = seen(self.shared.recorders.as_deref());
        self.shared.lock().dead.closing(now);
    }

    /// The run is over; the stretches in which nothing ended, in order.
    pub fn end(&self) -> Vec<Stretch> {
        let now = seen(self.shared.recorders.as_deref());
        let mut state = self.shared.lock();
        state.over = true;
        self.shared.over.notify_all();
        state.dead.end(now);
        state.dead.stretches().to_vec()
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.over.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing to give back.
            let _ = thread.join();
        }
    }
}

fn watch(shared: &SharedPulse) {
    let mut state = shared.lock();
    while !state.over {
        let waited = shared.over.wait_timeout(state, TICK);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.dead.look(seen(shared.recorders.as_deref()));
    }
}
