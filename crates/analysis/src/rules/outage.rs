//! Time in which a host was away.

use crate::run::Run;
use crate::thresholds::AWAY_INVALID;
use crate::{AnalysisError, Both, Figure, Finding, Severity};

pub(super) const ID: &str = "outage";

const SAYS: Both = Both {
    en: "For {seconds} of {measured} s a host was out of reach, first {host} from second {start} on ({share}% of the time): means over the run are of another load than the one that was asked for.",
    zh: "{measured} 秒中有 {seconds} 秒主机不可达（占 {share}%），最早是 {host}，自第 {start} 秒起：整段平均值并不是所要求的负载的结果。",
};
const INSTEAD: Both = Both {
    en: "Give the outage and the throughput outside of it, not the mean; to compare servers, measure again without one.",
    zh: "应分别给出中断时长与中断之外的吞吐量，而不是平均值；若要比较数据库，请在没有中断时重新测量。",
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let (away, measured) = (run.totals.outage_s, run.totals.elapsed_s);
    let during = |start_ms: i64, length_ms: f64| start_ms as f64 + length_ms > 0.0;
    let outages = run.record.outages.iter();
    let mut outages = outages.filter(|o| during(o.start_ms, o.length_ms));
    let Some(first) = outages.next().filter(|_| away > 0.0) else {
        return Ok(None);
    };
    let share = away / measured;
    Ok(Some(Finding {
        rule: ID,
        severity: if share >= AWAY_INVALID {
            Severity::Invalid
        } else {
            Severity::Suspect
        },
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("seconds", Figure::Number(away)),
            ("measured", Figure::Number(measured)),
            ("host", Figure::Text(first.host.clone())),
            (
                "start",
                Figure::Number(first.start_ms.max(0) as f64 / 1000.0),
            ),
            ("share", Figure::Number(share * 100.0)),
        ],
    }))
}
