//! Headings of what is wanted or allowed, not of what was measured.

use crate::cell::narrow;
use crate::heading_forms::simplified;

/// Words of what is wanted.
const WANTED: [&str; 18] = [
    "target",
    "targets",
    "goal",
    "goals",
    "objective",
    "objectives",
    "expected",
    "expectation",
    "required",
    "requirement",
    "requirements",
    "desired",
    "slo",
    "slos",
    "sla",
    "slas",
    "threshold",
    "thresholds",
];
const WANTED_CHINESE: [&str; 7] = ["目标", "期望", "预期", "预计", "要求", "承诺", "阈值"];

/// What may be a target without any figure being wanted of it.
const SYSTEMS: [&str; 12] = [
    "db", "database", "server", "cluster", "host", "node", "system", "instance", "engine",
    "version", "table", "side",
];
const SYSTEMS_CHINESE: [&str; 10] = [
    "库",
    "端",
    "集群",
    "数据库",
    "实例",
    "版本",
    "节点",
    "机",
    "表",
    "系统",
];

/// Words behind which the condition of a measurement stands: `TPS under SLA`, `P99 at target load`.
const CONDITIONS: [&str; 8] = [
    "under", "within", "at", "with", "meeting", "meets", "per", "for",
];
const CONDITIONS_CHINESE: [&str; 3] = ["满足", "符合", "达到"];
/// What makes a word that is no condition of `下`: `下单 TPS 目标`.
const BEHIND_UNDER: [char; 8] = ['单', '发', '游', '载', '降', '限', '线', '行'];

/// Whether a heading is of what is wanted: `Target P99`, `SLO p95`, `预期 TPS`, `P99 limit (ms)`. What was
/// measured under a wanted load, or in a database that is a target, is not.
pub(crate) fn is_objective(heading: &str) -> bool {
    let lower = outside(&simplified(&narrow(heading))).to_lowercase();
    let letters = |c: char| !c.is_ascii_alphabetic();
    let lower = lower.replace('@', " at ");
    let words: Vec<&str> = lower.split(letters).filter(|w| !w.is_empty()).collect();
    let conditions = words.iter().position(|word| CONDITIONS.contains(word));
    let named = words.get(..conditions.unwrap_or(words.len()));
    let named = named.unwrap_or_default();
    let is_system = |word: &str| SYSTEMS.contains(&word);
    let nexts = words.iter().copied().skip(1).chain([""]);
    let is_wanted = named.iter().copied().zip(nexts).any(|(word, next)| {
        // `TargetP99`.
        let glued = word.strip_prefix("target");
        let any = WANTED.contains(&word) || glued.is_some();
        any && !is_system(next) && !glued.is_some_and(is_system)
    });
    let units = ["ms", "us", "s", "sec"];
    let last = words.iter().rfind(|word| !units.contains(*word));
    let is_limit = last.is_some_and(|word| matches!(*word, "limit" | "limits"));
    let together: String = lower.chars().filter(|c| !c.is_whitespace()).collect();
    let is_chinese = WANTED_CHINESE.iter().any(|word| {
        let rest = together.split_once(*word).map(|(_, rest)| rest);
        rest.is_some_and(|rest| !SYSTEMS_CHINESE.iter().any(|s| rest.starts_with(s)))
    });
    let mut under = together.split('下').skip(1);
    let has_condition = CONDITIONS_CHINESE.iter().any(|c| together.contains(c))
        || under.any(|rest| !rest.starts_with(BEHIND_UNDER));
    let is_any = is_wanted || is_chinese || is_limit && conditions.is_none();
    is_any && !has_condition
}

/// A heading without brackets that have a number: `P99 (target 20 ms)` was measured.
fn outside(heading: &str) -> String {
    let (mut rest, mut outside) = (heading, String::new());
    while let Some((before, inner)) = rest.split_once('(') {
        let (inner, behind) = inner.split_once(')').unwrap_or((inner, ""));
        outside.push_str(before);
        if !inner.contains(|c: char| c.is_ascii_digit()) {
            outside.push(' ');
            outside.push_str(inner);
        }
        outside.push(' ');
        rest = behind;
    }
    outside.push_str(rest);
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_was_not_measured() {
        for heading in [
            "Target P99",
            "P99 target",
            "TargetP99 (ms)",
            "p99_target",
            "SLO p95",
            "goal",
            "Expected TPS",
            "P99 (target)",
            "P99 limit (ms)",
            "P99 target at 64 threads",
            "目标 P99",
            "要求",
            "预期 TPS",
            "P99（目标）",
            "P99 阈值",
            "下单 TPS 目标",
        ] {
            assert!(is_objective(heading), "{heading}");
        }
        for heading in [
            "P99",
            "P99 (target 20 ms)",
            "P99 at target load",
            "TPS under SLA",
            "TPS @ target rate",
            "target db P99",
            "目标库 P99",
            "目标负载下的 P99",
            "目标负载下 P99",
            "满足 SLO 的 TPS",
            "unlimited TPS",
            "TPS with CPU limit",
            "slow queries",
        ] {
            assert!(!is_objective(heading), "{heading}");
        }
    }
}
