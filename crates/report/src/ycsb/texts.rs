//! What is said of YCSB's operations, in every language.

use crate::texts::{Lang, texts};

pub(super) fn of(lang: Lang) -> &'static Texts {
    match lang {
        Lang::En => &EN,
        Lang::Zh => &ZH,
    }
}

texts! {
    title: "YCSB operations", "YCSB 操作";
    records: "Records", "记录数";
    records_says: "{count}, chosen by {distribution}", "{count} 条，请求分布：{distribution}";
    integrity: "Data integrity", "数据完整性";
    integrity_on: "every value that was read is what its key says", "每次读取的值均已校验，与主键推算值一致";
    integrity_off: "not asked for (dataintegrity)", "未启用校验（dataintegrity）";
    missing: "Missing records", "缺失记录";
    missing_says: "{count} reads found none", "{count} 次读取未找到记录";
    noop: "Updates of nothing", "无效更新";
    noop_says: "{count} updates found no record", "{count} 次更新未找到记录";
    duplicate: "Inserts of what was there", "重复插入";
    duplicate_says: "{count} keys were there already", "{count} 个主键已存在";
    empty: "Empty scans", "空扫描";
    empty_says: "{count} scans found no record", "{count} 次扫描未返回记录";
    types: "Operations", "操作";
    operation: "Operation", "操作";
    count: "Count", "次数";
    mean: "Mean (ms)", "平均（ms）";
    p50: "p50 (ms)", "P50（ms）";
    p95: "p95 (ms)", "P95（ms）";
    p99: "p99 (ms)", "P99（ms）";
    p999: "p99.9 (ms)", "P99.9（ms）";
    max: "Slowest (ms)", "最大（ms）";
    parts: "READ and UPDATE count those within READ_MODIFY_WRITE, too, as YCSB does; throughput counts each operation once.",
        "与 YCSB 一致，READ 与 UPDATE 也包含 READ_MODIFY_WRITE 中的读与写；吞吐量中每个操作只计一次。";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_say_the_same_values() {
        crate::texts::tests::say_the_same(BOTH);
    }
}
