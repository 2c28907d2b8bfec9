//! A run: connect, warm up, measure, drain.

use crate::control::StopHandle;
use crate::error::EngineError;
use crate::interval::Names;
use crate::launch::Crew;
use crate::measure::Measurement;
use crate::samples::SampleLog;
use crate::tally::ErrorTally;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::RunSpec;
use tidemark_core::record::{
    DeadTime, ErrorCount, Interval, Outage, Phase, RunState, Step, Totals,
};
use tidemark_drivers::Connector;
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
    run_sampled(spec, connector, workload, checkpoints, stop, observer, None)
}

/// As [`run`], and every transaction that counts goes to the log, with the run's number.
///
/// # Errors
/// As [`run`].
pub fn run_sampled(
    spec: &RunSpec,
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    checkpoints: &[Duration],
    stop: &StopHandle,
    observer: &mut dyn RunObserver,
    samples: Option<(&SampleLog, u16)>,
) -> Result<RunResult, EngineError> {
    let begun = Instant::now();
    let crew = Crew::launch(spec, connector, workload, samples)?;
    let sessions = crew.wait_until_ready(spec, stop).map_err(|error| {
        crew.control.fail(error.clone());
        crew.control.abort();
        crew.explain(error, connector)
    })?;
    observer.started(&Started {
        sessions,
        fewer_because: crew.why_fewer(spec, sessions),
        executors: crew.recorders.len(),
        connect_time: begun.elapsed(),
    });
    let names = Names {
        types: workload.transaction_types(),
        notes: workload.notes(),
    };
    let mut measurement = Measurement::new(spec, names, crew, sessions);
    Ok(measurement.run(checkpoints, stop, observer))
}
