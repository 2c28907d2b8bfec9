//! A difference between single runs.

use crate::texts::no_repeat::{INSTEAD, SAYS};
use crate::{Figure, Finding, Severity};

pub(super) const ID: &str = "no-repeat";

/// Of a comparison of so many runs with so many.
pub(super) fn check(a: usize, b: usize) -> Option<Finding> {
    (a < 2 || b < 2).then(|| Finding {
        rule: ID,
        severity: Severity::Note,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("a", Figure::Count(a as u64)),
            ("b", Figure::Count(b as u64)),
        ],
    })
}
