//! What a record from another tool does not let be judged.
//!
//! A tool that gives a mean and percentiles has no distribution, and often no intervals. Rules that
//! need one of them are left out, and said to be.

use crate::run::Run;
use crate::tpcc::is_tpcc;
use crate::{Both, Figure, Finding, Severity};

pub(super) const ID: &str = "not-judged";

const NO_HISTOGRAM: Both = Both {
    en: "Not judged: {rules}. The record has no histogram, only what its source gave.",
    zh: "以下规则未作判断：{rules}。该记录没有延迟直方图，只有来源工具给出的数值。",
};
const NEITHER: Both = Both {
    en: "Not judged: {rules}. The record has no histogram and no intervals, only what its source gave.",
    zh: "以下规则未作判断：{rules}。该记录没有延迟直方图和各时段数据，只有来源工具给出的数值。",
};
const INSTEAD: Both = Both {
    en: "See what the source itself says of these, or run the benchmark with Tidemark, which keeps both.",
    zh: "请参考来源工具自身的输出，或用 Tidemark 重新压测（会保留直方图和各时段数据）。",
};

/// What rules need beyond totals, by id: a latency histogram, and intervals.
const NEEDS: &[(&str, bool, bool)] = &[
    (super::littles_law::ID, true, false),
    (super::client_bound::ID, true, false),
    (super::client_stopped::ID, true, false),
    (super::stall::ID, true, true),
    (super::heavy_tail::ID, true, true),
    (super::drift::ID, false, true),
    (super::too_short::ID, true, false),
    (super::latency_floor::ID, true, false),
    (super::tpcc_response::ID, true, false),
];

/// Whether a run lacks what a rule needs. Only of records that say themselves that they are no
/// measurement of Tidemark's: whatever else lacks something was never going to have it.
pub(super) fn lacks(run: &Run<'_>, rule: &str) -> bool {
    let (histogram, intervals) = lacking(run);
    let needs = NEEDS.iter().find(|(id, ..)| *id == rule);
    needs.is_some_and(|(_, h, i)| (*h && histogram) || (*i && intervals))
}

fn lacking(run: &Run<'_>) -> (bool, bool) {
    let histogram = run.totals.all.quantiles.is_some() && run.service.is_empty();
    (histogram, histogram && run.record.intervals.is_empty())
}

/// Rules that were left out, if any was.
pub(super) fn check(run: &Run<'_>, rules: &[&'static str]) -> Option<Finding> {
    let (_, intervals) = lacking(run);
    let applies = |rule: &str| rule != super::tpcc_response::ID || is_tpcc(run.record);
    let left_out = rules
        .iter()
        .filter(|rule| lacks(run, rule) && applies(rule));
    let left_out: Vec<&str> = left_out.copied().collect();
    (!left_out.is_empty()).then(|| Finding {
        rule: ID,
        severity: Severity::Note,
        says: if intervals { NEITHER } else { NO_HISTOGRAM },
        instead: INSTEAD,
        figures: vec![("rules", Figure::Text(left_out.join(", ")))],
    })
}
