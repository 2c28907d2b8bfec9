//! Units and percentiles in headings of columns.

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

pub(crate) fn unit_of_rate(h: &str) -> f64 {
    if h.contains("(k)") || h.contains("(千)") || h.contains("(k/s)") {
        return 1e3;
    }
    if h.contains("(万)") || h.contains("(w)") {
        return 1e4;
    }
    1.0
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
        if (marked || after) && n.value > 0.0 && n.value < 100.0 {
            return Some(n.value);
        }
        // p999 is 99.9.
        if marked && (n.value == 999.0 || n.value == 9999.0) {
            return Some(if n.value == 999.0 { 99.9 } else { 99.99 });
        }
        at = h.len() - rest.len();
    }
    None
}
