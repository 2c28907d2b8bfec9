//! Repeats that are further apart than their mean can tell of.

use super::order_effect::ends;
use crate::compare::{ComparedRun, Metric};
use crate::texts::repeats_disagree::{INSTEAD, LATENCY, THROUGHPUT};
use crate::thresholds::REPEATS_APART;
use crate::{Both, Figure, Finding, Severity};

pub(super) const ID: &str = "repeats-disagree";

/// Of repeats of one setup.
pub(super) fn check(repeats: &[&ComparedRun]) -> Option<Finding> {
    let of = |metric: Metric, says: Both| {
        let values: Vec<f64> = repeats.iter().map(|run| run.whole.get(metric)).collect();
        let (least, most) = ends(&values)?;
        (values.len() > 1 && least > 0.0 && most >= least * REPEATS_APART).then(|| Finding {
            rule: ID,
            severity: Severity::Suspect,
            says,
            instead: INSTEAD,
            figures: vec![
                ("repeats", Figure::Count(values.len() as u64)),
                ("least", Figure::Number(least)),
                ("most", Figure::Number(most)),
                ("times", Figure::Number(most / least)),
            ],
        })
    };
    of(Metric::Throughput, THROUGHPUT).or_else(|| of(Metric::Mean, LATENCY))
}
