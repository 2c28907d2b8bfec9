//! Starting a run: executor threads, sessions, terminals.

use crate::control::{Control, StopHandle};
use crate::error::EngineError;
use crate::gate::Gate;
use crate::load::{on_session, statement};
use crate::pool::{Pool, Think};
use crate::recorder::Recorder;
use crate::recorders::Recorders;
use crate::run_queue::RunQueue;
use crate::samples::SampleLog;
use crate::session::{SessionTask, SessionWaits, SharedRun, take_over};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tidemark_core::record::HostRole;
use tidemark_core::{DbError, ErrorKind, FewerSessions, RunSpec, ThinkTime};
use tidemark_drivers::settings::{SessionLimit, StatementLimit, session_limit, statement_limit};
use tidemark_drivers::{Connector, Session};
use tidemark_runtime::{
    BusyPoll, Executor, Sleepers, allowed_cores, do_not_preempt, raise_open_files, sleep_unless,
    spawn,
};
use tidemark_workloads::Workload;

/// Connections that one executor opens at a time: more would overflow a server's accept queue,
/// and a dropped SYN costs a second.
const CONNECT_LANES: usize = 16;
/// Stack of a thread that runs one blocking session.
const BLOCKING_STACK: usize = 512 * 1024;
/// Sessions a core that wait in a read of their own: at 8 that takes a sixth less processor time than
/// executors do, at 32 it takes a fifth to a quarter more (`bench/vs-sysbench` at 16 and 64 sessions
/// on two cores).
const IN_PLACE_A_CORE: usize = 8;
/// So many sessions are not worth asking for the target's limits.
const FEW_SESSIONS: usize = 32;
/// How long a thread may take to close its sessions before the server is asked for its limit.
const CLOSING: Duration = Duration::from_secs(1);
/// Files that are open beside the sessions' sockets: the store, pollers, the report.
const OTHER_FILES: u64 = 64;

/// What all clients of a run have together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllClients {
    pub sessions: usize,
    pub terminals: usize,
}

impl AllClients {
    pub fn of(spec: &RunSpec) -> Self {
        Self {
            sessions: spec.sessions,
            terminals: spec.terminals,
        }
    }
}

/// The threads of a run, and what the controller shares with them.
pub(crate) struct Crew {
    pub control: Arc<Control>,
    pub recorders: Arc<Recorders>,
    pub hosts: Arc<[(String, HostRole)]>,
    /// Threads started.
    pub threads: usize,
    /// Each thread's end.
    pub ended: Receiver<Result<(), EngineError>>,
    /// Sessions that are to be opened.
    pub sessions: usize,
    /// Whether terminals share sessions.
    shares: bool,
    limits: Limits,
    /// What this process itself allows, where that is fewer sessions than were asked for.
    within: Option<String>,
}

impl Crew {
    /// Starts the threads, which open their sessions and wait for the start. `spec` is of this client
    /// alone.
    ///
    /// # Errors
    /// [`EngineError::TooFewSessions`] when the process may not have so many sockets, and
    /// [`EngineError::System`].
    pub fn launch(
        spec: &RunSpec,
        whole: AllClients,
        connector: &Connector,
        workload: &Arc<dyn Workload>,
        samples: Option<(&SampleLog, u16)>,
    ) -> Result<Self, EngineError> {
        let control = Arc::new(Control::new(spec));
        let (sessions, within) = if connector.is_blocking() {
            (spec.sessions, None)
        } else {
            within_open_files(spec, connector, workload.only_reads())?
        };
        let limits = if sessions > FEW_SESSIONS && !connector.is_blocking() {
            Limits::of(connector)
        } else {
            Limits::default()
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let executors = spec.executors.unwrap_or(cores).clamp(1, sessions.max(1));
        let in_place = wait_in_place(spec, connector, workload.paces(), sessions, cores);
        // They have a thread each, and share counters as if they had executors, or by core.
        let threads = if connector.is_blocking() || in_place {
            sessions
        } else {
            executors
        };
        let hosts: Arc<[(String, HostRole)]> = hosts(connector).into();
        let types = workload.transaction_types().len();
        let make = |mine| Recorder::new(types, mine, hosts.len());
        let cores = match in_place && sessions > executors {
            true => allowed_cores(),
            false => Vec::new(),
        };
        let recorders = Arc::new(Recorders::new(executors, sessions, &cores, make));
        if let Some((log, run)) = samples {
            let counts = spec.warmup.is_zero();
            let sample = |r: &Arc<Recorder>| r.sample(log.sampler(run, counts));
            recorders.iter().for_each(sample);
        }
        control.opening.store(threads, Ordering::Release);
        let (done, ended) = channel();
        let shared = Arc::new(SharedRun {
            spec: spec.clone(),
            whole,
            connector: connector.clone(),
            workload: Arc::clone(workload),
            noted_error: workload.noted_error(),
            control: Arc::clone(&control),
            recorders: Arc::clone(&recorders),
            threads,
            hosts: Arc::clone(&hosts),
            in_place,
        });
        for thread in 0..threads {
            let part = ThreadShare {
                thread,
                threads,
                sessions,
                shared: Arc::clone(&shared),
            };
            let done = done.clone();
            let mut builder = std::thread::Builder::new().name(format!("executor-{thread}"));
            if connector.is_blocking() || in_place {
                builder = builder.stack_size(BLOCKING_STACK);
            }
            builder.spawn(move || {
                // A panic must fail the run and not leave it with fewer sessions than it says.
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| part.run()))
                    .unwrap_or_else(|_| {
                        Err(EngineError::System("an executor thread panicked".into()))
                    });
                if let Err(error) = &result {
                    part.shared.control.fail(error.clone());
                }
                // The controller has gone when nobody listens.
                let _ = done.send(result);
            })?;
        }
        Ok(Self {
            control,
            recorders,
            hosts,
            threads,
            ended,
            sessions,
            shares: shares_sessions(spec, workload.as_ref()),
            limits,
            within,
        })
    }

    /// Threads without sessions, which somebody else has started.
    pub fn without_sessions(
        control: Arc<Control>,
        recorders: Arc<Recorders>,
        threads: usize,
        ended: Receiver<Result<(), EngineError>>,
    ) -> Self {
        Self {
            control,
            recorders,
            hosts: Arc::new([]),
            threads,
            ended,
            sessions: threads,
            shares: false,
            limits: Limits::default(),
            within: None,
        }
    }

    /// The error of a run that can't begin, with the server's limit in it: before few sessions it was
    /// not asked for, and there is room for asking once those that could be had are closed.
    pub fn explain(&self, error: EngineError, connector: &Connector) -> EngineError {
        let (
            EngineError::TooFewSessions {
                asked, possible, ..
            },
            Some(full),
        ) = (&error, self.control.full())
        else {
            return error;
        };
        if self.limits.sessions.is_some() || full.kind != ErrorKind::TooManySessions {
            return error;
        }
        for _ in 0..self.threads {
            if self.ended.recv_timeout(CLOSING).is_err() {
                break;
            }
        }
        match Limits::of(connector).sessions {
            None => error,
            Some(SessionLimit { name, limit, .. }) => EngineError::TooFewSessions {
                asked: *asked,
                possible: *possible,
                reason: format!("the server's {name} is {limit} ({})", full.message),
            },
        }
    }

    /// Why `ready` sessions are fewer than were asked for; `None` when they are not.
    pub fn why_fewer(&self, spec: &RunSpec, ready: usize) -> Option<String> {
        if ready >= spec.sessions {
            return None;
        }
        match self.control.full() {
            Some(error) => {
                let each = self.control.prepared.load(Ordering::Acquire);
                Some(self.limits.reason(spec.sessions, each, error))
            }
            None => self.within.clone(),
        }
    }

    /// Terminals that share the sessions of an executor without one would never run. Where each
    /// session has its own, an executor that came too late for any has nothing to do.
    fn each_terminal_runs(&self) -> bool {
        !self.shares || self.recorders.iter().all(|r| r.has_sessions())
    }

    /// Waits until all sessions are open, or as many as can be had; gives their number.
    ///
    /// # Errors
    /// The first session's error, [`EngineError::InitTimeout`], [`EngineError::TooFewSessions`],
    /// [`EngineError::Interrupted`].
    pub fn wait_until_ready(
        &self,
        spec: &RunSpec,
        stop: &StopHandle,
    ) -> Result<usize, EngineError> {
        // A paced rate is not late while it keeps its pace.
        let paced = spec.connect_rate.map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64(self.sessions as f64 / rate)
        });
        let after = spec.init_timeout + paced;
        let deadline = Instant::now() + after;
        loop {
            let opening = self.control.opening.load(Ordering::Acquire);
            let ready = self.control.ready.load(Ordering::Acquire);
            if let Some(error) = self.control.failure() {
                return Err(error);
            }
            if ready >= self.sessions {
                return Ok(ready);
            }
            if let Some(error) = self.control.full().filter(|_| opening == 0) {
                if spec.fewer_sessions == FewerSessions::GoOn
                    && ready > 0
                    && self.each_terminal_runs()
                {
                    return Ok(ready);
                }
                let each = self.control.prepared.load(Ordering::Acquire);
                return Err(EngineError::TooFewSessions {
                    asked: spec.sessions,
                    possible: ready,
                    reason: self.limits.reason(spec.sessions, each, error),
                });
            }
            if stop.is_stopped() {
                return Err(EngineError::Interrupted);
            }
            if Instant::now() >= deadline {
                return Err(EngineError::InitTimeout {
                    ready,
                    asked: self.sessions,
                    after,
                });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Whether each session waits for its replies in a read, on a thread of its own. The operating
/// system is quicker to wake a thread for its one socket than an executor for one of several, as
/// long as threads are few; and several replies together, for which an executor wakes once, are then
/// few too. Whoever waits for anything but replies (`paced`: of the terminals' own will) needs an
/// executor.
fn wait_in_place(
    spec: &RunSpec,
    connector: &Connector,
    paced: bool,
    sessions: usize,
    cores: usize,
) -> bool {
    !connector.is_blocking()
        && sessions <= IN_PLACE_A_CORE * cores
        && spec.executors.is_none()
        && !spec.pacing.is_open_loop()
        && spec.terminals == spec.sessions
        && spec.think_time == ThinkTime::None
        && !paced
        && spec.inject_rtt.is_zero()
        && spec.statement_timeout.is_none()
}

/// Whether terminals share sessions: those that think leave theirs to others meanwhile.
fn shares_sessions(spec: &RunSpec, workload: &dyn Workload) -> bool {
    let thinks = workload.paces() || Think::Run(spec.think_time).is_any();
    !spec.pacing.is_open_loop() && (spec.terminals != spec.sessions || thinks)
}

/// The sessions that the process may have, and why they are fewer than were asked for.
fn within_open_files(
    spec: &RunSpec,
    connector: &Connector,
    only_reads: bool,
) -> Result<(usize, Option<String>), EngineError> {
    let Some(limit) = raise_open_files() else {
        return Ok((spec.sessions, None));
    };
    // A session that reads from a replica and writes to the primary has two.
    let sockets = 1 + u64::from(!only_reads && !connector.target().readers.is_empty());
    let most = limit.saturating_sub(OTHER_FILES) / sockets;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if spec.sessions <= most {
        return Ok((spec.sessions, None));
    }
    let reason = format!("this process may open {limit} files (ulimit -n)");
    if spec.fewer_sessions == FewerSessions::GoOn && most > 0 {
        return Ok((most, Some(reason)));
    }
    Err(EngineError::TooFewSessions {
        asked: spec.sessions,
        possible: most,
        reason,
    })
}

/// What the target says of its limits, for when it refuses a session or its statements. They are no
/// ground to refuse any before: a pool in front of it may take more.
#[derive(Debug, Default)]
struct Limits {
    sessions: Option<SessionLimit>,
    statements: Option<StatementLimit>,
}

impl Limits {
    fn of(connector: &Connector) -> Self {
        let limits = on_session(connector, async |session: &mut Session| {
            Ok(Self {
                sessions: session_limit(session).await.map_err(statement)?,
                statements: statement_limit(session).await.map_err(statement)?,
            })
        });
        limits.unwrap_or_default()
    }

    /// Why no more sessions can be had of those asked for, each of which has the server keep `each`
    /// statements.
    fn reason(&self, asked: usize, each: usize, error: DbError) -> String {
        let told = if error.kind == ErrorKind::TooManyStatements {
            self.statements.map(|limit| {
                let StatementLimit {
                    limit,
                    in_use,
                    name,
                } = limit;
                let all = asked.saturating_mul(each);
                let told =
                    format!("the server's {name} is {limit}, of which {in_use} were in use before");
                // None was opened whole, so nobody knows how many it prepares.
                match each {
                    0 => told,
                    _ => format!("{told}, and {asked} sessions need {all}, {each} each"),
                }
            })
        } else {
            self.sessions.map(|limit| {
                // The asking session will have gone.
                let others = limit.in_use.saturating_sub(1);
                let SessionLimit { name, limit, .. } = limit;
                format!("the server's {name} is {limit}, of which {others} were in use before")
            })
        };
        match told {
            Some(told) => format!("{told} ({})", error.message),
            None => error.message,
        }
    }
}

fn hosts(connector: &Connector) -> Vec<(String, HostRole)> {
    let hosts = connector.hosts().iter();
    hosts
        .map(|(host, role)| (host.to_string(), *role))
        .collect()
}

/// How many of `count` the `index`-th of `parts` gets.
pub(crate) fn share(count: usize, parts: usize, index: usize) -> usize {
    count / parts + usize::from(index < count % parts)
}

/// One thread's part of a run: sessions and terminals number `thread`, `thread + threads`, …
struct ThreadShare {
    thread: usize,
    threads: usize,
    sessions: usize,
    shared: Arc<SharedRun>,
}

impl ThreadShare {
    fn run(&self) -> Result<(), EngineError> {
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
