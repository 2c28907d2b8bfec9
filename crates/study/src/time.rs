//! How long steps take, as far as that can be said before.

use crate::Family;
use crate::command::{Phase, options_of};
use crate::file::Study;
use crate::matrix::Cell;
use std::time::Duration;

/// Connecting, looking at tables before and after, and what is written.
const AROUND_A_RUN: Duration = Duration::from_secs(1);

/// What a step of a cell takes: exact for a timed run but for what is around it, a guess for loads
/// and for TPC-H.
pub(crate) fn expected(study: &Study, cell: &Cell<'_>, phase: Phase) -> Duration {
    let workload = cell.workload;
    match (phase, workload.family, workload.time) {
        (Phase::Load, ..) => AROUND_A_RUN + load(cell),
        (Phase::Run, Family::Tpch, None) => {
            AROUND_A_RUN + seconds(QUERIES_S * number(cell, "sf", 1.0))
        }
        _ => {
            let warmup = workload.warmup.unwrap_or(study.warmup);
            AROUND_A_RUN + warmup + workload.time.unwrap_or(study.time)
        }
    }
}

/// TPC-H's 22 queries at scale factor 1, the order of magnitude on a small machine.
const QUERIES_S: f64 = 60.0;

/// In the order of what `bench/` measures with a server on the same two cores.
fn load(cell: &Cell<'_>) -> Duration {
    const ROWS_PER_S: f64 = 150_000.0;
    seconds(match cell.workload.family {
        Family::Sysbench => {
            number(cell, "tables", 1.0) * number(cell, "table-size", 10_000.0) / ROWS_PER_S
        }
        Family::Tpcc => number(cell, "warehouses", 10.0) * 1.5,
        Family::Tpch => number(cell, "sf", 1.0) * 60.0,
        Family::Ycsb => number(cell, "recordcount", 1000.0) / 50_000.0,
    })
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
