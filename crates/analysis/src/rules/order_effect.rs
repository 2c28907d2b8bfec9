//! Repeats that climb or fall in the order in which they ran.

use crate::compare::{Measured, Metric};
use crate::thresholds::{ORDER_CHANGE, ORDER_REPEATS};
use crate::{Both, Figure, Finding, Severity};

pub(super) const ID: &str = "order-effect";

const SAYS: Both = Both {
    en: "{repeats} repeats went one way in the order in which they ran, from {first} to {last} transactions/s ({change}%): each found another state than the one before it, so they are not independent.",
    zh: "{repeats} 次重复按执行先后单向变化，从 {first} 到 {last} TPS（{change}%）：每次面对的状态都与前一次不同，因此并不独立。",
};
const INSTEAD: Both = Both {
    en: "Warm up longer, load the data anew before each repeat, or mix the order of what is compared (order = \"shuffled\" in a study).",
    zh: "延长预热、每次重复前重新导入数据，或打乱对比对象的执行次序（测试文件中 order = \"shuffled\"）。",
};

/// Of repeats of one job, in the order of time.
pub(super) fn check(repeats: &[&Measured]) -> Option<Finding> {
    let values: Vec<f64> = repeats
        .iter()
        .map(|run| run.whole.get(Metric::Throughput))
        .collect();
    let (first, last) = (*values.first()?, *values.last()?);
    let one_way = |goes: fn(f64, f64) -> bool| values.windows(2).all(|w| goes(w[0], w[1]));
    let change = last / first - 1.0;
    let is = values.len() >= ORDER_REPEATS
        && (one_way(|a, b| a < b) || one_way(|a, b| a > b))
        && change.abs() >= ORDER_CHANGE;
    is.then(|| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("repeats", Figure::Count(values.len() as u64)),
            ("first", Figure::Number(first)),
            ("last", Figure::Number(last)),
            ("change", Figure::Number(change * 100.0)),
        ],
    })
}

/// The least and the most; `None` of nothing.
pub(super) fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().reduce(f64::min)?;
    Some((least, values.iter().copied().reduce(f64::max)?))
}
