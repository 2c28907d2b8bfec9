//! Seconds of nothing.

use crate::dead::{Dead, DeadSpan, Says, is_longer_than_usual, outages, severity, unexpected};
use crate::run::{Run, rate};
use crate::texts::stall::{
    ALL, INSTEAD, INSTEAD_MACHINE, INTERVALS, LATENCY, LATENCY_NOWHERE, MANY, MANY_FIRST, ONE,
};
use crate::thresholds::{
    DEADLOCK_LONGEST_S, STALLED_LATENCY, STALLED_LATENCY_MS, STALLED_RATE, STALLED_SAMPLES,
    TARGET_DEAD_INVALID,
};
use crate::{AnalysisError, Both, Figure, Finding, LoadKind, Severity};
use tidemark_core::record::{ErrorCount, Interval};
use tidemark_core::{Engine, ErrorKind};
use tidemark_stats::{Histogram, median};

pub(super) const ID: &str = "stall";

const SAYS: Says = Says {
    one: ONE,
    many: MANY,
    many_first: MANY_FIRST,
    all: ALL,
    instead: INSTEAD,
};

/// Of a test of the machine, which has no server.
const SAYS_OF_MACHINE: Says = Says {
    one: ONE,
    many: MANY,
    many_first: MANY_FIRST,
    all: ALL,
    instead: INSTEAD_MACHINE,
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let dead = Dead::of(run);
    let of_machine = run.record.is_of_machine();
    let looked = dead.as_ref().and_then(|dead| {
        let limit = (ID, TARGET_DEAD_INVALID);
        let says = match of_machine {
            true => &SAYS_OF_MACHINE,
            false => &SAYS,
        };
        crate::dead::finding(run, dead, &dead.target, limit, says)
    });
    // Events of the machine may take a microsecond or a minute: neither empty intervals nor the
    // slowest event say anything.
    if looked.is_some() || of_machine {
        return Ok(looked);
    }
    // What is told as another thing is not told again.
    let mut elsewhere = outages(run);
    elsewhere.extend(
        dead.into_iter()
            .flat_map(|d| [d.client, d.deadlocked].concat()),
    );
    // Rates that follow each other differ on purpose.
    let one_rate = matches!(run.kind, LoadKind::Closed | LoadKind::Open(_));
    let found = one_rate.then(|| idle_intervals(run, &elsewhere)).flatten();
    match found {
        Some(found) => Ok(Some(found)),
        None => slowest(run, &elsewhere),
    }
}

/// Intervals in which hardly anything ended.
fn idle_intervals(run: &Run<'_>, elsewhere: &[DeadSpan]) -> Option<Finding> {
    let span = |i: &Interval| DeadSpan::new(i.start_ms, i.length_ms);
    let is_own = |i: &&Interval| elsewhere.iter().all(|s| span(i).within(*s) == 0.0);
    let intervals: Vec<&Interval> = run.whole().into_iter().filter(is_own).collect();
    // What is usual is seen where anything ended at all: most of a run may be dead.
    let rates = intervals.iter().map(|i| rate(i));
    let usual = median(&rates.filter(|rate| *rate > 0.0).collect::<Vec<_>>());
    let idle = intervals.into_iter();
    let idle: Vec<&Interval> = idle.filter(|i| rate(i) < usual * STALLED_RATE).collect();
    // Seconds of nothing that follow each other are one: where little ends in a second, many of them
    // are no chance.
    let spans = joined(idle.iter().map(|i| span(i)));
    let spans = unexpected(run, &spans, &[&spans, elsewhere].concat());
    let is_told = |i: &&&Interval| spans.iter().any(|s| span(i).within(*s) > 0.0);
    let stalled: Vec<&Interval> = idle.iter().filter(is_told).copied().collect();
    let first = stalled.first()?;
    let longest = spans.iter().map(|s| s.length_s()).fold(0.0, f64::max);
    if !is_longer_than_usual(run, longest, &spans) {
        return None;
    }
    let seconds = stalled.iter().map(|i| i.length_ms).sum::<f64>() / 1000.0;
    let highest = stalled.iter().map(|i| rate(i)).fold(0.0, f64::max);
    Some(finding(
        INTERVALS,
        severity(seconds / run.totals.elapsed_s, TARGET_DEAD_INVALID),
        vec![
            ("seconds", Figure::Number(seconds)),
            ("start", Figure::Number(first.start_ms as f64 / 1000.0)),
            ("rate", Figure::Number(highest)),
            ("median", Figure::Number(usual)),
        ],
    ))
}

/// Neighbours as one.
fn joined(spans: impl Iterator<Item = DeadSpan>) -> Vec<DeadSpan> {
    let mut all: Vec<DeadSpan> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.start_s - last.end_s < 0.01 => last.end_s = span.end_s,
            _ => all.push(span),
        }
    }
    all
}

fn slowest(run: &Run<'_>, elsewhere: &[DeadSpan]) -> Result<Option<Finding>, AnalysisError> {
    let max = run.latency.max_ns();
    let (max_ms, p999_ms) = (
        max as f64 / 1e6,
        run.latency.percentile_ns(99.9) as f64 / 1e6,
    );
    if run.latency.count() < STALLED_SAMPLES
        || max_ms < STALLED_LATENCY_MS
        || max_ms < STALLED_LATENCY * p999_ms
        // It waited for something else.
        || elsewhere.iter().any(|s| s.length_s() * 2000.0 > max_ms)
        || waited_for_deadlock(run, max_ms)
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
    Ok(Some(finding(says, Severity::Suspect, figures)))
}

/// Whether a transaction may have taken so long because the server had to break a deadlock, as it did
/// in this run; the others went on meanwhile. Only PostgreSQL waits before it looks for one.
fn waited_for_deadlock(run: &Run<'_>, max_ms: f64) -> bool {
    let server = run.record.server.as_ref();
    let waits = server.is_some_and(|s| s.engine == Engine::Postgres);
    let is_deadlock = |e: &ErrorCount| e.kind == Some(ErrorKind::Deadlock);
    waits && max_ms <= DEADLOCK_LONGEST_S * 1000.0 && run.record.errors.iter().any(is_deadlock)
}

fn finding(says: Both, severity: Severity, figures: Vec<(&'static str, Figure)>) -> Finding {
    Finding {
        rule: ID,
        severity,
        says,
        instead: INSTEAD,
        figures,
    }
}
