//! What is stated over time, beside itself and beside the summary.

use super::equations::{self, mismatch};
use super::view::{ImportedRun, Range};
use super::{finding, progress};
use crate::texts::stall::{INSTEAD, STATED_INTERVALS, STATED_LATENCY, STATED_LATENCY_AT};
use crate::texts::summary_mismatch::{INSTEAD_STATED, OVER_TIME};
use crate::thresholds::{
    DEADLOCK_LONGEST_S, INTERVALS_COVER, STALLED_INTERVAL, STALLED_LATENCY, STALLED_LATENCY_MS,
    STALLED_RATE, STATED_APART, STATED_TIME_APART, STATEMENTS_BLUR,
};
use crate::{Figure, Finding, Severity};
use tidemark_core::record::StatedInterval;

/// Findings of one kind that are told by themselves; the others are counted.
const TOLD: usize = 5;

/// Lines that contradict themselves, and their sum that contradicts the summary; `None` where nothing
/// is stated over time.
pub(super) fn mismatches(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let all = &view.imported.intervals;
    if all.is_empty() {
        return None;
    }
    let mut found = Vec::new();
    let ratio = statements_each(view);
    let mut before: Vec<(&str, f64)> = Vec::new();
    for i in all {
        found.extend(by_itself(view, i, ratio.filter(|r| r.is_finite())));
        if i.cumulative {
            // What counts from the begin never falls.
            let last = before.iter_mut().find(|(of, _)| *of == i.of);
            match (last, i.count) {
                (Some((_, n)), Some(count)) if count < *n => {
                    found.push(mismatch(
                        &name(i, "count"),
                        count,
                        "count before",
                        *n,
                        i.line,
                    ));
                }
                (Some((_, n)), Some(count)) => *n = count,
                (None, Some(count)) => before.push((&i.of, count)),
                _ => {}
            }
        }
    }
    for (of, n) in before {
        if let Some(total) = view.of(of, "count").filter(|total| total.value < n) {
            found.push(mismatch(
                &format!("{of} count"),
                total.value,
                "count before",
                n,
                total.line,
            ));
        }
    }
    found.extend(progress::mismatches(view));
    found.truncate(TOLD);
    found.extend(sums(view));
    Some(found)
}

/// Statements of a transaction, where all have as many: reads, writes and others of the run are then
/// whole multiples of its transactions, but for those that did not end. Those of a mix (TPC-C) are not.
fn statements_each(view: &ImportedRun<'_>) -> Option<f64> {
    let statements = view.all("statements").or(view.all("statement_sum"))?;
    let count = view.count()?.value;
    let each = statements.value / count;
    let mut in_flight = view.sessions().unwrap_or(1.0) * each.max(1.0) + 1.0;
    let errors = view.all("ignored_errors").map_or(0.0, |e| e.value) * each;
    if in_flight + errors <= STATEMENTS_BLUR * count {
        in_flight += errors;
    }
    let is_whole = |n: &Range| {
        let each = n.value / count;
        (each - each.round()).abs() * count <= in_flight
    };
    let parts = ["read", "write", "other"].map(|name| view.all(name));
    let all_whole = parts.iter().flatten().all(is_whole) && is_whole(&statements);
    (each.is_finite() && all_whole).then_some(each)
}

fn name(i: &StatedInterval, name: &str) -> String {
    match i.of.as_str() {
        "" => name.into(),
        of => format!("{of} {name}"),
    }
}

fn by_itself(view: &ImportedRun<'_>, i: &StatedInterval, ratio: Option<f64>) -> Option<Finding> {
    let apart = |a: f64, b: f64, share: f64, slack: f64| {
        (a - b).abs() > share * a.abs().max(b.abs()) + slack
    };
    if let (Some(all), Some(r), Some(w), Some(o)) =
        (i.statement_rate, i.read_rate, i.write_rate, i.other_rate)
    {
        let sum = r + w + o;
        if apart(all, sum, 0.001, 0.05) {
            return Some(mismatch("qps", all, "read + write + other", sum, i.line));
        }
    }
    let seconds = if i.cumulative {
        Some(i.end_s)
    } else {
        i.length_s
    };
    if let (Some(count), Some(rate), Some(s)) = (i.count, i.rate, seconds)
        && !view.imported.intervals_merged
        && view.imported.tool != "tpcc-mysql"
        && s > 0.0
        // Seconds are stated to a tenth, rates too.
        && apart(count, rate * s, STATED_APART, rate * 0.1 + s * 0.1 + 1.0)
    {
        return Some(mismatch(
            &name(i, "count"),
            count,
            "rate × seconds",
            rate * s,
            i.line,
        ));
    }
    if let (Some(count), Some(mean), Some(sum)) = (i.count, i.mean_ms, i.sum_ms)
        && apart(sum, count * mean, STATED_APART, count)
    {
        return Some(mismatch(
            &name(i, "sum_ms"),
            sum,
            "count × mean_ms",
            count * mean,
            i.line,
        ));
    }
    // The mean of an interval lies between its least and its most; so do squares above the mean's.
    if let (Some(mean), Some(least), Some(most)) =
        (i.mean_ms, i.more.get("min_ms"), i.more.get("max_ms"))
    {
        // Some tools cut means to whole milliseconds.
        let slack = 1.0 + 0.01 * most;
        if mean + slack < *least || mean > most + slack {
            return Some(mismatch(
                &name(i, "mean_ms"),
                mean,
                "min_ms … max_ms",
                *most,
                i.line,
            ));
        }
    }
    if let (Some(sum), Some(count), Some(squares)) = (i.sum_ms, i.count, i.more.get("squares_ms2"))
        && count > 0.0
        && *squares * 1.01 + 0.001 < sum * sum / count
    {
        return Some(mismatch(
            &name(i, "sum_latency_2"),
            *squares,
            "sum_latency² / num_transactions",
            sum * sum / count,
            i.line,
        ));
    }
    // As many statements a transaction as in the whole run, but for those in progress at both ends.
    let ratio = ratio?;
    if let Some(found) = progress::kinds(view, i, ratio) {
        return Some(found);
    }
    let (rate, statements) = (i.rate?, i.statement_rate?);
    let length = i.length_s.filter(|l| *l > 0.0)?;
    let errors = i.error_rate.unwrap_or(0.0) * ratio;
    let slack = view.sessions().unwrap_or(1.0) * ratio / length + errors + 0.05 * ratio;
    apart(statements, rate * ratio, STATED_TIME_APART / 2.0, slack).then(|| {
        mismatch(
            "qps",
            statements,
            "tps × statements / transactions",
            rate * ratio,
            i.line,
        )
    })
}

/// Whether lines over time make the summary, where they cover the run.
fn sums(view: &ImportedRun<'_>) -> Option<Finding> {
    let lines = view
        .imported
        .intervals
        .iter()
        .filter(|i| !i.cumulative && i.of.is_empty());
    let (mut seconds, mut done) = (0.0, 0.0);
    let (mut first, mut last) = (None, None);
    for i in lines {
        let length = i.length_s?;
        seconds += length;
        done += i.rate? * length;
        first = first.or(Some(i.line));
        last = Some(i.line);
    }
    let elapsed = view.duration()?;
    let stated = view.all("count").or(view.all("events"));
    let made = || view.all("rate").zip(view.all("elapsed_s"));
    let count = stated.or_else(|| made().map(|(rate, s)| rate.times(s)))?;
    if seconds < INTERVALS_COVER * elapsed || seconds > elapsed * 1.1 + 1.0 || seconds <= 0.0 {
        return None;
    }
    let by_lines = done / seconds;
    let by_summary = count.value / elapsed;
    // What the lines leave out may have been quicker, or the last that came to an end.
    let left_out = (elapsed - seconds).max(0.0) / elapsed;
    let in_flight = view.sessions().unwrap_or(0.0) / elapsed;
    // Lines say whole seconds: the last may have ended half a second before or after.
    let whole = view
        .imported
        .intervals
        .iter()
        .all(|i| i.end_s.fract() == 0.0);
    let rounded = if whole { 0.5 / seconds } else { 0.0 };
    let slack =
        (STATED_APART + rounded) * by_summary + left_out * by_lines.max(by_summary) + in_flight;
    // The output states a rate or a count; the other is not to be told as if it did.
    let rate = view.all("rate");
    let rate = rate.filter(|rate| (by_lines - rate.value).abs() > slack);
    let counted = match view.all("count") {
        Some(_) => "count",
        None => "events",
    };
    let (name, stated, made) = match rate {
        Some(rate) => ("rate", rate, by_lines),
        None => (counted, count, by_lines * elapsed),
    };
    ((by_lines - by_summary).abs() > slack).then(|| {
        let figures = vec![
            ("line", Figure::Count(stated.line)),
            ("name", Figure::Text(name.into())),
            ("stated", Figure::Number(stated.value)),
            ("first", Figure::Count(first.unwrap_or(stated.line))),
            ("last", Figure::Count(last.unwrap_or(stated.line))),
            ("made", Figure::Number(made)),
        ];
        finding(
            equations::ID,
            Severity::Invalid,
            OVER_TIME,
            INSTEAD_STATED,
            figures,
        )
    })
}

/// Seconds of nothing: intervals near zero, or a slowest transaction far beyond the percentiles.
pub(super) fn stall(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut found = Vec::new();
    let percentiles = view.percentiles("");
    let highest = percentiles.last().map(|(p, ms)| (*p, ms.value));
    let max = view.all("max_ms");
    if let (Some(max), Some((percent, ms))) = (max, highest)
        && max.value >= STALLED_LATENCY_MS
        && ms > 0.0
        && max.value >= STALLED_LATENCY * ms
    {
        let figures = vec![
            ("line", Figure::Count(max.line)),
            ("max", Figure::Number(max.value)),
            ("percent", Figure::Text(percent.to_string())),
            ("ms", Figure::Number(ms)),
        ];
        let slowest = view.imported.intervals.iter().filter(|i| !i.cumulative);
        let slowest = slowest
            .filter_map(|i| Some((i, i.percentile_ms?)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .filter(|(_, interval)| *interval > STALLED_INTERVAL * ms);
        let mut figures = figures;
        let says = match slowest {
            Some((i, percentile)) => {
                figures.push(("at", Figure::Number(i.end_s)));
                figures.push(("atline", Figure::Count(i.line)));
                figures.push(("atms", Figure::Number(percentile)));
                STATED_LATENCY_AT
            }
            None => STATED_LATENCY,
        };
        // A percentile far below the 99.9th says little of the slowest: a session that waited for a
        // lock or for the end of a deadlock is no stall, unless all did.
        let alone = percent < 99.9 && slowest.is_none() && max.value < DEADLOCK_LONGEST_S * 1000.0;
        let severity = match alone {
            true => Severity::Note,
            false => Severity::Suspect,
        };
        found.push(finding("stall", severity, says, INSTEAD, figures));
    }
    let usable: Vec<&StatedInterval> = view
        .imported
        .intervals
        .iter()
        .filter(|i| !i.cumulative && i.of.is_empty() && i.rate.is_some())
        .collect();
    // A run's last interval may be short, and what follows its end drains.
    let asked = view.number("time").unwrap_or(f64::INFINITY);
    let within: Vec<&&StatedInterval> = usable
        .iter()
        .take(usable.len().saturating_sub(1))
        .filter(|i| i.end_s <= asked)
        .collect();
    let rates: Vec<f64> = within
        .iter()
        .filter_map(|i| i.rate)
        .filter(|r| *r > 0.0)
        .collect();
    let median = tidemark_stats::median(&rates);
    let expects = |i: &StatedInterval| {
        median * i.length_s.unwrap_or(0.0) >= crate::thresholds::STALLED_EXPECTED
    };
    let dead: Vec<&&&StatedInterval> = within
        .iter()
        .filter(|i| median > 0.0 && expects(i) && i.rate.is_some_and(|r| r < STALLED_RATE * median))
        .collect();
    if let Some(first) = dead.first() {
        let seconds: f64 = dead.iter().filter_map(|i| i.length_s).sum();
        let figures = vec![
            ("line", Figure::Count(first.line)),
            ("seconds", Figure::Number(seconds)),
            (
                "start",
                Figure::Number(first.end_s - first.length_s.unwrap_or(0.0)),
            ),
            ("median", Figure::Number(median)),
        ];
        found.push(finding(
            "stall",
            Severity::Suspect,
            STATED_INTERVALS,
            INSTEAD,
            figures,
        ));
    }
    (max.is_some() || within.len() > 2).then_some(found)
}
