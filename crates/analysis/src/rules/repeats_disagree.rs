//! Repeats that are further apart than their mean can tell of.

use super::order_effect::ends;
use crate::compare::{Measured, Metric};
use crate::thresholds::REPEATS_APART;
use crate::{Both, Figure, Finding, Severity};

pub(super) const ID: &str = "repeats-disagree";

const THROUGHPUT: Both = Both {
    en: "{repeats} repeats of one job made between {least} and {most} transactions/s: the most is {times} times the least, and their mean tells of none of them.",
    zh: "同一测试的 {repeats} 次重复，吞吐量在 {least}～{most} TPS 之间，最高为最低的 {times} 倍，其均值不能代表任何一次。",
};
const LATENCY: Both = Both {
    en: "{repeats} repeats of one job had mean latencies between {least} and {most} ms: the largest is {times} times the smallest, and their mean tells of none of them.",
    zh: "同一测试的 {repeats} 次重复，平均延迟在 {least}～{most} ms 之间，最大为最小的 {times} 倍，其均值不能代表任何一次。",
};
const INSTEAD: Both = Both {
    en: "Look at the runs one by one for what disturbed them (other load, a checkpoint, a cold cache), and repeat them before anything is concluded.",
    zh: "逐次查看压测受到了什么干扰（其他负载、检查点、缓存未预热等），重新压测后再下结论。",
};

/// Of repeats of one job.
pub(super) fn check(repeats: &[&Measured]) -> Option<Finding> {
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
