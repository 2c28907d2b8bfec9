//! Latencies that end at different moments beside each other.

use crate::compare::ComparedRun;
use crate::texts::unlike_latencies::{INSTEAD, SAYS};
use crate::{Finding, Severity};

pub(super) const ID: &str = "unlike-latencies";

/// Of a comparison's sides.
pub(super) fn check(a: &[&ComparedRun], b: &[&ComparedRun]) -> Option<Finding> {
    let mut ends = a.iter().chain(b).map(|run| run.setup().get("latency end"));
    let first = ends.next()?;
    let differ = ends.any(|end| end != first);
    differ.then(|| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: Vec::new(),
    })
}
