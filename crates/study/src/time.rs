//! How long steps take, as far as that can be said before.

use crate::file::Study;
use crate::matrix::MatrixCell;
use std::time::Duration;
use tidemark_core::{JobKind, OptionValues};
use tidemark_workloads::Runs;

/// Connecting, looking at tables before and after, and what is written.
const AROUND_A_RUN: Duration = Duration::from_secs(1);

/// What a step of a cell takes with these options: exact for a timed run but for what is around it, a
/// guess for loads and for runs that end by themselves.
pub(crate) fn expected(
    study: &Study,
    cell: &MatrixCell<'_>,
    kind: JobKind,
    options: &OptionValues,
) -> Duration {
    let workload = cell.workload;
    let seconds = |s: f64| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX);
    match (kind, workload.family.runs, workload.time) {
        (JobKind::Load, ..) => {
            AROUND_A_RUN.saturating_add(seconds((workload.family.load_s)(options)))
        }
        (JobKind::Run, Runs::Queries(run_s), None) => {
            AROUND_A_RUN.saturating_add(seconds(run_s(options)))
        }
        _ => {
            let warmup = workload.warmup.unwrap_or(study.warmup);
            AROUND_A_RUN + warmup + workload.time.unwrap_or(study.time)
        }
    }
}
