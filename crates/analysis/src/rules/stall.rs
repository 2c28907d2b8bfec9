//! Seconds of nothing.

use crate::run::{Run, rate};
use crate::thresholds::{
    STALLED_EXPECTED, STALLED_LATENCY, STALLED_LATENCY_MS, STALLED_RATE, STALLED_SAMPLES,
};
use crate::{AnalysisError, Both, Figure, Finding, LoadKind, Severity};
use tidemark_core::record::Interval;
use tidemark_stats::{Histogram, median};

pub(super) const ID: &str = "stall";

const INTERVALS: Both = Both {
    en: "For {seconds} s in all, first at second {start}, hardly anything ended: {rate} transactions/s or less, where {median} are usual.",
    zh: "累计有 {seconds} 秒几乎没有事务完成（最早在第 {start} 秒）：每秒不超过 {rate} 个，而通常为 {median} 个。",
};
const LATENCY: Both = Both {
    en: "The slowest transaction took {max} ms, the 99.9th percentile is {p999} ms; it ended in the interval that begins at second {start}.",
    zh: "最慢的事务耗时 {max} ms，而 P99.9 仅为 {p999} ms；它结束于第 {start} 秒开始的时段。",
};
const LATENCY_NOWHERE: Both = Both {
    en: "The slowest transaction took {max} ms, the 99.9th percentile is {p999} ms.",
    zh: "最慢的事务耗时 {max} ms，而 P99.9 仅为 {p999} ms。",
};
const INSTEAD: Both = Both {
    en: "Look at what the server and its disk did then (checkpoint, flush, lock, failover); don't let a mean hide it.",
    zh: "查看当时数据库和磁盘在做什么（检查点、刷盘、锁、切换），不要用平均值掩盖它。",
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    // Rates that follow each other differ on purpose.
    let one_rate = matches!(run.kind, LoadKind::Closed | LoadKind::Open(_));
    let found = if one_rate { idle_intervals(run) } else { None };
    match found {
        Some(found) => Ok(Some(found)),
        None => slowest(run),
    }
}

fn idle_intervals(run: &Run<'_>) -> Option<Finding> {
    let intervals = run.whole();
    let rates: Vec<f64> = intervals.iter().map(|i| rate(i)).collect();
    let usual = median(&rates);
    let idle = |i: &&Interval| {
        let expected = usual * i.length_ms / 1000.0;
        expected >= STALLED_EXPECTED && rate(i) < usual * STALLED_RATE
    };
    let stalled: Vec<&Interval> = intervals.into_iter().filter(idle).collect();
    let first = stalled.first()?;
    let seconds = stalled.iter().map(|i| i.length_ms).sum::<f64>() / 1000.0;
    let highest = stalled.iter().map(|i| rate(i)).fold(0.0, f64::max);
    Some(finding(
        INTERVALS,
        vec![
            ("seconds", Figure::Number(seconds)),
            ("start", Figure::Number(first.start_ms as f64 / 1000.0)),
            ("rate", Figure::Number(highest)),
            ("median", Figure::Number(usual)),
        ],
    ))
}

fn slowest(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let max = run.latency.max_ns();
    let (max_ms, p999_ms) = (
        max as f64 / 1e6,
        run.latency.percentile_ns(99.9) as f64 / 1e6,
    );
    if run.latency.count() < STALLED_SAMPLES
        || max_ms < STALLED_LATENCY_MS
        || max_ms < STALLED_LATENCY * p999_ms
    {
        return Ok(None);
    }
    let mut figures = vec![
        ("max", Figure::Number(max_ms)),
        ("p999", Figure::Number(p999_ms)),
    ];
    let mut says = LATENCY_NOWHERE;
    'search: for interval in run.measured() {
        for stats in interval.types.values() {
            let latency: Histogram = run.latency_of(stats)?;
            if latency.max_ns() == max {
                figures.push(("start", Figure::Number(interval.start_ms as f64 / 1000.0)));
                says = LATENCY;
                break 'search;
            }
        }
    }
    Ok(Some(finding(says, figures)))
}

fn finding(says: Both, figures: Vec<(&'static str, Figure)>) -> Finding {
    Finding {
        rule: ID,
        severity: Severity::Suspect,
        says,
        instead: INSTEAD,
        figures,
    }
}
