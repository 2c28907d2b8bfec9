//! Repeats that climb or fall in the order in which they ran.

use crate::compare::{ComparedRun, Metric};
use crate::texts::order_effect::{INSTEAD, SAYS};
use crate::thresholds::{ORDER_CHANGE, ORDER_REPEATS};
use crate::{Figure, Finding, Severity};

pub(super) const ID: &str = "order-effect";

/// Of repeats of one setup, in the order of time.
pub(super) fn check(repeats: &[&ComparedRun]) -> Option<Finding> {
    let values: Vec<f64> = repeats
        .iter()
        .map(|run| run.whole.get(Metric::Throughput))
        .collect();
    let (first, last) = (*values.first()?, *values.last()?);
    let one_way = |goes: fn(f64, f64) -> bool| values.windows(2).all(|w| goes(w[0], w[1]));
    let change = last / first - 1.0;
    let is = values.len() >= ORDER_REPEATS
        && (one_way(|a, b| a < b) || one_way(|a, b| a > b))
        && change.abs() >= ORDER_CHANGE;
    is.then(|| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("repeats", Figure::Count(values.len() as u64)),
            ("first", Figure::Number(first)),
            ("last", Figure::Number(last)),
            ("change", Figure::Number(change * 100.0)),
        ],
    })
}

/// The least and the most; `None` of nothing.
pub(super) fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().reduce(f64::min)?;
    Some((least, values.iter().copied().reduce(f64::max)?))
}
