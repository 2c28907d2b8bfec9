//! Tables whose rows are moments of one run: `time,tps,p95`.

use crate::cell::plain;
use crate::draft::Draft;
use crate::headings::ColumnMeaning;
use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use tidemark_core::record::StatedInterval;

/// Fewer rows are runs of their own.
const FEWEST: usize = 5;
/// By how much of a step two of them may differ.
const STEPS_APART: f64 = 0.1;
/// Headings of a moment.
const MOMENTS: [&str; 12] = [
    "time",
    "elapsed",
    "second",
    "seconds",
    "sec",
    "secs",
    "timestamp",
    "t",
    "时间",
    "时间戳",
    "秒",
    "时刻",
];

/// Whether the first column is of moments, and no other tells what was run.
pub(crate) fn is_over_time(names: &[String], columns: &[ColumnMeaning]) -> bool {
    let Some((name, rest)) = names.first().zip(columns.get(1..)) else {
        return false;
    };
    let lower = plain(name).to_lowercase();
    let first = lower.split(['(', '[', '_', ' ', ',']).next();
    let is_rate = |c: &ColumnMeaning| matches!(c, ColumnMeaning::Figure(name, _) if name == "rate" || name == "statement_rate");
    let is_other = |c: &ColumnMeaning| {
        matches!(c, ColumnMeaning::Label | ColumnMeaning::Change(_))
            || matches!(c, ColumnMeaning::Figure(name, _) if name == "elapsed_s")
    };
    first.is_some_and(|name| MOMENTS.contains(&name))
        && rest.iter().any(is_rate)
        && !rest.iter().any(is_other)
}

/// A row's moment in seconds: of its run, of its day or since 1970.
fn moment(row: &Draft, name: &str) -> Option<f64> {
    if let Some(seconds) = row.value("elapsed_s") {
        return Some(seconds);
    }
    let text = row.options.get(name)?.value.as_str();
    if let Ok(seconds) = text.parse::<f64>() {
        return Some(seconds).filter(|s| s.is_finite());
    }
    let dated = text.parse::<Timestamp>().ok().or_else(|| {
        let time = text.replace('/', "-").parse::<DateTime>().ok()?;
        Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
    });
    if let Some(moment) = dated {
        return Some(moment.as_millisecond() as f64 / 1000.0);
    }
    let time = text.parse::<Time>().ok()?;
    let minutes = i32::from(time.hour()) * 60 + i32::from(time.minute());
    Some(f64::from(minutes * 60 + i32::from(time.second())))
}

/// The rows of one run as its lines over time, if their moments, in the column of this name, follow each
/// other in equal steps and nothing else changes.
pub(crate) fn as_one(rows: &[Draft], name: &str) -> Option<Draft> {
    let first = rows.first().filter(|_| rows.len() >= FEWEST)?;
    let moments: Vec<f64> = rows
        .iter()
        .map(|row| moment(row, name))
        .collect::<Option<_>>()?;
    let steps: Vec<f64> = moments
        .windows(2)
        .filter_map(|two| Some(two.get(1)? - two.first()?))
        .collect();
    let step = tidemark_stats::median(&steps);
    let even = |s: &f64| (s - step).abs() <= STEPS_APART * step;
    let threads = |row: &Draft| row.options.get("threads").map(|o| o.value.clone());
    let is_one = rows.iter().all(|row| {
        threads(row) == threads(first)
            && row.client == first.client
            && row.figures.iter().all(|f| f.of.is_empty())
    });
    if step <= 0.0 || !steps.iter().all(even) || !is_one {
        return None;
    }
    let begin = moments.first()? - step;
    let mut one = Draft {
        figures: Vec::new(),
        last_line: rows.last()?.last_line,
        ..first.clone()
    };
    // What each row has of its own is no condition of the run.
    one.options.retain(|name, _| name == "threads");
    for (row, moment) in rows.iter().zip(&moments) {
        one.interval(interval(row, moment - begin, step));
    }
    Some(one)
}

fn interval(row: &Draft, end_s: f64, step: f64) -> StatedInterval {
    let get = |name: &str| row.value(name);
    let percentiles: BTreeMap<String, f64> = row
        .figures
        .iter()
        .filter(|f| f.name != "elapsed_s" && f.name != "rate" && f.name != "statement_rate")
        .map(|f| (f.name.clone(), f.value))
        .collect();
    StatedInterval {
        line: row.first_line,
        end_s,
        length_s: Some(step),
        sessions: row.option_number("threads"),
        count: get("count"),
        rate: get("rate"),
        statement_rate: get("statement_rate"),
        mean_ms: get("mean_ms"),
        percentile_ms: get("p95_ms"),
        more: percentiles,
        ..StatedInterval::default()
    }
}
