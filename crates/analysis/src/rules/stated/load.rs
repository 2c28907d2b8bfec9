//! Whether the load that is named is the one that ran.

use super::view::{ImportedRun, Range};
use super::{counted, document, finding};
use crate::rules::backlog::{grows, least_served};
use crate::texts::{
    backlog, error_rate, intended_errors, littles_law, not_found, offered_load, rate_missed,
};
use crate::thresholds::{
    BACKLOG_S, BETWEEN_EVENTS_S, CHANCE, ERRORS, ERRORS_INVALID, NOT_FOUND, RATE_MISSED,
    STATED_START_UP_S, TREND_INTERVALS, USERS_SEEN, USERS_SEEN_INVALID, USERS_SEEN_MOST,
    USERS_SEEN_SHORTEST_S,
};
use crate::tpcc::NEW_ORDER;
use crate::{Figure, Finding, Severity};

/// New-Orders that end with a rollback.
const ROLLED_BACK: f64 = 0.01;

/// sessions = throughput × mean latency, in a closed loop.
pub(super) fn littles_law(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    if let Some(found) = document::law_of_statements(view).or_else(|| document::unlike_client(view))
    {
        return Some(found);
    }
    let sessions = view.sessions()?;
    let seen = in_service(view)?;
    let elapsed = view.duration();
    if elapsed.is_some_and(|s| s < USERS_SEEN_SHORTEST_S) {
        return None;
    }
    // Sessions begin before the first moment that counts and end after the last.
    let slowest = view
        .parts()
        .into_iter()
        .filter_map(|of| view.of(of, "max_ms"));
    let slowest = slowest.map(|ms| ms.value / 1000.0).fold(0.0, f64::max);
    let ends = elapsed.map_or(0.0, |s| (slowest / s).min(1.0));
    let told = |says, instead, severity| {
        let figures = vec![
            ("asked", counted(sessions)),
            ("seen", Figure::Number(seen.value)),
            ("share", Figure::Number(seen.value / sessions * 100.0)),
            ("line", Figure::Count(seen.line)),
        ];
        finding("littles-law", severity, says, instead, figures)
    };
    if seen.low > sessions * (USERS_SEEN_MOST + ends) {
        // Latency under a rate holds the queue.
        return match view.is_closed() {
            true => Some(vec![told(
                littles_law::TOO_MANY,
                littles_law::TOO_MANY_INSTEAD,
                Severity::Invalid,
            )]),
            false => None,
        };
    }
    if !view.is_closed() || view.tool().may_rest || view.flushes_apart() {
        return None;
    }
    let working = match elapsed.filter(|_| view.tool().time_holds_start) {
        Some(s) if s <= 2.0 * STATED_START_UP_S => return None,
        Some(s) => s / (s - STATED_START_UP_S),
        None => 1.0,
    };
    // Latencies of what failed are stated nowhere.
    let untimed = view.failed().is_some_and(|n| n.value > 0.0) && !failed_are_timed(view);
    if untimed {
        return None;
    }
    // sysbench times events alone, not what is between two.
    let between = match (view.imported.tool.as_str(), view.all("events"), elapsed) {
        ("sysbench", Some(events), Some(s)) => events.value * BETWEEN_EVENTS_S / s,
        _ => 0.0,
    };
    let share = (seen.high * working + between) / sessions;
    if share >= USERS_SEEN - ends {
        return Some(Vec::new());
    }
    let severity = match share < USERS_SEEN_INVALID {
        true => Severity::Invalid,
        false => Severity::Suspect,
    };
    Some(vec![told(
        littles_law::TOO_FEW,
        littles_law::TOO_FEW_INSTEAD,
        severity,
    )])
}

/// How many of a type failed, and their mean latency.
fn failed_of(view: &ImportedRun<'_>, of: &str) -> Option<(Range, Range)> {
    let mean = view.of("failed", &format!("{of} mean_ms"))?;
    Some((view.of("errors", of)?, mean))
}

/// Whether what failed is timed as well, of every type that had failures.
fn failed_are_timed(view: &ImportedRun<'_>) -> bool {
    let mut errors = view.imported.figures.iter().filter(|f| f.of == "errors");
    view.all("failed").is_none()
        && errors.all(|f| f.value <= 0.0 || failed_of(view, &f.name).is_some())
}

/// Sessions that were at work on average.
fn in_service(view: &ImportedRun<'_>) -> Option<Range> {
    if let (Some(sum), Some(elapsed)) = (view.all("sum_ms"), view.all("elapsed_s")) {
        return Some(sum.per(elapsed.times(Range::exact(1000.0, sum.line))));
    }
    let busy = |rate: Range, mean: Range| rate.times(mean).per(Range::exact(1000.0, mean.line));
    // A mean of statements beside a rate of transactions is no pair.
    let rate = view
        .all("rate")
        .or_else(|| view.count().zip(view.elapsed()).map(|(n, s)| n.per(s)));
    if let (Some(rate), Some(mean)) = (rate, view.all("mean_ms")) {
        return Some(busy(rate, mean));
    }
    let elapsed = view
        .elapsed()
        .or_else(|| Some(Range::exact(view.number("time").filter(|s| *s > 0.0)?, 0)))?;
    let mut all: Option<Range> = None;
    let mut of_types = view.types();
    if view.nested() {
        // A READ_MODIFY_WRITE is a READ and an UPDATE: all READs and the UPDATEs are the whole.
        of_types.push("UPDATE");
    }
    if of_types.is_empty() {
        return None;
    }
    for of in of_types {
        let (count, mean) = (view.done(of)?, view.of(of, "mean_ms")?);
        let timed = [Some((count, mean)), failed_of(view, of)];
        for (count, mean) in timed.into_iter().flatten() {
            let one = busy(count.per(Range::exact(elapsed.value, elapsed.line)), mean);
            all = Some(all.map_or(one, |sum| sum.plus(one)));
        }
    }
    all
}

/// Fewer sessions than were asked for.
pub(super) fn offered_load(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let asked = view.number("threads")?;
    let all = &view.imported.intervals;
    let last = all.len().saturating_sub(1);
    let end = view.number("time").unwrap_or(f64::INFINITY);
    let mut seen = all
        .iter()
        .take(last)
        .filter(|i| i.end_s <= end)
        .filter(|i| i.sessions.is_some())
        .peekable();
    seen.peek()?;
    let fewer = seen.find(|i| i.sessions.is_some_and(|s| s < asked));
    Some(fewer.map_or(Vec::new(), |i| {
        let figures = vec![
            ("line", Figure::Count(i.line)),
            ("asked", counted(asked)),
            ("opened", counted(i.sessions.unwrap_or(0.0))),
        ];
        vec![finding(
            "offered-load",
            Severity::Suspect,
            offered_load::STATED,
            offered_load::INSTEAD,
            figures,
        )]
    }))
}

/// The rate asked for was not served.
pub(super) fn rate_missed(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    if let Some(found) = skipped(view) {
        return Some(found);
    }
    let Some(asked) = view.record.rate else {
        // Of pgbench's rate that is not stated this is known: nothing was skipped.
        return view.all("skipped").map(|_| Vec::new());
    };
    let count = || view.count().zip(view.elapsed()).map(|(n, s)| n.per(s));
    let made = view.all("rate").or_else(count)?;
    let seconds = view.duration().unwrap_or(f64::INFINITY);
    let least = match seconds.is_finite() {
        true => least_served(asked, seconds),
        false => asked * RATE_MISSED,
    };
    if made.high >= least {
        return Some(Vec::new());
    }
    let figures = vec![
        ("line", Figure::Count(made.line)),
        ("asked", Figure::Number(asked)),
        ("made", Figure::Number(made.value)),
        ("share", Figure::Number(made.value / asked * 100.0)),
    ];
    let (says, instead) = (rate_missed::SAYS, rate_missed::INSTEAD);
    Some(vec![finding(
        "rate-missed",
        Severity::Suspect,
        says,
        instead,
        figures,
    )])
}

/// Transactions that pgbench did not begin because they could not be in time.
fn skipped(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let (skipped, count) = (view.all("skipped")?, view.count()?);
    let all = skipped.value + count.value;
    let share = skipped.value / all;
    (share > 1.0 - RATE_MISSED).then(|| {
        let figures = vec![
            ("line", Figure::Count(skipped.line)),
            ("skipped", counted(skipped.value)),
            ("all", counted(all)),
            ("share", Figure::Number(share * 100.0)),
        ];
        let (says, instead) = (rate_missed::SKIPPED, rate_missed::INSTEAD);
        vec![finding(
            "rate-missed",
            Severity::Suspect,
            says,
            instead,
            figures,
        )]
    })
}

/// What waits grows: sysbench prints its queue, pgbench how late transactions begin.
pub(super) fn backlog(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    if rate_missed(view).is_some_and(|found| !found.is_empty()) {
        return Some(Vec::new());
    }
    let intervals = &view.imported.intervals;
    let of = |name: &str| -> Vec<f64> {
        let stated = intervals.iter().filter_map(|i| i.more.get(name).copied());
        stated.collect()
    };
    let (queue, late) = (of("queue_length"), of("lag_ms"));
    let (waiting, each) = match (queue.is_empty(), view.record.rate) {
        (false, Some(rate)) => (queue, rate),
        _ => (late, 1000.0),
    };
    // pgbench's summary has the mean of how late they begin.
    if let Some(late) = view.all("lag_mean_ms")
        && late.value >= BACKLOG_S * 1000.0
        && waiting.len() < TREND_INTERVALS
    {
        let figures = vec![
            ("line", Figure::Count(late.line)),
            ("late", Figure::Number(late.value / 1000.0)),
        ];
        let (says, instead) = (backlog::LATE, backlog::INSTEAD);
        return Some(vec![finding(
            "backlog",
            Severity::Suspect,
            says,
            instead,
            figures,
        )]);
    }
    if waiting.is_empty() {
        return view.all("lag_mean_ms").map(|_| Vec::new());
    }
    if !grows(&waiting, BACKLOG_S * each) {
        return Some(Vec::new());
    }
    let (first, last) = (*waiting.first()?, *waiting.last()?);
    let figures = vec![
        (
            "line",
            Figure::Count(intervals.last().map_or(0, |i| i.line)),
        ),
        ("first", Figure::Number(first / each)),
        ("last", Figure::Number(last / each)),
    ];
    let (says, instead) = (backlog::STATED, backlog::INSTEAD);
    Some(vec![finding(
        "backlog",
        Severity::Suspect,
        says,
        instead,
        figures,
    )])
}

/// Errors of New-Orders that the specification asks for (clause 2.4.1.4: 1 % are rolled back), where
/// there are no more of them than that.
fn intended(view: &ImportedRun<'_>) -> Option<(Range, f64)> {
    let errors = view.of("errors", NEW_ORDER).filter(|e| e.value > 0.0)?;
    let all = view.of(NEW_ORDER, "count")?.value + errors.value;
    let expected = all * ROLLED_BACK;
    (errors.value <= expected + CHANCE * expected.sqrt()).then_some((errors, all))
}

/// Errors that belong to the workload.
pub(super) fn intended_errors(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    view.of("errors", NEW_ORDER)?;
    let told = intended(view).map(|(errors, all)| {
        let figures = vec![
            ("line", Figure::Count(errors.line)),
            ("errors", counted(errors.value)),
            ("share", Figure::Number(errors.value / all * 100.0)),
        ];
        let (says, instead) = (intended_errors::SAYS, intended_errors::INSTEAD);
        finding("intended-errors", Severity::Note, says, instead, figures)
    });
    Some(told.into_iter().collect())
}

/// Ignored errors.
pub(super) fn error_rate(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let count = view.count();
    let figures = view.imported.figures.iter();
    let of_types = figures
        .filter(|f| f.of == "errors")
        .filter(|f| f.name != NEW_ORDER || intended(view).is_none())
        .map(Range::of)
        .reduce(Range::plus);
    let errors = view
        .all("ignored_errors")
        .or(view.all("failed"))
        .or(of_types)
        .or(view.bad_statuses());
    // k6's conditions that did not hold.
    let checks = view.all("checks_failed").zip(view.all("checks_passed"));
    let checks = checks.map(|(bad, good)| Range {
        line: bad.line,
        ..bad.per(bad.plus(good)).times(Range::exact(100.0, bad.line))
    });
    let stated = view.all("error_share").into_iter().chain(checks);
    let stated = stated.max_by(|a, b| a.value.total_cmp(&b.value));
    let share = match (stated, errors, count) {
        (Some(percent), ..) => percent.value / 100.0,
        (None, Some(errors), Some(count)) => errors.value / (errors.value + count.value),
        _ => return None,
    };
    if share.is_nan() || share < ERRORS {
        return Some(Vec::new());
    }
    let line = errors.or(stated).map_or(0, |e| e.line);
    let figures = vec![
        ("line", Figure::Count(line)),
        ("share", Figure::Number(share * 100.0)),
    ];
    let severity = Severity::invalid_if(share >= ERRORS_INVALID);
    Some(vec![finding(
        "error-rate",
        severity,
        error_rate::STATED,
        error_rate::INSTEAD,
        figures,
    )])
}

/// Operations that found nothing and count as done.
pub(super) fn not_found(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut statuses = view
        .imported
        .figures
        .iter()
        .filter(|f| f.name.starts_with("return_"))
        .peekable();
    statuses.peek()?;
    let mut found = Vec::new();
    for status in statuses.filter(|f| f.name.ends_with("NOT_FOUND")) {
        let Some(count) = view.of(&status.of, "count") else {
            continue;
        };
        let share = status.value / count.value;
        if share.is_nan() || share < NOT_FOUND {
            continue;
        }
        let figures = vec![
            ("line", Figure::Count(status.line)),
            ("type", Figure::Text(status.of.clone())),
            (
                "status",
                Figure::Text(status.name.trim_start_matches("return_").into()),
            ),
            ("share", Figure::Number(share * 100.0)),
        ];
        found.push(finding(
            "not-found",
            Severity::Suspect,
            not_found::SAYS,
            not_found::INSTEAD,
            figures,
        ));
    }
    Some(found)
}
