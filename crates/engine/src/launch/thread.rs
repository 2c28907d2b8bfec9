//! A thread of a run: it opens its sessions and runs what they do.

use super::{share, shares_sessions};
use crate::error::EngineError;
use crate::gate::Gate;
use crate::pool::{Pool, Think};
use crate::run_queue::RunQueue;
use crate::session::{SessionTask, SessionWaits, SharedRun, take_over};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidemark_core::ErrorKind;
use tidemark_runtime::{BusyPoll, Executor, Sleepers, do_not_preempt, sleep_unless, spawn};

/// Connections that one executor opens at a time: more would overflow a server's accept queue,
/// and a dropped SYN costs a second.
const CONNECT_LANES: usize = 16;

/// One thread's part of a run: sessions and terminals number `thread`, `thread + threads`, …
pub(super) struct ThreadShare {
    pub thread: usize,
    pub threads: usize,
    pub sessions: usize,
    pub shared: Arc<SharedRun>,
}

impl ThreadShare {
    pub fn run(&self) -> Result<(), EngineError> {
        let shared = &self.shared;
        if shared.spec.yield_to_server && !shared.connector.is_blocking() {
            // A system that has no such thing schedules as it always does.
            let _taken = do_not_preempt();
        }
        let mut executor = Executor::new()?;
        shared.control.attach(executor.remote());
        let pool = self.pool();
        if let Some(pool) = &pool {
            let (pool, control) = (Rc::clone(pool), Arc::clone(&shared.control));
            executor.spawn(async move {
                while control.is_waiting() {
                    tidemark_runtime::remote_signal().await;
                }
                pool.start();
                pool.run_clock(&control).await;
            });
        }
        let mine = share(self.sessions, self.threads, self.thread);
        let lanes = CONNECT_LANES.min(mine);
        let next = Rc::new(Cell::new(0));
        let waits = Rc::new(SessionWaits {
            gate: Gate::new(CONNECT_LANES),
            idle: Sleepers::default(),
            queue: RunQueue::default(),
        });
        if let Some(busy_poll) = self.busy_poll(&waits) {
            executor.busy_poll(busy_poll);
        }
        let open = Rc::new(Cell::new(lanes));
        for _ in 0..lanes {
            let lane = LaunchLane {
                shared: Arc::clone(shared),
                pool: pool.clone(),
                next: Rc::clone(&next),
                waits: Rc::clone(&waits),
                mine,
                first: self.thread,
                threads: self.threads,
                begun: Instant::now(),
            };
            let open = Rc::clone(&open);
            executor.spawn(async move {
                let control = Arc::clone(&lane.shared.control);
                lane.run().await;
                open.set(open.get() - 1);
                if open.get() == 0 {
                    control.opening.fetch_sub(1, Ordering::AcqRel);
                }
            });
        }
        executor.run()?;
        shared.control.waited(waits.queue.share());
        Ok(())
    }

    /// How this thread awaits arrivals, where it is to stay awake for them: it also looks after those
    /// of the others that are late then.
    fn busy_poll(&self, waits: &Rc<SessionWaits>) -> Option<BusyPoll> {
        let (shared, thread) = (&self.shared, self.thread);
        let ahead = shared.spec.busy_poll;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // Where each session has a thread, or there are more threads than processors, those that wait
        // would keep others from their work.
        if ahead.is_zero() || shared.connector.is_blocking() || self.threads > cores {
            return None;
        }
        shared.control.arrivals.as_ref()?;
        let (control, idle, sleeping) = (
            Arc::clone(&shared.control),
            Rc::clone(waits),
            Rc::clone(waits),
        );
        Some(BusyPoll {
            ahead,
            next: Box::new(move || sleeping.idle.first()),
            find_work: Box::new(move |now| take_over(&control, &idle.idle, thread, now)),
        })
    }

    /// The terminals that share this thread's sessions; `None` where each session has its own.
    fn pool(&self) -> Option<Rc<Pool>> {
        let spec = &self.shared.spec;
        let workload = &self.shared.workload;
        let think = if workload.paces() {
            Think::Terminal
        } else {
            Think::Run(spec.think_time)
        };
        if !shares_sessions(spec, workload.as_ref()) {
            return None;
        }
        let terminals = (self.thread..spec.terminals)
            .step_by(self.threads)
            .map(|n| Box::new(self.shared.terminal(n, self.shared.whole.terminals)))
            .collect();
        let thread = spec.shard.global(self.thread as u64);
        let seed = spec.seed.wrapping_add(thread);
        Some(Rc::new(Pool::new(terminals, think, seed)))
    }
}

/// Apart from the lane, whose stack would hold the session's kilobytes a second time as long as it
/// opens; with a thread a session that is memory.
#[inline(never)]
fn begin(session: SessionTask, pool: Option<Rc<Pool>>) {
    spawn(Box::new(session).run(pool));
}

/// Opens sessions, one after the other.
struct LaunchLane {
    shared: Arc<SharedRun>,
    pool: Option<Rc<Pool>>,
    /// The executor's next session that no lane has taken.
    next: Rc<Cell<usize>>,
    waits: Rc<SessionWaits>,
    /// The executor's sessions.
    mine: usize,
    first: usize,
    threads: usize,
    begun: Instant,
}

impl LaunchLane {
    async fn run(self) {
        let control = &self.shared.control;
        loop {
            let turn = self.next.get();
            if turn >= self.mine || control.is_stopping() || control.full().is_some() {
                return;
            }
            self.next.set(turn + 1);
            let number = self.first + turn * self.threads;
            if let Some(rate) = self.shared.spec.connect_rate {
                let due = self.begun + Duration::from_secs_f64(number as f64 / rate);
                if !sleep_unless(due, || control.is_stopping()).await {
                    return;
                }
            }
            let shared = Arc::clone(&self.shared);
            match SessionTask::open(shared, number, Rc::clone(&self.waits)).await {
                Ok(session) => {
                    control.ready.fetch_add(1, Ordering::AcqRel);
                    begin(session, self.pool.clone());
                }
                Err(EngineError::Connect { error, .. })
                    if error.kind == ErrorKind::TooManySessions =>
                {
                    return control.set_full(error);
                }
                Err(EngineError::Init { error, .. })
                    if error.kind == ErrorKind::TooManyStatements =>
                {
                    return control.set_full(error);
                }
                Err(error) => return control.fail(error),
            }
        }
    }
}
