//! What is said of a comparison, in every language.

use crate::texts::{Lang, texts};

pub(super) fn of(lang: Lang) -> &'static Texts {
    match lang {
        Lang::En => &EN,
        Lang::Zh => &ZH,
    }
}

texts! {
    title: "Comparison", "压测对比";
    sides: "A: {a}; B: {b}", "A：{a}；B：{b}";
    basis_repeats: "B beside A, with 95% confidence intervals from repeats.",
        "B 相对 A 的变化，95% 置信区间来自重复压测。";
    basis_intervals: "B beside A, with 95% confidence intervals from the intervals within the runs: what differs from one start to the next is not in them.",
        "B 相对 A 的变化，95% 置信区间来自压测内各时段，不含每次重跑之间的差异。";
    too_wide: "too wide to tell anything", "过宽，无法说明问题";
    needed_repeats: "To show a throughput {percent}% higher or lower would take about {much} repeats of each side, if they go on differing as these did.",
        "若重复之间的波动不变，要证实吞吐量 {percent}% 的差异，每一方大约需要重复 {much} 次。";
    needed_time: "To show a throughput {percent}% higher or lower within single runs would take about {much} of each; what differs from one start to the next takes repeats.",
        "仅凭单次压测，要证实吞吐量 {percent}% 的差异，每一方大约需要测量 {much}；每次重跑之间的差异则需要重复压测才能看出。";
    metric: "Metric", "指标";
    a: "A", "A";
    b: "B", "B";
    change: "Change", "变化";
    interval: "95% interval", "95% 置信区间";
    verdict: "Verdict", "结论";
    throughput: "Throughput (tx/s)", "吞吐量（TPS）";
    mean: "Mean (ms)", "平均延迟（ms）";
    p50: "p50 (ms)", "P50（ms）";
    p95: "p95 (ms)", "P95（ms）";
    p99: "p99 (ms)", "P99（ms）";
    faster: "faster", "更快";
    slower: "slower", "更慢";
    no_difference: "no difference shown", "未显示差异";
    not_to_be_used: "not to be used", "数据无效";
    left_out: "INVALID: run {run} of {side} is left out, its figures must not be used ({rules}).",
        "无效：{side} 方的压测 {run} 已剔除，其数据不可采用（{rules}）。";
    no_other: "INVALID: run {run} of {side} must not be used ({rules}), and {side} has no other: nothing can be concluded.",
        "无效：{side} 方的压测 {run} 数据不可采用（{rules}），且 {side} 方没有其他压测，无法得出结论。";
    not_enough: "too little measured to tell", "数据不足，无法判断";
    differences: "What else was different", "其他不同之处";
    no_differences: "Nothing else that is recorded was different.", "记录中的其他条件均相同。";
    what: "What", "项目";
    findings: "Findings", "审查结论";
    broken: "FAILED: {limit}", "未通过：{limit}";
    broken_unusable: "FAILED: {limit} can't be judged, a side has only runs that must not be used",
        "未通过：{limit} 无法判断，其中一方只有无效压测";
    on_shown: "{said} ({change}, a difference is shown)", "{said}（{change}，差异已证实）";
    on_repeats: "{said} ({change}, not shown with {a} and {b} repeats)",
        "{said}（{change}，A、B 各 {a}、{b} 次重复未能证实差异）";
    on_intervals: "{said} ({change}, not shown by the intervals within the runs)",
        "{said}（{change}，压测内各时段未能证实差异）";
    on_ratio: "{said} ({change}, decided by the ratio alone: too little measured to tell)",
        "{said}（{change}，数据不足，仅按比值判定）";
    on_nothing: "{said} (a run has no such figure)", "{said}（有压测缺少该指标）";
    judged_without: "{said} (judged without {runs} that must not be used)", "{said}（判定时剔除了无效压测 {runs} 次）";
    runs_one: "1 run", "1";
    runs_many: "{count} runs", "{count}";
    kept: "passed: {limit} does not hold, or is not shown to", "通过：{limit} 不成立或未能证实";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_say_the_same_values() {
        crate::texts::tests::say_the_same(BOTH);
    }
}
