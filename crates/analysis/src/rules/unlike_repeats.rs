//! Runs on one side of a comparison that are no repeats of each other.

use crate::compare::Measured;
use crate::{Both, Figure, Finding, Job, Severity};

pub(super) const ID: &str = "unlike-repeats";

const SAYS: Both = Both {
    en: "The {runs} runs on one side are not repeats of each other: they differ in {what}. Their mean is that of no load.",
    zh: "同一方的 {runs} 次压测并不是同一测试的重复：它们的 {what} 不同，其平均值不代表任何一种负载。",
};
const INSTEAD: Both = Both {
    en: "Put only runs of one job on a side; several jobs belong in one report.",
    zh: "每一方只放同一测试的多次重复；不同的测试请放进同一份报告。",
};
/// So many differences are named.
const NAMED: usize = 4;

/// Of a comparison's sides.
pub(super) fn check(a: &[&Measured], b: &[&Measured]) -> Option<Finding> {
    [a, b].into_iter().find_map(|side| {
        let what = Job::differing(side.iter().map(|run| &run.job));
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
