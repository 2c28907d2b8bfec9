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
/// Rates as Tidemark's own CSV and SQL name them, and the figure.
pub(crate) const OWN_RATES: [(&str, &str); 2] = [
    ("transactions_per_s", "rate"),
    ("statements_per_s", "statement_rate"),
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
pub(crate) const DEVIATIONS: [&str; 12] = [
    "stddev",
    "std.dev",
    "stdev",
    "standarddev",
    "标准差",
    "标准偏差",
    "variance",
    "方差",
    "变异系数",
    "variation",
    "jitter",
    "抖动",
];

/// How sure a figure is.
pub(crate) const UNCERTAINTY: [&str; 9] = [
    "%ci",
    "confidence",
    "置信",
    "standarderror",
    "std.error",
    "stderr",
    "marginoferror",
    "误差",
    "标准误",
];
/// Latencies of the network and of replicas, which are no transaction's.
pub(crate) const OTHER_DELAYS: [&str; 19] = [
    "rtt",
    "ping",
    "网络延",
    "网络时延",
    "networklat",
    "主从延",
    "主备延",
    "复制延",
    "同步延",
    "replicationlag",
    "replicationlat",
    "replicationdelay",
    "replicalag",
    "lockwait",
    "锁等待",
    "fsync(",
    "fsynclat",
    "fsynctime",
    "planningtime",
];

/// Rows that are no table's size.
pub(crate) const OTHER_ROWS: [&str; 14] = [
    "/s", "persec", "每秒", "秒", "examined", "affected", "returned", "scanned", "sent", "扫描",
    "影响", "返回", "/query", "perquery",
];

/// What is counted beside the transactions and statements of a run.
pub(crate) const NO_COUNTS: [&str; 16] = [
    "slow",
    "慢",
    "pertrans",
    "pertx",
    "/transaction",
    "prepared",
    "预编译",
    "测试",
    "重复",
    "重试",
    "retry",
    "retries",
    "回滚",
    "死锁",
    "冲突",
    "每",
];

/// Server variables about threads, as headings begin with them, and threads that are no sessions.
const SETTINGS: [&str; 8] = [
    "innodb_",
    "tidb_",
    "thread_pool",
    "thread pool",
    "slave_",
    "replica_",
    "hyperthread",
    "hyper-thread",
];
const OTHER_THREADS: [&str; 7] = [
    "io thread",
    "io_thread",
    "purge thread",
    "purge_thread",
    "threads_running",
    "threads_connected",
    "线程池",
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
    // `transactions/session` is no rate.
    let others = ["ession", "erver", "hard", "tream", "cript"];
    let is_a_second = |word: &str| {
        together.match_indices(word).any(|(at, _)| {
            let rest = together.get(at + word.len()..).unwrap_or_default();
            !others.iter().any(|other| rest.starts_with(other))
        })
    };
    words.iter().any(|word| match SHORT_WORDS.contains(word) {
        true => is_own(word),
        false if word.ends_with("/s") => is_a_second(word),
        false => together.contains(word),
    })
}

/// Whether a heading in small letters is a server's variable about threads, or counts threads of the
/// server itself: `innodb_thread_concurrency`, `Threads_running`.
pub(crate) fn is_setting(lower: &str) -> bool {
    let name = lower.trim_start_matches([' ', '`', '*']);
    SETTINGS.iter().any(|begin| name.starts_with(begin))
        || OTHER_THREADS.iter().any(|word| name.contains(word))
}

/// Whether a heading is of a latency that is allowed or waited for, not of one that was measured.
pub(crate) fn is_limit(lower: &str, together: &str) -> bool {
    let mut own = lower.split(|c: char| !c.is_ascii_alphabetic());
    let words = [
        "timeout",
        "超时",
        "阈值",
        "threshold",
        "latencylimit",
        "targetlat",
        "目标延迟",
        "目标响应",
        "期望延迟",
        "期望响应",
    ];
    own.any(|w| matches!(w, "sla" | "slo")) || words.iter().any(|w| together.contains(w))
}
