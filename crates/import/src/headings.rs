//! What a table's heading says of its column, in English or Chinese.

use crate::cell::narrow;
use crate::heading_forms::{inside, several, simplified};
use crate::heading_units::{
    behind_p, is_long, percentile, states_unit, unit, unit_of_duration, unit_of_rate, unit_word,
};
use crate::heading_words::{
    CHANGES, DEVIATIONS, LATENCY, OTHER_DELAYS, PER_MINUTE, RATES, SESSIONS, SESSIONS_EACH, has_any,
};

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ColumnMeaning {
    /// A figure, and what its printed value is multiplied with.
    Figure(String, f64),
    /// Several figures, parted by slashes.
    Several(Vec<(String, f64)>),
    /// An option.
    Option(&'static str),
    /// What was run.
    Label,
    /// How much a figure differs from the one before, in percent; which, where the heading says it.
    Change(Option<String>),
    /// What is known to be no figure of the run: the host's load, remarks.
    Aside,
    /// Anything else.
    Unknown,
}

/// The option of a column of sessions of each client.
pub(crate) const THREADS_EACH: &str = "threads-per-client";

/// Reads a heading.
pub(crate) fn column(heading: &str) -> ColumnMeaning {
    let heading = simplified(&narrow(heading));
    several(&heading)
        .or_else(|| inside(&heading))
        .unwrap_or_else(|| single(&heading))
}

/// Whether a table's column may tell its rows apart, by its heading: it is no figure, no remark and no
/// observation of a host.
pub fn may_tell_apart(heading: &str) -> bool {
    column(heading) == ColumnMeaning::Unknown && !heading.trim().is_empty()
}

/// Whether a heading names a statistic of latencies, but no word of it says so: `avg`, `P95`.
pub(crate) fn is_bare_statistic(heading: &str) -> bool {
    let lower = simplified(&narrow(heading)).to_lowercase();
    let is_latency = match column(heading) {
        ColumnMeaning::Figure(name, _) => name.ends_with("_ms"),
        _ => false,
    };
    is_latency && !states_unit(heading) && !has_any(&lower, &lower, &LATENCY)
}

/// The only figure that the heading above a table names: `MySQL 8.0 and 8.4 (TPS)`.
pub(crate) fn only_figure(heading: &str) -> Option<ColumnMeaning> {
    let column = column(heading);
    let ColumnMeaning::Figure(name, _) = &column else {
        return None;
    };
    let lower = narrow(heading).to_lowercase();
    let has = |words: &[&str]| has_any(&lower, &lower, words);
    let rates = RATES.iter().filter(|(_, words)| has(words)).count();
    let latency = usize::from(name.ends_with("_ms") || has(&LATENCY));
    (rates + latency == 1 && name != "elapsed_s").then_some(column)
}

/// Reads a heading of one figure at most.
pub(crate) fn single(heading: &str) -> ColumnMeaning {
    let lower = heading.to_lowercase();
    let h: String = lower
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '*' | '`' | '_' | '#'))
        .collect();
    let has = |words: &[&str]| has_any(&h, &lower, words);
    let figure = |name: &str, factor: f64| ColumnMeaning::Figure(name.into(), factor);
    let is = |words: &[&str]| {
        words.iter().any(|w| {
            h.strip_prefix(w)
                .is_some_and(|r| r.is_empty() || r.starts_with(['(', '[', ',']))
        })
    };
    if h.is_empty() || h == "#" {
        return ColumnMeaning::Unknown;
    }
    let is_error = has(&["error", "错误", "失败", "failed", "failure"]) || is(&["err", "errs"]);
    let is_share = h.contains('%') || has(&["rate", "ratio", "share", "percent", "率", "占比"]);
    if has(&["err%", "fail%"]) || is_error && is_share && percentile(&h).is_none() {
        return figure("error_share", 1.0);
    }
    if has(&["efficien", "效率"]) {
        return figure("efficiency", 1.0);
    }
    if has(&["thinktime", "think(", "思考时间"]) {
        return ColumnMeaning::Option("think-time");
    }
    let is_asked = has(&["target", "offered", "asked", "目标", "期望"]);
    if is_asked && (has(&["rate", "load", "速率", "吞吐"]) || RATES.iter().any(|(_, w)| has(w)))
    {
        return ColumnMeaning::Option("rate");
    }
    if has(&CHANGES) {
        let of = RATES.iter().find(|(_, words)| has(words));
        let of = of.map(|(name, _)| (*name).to_string());
        let of = of.or_else(|| Some(format!("p{}_ms", percentile(&h)?)));
        return ColumnMeaning::Change(of.or_else(|| has(&LATENCY).then(|| "mean_ms".into())));
    }
    // `TPS (4 CPU)` and `旧版本 P95` are figures of one of several systems.
    let is_rate = has(&["tps", "qps", "tpmc", "nopm"]);
    let is_figure = is_rate || has(&LATENCY) || percentile(&h).is_some();
    let is_relative = has(&["vs", "versus", "relative", "compared", "相对"]);
    let of_system = has(&["版本", "version", "baseline", "基线"]) && (!is_figure || is_relative);
    let of_host = has(&["cpu", "mem", "内存", "磁盘", "disk"]) && !is_rate;
    if of_system
        || of_host
        || has(&[
            "网卡",
            "errors/s",
            "err/s",
            "错误/秒",
            "比例",
            "备注",
            "说明",
            "remark",
            "note",
            "comment",
            "speedup",
            "加速比",
            "序号",
            "date",
            "日期",
            "ratio",
            "倍数",
            // What a disk can do or a server may have, not what a benchmark did.
            "iops",
            "最大连接数",
            "连接上限",
            "maxconnections",
        ])
    {
        return ColumnMeaning::Aside;
    }
    if is(&[
        "run",
        "no",
        "no.",
        "编号",
        "轮次",
        "round",
        "repeat",
        "iteration",
    ]) {
        return ColumnMeaning::Aside;
    }
    let of_bytes = [
        "b/s", "bytes", "mbps", "gbps", "mib", "gib", "(mb", "(gb", "(kb", "mbper",
    ];
    if of_bytes.iter().any(|unit| h.contains(unit)) {
        return ColumnMeaning::Aside;
    }
    // What a load took is no latency.
    if has(&[
        "导入",
        "加载",
        "loadtime",
        "loadingtime",
        "preparetime",
        "数据准备",
    ]) || has(&["price", "cost", "价格"])
    {
        return ColumnMeaning::Aside;
    }
    // Not the whole run's.
    let each = [
        "perclient",
        "/client",
        "eachclient",
        "每客户端",
        "每个客户端",
        "单客户端",
        "每台客户端",
        "单台客户端",
        "每压测机",
        "每台压测机",
        "单机",
    ];
    if has(&each) && has(&SESSIONS_EACH) {
        return ColumnMeaning::Option(THREADS_EACH);
    }
    if has(&[
        "perthread",
        "/thread",
        "每线程",
        "单线程",
        "percore",
        "/core",
        "/cpu",
        "percpu",
        "/vcpu",
        "pervcpu",
        "每核",
        "单核",
        "pernode",
        "/node",
        "每节点",
        "perwarehouse",
        "/warehouse",
        "每仓",
        "perconnection",
        "/connection",
        "每连接",
        "peruser",
        "perdollar",
        "/$",
        "perwatt",
    ]) || has(&OTHER_DELAYS)
    {
        return ColumnMeaning::Aside;
    }
    let ms = match unit(&h) {
        1.0 => unit_word(&lower, &h),
        factor => factor,
    };
    let latency = has(&LATENCY);
    // `avg ms`, whose blank is gone.
    let suffixes: &[&str] = match ms {
        1.0 => &["ms"],
        1000.0 => &["s", "sec", "秒"],
        _ => &["us", "µs", "μs", "微秒"],
    };
    let stat = suffixes.iter().find_map(|unit| h.strip_suffix(*unit));
    let is_stat = |words: &[&str]| is(words) || stat.is_some_and(|stat| words.contains(&stat));
    // What a session takes once.
    if has(&[
        "connectiontime",
        "connecttime",
        "连接时间",
        "连接耗时",
        "建连",
    ]) {
        return figure("connecting_ms", ms);
    }
    if has(&DEVIATIONS) {
        let is_other = RATES.iter().any(|(_, words)| has(words)) || percentile(&h).is_some();
        let squared = has(&["variance", "方差", "变异系数"]);
        return match latency && !is_other && !squared {
            true => figure("stddev_ms", ms),
            false => ColumnMeaning::Aside,
        };
    }
    if let Some((name, _)) = RATES.iter().find(|(_, words)| has(words)) {
        return match unit_of_rate(&h) {
            Some((factor, _)) if PER_MINUTE.contains(name) => figure(name, factor),
            Some((factor, seconds)) => figure(name, factor / seconds),
            None => ColumnMeaning::Unknown,
        };
    }
    // Of what took seconds and is no mean: a run, or a load.
    let of_one = [
        "平均", "最大", "最小", "最高", "最低", "中位", "单次", "每", "avg", "average", "mean",
        "max", "min",
    ];
    let is_whole =
        has(&["耗时", "用时"]) && ms == 1000.0 && !has(&of_one) && percentile(&h).is_none();
    if latency && is_long(&h) || is_whole {
        return figure("elapsed_s", unit_of_duration(&h));
    }
    if let Some(percent) = percentile(&h) {
        // `95% read` is a mix.
        let mut own = lower.split(|c: char| !c.is_ascii_alphabetic());
        let words = [
            "read", "reads", "write", "writes", "update", "updates", "insert", "scan",
        ];
        let is_mix = own.any(|w| words.contains(&w)) || has(&["读", "写", "更新", "插入"]);
        let is_marked = h.contains(&format!("p{percent}")) || latency;
        return match is_mix && !is_marked {
            true => ColumnMeaning::Unknown,
            false => figure(&format!("p{percent}_ms"), ms),
        };
    }
    if let Some(odd) = behind_p(&h) {
        return match odd == 100.0 {
            true => figure("max_ms", ms),
            false => ColumnMeaning::Unknown,
        };
    }
    if has(&["max", "最大", "最高"]) && (latency || is_stat(&["max", "maximum", "最大", "最大值"]))
    {
        return figure("max_ms", ms);
    }
    if has(&["min", "最小", "最低"])
        && !has(&["minute"])
        && (latency || is_stat(&["min", "minimum", "最小", "最小值"]))
    {
        return figure("min_ms", ms);
    }
    if has(&["median", "中位"]) {
        return figure("p50_ms", ms);
    }
    if latency && is(&["sum"]) {
        return figure("sum_ms", ms);
    }
    if has(&SESSIONS) {
        return ColumnMeaning::Option("threads");
    }
    if has(&["warehouse", "仓库", "仓数"]) {
        return ColumnMeaning::Option("warehouses");
    }
    if has(&[
        "elapsed",
        "totaltime",
        "总时间",
        "时长",
        "duration",
        "运行时间",
        "runtime",
        "测试时间",
        "总耗时",
        "持续时间",
    ]) || is(&["time", "takes", "时间"])
    {
        return figure("elapsed_s", unit_of_duration(&h));
    }
    if latency || is_stat(&["avg", "average", "mean", "平均", "平均值"]) {
        return figure("mean_ms", ms);
    }
    if is_error {
        return figure("ignored_errors", 1.0);
    }
    if has(&["tablesize", "行数", "rows", "表大小"]) {
        return ColumnMeaning::Option("table-size");
    }
    if has(&["queries", "查询数", "statements"]) {
        return figure("statements", 1.0);
    }
    if is(&[
        "transactions",
        "count",
        "events",
        "operations",
        "requests",
        "samples",
    ]) || has(&[
        "事务数",
        "事务总数",
        "操作数",
        "总数",
        "次数",
        "请求数",
        "totaltransactions",
        "totalevents",
    ]) {
        return figure("count", 1.0);
    }
    if is(&[
        "workload",
        "test",
        "scenario",
        "case",
        "name",
        "benchmark",
        "type",
        "transaction",
        "query",
        "mode",
        "script",
        "operation",
    ]) || has(&[
        "场景", "测试", "类型", "模式", "负载", "项目", "用例", "workload",
    ]) {
        return ColumnMeaning::Label;
    }
    ColumnMeaning::Unknown
}

#[cfg(test)]
mod tests;
