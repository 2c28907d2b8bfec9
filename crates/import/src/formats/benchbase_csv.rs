//! CSV of OLTPBench and BenchBase: results over time, and raw ones with a row for each transaction.

use super::benchbase::TOOL;
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::number;
use std::collections::BTreeMap;
use tidemark_core::record::StatedInterval;

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim();
    if let Some(section) = heading(plain) {
        let run = doc.begin(TOOL, line);
        run.section = section;
        for (at, name) in plain.split(',').enumerate() {
            run.option(&format!("column {at}"), name.trim(), line, From::Output);
        }
        return true;
    }
    let Some(run) = doc.of(TOOL) else {
        return false;
    };
    let taken = match run.section {
        "csv" => match row(run, plain, line) {
            Some(one) => {
                follow(run, one);
                true
            }
            None => false,
        },
        "raw csv" => raw(run, plain, line).is_some(),
        _ => false,
    };
    if taken {
        doc.touch(line);
    }
    taken
}

/// What a heading's rows are.
fn heading(plain: &str) -> Option<&'static str> {
    if !plain.contains(',') || !plain.starts_with(['T', 't', '"']) {
        return None;
    }
    let lower = plain.to_lowercase();
    let lower = lower.trim_start_matches('"');
    if lower.starts_with("transaction type")
        && lower.contains("start time")
        && lower.contains("latency")
    {
        return Some("raw csv");
    }
    (lower.starts_with("time") && lower.contains("throughput")).then_some("csv")
}

/// A figure of a row over time, and what its printed value is multiplied with.
fn figure(name: &str) -> Option<(String, f64)> {
    let lower = name.to_lowercase();
    let first = lower.split([' ', '(', '_']).next()?;
    let factor = if lower.contains("micro") { 1e-3 } else { 1.0 };
    let percent = first
        .strip_suffix("th")
        .filter(|p| p.bytes().all(|b| b.is_ascii_digit()));
    let figure = match (first, percent) {
        (_, Some(percent)) => format!("p{percent}_ms"),
        ("minimum" | "min", _) => "min_ms".into(),
        ("maximum" | "max", _) => "max_ms".into(),
        ("median", _) => "p50_ms".into(),
        ("average" | "avg", _) => "mean_ms".into(),
        ("requests", _) => return Some(("count".into(), 1.0)),
        ("throughput", _) => return Some(("rate".into(), 1.0)),
        _ => return None,
    };
    Some((figure, factor))
}

/// Appends a row. Where rows have no counts, the second tells how long the first one's window was.
fn follow(run: &mut Draft, mut one: StatedInterval) {
    let length = one.length_s.unwrap_or(1.0);
    let begin = one.end_s - length;
    if one.count.is_none() && run.usual_length.is_none() {
        let before = run.last_interval();
        let step = before.and_then(|before| {
            let from = before.end_s - before.length_s?;
            let step = Some(begin - from).filter(|s| *s > 0.0)?;
            (before.end_s, before.length_s) = (from + step, Some(step));
            Some(step)
        });
        if let Some(step) = step {
            run.usual_length = Some(step);
            (one.end_s, one.length_s) = (begin + step, Some(step));
        }
    }
    run.interval(one);
}

fn row(run: &Draft, plain: &str, line: u64) -> Option<StatedInterval> {
    let mut cells = plain.split(',').map(|cell| {
        let (n, odd) = number(cell.trim())?;
        odd.is_empty().then_some(n.value)
    });
    let begin = cells.next()??;
    let mut all = BTreeMap::new();
    let mut columns = 1;
    for (at, cell) in (1usize..).zip(cells) {
        let name = run.options.get(&format!("column {at}"));
        if let Some((name, factor)) = name.and_then(|n| figure(&n.value)) {
            all.insert(name, cell? * factor);
        }
        columns += 1;
    }
    if columns < 3 {
        return None;
    }
    let mut take = |name: &str| all.remove(name);
    let (count, rate, mean_ms) = (take("count"), take("rate"), take("mean_ms"));
    // A row tells where its window begins; how long it is follows from its count and its rate.
    let window = count.zip(rate).map(|(n, r)| n / r);
    let window = window
        .filter(|w| w.is_finite() && *w > 0.0)
        .or(run.option_number("report-interval"))
        .or(run.usual_length)
        .unwrap_or(1.0);
    Some(StatedInterval {
        line,
        end_s: begin + window,
        length_s: Some(window),
        count,
        rate,
        mean_ms,
        percentile_ms: take("p95_ms"),
        more: all,
        ..StatedInterval::default()
    })
}

/// `1,NewOrder,1700000000.123456,8345,0,0`; the oldest have no name, and microseconds from the begin.
fn raw(run: &mut Draft, plain: &str, line: u64) -> Option<()> {
    let cells: Vec<&str> = plain.split(',').map(str::trim).collect();
    let column = |word: &str| {
        (0..cells.len()).find(|at| {
            let name = run.options.get(&format!("column {at}"));
            name.is_some_and(|n| n.value.to_lowercase().contains(word))
        })
    };
    let cell = |at: usize| {
        let (n, odd) = number(cells.get(at)?)?;
        odd.is_empty().then_some(n)
    };
    let (start, took) = (cell(column("start time")?)?, cell(column("latency")?)?);
    let name = column("name").or(column("transaction type"))?;
    let name = (*cells.get(name)?).to_string();
    // Whatever the heading says, a point stands in seconds alone.
    let start_s = match start.decimals {
        0 => start.value / 1e6,
        _ => start.value,
    };
    if !(start_s.is_finite() && took.value >= 0.0) || name.is_empty() {
        return None;
    }
    let samples = run.samples.get_or_insert_default();
    samples.transaction(&name, start_s + took.value / 1e6, took.value, line);
    Some(())
}
