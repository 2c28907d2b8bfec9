//! Words in headings of columns, in English and simplified Chinese.

/// Words in headings, and the figure; the first that is found counts.
pub(crate) const RATES: [(&str, &[&str]); 6] = [
    ("tpmc", &["tpmc", "tpm-c"]),
    ("nopm", &["nopm"]),
    ("tpm_total", &["tpmtotal"]),
    ("tpm", &["tpm"]),
    (
        "statement_rate",
        &[
            "qps",
            "queries/s",
            "queriespersec",
            "每秒查询",
            "stmt/s",
            "statements/s",
        ],
    ),
    (
        "rate",
        &[
            "tps",
            "ops",
            "transactions/s",
            "transactionspersec",
            "txn/s",
            "tx/s",
            "req/s",
            "requests/s",
            "requestspersec",
            "reqpersec",
            "operationspersec",
            "throughput",
            "吞吐",
            "每秒事务",
            "每分钟事务",
            "每分钟交易",
            "每秒交易",
            "transactions/min",
            "transactionspermin",
            "txn/min",
            "tx/min",
            "trx/s",
            "每秒操作",
            "每秒请求",
            "operations/s",
            "rps",
            "ktps",
            "kops",
            "krps",
        ],
    ),
];
/// Latencies, or their unit.
pub(crate) const LATENCY: [&str; 13] = [
    "lat",
    "latenc",
    "延迟",
    "延时",
    "响应",
    "时延",
    "response",
    "resp.time",
    "resptime",
    "rt",
    "耗时",
    "(ms",
    "毫秒",
];
/// How many sessions there were.
pub(crate) const SESSIONS: [&str; 19] = [
    "thread",
    "并发",
    "线程",
    "连接数",
    "session",
    "concurrency",
    "clients",
    "users",
    "terminal",
    "vus",
    "connections",
    "会话",
    "用户数",
    "终端",
    "thds",
    "客户端数",
    "virtualusers",
    "执行绪",
    "concurrent",
];

/// How many sessions each of several clients had.
pub(crate) const SESSIONS_EACH: [&str; 8] = [
    "thread",
    "线程",
    "并发",
    "连接",
    "session",
    "会话",
    "connection",
    "concurrency",
];

/// How much a figure differs from another.
pub(crate) const CHANGES: [&str; 19] = [
    "提升",
    "下降",
    "improve",
    "increase",
    "decrease",
    "gain",
    "change",
    "delta",
    "degrad",
    "regression",
    "增长",
    "增加",
    "降低",
    "退化",
    "差异",
    "差距",
    "对比",
    "diff",
    "变化",
];

/// How far values are apart.
pub(crate) const DEVIATIONS: [&str; 9] = [
    "stddev",
    "std.dev",
    "stdev",
    "standarddev",
    "标准差",
    "标准偏差",
    "variance",
    "方差",
    "变异系数",
];
/// Latencies of the network and of replicas, which are no transaction's.
pub(crate) const OTHER_DELAYS: [&str; 12] = [
    "rtt",
    "ping",
    "网络延",
    "网络时延",
    "networklat",
    "主从延",
    "主备延",
    "复制延",
    "同步延",
    "replicationl",
    "replicationd",
    "replicalag",
];

/// Rates that are of a minute by their names.
pub(crate) const PER_MINUTE: [&str; 4] = ["tpmc", "nopm", "tpm_total", "tpm"];

/// Words that count only where they stand alone.
const SHORT_WORDS: [&str; 10] = [
    "lat", "rt", "ops", "tps", "tpm", "rps", "date", "ratio", "rtt", "ping",
];

/// Whether a heading, in which words may be written together, has one of these. Short ones are parts of
/// other words (partitions, isolation, stops) and must stand apart.
pub(crate) fn has_any(together: &str, apart: &str, words: &[&str]) -> bool {
    let is_own = |word: &str| {
        let mut own = apart.split(|c: char| !c.is_ascii_alphabetic());
        own.any(|w| w == word)
    };
    words.iter().any(|word| match SHORT_WORDS.contains(word) {
        true => is_own(word),
        false => together.contains(word),
    })
}
