//! A difference between single runs.

use crate::{Both, Figure, Finding, Severity};

pub(super) const ID: &str = "no-repeat";

const SAYS: Both = Both {
    en: "Runs compared: {a} with {b}. What differs from one start to the next is in no interval of confidence.",
    zh: "对比的两方各只有 {a} 次和 {b} 次压测，每次重跑之间的差异没有计入置信区间。",
};
const INSTEAD: Both = Both {
    en: "Repeat each side three times or more, in turns, before anything is concluded.",
    zh: "双方交替各重复三次以上再下结论。",
};

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
