//! A run: connect, warm up, measure, drain.

use crate::control::StopHandle;
use crate::error::EngineError;
use crate::interval::Names;
use crate::launch::{AllClients, Crew};
use crate::lead::{Lead, LeadEvent, wait_until};
use crate::measure::Measurement;
use crate::samples::SampleLog;
use crate::tally::ErrorTally;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::record::{
    DeadTime, ErrorCount, Interval, Outage, Phase, RunState, Step, Totals,
};
use tidemark_core::{Pacing, RunSpec};
use tidemark_drivers::Connector;
use tidemark_runtime::take_short_turns;
use tidemark_workloads::Workload;

/// What a run tells while it goes on.
pub trait RunObserver {
    /// All sessions are connected and prepared; load begins.
    fn started(&mut self, started: &Started);
    /// Errors were counted since the last call, in this phase; an interval's come just before it.
    fn errors(&mut self, phase: Phase, errors: &[ErrorCount]) {
        let _ = (phase, errors);
    }
    /// An interval ended.
    fn interval(&mut self, interval: &Interval);
    /// A span between two checkpoints ended; `seconds` from the start of the measurement.
    fn checkpoint(&mut self, seconds: f64, totals: &Totals);
    /// The run is over, and transactions in progress keep it from its end.
    fn waiting(&mut self) {}
    /// A rate was held for its time, and what came of it.
    fn step(&mut self, step: &Step) {
        let _ = step;
    }
}

/// How the load began.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    /// Sessions connected.
    pub sessions: usize,
    /// What kept the others from being opened, where they are fewer than asked for.
    pub fewer_because: Option<String>,
    /// Executor threads.
    pub executors: usize,
    /// Time it took to connect and prepare all sessions.
    pub connect_time: Duration,
    /// How long after this the load begins: nothing but in a led run.
    pub ahead: Duration,
}

/// What goes with a run beside its observer.
#[derive(Clone, Copy, Default)]
pub struct RunExtras<'a> {
    /// Where every transaction that counts goes, with the run's number.
    pub samples: Option<(&'a SampleLog, u16)>,
    /// Who leads it from outside.
    pub lead: Option<&'a Lead>,
}

/// What a run measured.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// How it ended.
    pub state: RunState,
    /// The error, when it ended by one.
    pub failure: Option<EngineError>,
    /// Executor threads used.
    pub executors: usize,
    /// Sessions that could be had.
    pub sessions_opened: usize,
    /// Totals of the measurement; where a search looked for the rate, of its confirmation, or of the
    /// last rate tried.
    pub totals: Totals,
    /// Totals since the last checkpoint; of the whole measurement when there was none.
    pub since_checkpoint: Totals,
    /// Rates that followed each other, in order.
    pub steps: Vec<Step>,
    /// Times in which a host could not be reached, in order.
    pub outages: Vec<Outage>,
    /// Stretches in which no transaction ended, in order; `None` where nobody looked.
    pub dead_times: Option<Vec<DeadTime>>,
    /// Errors by code, over the whole measurement.
    pub errors: ErrorTally,
    /// Threads of the load that waited for a processor on average, warm-up included; `None` where the
    /// system does not tell.
    pub waiting_threads: Option<f64>,
    /// Transactions and busy time of each session, in order.
    pub sessions: Vec<(u64, Duration)>,
}

/// Runs `workload` on the connector's target as `spec` asks, and tells `observer`. `checkpoints`
/// are moments from the start of the measurement, in order.
///
/// # Errors
/// When no load could be made at all: sessions refused, statements not prepared, out of time. A
/// run that fails after its start gives what it measured, with [`RunResult::failure`].
pub fn run(
    spec: &RunSpec,
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    checkpoints: &[Duration],
    stop: &StopHandle,
    observer: &mut dyn RunObserver,
) -> Result<RunResult, EngineError> {
    let beside = RunExtras::default();
    run_beside(
        spec,
        connector,
        workload,
        checkpoints,
        stop,
        observer,
        beside,
    )
}

/// As [`run`]; every transaction that counts goes to a log, and somebody may lead it from outside. Of a
/// run that several clients share ([`RunSpec::shard`]) it does this client's part.
///
/// # Errors
/// As [`run`]; [`EngineError::Unsupported`] of a run that can't be shared so.
pub fn run_beside(
    spec: &RunSpec,
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    checkpoints: &[Duration],
    stop: &StopHandle,
    observer: &mut dyn RunObserver,
    beside: RunExtras<'_>,
) -> Result<RunResult, EngineError> {
    let begun = Instant::now();
    let lead = beside.lead;
    let whole = AllClients::of(spec, workload.as_ref());
    let mut spec = own(spec, lead)?;
    if let Some(each) = whole.each {
        // Clients may have different numbers of sessions.
        spec.events = Some(each.saturating_mul(spec.sessions as u64));
    }
    let spec = &spec;
    if !spec.shard.is_whole() {
        workload.deal(spec.shard);
    }
    let crew = Crew::launch(spec, whole, connector, workload, beside.samples)?;
    let give_up = |error: EngineError| {
        crew.control.fail(error.clone());
        crew.control.abort();
        crew.explain(error, connector)
    };
    let sessions = crew.wait_until_ready(spec, stop).map_err(give_up)?;
    let mut started = Started {
        sessions,
        fewer_because: crew.why_fewer(spec, sessions),
        executors: crew.recorders.len(),
        connect_time: begun.elapsed(),
        ahead: Duration::ZERO,
    };
    let mut start = None;
    if let Some(lead) = lead {
        // What the first statements of other clients on this host take is not to delay this one's.
        let _taken = take_short_turns();
        lead.tell(LeadEvent::Ready(started.clone()));
        let failed = || crew.control.failure().is_some();
        let Some(at) = lead.wait_for_start(stop, failed) else {
            let failure = crew.control.failure();
            return Err(give_up(failure.unwrap_or(EngineError::Interrupted)));
        };
        started.ahead = at.saturating_duration_since(Instant::now());
        start = Some(at);
    }
    observer.started(&started);
    if start.is_some_and(|at| !wait_until(at, stop)) {
        return Err(give_up(EngineError::Interrupted));
    }
    let names = Names {
        types: workload.transaction_types(),
        notes: workload.notes(),
    };
    let begun = start.unwrap_or_else(Instant::now);
    let mut measurement = Measurement::new(spec, names, crew, sessions, begun, lead);
    Ok(measurement.run(checkpoints, stop, observer))
}

/// This client's part of a run.
fn own(spec: &RunSpec, lead: Option<&Lead>) -> Result<RunSpec, EngineError> {
    if spec.shard.is_whole() {
        return Ok(spec.clone());
    }
    let unsupported = |reason: String| EngineError::Unsupported(reason);
    spec.check_shard().map_err(|e| unsupported(e.to_string()))?;
    if matches!(spec.pacing, Pacing::FindMax(_)) && lead.is_none() {
        return Err(unsupported(format!(
            "shard {}: a search for the highest rate is decided by the figures of all clients \
             together; run it with --clients, or give fixed rates",
            spec.shard
        )));
    }
    Ok(spec.own())
}
