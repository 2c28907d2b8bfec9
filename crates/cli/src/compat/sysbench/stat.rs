//! A run's figures as sysbench gives them to a script's hooks.

use tidemark_compat::sysbench::Summary;
use tidemark_core::record::Totals;
use tidemark_lua::Stat;
use tidemark_report::{Merged, ReportError};
use tidemark_stats::Histogram;

/// The hook of interval lines.
pub const INTERMEDIATE: &str = "report_intermediate";
/// The hook of the summary.
pub const CUMULATIVE: &str = "report_cumulative";

/// The figures of an interval.
pub fn stat_of_interval(sum: &Merged, percentiles: &[f64]) -> Stat {
    let all = sum.all();
    with_latency(
        all.latency(),
        percentiles,
        Stat {
            threads_running: sum.sessions,
            time_interval: sum.length_ms / 1000.0,
            time_total: sum.end_ms / 1000.0,
            events: all.count,
            reads: sum.statements.read,
            writes: sum.statements.write,
            other: sum.statements.other,
            errors: sum.ignored_errors,
            reconnects: sum.reconnects,
            ..Stat::default()
        },
    )
}

/// The figures of a whole run.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn stat_of_totals(totals: &Totals, percentiles: &[f64]) -> Result<Stat, ReportError> {
    let first = percentiles.iter().copied().find(|p| *p > 0.0);
    let summary = Summary::of_totals(totals, first.as_slice())?;
    let latency = &summary.latency;
    Ok(Stat {
        time_interval: summary.span_s,
        time_total: summary.total_time_s,
        latency_pct: latency
            .percentiles_ms
            .first()
            .map_or(0.0, |(_, ms)| ms / 1e3),
        latency_min: latency.min_ms / 1e3,
        latency_max: latency.max_ms / 1e3,
        latency_avg: latency.avg_ms / 1e3,
        latency_sum: latency.sum_ms / 1e3,
        events: summary.transactions,
        reads: summary.statements.read,
        writes: summary.statements.write,
        other: summary.statements.other,
        errors: summary.ignored_errors,
        reconnects: summary.reconnects,
        threads_running: 0,
    })
}

fn with_latency(latency: &Histogram, percentiles: &[f64], stat: Stat) -> Stat {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let first = percentiles.iter().copied().find(|p| *p > 0.0);
    Stat {
        latency_pct: first.map_or(0.0, |p| seconds(latency.percentile_ns(p))),
        latency_min: seconds(latency.min_ns()),
        latency_max: seconds(latency.max_ns()),
        latency_avg: latency.mean_ns() / 1e9,
        latency_sum: latency.sum_ns() as f64 / 1e9,
        ..stat
    }
}
