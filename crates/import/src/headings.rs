//! What a table's heading says of its column, in English or Chinese.

use crate::cell::narrow;
use crate::heading_forms::{at_a_load, inside, several, simplified};
use crate::heading_objectives::is_objective;
use crate::heading_units::{
    behind_p, is_long, is_of_a_word, is_share_of, percentile, states_unit, unit, unit_of_duration,
    unit_of_rate, unit_word,
};
use crate::heading_words::{
    CHANGES, DEVIATIONS, LATENCY, NO_COUNTS, OTHER_DELAYS, OTHER_ROWS, OWN_RATES, PER_MINUTE,
    RATES, SESSIONS, SESSIONS_EACH, UNCERTAINTY, has_any, is_limit, is_setting,
};

/// The percentage of successes: what is kept is that of errors.
pub(crate) const SUCCESS_SHARE: &str = "success_share";

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
        .or_else(|| at_a_load(&heading))
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

/// Reads a heading of one figure at most. What is wanted is no figure: it is kept beside them.
pub(crate) fn single(heading: &str) -> ColumnMeaning {
    match by_words(heading) {
        ColumnMeaning::Figure(..) if is_objective(heading) => ColumnMeaning::Aside,
        meaning => meaning,
    }
}

fn by_words(heading: &str) -> ColumnMeaning {
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
    if let Some((_, name)) = OWN_RATES.iter().find(|(own, _)| *own == lower.trim()) {
        return figure(name, 1.0);
    }
    if has(&UNCERTAINTY) {
        return ColumnMeaning::Aside;
    }
    let latency = has(&LATENCY);
    let percent = percentile(&h)
        .filter(|percent| !is_of_a_word(&lower, *percent))
        .filter(|percent| latency || !is_share_of(&h, *percent));
    let is_error = has(&["error", "错误", "失败", "failed", "failure"]) || is(&["err", "errs"]);
    let is_share = h.contains('%') || has(&["rate", "ratio", "share", "percent", "率", "占比"]);
    if has(&["err%", "fail%"]) || is_error && is_share && percent.is_none() {
        return figure("error_share", 1.0);
    }
    let is_success = has(&[
        "成功率",
        "successrate",
        "successratio",
        "success%",
        "success(%)",
    ]);
    if is_success && percent.is_none() && !RATES.iter().any(|(_, words)| has(words)) {
        return figure(SUCCESS_SHARE, 1.0);
    }
    if has(&["efficien", "效率"]) {
        return figure("efficiency", 1.0);
    }
    if has(&["thinktime", "think(", "思考时间"]) {
        return ColumnMeaning::Option("think-time");
    }
    let is_asked = has(&["target", "offered", "asked", "目标", "期望"]) && percent.is_none();
    if is_asked && (has(&["rate", "load", "速率", "吞吐"]) || RATES.iter().any(|(_, w)| has(w)))
    {
        return ColumnMeaning::Option("rate");
    }
    if has(&CHANGES) {
        let of = RATES.iter().find(|(_, words)| has(words));
        let of = of.map(|(name, _)| (*name).to_string());
        let of = of.or_else(|| Some(format!("p{}_ms", percent?)));
        return ColumnMeaning::Change(of.or_else(|| latency.then(|| "mean_ms".into())));
    }
    // `TPS (4 CPU)` and `旧版本 P95` are figures of one of several systems.
    let is_rate = has(&["tps", "qps", "tpmc", "nopm"]);
    let has_rate = RATES.iter().any(|(_, words)| has(words));
    let is_figure = has_rate || latency || percent.is_some();
    // `TPS (%)` and `QPS %` are of another figure; in `TPS (95% read)` the sign has a number.
    let is_percent = h.match_indices('%').any(|(at, _)| {
        let before = h.get(..at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_ascii_digit())
    });
    let is_relative = is_percent
        || has(&[
            "vs",
            "versus",
            "relative",
            "compared",
            "相对",
            "相比",
            "较",
            "之比",
            "比值",
            "overhead",
            "/baseline",
            "ofbaseline",
            "overbaseline",
            "tobaseline",
            "/基线",
        ]);
    let of_system = has(&["版本", "version", "baseline", "基线"]) && (!is_figure || is_relative);
    let is_usage = has(&["usage", "utili", "使用率", "利用率", "占用"]);
    let of_host = has(&["cpu", "mem", "内存", "磁盘", "disk"]) && (!is_rate || is_usage);
    let of_percent = is_percent && (latency || has_rate);
    if of_system
        || of_percent
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
            "normalized",
            "normalised",
            "归一",
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
    // `threads/connections` are sessions.
    let of_one_session = ["/connection", "/session"].iter().any(|one| {
        let rest = h.split_once(*one).map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with('s'))
    });
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
        "每连接",
        "persession",
        "peruser",
        "perdollar",
        "/$",
        "perwatt",
    ]) || of_one_session
        || has(&OTHER_DELAYS) && !has_rate
        || latency && is_limit(&lower, &h)
    {
        return ColumnMeaning::Aside;
    }
    let ms = match unit(&h) {
        1.0 => unit_word(&lower, &h),
        factor => factor,
    };
    // `avg ms`, whose blank is gone.
    let suffixes: &[&str] = match ms {
        1.0 => &["ms"],
        1000.0 => &["s", "sec", "秒"],
        _ => &["us", "µs", "μs", "微秒"],
    };
    let stat = suffixes.iter().find_map(|unit| h.strip_suffix(*unit));
    let is_stat = |words: &[&str]| is(words) || stat.is_some_and(|stat| words.contains(&stat));
    // What a session takes once. `TPS (without initial connection time)` is a rate.
    let with = [
        "without", "includ", "exclud", "不含", "不包", "不计", "包含",
    ];
    let of_connecting = has(&[
        "connectiontime",
        "connecttime",
        "连接时间",
        "连接耗时",
        "建连",
    ]);
    if of_connecting && !has(&with) {
        return figure("connecting_ms", ms);
    }
    // `tps_std`, `Latency Std (ms)`; `Std TPS` may be of a kind of machine.
    let mut words = lower
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|w| !w.is_empty());
    let is_std = words.rfind(|w| !matches!(*w, "ms" | "us" | "s" | "sec")) == Some("std");
    if has(&DEVIATIONS) || is_std {
        let is_other = has_rate || percent.is_some();
        let squared = has(&[
            "variance",
            "方差",
            "变异系数",
            "variation",
            "jitter",
            "抖动",
        ]);
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
        "平均", "最大", "最小", "最高", "最低", "中位", "单次", "响应", "每", "avg", "average",
        "mean", "max", "min",
    ];
    let is_whole = has(&["耗时", "用时"]) && ms == 1000.0 && !has(&of_one) && percent.is_none();
    if latency && is_long(&h) || is_whole {
        return figure("elapsed_s", unit_of_duration(&h));
    }
    if let Some(percent) = percent {
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
    if is_setting(&lower) {
        return ColumnMeaning::Unknown;
    }
    if has(&SESSIONS) && is_error {
        return ColumnMeaning::Aside;
    }
    // `Latency 64 threads (ms)` is of so many.
    let is_counted = h.contains(|c: char| c.is_ascii_digit());
    if has(&SESSIONS) && !(latency && is_counted) {
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
    if has(&["tablesize", "表大小"]) || has(&["行数", "rows"]) && !has(&OTHER_ROWS) {
        return ColumnMeaning::Option("table-size");
    }
    let is_count = !has(&NO_COUNTS);
    if has(&["queries", "查询数", "statements"]) && is_count {
        return figure("statements", 1.0);
    }
    if is(&[
        "transactions",
        "count",
        "events",
        "operations",
        "requests",
        "samples",
    ]) || is(&["总数", "次数", "总次数"])
        || is_count
            && has(&[
                "事务数",
                "事务总数",
                "操作数",
                "操作总数",
                "请求总数",
                "执行次数",
                "请求次数",
                "操作次数",
                "请求数",
                "totaltransactions",
                "totalevents",
            ])
    {
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
