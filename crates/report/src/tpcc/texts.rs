//! What is said of TPC-C's results, in every language.

use crate::texts::{Lang, texts};

pub(super) fn of(lang: Lang) -> &'static Texts {
    match lang {
        Lang::En => &EN,
        Lang::Zh => &ZH,
    }
}

texts! {
    title: "TPC-C results", "TPC-C 结果";
    not_audited: "Not an audited TPC result: the TPC alone makes tpmC a result that may be published and compared as one.",
        "本结果未经 TPC 审计，不是 TPC 官方结果，不得作为官方 tpmC 发布或对比。";
    tpmc: "tpmC", "tpmC";
    tpmc_says: "{tpmc} New-Order transactions a minute", "每分钟 {tpmc} 个新订单事务";
    tpm_total: "All types", "全部事务";
    tpm_total_says: "{tpm} transactions a minute", "每分钟 {tpm} 个事务";
    efficiency: "Efficiency", "效率";
    efficiency_says: "{percent}% of the 12.86 tpmC that a warehouse can make", "达到每仓库上限 12.86 tpmC 的 {percent}%";
    efficiency_unsettled: "{percent}% of the 12.86 tpmC that a warehouse can make; all terminals began together, and {settle} s of warm-up, better five minutes, let them come apart before the measurement",
        "达到每仓库上限 12.86 tpmC 的 {percent}%；所有终端同时启动，需预热 {settle} 秒以上（最好五分钟），事务才不再成批到达";
    efficiency_no_waits: "not given: users neither keyed nor thought (--wait), so their number sets no limit that tpmC could be a share of",
        "不给出：未启用键入时间与思考时间（--wait），仓库数不构成 tpmC 的上限";
    efficiency_scaled: "not given: keying and think times were {scale} times the specification's", "不给出：键入时间与思考时间是规范的 {scale} 倍";
    efficiency_only_one: "not given: users keyed or thought, but did not do both", "不给出：终端只有键入时间或只有思考时间";
    efficiency_schedule: "not given: transactions arrived on a schedule, not from users who think", "不给出：事务按计划速率到达，并非来自带思考时间的终端";
    efficiency_no_warehouses: "not given: the number of warehouses is not recorded", "不给出：记录中没有仓库数";
    efficiency_too_many_terminals: "not given: more than ten terminals a warehouse make more than 12.86 tpmC each", "不给出：每仓库终端数超过 10 个，12.86 tpmC 不再是上限";
    efficiency_mix: "not given: the mix is not the specification's, some types were too few", "不给出：事务比例不符合规范，部分事务占比不足";
    scale: "Scale", "规模";
    scale_says: "warehouses: {warehouses}; terminals: {terminals} (the specification has ten to a warehouse: {ten})",
        "{warehouses} 个仓库，{terminals} 个终端（规范要求每仓库 10 个，共 {ten} 个）";
    waits: "Keying and think times", "键入与思考时间";
    waits_on: "as specified (5.2.5.7)", "按规范（5.2.5.7）";
    waits_scaled: "{scale} times the specified (5.2.5.7)", "规范（5.2.5.7）的 {scale} 倍";
    waits_only_one: "one of the two (5.2.5.7)", "仅其中之一（5.2.5.7）";
    waits_off: "none", "无";
    isolation: "Isolation", "隔离级别";
    isolation_default: "the server's default", "服务器默认";
    isolation_known: "{level}, the server's default", "{level}（服务器默认）";
    rolled_back: "New-Orders rolled back", "新订单回滚";
    rolled_back_says: "{count} ({share}%; specified is 1%, 2.4.1.4), counted in tpmC", "{count} 个（{share}%，规范为 1%，见 2.4.1.4），计入 tpmC";
    remote_payment: "Remote Payments", "跨仓库支付";
    remote_payment_says: "{count}, by customers of another warehouse ({share}%; specified is 15%, 2.5.1.2)", "{count} 个（{share}%，规范为 15%，见 2.5.1.2）";
    remote_line: "Remote order lines", "跨仓库订单行";
    remote_line_says: "{count}, supplied by another warehouse ({share}%; specified is 1%, 2.4.1.5)", "{count} 行（{share}%，规范为 1%，见 2.4.1.5）";
    by_last_name: "By last name", "按姓氏查找客户";
    by_last_name_says: "{count} customers ({share}%; specified is 60%, 2.5.1.2 and 2.6.1.2)", "{count} 位客户（{share}%，规范为 60%，见 2.5.1.2 与 2.6.1.2）";
    skipped: "Deliveries skipped", "跳过的发货";
    skipped_says: "{count} districts had no order to deliver (2.7.4.2)", "{count} 个地区当时没有待发货的订单（2.7.4.2）";
    retried: "Retried after errors", "因错误重试";
    retried_says: "{count} transactions ({share} of all attempts)", "{count} 次（占全部尝试的 {share}）";
    price: "Price/tpmC", "价格/tpmC";
    price_says: "{each} {currency} ({amount} {currency} over three years)", "{each} {currency}（三年总价 {amount} {currency}）";
    price_none: "no New-Order ended, so there is no tpmC to divide {amount} {currency} by", "没有完成的新订单，无 tpmC 可用于折算 {amount} {currency}";
    types: "Response times and mix", "响应时间与事务占比";
    transaction_type: "Type", "类型";
    count: "Count", "次数";
    share: "Share", "占比";
    least: "Least (5.2.3)", "下限（5.2.3）";
    mean: "Mean (ms)", "平均（ms）";
    p50: "p50 (ms)", "P50（ms）";
    p90: "p90 (ms)", "P90（ms）";
    p95: "p95 (ms)", "P95（ms）";
    p99: "p99 (ms)", "P99（ms）";
    max: "Slowest (ms)", "最大（ms）";
    limit: "p90 limit (s)", "P90 上限（秒）";
    verdict: "Verdict", "判定";
    met: "met", "满足";
    too_slow: "too slow", "超时";
    too_few: "too few", "占比不足";
    untold: "too few to tell", "样本不足，无法判定";
    untold_types: "Too few transactions to tell whether the specification's limits were met: {types}.", "样本不足、无法判定是否满足规范要求的类型：{types}。";
    gap: "; ", "；";
    all_met: "Limits of response times (5.2.5.7) were met; so were shares of the mix (5.2.3), but for what chance explains.", "响应时间上限（5.2.5.7）与事务占比下限（5.2.3，允许抽样误差）均已满足。";
    broken: "The specification's limits were not met by: {types}.", "以下类型未满足规范要求：{types}。";
    broken_type: "{type} ({verdict})", "{type}（{verdict}）";
    comma: ", ", "、";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_say_the_same_values() {
        crate::texts::tests::say_the_same(BOTH);
    }
}
