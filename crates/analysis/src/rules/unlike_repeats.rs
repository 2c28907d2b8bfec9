//! Runs on one side of a comparison that are no repeats of each other.

use crate::compare::ComparedRun;
use crate::texts::unlike_repeats::{INSTEAD, SAYS};
use crate::{Figure, Finding, Setup, Severity};

pub(super) const ID: &str = "unlike-repeats";

/// So many differences are named.
const NAMED: usize = 4;

/// Of a comparison's sides.
pub(super) fn check(a: &[&ComparedRun], b: &[&ComparedRun]) -> Option<Finding> {
    [a, b].into_iter().find_map(|side| {
        let what = Setup::differing(side.iter().map(|run| &run.setup));
        let named = what.iter().take(NAMED).map(String::as_str);
        let more = if what.len() > NAMED { ", …" } else { "" };
        (!what.is_empty()).then(|| Finding {
            rule: ID,
            severity: Severity::Suspect,
            says: SAYS,
            instead: INSTEAD,
            figures: vec![
                ("runs", Figure::Count(side.len() as u64)),
                (
                    "what",
                    Figure::Text(named.collect::<Vec<_>>().join(", ") + more),
                ),
            ],
        })
    })
}
