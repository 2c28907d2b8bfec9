//! Units in cells of tables, by what the cell is of.

use crate::cell::QuantityKind;

/// Milliseconds.
const LATENCY: [(&str, f64); 26] = [
    ("ms", 1.0),
    ("msec", 1.0),
    ("millis", 1.0),
    ("milliseconds", 1.0),
    ("毫秒", 1.0),
    ("us", 1e-3),
    ("µs", 1e-3),
    ("μs", 1e-3),
    ("usec", 1e-3),
    ("micros", 1e-3),
    ("microseconds", 1e-3),
    ("微秒", 1e-3),
    ("ns", 1e-6),
    ("nanoseconds", 1e-6),
    ("纳秒", 1e-6),
    ("s", 1e3),
    ("sec", 1e3),
    ("secs", 1e3),
    ("second", 1e3),
    ("seconds", 1e3),
    ("秒", 1e3),
    ("秒钟", 1e3),
    ("min", 6e4),
    ("mins", 6e4),
    ("minutes", 6e4),
    ("分钟", 6e4),
];
/// Seconds of units that only durations have.
const LONG: [(&str, f64); 11] = [
    ("m", 60.0),
    ("minute", 60.0),
    ("分", 60.0),
    ("h", 3600.0),
    ("hr", 3600.0),
    ("hrs", 3600.0),
    ("hour", 3600.0),
    ("hours", 3600.0),
    ("小时", 3600.0),
    ("d", 86_400.0),
    ("天", 86_400.0),
];
const MANY: [(&str, f64); 12] = [
    ("thousand", 1e3),
    ("million", 1e6),
    ("billion", 1e9),
    ("百万", 1e6),
    ("万", 1e4),
    ("亿", 1e8),
    ("千", 1e3),
    ("w", 1e4),
    ("W", 1e4),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
];
const OF_RATES: [&str; 53] = [
    "",
    "/s",
    "/sec",
    "/sec.",
    "/second",
    "/秒",
    "每秒",
    "次/秒",
    "次/s",
    "笔/秒",
    "笔/s",
    "个/秒",
    "个/s",
    "条/秒",
    "条/s",
    "tps",
    "qps",
    "rps",
    "ops",
    "iops",
    "tpm",
    "tpmc",
    "nopm",
    "op/s",
    "ops/s",
    "ops/sec",
    "ops/second",
    "operations/s",
    "operations/sec",
    "tx/s",
    "tx/sec",
    "txn/s",
    "txns/s",
    "txn/sec",
    "txns/sec",
    "trx/s",
    "trx/sec",
    "transactions/s",
    "transactions/sec",
    "transactions/second",
    "req/s",
    "req/sec",
    "reqs/s",
    "requests/s",
    "requests/sec",
    "queries/s",
    "queries/sec",
    "q/s",
    "rows/s",
    "persec",
    "persec.",
    "persecond",
    "events/s",
];
const OF_COUNTS: [&str; 19] = [
    "",
    "次",
    "个",
    "条",
    "笔",
    "行",
    "times",
    "tx",
    "txns",
    "transactions",
    "ops",
    "operations",
    "requests",
    "events",
    "queries",
    "errors",
    "rows",
    "records",
    "failed",
];
pub(crate) const OF_SESSIONS: [&str; 30] = [
    "",
    "thread",
    "threads",
    "thds",
    "client",
    "clients",
    "connection",
    "connections",
    "conns",
    "session",
    "sessions",
    "user",
    "users",
    "vu",
    "vus",
    "terminal",
    "terminals",
    "worker",
    "workers",
    "个",
    "线程",
    "个线程",
    "并发",
    "个并发",
    "连接",
    "个连接",
    "会话",
    "终端",
    "用户",
    "个用户",
];
const OF_WAREHOUSES: [&str; 7] = ["", "warehouse", "warehouses", "wh", "仓", "仓库", "个仓库"];

/// What a unit makes of its number.
pub(crate) fn unit_factor(unit: &str, kind: QuantityKind) -> Option<f64> {
    let lower = unit.to_lowercase();
    let of = |units: &[(&str, f64)]| units.iter().find(|(u, _)| *u == lower).map(|(_, f)| *f);
    let words: &[&str] = match kind {
        QuantityKind::Latency => return of(&LATENCY),
        QuantityKind::Duration => {
            return of(&LONG).or_else(|| of(&LATENCY).map(|ms| ms / 1000.0));
        }
        QuantityKind::Share => return None,
        QuantityKind::Rate => &OF_RATES,
        QuantityKind::Count => &OF_COUNTS,
        QuantityKind::Sessions => &OF_SESSIONS,
        QuantityKind::Warehouses => &OF_WAREHOUSES,
    };
    if words.contains(&&*lower) {
        return Some(1.0);
    }
    MANY.iter().find_map(|(many, factor)| {
        // A W of warehouses is a warehouse or ten thousand.
        let is_sure = kind != QuantityKind::Warehouses || !many.eq_ignore_ascii_case("w");
        let rest = unit.strip_prefix(many).filter(|_| is_sure)?;
        words.contains(&&*rest.to_lowercase()).then_some(*factor)
    })
}
