//! How the cost of a transaction changes over a run.

use crate::measured::SummedSeries;
use crate::seen::Observations;
use crate::thresholds::THIRD_MS;

/// Growth of the server's CPU for each transaction from the first third of the run to the last, as a share
/// of the first. `None` where the server's processes were not seen, or for too short.
pub(super) fn of_cpu(seen: &Observations<'_>) -> Option<f64> {
    let cpu = &seen.server.as_ref()?.cpu;
    let (from_s, to_s) = cpu.range();
    let third_ms = (to_s - from_s) * 1000.0 / 3.0;
    if third_ms < THIRD_MS {
        return None;
    }
    let cost = |from_ms: f64| -> Option<f64> {
        let rate = rate(seen, from_ms, from_ms + third_ms);
        let used = mean(cpu, from_ms, from_ms + third_ms)?;
        (rate > 0.0).then(|| used / rate)
    };
    let first = cost(from_s * 1000.0)?;
    let last = cost(to_s * 1000.0 - third_ms)?;
    (first > 0.0).then(|| last / first - 1.0)
}

fn mean(column: &SummedSeries, from_ms: f64, to_ms: f64) -> Option<f64> {
    let is_in = |at: i64| (from_ms..to_ms).contains(&(at as f64));
    let points = column.points.iter().filter(|(at, _)| is_in(*at));
    let (sum, count) = points.fold((0.0, 0.0), |(sum, n), (_, value)| (sum + value, n + 1.0));
    (count > 0.0).then(|| sum / count)
}

fn rate(seen: &Observations<'_>, from_ms: f64, to_ms: f64) -> f64 {
    let rates = seen.series.rates();
    let within = rates
        .iter()
        .filter(|(from, to, _)| (from_ms..to_ms).contains(&((from + to) / 2.0)));
    let within: Vec<f64> = within.map(|(_, _, rate)| *rate).collect();
    tidemark_stats::mean(within.into_iter())
}
