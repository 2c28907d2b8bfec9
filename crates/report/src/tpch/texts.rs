//! What is said of TPC-H's results, in every language.

use crate::texts::{Lang, texts};

pub(super) fn of(lang: Lang) -> &'static Texts {
    match lang {
        Lang::En => &EN,
        Lang::Zh => &ZH,
    }
}

texts! {
    title: "TPC-H results", "TPC-H 结果";
    not_audited: "Unaudited: the TPC alone makes QphH a result that may be published and compared as one.",
        "本结果未经 TPC 审计，不是 TPC 官方结果，不得作为官方 QphH 发布或对比。";
    composite: "QphH@Size", "QphH@Size";
    composite_says: "{value} QphH@{size}, unaudited (5.4.3)", "{value} QphH@{size}，未经审计（5.4.3）";
    power: "Power@Size", "Power@Size";
    throughput: "Throughput@Size", "Throughput@Size";
    metric_says: "{value} queries an hour @{size}, unaudited (5.4)", "每小时 {value} 个查询 @{size}，未经审计（5.4）";
    no_refresh: "not given: refresh functions were left out (--refresh=off)", "不给出：未执行刷新函数（--refresh=off）";
    missing: "not given: without a result are {what}", "不给出：以下没有结果：{what}";
    too_few: "not given: too few streams (clause 5.3.4): {streams}, and at this scale factor {least} at least", "不给出：查询流过少（5.3.4）：{streams} 个，此规模因子至少需要 {least} 个";
    comma: ", ", "、";
    and_more: " and more", " 等";
    streams: "Throughput test", "吞吐量测试";
    streams_says: "{streams} {streams|stream|streams} in {seconds} s", "{streams} 个查询流，历时 {seconds} 秒";
    scale: "Scale factor", "规模因子";
    scale_says: "{scale}", "{scale}";
    parameters: "Parameters", "查询参数";
    validation: "validation parameters, the specification's own", "规范的验证参数";
    drawn: "drawn from seed {seed} (2.4)", "由种子 {seed} 生成（2.4）";
    answers: "Answers", "查询结果校验";
    answers_says: "{right} right, {wrong} wrong, {unchecked} not compared", "{right} 个正确，{wrong} 个错误，{unchecked} 个未比对";
    unchecked_all: "not compared (--check)", "未比对（--check）";
    limit: "Time-out of a query", "查询超时";
    limit_says: "{limit}; given up: {count}", "{limit}，超时放弃 {count} 个";
    timed_out: "{query} of stream {stream} was given up after {seconds} s.", "查询流 {stream} 的 {query} 在 {seconds} 秒后超时放弃。";
    failed: "{query} of stream {stream} failed: {why}", "查询流 {stream} 的 {query} 失败：{why}";
    wrong: "{query} of stream {stream} answered wrongly: {why}", "查询流 {stream} 的 {query} 结果错误：{why}";
    plan_of: "Plan of {query}", "{query} 的执行计划";
    queries: "Queries", "各查询";
    query: "Query", "查询";
    times: "Times", "次数";
    mean: "Mean (s)", "平均（秒）";
    fastest: "Fastest (s)", "最快（秒）";
    slowest: "Slowest (s)", "最慢（秒）";
    rows: "Rows", "行数";
    verdict: "Answer", "结果";
    right: "right", "正确";
    wrong_short: "wrong", "错误";
    timed_out_short: "timed out", "超时";
    failed_short: "failed", "失败";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_say_the_same_values() {
        crate::texts::tests::say_the_same(BOTH);
    }
}
