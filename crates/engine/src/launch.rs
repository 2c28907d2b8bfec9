//! Starting a run: executor threads, sessions, terminals.

mod limits;
mod thread;

use crate::control::{Control, StopHandle};
use crate::error::EngineError;
use crate::pool::Think;
use crate::recorder::Recorder;
use crate::recorders::Recorders;
use crate::samples::SampleLog;
use crate::session::SharedRun;
use limits::{Limits, within_open_files};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use thread::ThreadShare;
use tidemark_core::record::HostRole;
use tidemark_core::{ErrorKind, FewerSessions, RunSpec, ThinkTime};
use tidemark_drivers::Connector;
use tidemark_drivers::settings::SessionLimit;
use tidemark_runtime::allowed_cores;
use tidemark_workloads::Workload;

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

/// What all clients of a run have together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllClients {
    pub sessions: usize,
    pub terminals: usize,
    /// Transactions of each session, where none does another's.
    pub each: Option<u64>,
}

impl AllClients {
    pub fn of(spec: &RunSpec, workload: &dyn Workload) -> Self {
        let terminals = spec.terminals.max(1) as u64;
        // Terminals of a pool have no session of their own.
        let is_each = workload.events_are_each() && spec.terminals == spec.sessions;
        let events = spec
            .events
            .filter(|n| is_each && n.is_multiple_of(terminals));
        Self {
            sessions: spec.sessions,
            terminals: spec.terminals,
            each: events.map(|n| n / terminals),
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
        let in_place = wait_in_place(spec, connector, workload.as_ref(), sessions, cores);
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
/// few too. Whoever waits for anything but replies needs an executor.
fn wait_in_place(
    spec: &RunSpec,
    connector: &Connector,
    workload: &dyn Workload,
    sessions: usize,
    cores: usize,
) -> bool {
    let most_a_core = match workload.shares_by_thread() {
        true => 1,
        false => IN_PLACE_A_CORE,
    };
    !connector.is_blocking()
        && sessions <= most_a_core * cores
        && spec.executors.is_none()
        && !spec.pacing.is_open_loop()
        && spec.terminals == spec.sessions
        && spec.think_time == ThinkTime::None
        && !workload.paces()
        && spec.inject_rtt.is_zero()
        && spec.statement_timeout.is_none()
}

/// Whether terminals share sessions: those that think leave theirs to others meanwhile.
fn shares_sessions(spec: &RunSpec, workload: &dyn Workload) -> bool {
    let thinks = workload.paces() || Think::Run(spec.think_time).is_any();
    !spec.pacing.is_open_loop() && (spec.terminals != spec.sessions || thinks)
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
