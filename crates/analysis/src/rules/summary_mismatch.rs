//! Totals that do not add up.
//!
//! Tidemark's own totals are made of the same counters as its intervals; a record that refutes
//! itself was changed, cut, or made by something else.

use crate::LoadKind;
use crate::run::{Run, count};
use crate::texts::summary_mismatch::{INSTEAD, OF_INTERVALS, OF_LATENCIES, OF_TYPES, TIME, TYPES};
use crate::thresholds::{TIME_APART, TIME_APART_S};
use crate::{AnalysisError, Both, Figure, Finding, Severity};

pub(super) const ID: &str = "summary-mismatch";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let totals = run.totals;
    let total = totals.all.count;
    let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
    let mut parts = vec![(OF_TYPES, sum(&mut totals.types.values().map(|t| t.count)))];
    if totals.all.quantiles.is_none() {
        parts.push((OF_LATENCIES, run.service.count()));
    }
    // A search's totals are of its last rate alone.
    if run.kind != LoadKind::Search && !run.record.intervals.is_empty() {
        parts.push((OF_INTERVALS, sum(&mut run.measured().map(count))));
    }
    let wrong = parts.into_iter().find(|(_, sum)| *sum != total);
    if let Some((part, sum)) = wrong {
        let figures = vec![
            ("total", Figure::Count(total)),
            ("part", Figure::Words(part)),
            ("sum", Figure::Count(sum)),
        ];
        return Ok(Some(finding(TYPES, figures)));
    }
    // Between rates that follow each other time may pass that counts for none.
    let one_span = matches!(run.kind, LoadKind::Closed | LoadKind::Open(_));
    let sum_s = run.measured().map(|i| i.length_ms).sum::<f64>() / 1000.0;
    let apart = (sum_s - totals.elapsed_s).abs();
    let far = apart > TIME_APART_S && apart > TIME_APART * totals.elapsed_s;
    Ok((one_span && sum_s > 0.0 && far).then(|| {
        let figures = vec![
            ("total", Figure::Number(totals.elapsed_s)),
            ("sum", Figure::Number(sum_s)),
        ];
        finding(TIME, figures)
    }))
}

fn finding(says: Both, figures: Vec<(&'static str, Figure)>) -> Finding {
    Finding {
        rule: ID,
        severity: Severity::Invalid,
        says,
        instead: INSTEAD,
        figures,
    }
}
