//! One interval of several clients.

use crate::{MergeError, stats};
use tidemark_core::record::{HostLoad, Interval, Phase, StatementCounts};

/// What several clients did at the same time. It is as long as it was for most of them: where one did not
/// run for a while, its interval is longer than the others' and counts all the same.
///
/// # Errors
/// [`MergeError::Nothing`] of none, [`MergeError::Histogram`].
pub fn interval(each: &[&Interval]) -> Result<Interval, MergeError> {
    let Some(first) = each.first() else {
        return Err(MergeError::Nothing);
    };
    let start = median(each.iter().map(|i| i.start_ms as f64));
    let end = median(each.iter().map(|i| i.start_ms as f64 + i.length_ms));
    let place = format!("the interval at {} ms", first.start_ms);
    let sum = |of: fn(&Interval) -> u64| each.iter().fold(0u64, |sum, i| sum.saturating_add(of(i)));
    let rates = each.iter().filter_map(|i| i.rate);
    Ok(Interval {
        start_ms: start.round() as i64,
        length_ms: (end - start).max(0.0),
        phase: match each.iter().any(|i| i.phase == Phase::Measure) {
            true => Phase::Measure,
            false => first.phase,
        },
        sessions: sum(|i| i.sessions),
        statements: statements(each.iter().map(|i| i.statements)),
        ignored_errors: sum(|i| i.ignored_errors),
        reconnects: sum(|i| i.reconnects),
        queue_length: sum(|i| i.queue_length),
        concurrency: sum(|i| i.concurrency),
        rate: rates.reduce(|sum, rate| sum + rate),
        delayed_arrivals: sum(|i| i.delayed_arrivals),
        dropped_arrivals: sum(|i| i.dropped_arrivals),
        // A host that is away is away for all.
        outage_ms: each.iter().map(|i| i.outage_ms).fold(0.0, f64::max),
        hosts: hosts(each.iter().map(|i| i.hosts.as_slice())),
        types: stats::by_name(each.iter().map(|i| &i.types), &place)?,
        parts: stats::by_name(each.iter().map(|i| &i.parts), &place)?,
        notes: stats::notes(each.iter().map(|i| &i.notes)),
    })
}

pub(crate) fn statements(each: impl Iterator<Item = StatementCounts>) -> StatementCounts {
    each.fold(StatementCounts::default(), |mut sum, one| {
        sum += one;
        sum
    })
}

/// What each host was sent by all.
pub(crate) fn hosts<'a>(each: impl Iterator<Item = &'a [HostLoad]>) -> Vec<HostLoad> {
    let mut all: Vec<HostLoad> = Vec::new();
    for one in each.flatten() {
        match all
            .iter_mut()
            .find(|sum| sum.host == one.host && sum.role == one.role)
        {
            Some(sum) => {
                sum.sessions = sum.sessions.saturating_add(one.sessions);
                sum.statements = sum.statements.saturating_add(one.statements);
            }
            None => all.push(one.clone()),
        }
    }
    all
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (
        values.get(middle),
        middle.checked_sub(1).and_then(|at| values.get(at)),
    ) {
        (Some(upper), Some(lower)) if values.len().is_multiple_of(2) => (lower + upper) / 2.0,
        (Some(middle), _) => *middle,
        (None, _) => 0.0,
    }
}
