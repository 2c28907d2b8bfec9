//! How long steps take, as far as that can be said before.

use crate::command::{Phase, options_of};
use crate::file::Study;
use crate::matrix::Cell;
use std::time::Duration;
use tidemark_workloads::Runs;

/// Connecting, looking at tables before and after, and what is written.
const AROUND_A_RUN: Duration = Duration::from_secs(1);

/// What a step of a cell takes: exact for a timed run but for what is around it, a guess for loads
/// and for runs that end by themselves.
pub(crate) fn expected(study: &Study, cell: &Cell<'_>, phase: Phase) -> Duration {
    let workload = cell.workload;
    let given = |option: &str, default: f64| number(cell, option, default);
    match (phase, workload.family.runs, workload.time) {
        (Phase::Load, ..) => AROUND_A_RUN + seconds((workload.family.load_s)(&given)),
        (Phase::Run, Runs::Queries(run_s), None) => AROUND_A_RUN + seconds(run_s(&given)),
        _ => {
            let warmup = workload.warmup.unwrap_or(study.warmup);
            AROUND_A_RUN + warmup + workload.time.unwrap_or(study.time)
        }
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn number(cell: &Cell<'_>, option: &str, default: f64) -> f64 {
    let options = options_of(cell);
    let given = options.iter().find(|o| o.name.replace('_', "-") == option);
    given
        .and_then(|o| o.value.parse().ok())
        .filter(|n: &f64| n.is_finite() && *n >= 0.0)
        .unwrap_or(default)
}
