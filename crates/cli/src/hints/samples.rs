//! Samples that are to come against what a percentile needs.

use super::Hint;
use tidemark_analysis::thresholds::{PERCENTILE_NEEDED, samples_needed};
use tidemark_analysis::{tells_percentiles, tpcc};
use tidemark_core::record::RunRecord;
use tidemark_core::{Pacing, RunSpec, Source, ThinkTime};

/// Seconds from one transaction of a TPC-C terminal to the next without any response time: a third of
/// what [`tpcc::SETTLE_S`] is three of.
const CYCLE_S: f64 = tpcc::SETTLE_S / 3.0;

pub(super) fn of(record: &RunRecord, load: &RunSpec) -> Option<Hint> {
    if !tells_percentiles(record) {
        return None;
    }
    let (expected, seconds) = expected(record, load)?;
    let percentile = asked(record);
    let needed = samples_needed(percentile);
    let enough = |seconds: f64| (seconds * needed / expected).ceil();
    (expected < needed).then_some(Hint::Samples {
        expected,
        percentile,
        needed,
        enough_s: seconds.map(enough),
    })
}

/// The highest percentile that the user asked for, or the lowest that is any use.
fn asked(record: &RunRecord) -> f64 {
    let given = record.options.get("percentile");
    let given = given.filter(|option| option.source != Source::Default);
    let given = given.map_or("", |option| option.value.as_str());
    let each = given.split(',').filter_map(|p| p.trim().parse().ok());
    let each = each.filter(|p| (0.001..100.0).contains(p));
    each.reduce(f64::max).unwrap_or(PERCENTILE_NEEDED)
}

/// Transactions that will be measured at most, where that can be told: of a run with a rate, a number
/// of transactions, or users who think; and in how many seconds, unless their number ends it.
fn expected(record: &RunRecord, load: &RunSpec) -> Option<(f64, Option<f64>)> {
    let seconds = load.time.map(|time| time.as_secs_f64());
    // With the seconds that they take.
    let by_time = match &load.pacing {
        Pacing::Rate(rate) => seconds.map(|seconds| (seconds * rate, seconds)),
        Pacing::Steps(steps) => Some(steps.iter().fold((0.0, 0.0), |(count, seconds), step| {
            let hold = step.hold.as_secs_f64();
            (count + step.per_second * hold, seconds + hold)
        })),
        Pacing::FindMax(_) => return None,
        Pacing::Closed => pause_s(record, load)
            .zip(seconds)
            .map(|(pause, seconds)| (load.terminals as f64 * seconds / pause, seconds)),
    };
    let by_count = load.events.map(|events| events as f64);
    match by_time {
        Some((count, seconds)) if by_count.is_none_or(|limit| count <= limit) => {
            Some((count, Some(seconds)))
        }
        _ => by_count.map(|limit| (limit, None)),
    }
}

/// The mean pause of a user between two transactions.
fn pause_s(record: &RunRecord, load: &RunSpec) -> Option<f64> {
    let waits = tpcc::waits(record);
    if tpcc::is_tpcc(record) && waits > 0.0 {
        return (!tpcc::waits_for_one(record)).then_some(CYCLE_S * waits);
    }
    match load.think_time {
        ThinkTime::None => None,
        ThinkTime::Constant(mean) | ThinkTime::Exponential(mean) => Some(mean.as_secs_f64()),
    }
    .filter(|mean| *mean > 0.0)
}
