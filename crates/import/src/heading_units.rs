//! Units and percentiles in headings of columns.

use crate::cell::narrow;
use crate::scan::number;

/// Milliseconds of a latency's unit in brackets or behind a comma; milliseconds are usual.
pub(crate) fn unit(h: &str) -> f64 {
    let has = |units: &[&str]| {
        units.iter().any(|u| {
            let bracketed = h.contains(&format!("({u})")) || h.contains(&format!("[{u}]"));
            let ends = [",", "/"]
                .iter()
                .any(|sign| h.ends_with(&format!("{sign}{u}")));
            bracketed || ends
        })
    };
    if has(&["us", "usec", "microseconds"])
        || h.contains("us)")
        || h.contains("µs")
        || h.contains("μs")
        || h.contains("微秒")
    {
        return 1e-3;
    }
    if has(&["ns", "纳秒"]) || h.contains("ns)") {
        return 1e-6;
    }
    match has(&["s", "秒", "sec", "secs", "seconds"]) || h.contains("/s)") {
        true => 1000.0,
        false => 1.0,
    }
}

/// The same of a unit that stands alone, as in `latency_avg_us`.
pub(crate) fn unit_word(lower: &str, h: &str) -> f64 {
    let own: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphabetic()).collect();
    let is_last = |word: &str| own.iter().rev().find(|w| !w.is_empty()) == Some(&word);
    let has = |words: &[&str]| words.iter().any(|w| own.contains(w));
    if has(&["us", "usec", "usecs", "microseconds"]) || h.ends_with("微秒") {
        return 1e-3;
    }
    if has(&["ns", "nsec", "nanoseconds"]) || h.ends_with("纳秒") {
        return 1e-6;
    }
    let of_seconds = ["s", "sec", "secs", "seconds"].iter().any(|w| is_last(w));
    let of_seconds = of_seconds || h.ends_with('秒') && !h.ends_with("毫秒");
    match of_seconds && !has(&["ms", "msec"]) {
        true => 1000.0,
        false => 1.0,
    }
}

/// Whether a heading states the unit of its latencies.
pub(crate) fn states_unit(heading: &str) -> bool {
    let lower = narrow(heading).to_lowercase();
    let h: String = lower
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '*' | '`' | '_' | '#'))
        .collect();
    let is_other = unit(&h) != 1.0 || unit_word(&lower, &h) != 1.0;
    let mut own = lower.split(|c: char| !c.is_ascii_alphabetic());
    let words = [
        "ms",
        "msec",
        "msecs",
        "millis",
        "millisecond",
        "milliseconds",
    ];
    is_other || own.any(|w| words.contains(&w)) || h.contains("毫秒") || h.contains("(ms")
}

/// Seconds of a duration's unit; seconds are usual.
pub(crate) fn unit_of_duration(h: &str) -> f64 {
    if h.contains("(ms") || h.contains("[ms") || h.contains("毫秒") {
        return 1e-3;
    }
    if h.contains("(h") || h.contains("小时") {
        return 3600.0;
    }
    match h.contains("min") || h.contains("分") {
        true => 60.0,
        false => 1.0,
    }
}

/// What a rate's printed value is multiplied with, and of how many seconds it is said to be. `None`
/// where its time is neither a second nor a minute.
pub(crate) fn unit_of_rate(h: &str) -> Option<(f64, f64)> {
    let brackets = h.find(['(', '[']).and_then(|at| h.get(at + 1..));
    let inner = brackets.map_or("", |b| b.split([')', ']']).next().unwrap_or_default());
    let inner = inner.trim_start_matches(['×', 'x', '*', '\'']);
    let begins = |words: &[&str]| words.iter().any(|w| inner.starts_with(w));
    // `kqps`, `ktps`.
    let glued = |sign: char| {
        let mut words = h.split(|c: char| !c.is_ascii_alphabetic());
        let rates = ["qps", "tps", "ops", "rps", "tpm", "tpmc", "nopm"];
        words.any(|w| w.strip_prefix(sign).is_some_and(|w| rates.contains(&w)))
    };
    let is_k = matches!(
        inner,
        "k" | "000" | "1000" | "1,000" | "10^3" | "1e3" | "千"
    ) || begins(&["k/", "ktps", "kqps", "kops", "krps", "千", "thousand"]);
    let many = match () {
        () if is_k || glued('k') => 1e3,
        () if begins(&["1000000", "1,000,000"]) => 1e6,
        () if inner == "w" || begins(&["万", "w/", "10000", "10,000", "10k"]) => 1e4,
        () if inner == "m" || begins(&["百万", "million"]) => 1e6,
        () if glued('m') => 1e6,
        () => 1.0,
    };
    let has = |words: &[&str]| words.iter().any(|w| h.contains(w));
    if has(&[
        "/h)",
        "/hour",
        "perhour",
        "每小时",
        "/小时",
        "/day",
        "perday",
        "/ms",
        "/us",
        "每天",
        "/天",
    ]) {
        return None;
    }
    // `TPS (avg/min/max)` has several figures.
    if has(&["avg/min", "mean/min", "max/min", "/min/"]) {
        return None;
    }
    match has(&["/min", "permin", "/分", "每分"]) {
        true => Some((many, 60.0)),
        false => Some((many, 1.0)),
    }
}

/// Whether a latency's heading has minutes or hours: it is of a whole load, or of a run. `Latency (min)`
/// is the least.
pub(crate) fn is_long(h: &str) -> bool {
    let units = ["(mins", "(minute", "分钟", "(分)", "(h)", "(hour", "小时"];
    units.iter().any(|unit| h.contains(unit)) || h.contains("耗时") && h.contains("(min")
}

/// The number of `p100` or `tp12345`, which is no percentile that is known.
pub(crate) fn behind_p(h: &str) -> Option<f64> {
    let rest = h.strip_prefix("tp").or_else(|| h.strip_prefix('p'))?;
    let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
    number(rest).filter(|_| is_number).map(|(n, _)| n.value)
}

/// Words that end like the sign of a percentile and are none.
const NO_SIGNS: [&str; 24] = [
    "top", "step", "group", "http", "tcp", "udp", "ip", "php", "loop", "ramp", "warmup", "app",
    "ap", "port", "sort", "start", "part", "chart", "insert", "import", "export", "report", "flat",
    "cart",
];

/// Whether the number that was taken as a percentile stands behind another word: `Top 10`, `Port 80`.
pub(crate) fn is_of_a_word(lower: &str, percent: f64) -> bool {
    let number = percent.to_string();
    let Some((before, rest)) = lower.split_once(&number) else {
        return false;
    };
    let before = before.trim_end_matches([' ', '_', '-', '#']);
    let mut words = before.rsplit(|c: char| !c.is_ascii_alphabetic());
    let is_word = words.next().is_some_and(|word| NO_SIGNS.contains(&word));
    is_word && !rest.starts_with('%') && !rest.starts_with("th")
}

/// Whether a percentage is no percentile by what follows it: `50% buffer pool`, `20% 缓存`.
pub(crate) fn is_share_of(h: &str, percent: f64) -> bool {
    let Some((_, rest)) = h.split_once(&format!("{percent}%")) else {
        return false;
    };
    let of_latency = [
        "ms",
        "us",
        "µs",
        "μs",
        "ns",
        "毫秒",
        "微秒",
        "tile",
        "ile",
        "percentile",
        "quantile",
        "line",
        "time",
        "线",
        "分位",
        "百分",
        "位",
        "值",
        "的",
        "请求",
        "用户",
        "事务",
        "max",
        "avg",
    ];
    let is_word = rest.starts_with(char::is_alphabetic) && !matches!(rest, "s" | "sec" | "秒");
    is_word && !of_latency.iter().any(|word| rest.starts_with(word))
}

/// `p95`, `95th`, `95%`, `tp99`, `99线`, `95分位`.
pub(crate) fn percentile(h: &str) -> Option<f64> {
    let mut at = 0;
    while let Some(found) = h.get(at..)?.find(|c: char| c.is_ascii_digit()) {
        let begin = at + found;
        let (n, rest) = number(h.get(begin..)?)?;
        let before = h.get(..begin)?;
        let marked =
            before.ends_with('p') || before.ends_with("percentile") || before.ends_with("百分位");
        let after = ["%", "th", "线", "分位", "百分位", "percent", "pct"]
            .iter()
            .any(|w| rest.starts_with(w));
        // Eight threads are no eighth percentile.
        let after = after
            && !rest.starts_with("thr")
            && !rest.starts_with("thd")
            && !rest.starts_with("线程");
        // The fourth run is none, either.
        let is_ordinal = rest.starts_with("th") && n.value < 10.0 && !rest.starts_with("thp");
        let after = after && !is_ordinal;
        // `lat95`; `lat 64` may be of so many sessions.
        let is_usual = [50.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9, 99.99];
        let behind_latency = ["lat", "latency", "延迟", "rt"];
        let units = ["ms", "us", "µs", "μs", "毫秒", "微秒"];
        let is_last = rest.is_empty()
            || rest.starts_with(['(', '[', ',', ')'])
            || units.iter().any(|unit| {
                let behind = rest.strip_prefix(*unit);
                behind.is_some_and(|behind| !behind.starts_with(char::is_alphabetic))
            });
        let is_behind = behind_latency.iter().any(|w| before.ends_with(w));
        let after = after || is_usual.contains(&n.value) && is_behind && is_last;
        if (marked || after) && n.value > 0.0 && n.value < 100.0 {
            return Some(n.value);
        }
        // p999 is 99.9, p995 is 99.5.
        let whole = n.value.to_string();
        if marked && n.decimals == 0 && whole.len() > 2 && whole.starts_with('9') {
            let (percent, decimals) = whole.split_at(2);
            return format!("{percent}.{decimals}").parse().ok();
        }
        at = h.len() - rest.len();
    }
    None
}
