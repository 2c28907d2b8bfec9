//! Some sessions got most of the work.

use crate::run::Run;
use crate::thresholds::{UNEVEN, UNEVEN_EVENTS, UNEVEN_NOTED};
use crate::{AnalysisError, Both, Figure, Finding, Severity};

pub(super) const ID: &str = "unfair";

const SAYS: Both = Both {
    en: "Sessions did very different amounts of work: {mean} transactions each on average, with a standard deviation of {deviation} ({share}% of the mean).",
    zh: "各会话完成的事务数相差悬殊：平均 {mean} 个，标准差 {deviation}（为平均值的 {share}%）。",
};
const INSTEAD: Both = Both {
    en: "Percentiles are those of the sessions that were served. Look for locks that some sessions hold, for a pooler or balancer that spreads them unevenly, or for lost sessions.",
    zh: "百分位数主要反映得到服务的会话。检查是否有会话长期持锁、连接池或负载均衡分配不均，或有会话断开。",
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let fairness = &run.totals.fairness;
    // On a schedule any free session takes the next arrival; terminals of a pool take any session.
    let is_own = !run.kind.is_open_loop() && run.totals.all.response.is_none();
    let share = fairness.events_stddev / fairness.events_avg;
    if !is_own || fairness.events_avg < UNEVEN_EVENTS || share.is_nan() || share < UNEVEN_NOTED {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: ID,
        severity: if share < UNEVEN {
            Severity::Note
        } else {
            Severity::Suspect
        },
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("mean", Figure::Number(fairness.events_avg)),
            ("deviation", Figure::Number(fairness.events_stddev)),
            ("share", Figure::Number(share * 100.0)),
        ],
    }))
}
