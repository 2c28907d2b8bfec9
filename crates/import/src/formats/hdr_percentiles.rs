//! Percentile distributions of HdrHistogram (`.hgrm`, and as CSV): a row for each percentile, and below
//! them the mean, the largest and the count.

use crate::doc::Doc;
use crate::draft::Draft;
use crate::scan::{Number, number};
use crate::unit::Unit;

const TOOL: &str = "hdr-log";
/// The part of a run whose rows are percentiles.
const ROWS: &str = "percentiles";
/// What programs print, unless they say otherwise.
const USUAL: Unit = Unit::Ms;
/// The rows lie ever closer to 100 %: of each of these the first one at it or above is kept, which says
/// its own percentile.
const KEPT: [f64; 8] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];

pub(super) fn take(plain: &str, line: u64, doc: &mut Doc) -> bool {
    const HEADING: [&str; 4] = ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"];
    if plain.contains("TotalCount") && words(plain) == HEADING {
        let asked = doc.unit;
        let run = doc.begin(TOOL, line);
        run.section = ROWS;
        run.without_unit = asked.is_none().then_some(USUAL);
        return true;
    }
    let ms = doc.unit.unwrap_or(USUAL).ms();
    let Some(run) = doc.of(TOOL).filter(|run| run.section == ROWS) else {
        return false;
    };
    const TOTALS: [&str; 3] = ["Mean", "Max", "Buckets"];
    let taken = match plain.strip_prefix("#[") {
        Some(totals) => {
            TOTALS.iter().any(|begin| totals.starts_with(begin))
                && self::totals(run, totals, ms, line)
        }
        // No row stands below the totals.
        None => !run.has_summary && row(run, &words(plain), ms, line),
    };
    if taken {
        doc.touch(line);
    }
    taken
}

/// What blanks part, or commas and quotes.
fn words(plain: &str) -> Vec<&str> {
    let signs = |c: char| c.is_whitespace() || matches!(c, ',' | '"');
    plain.split(signs).filter(|word| !word.is_empty()).collect()
}

/// `1.234 0.990625000000 9907 106.67`.
fn row(run: &mut Draft, words: &[&str], ms: f64, line: u64) -> bool {
    let whole = |word: &str| {
        let found = number(word).filter(|(_, rest)| rest.is_empty());
        found.map(|(n, _)| n)
    };
    let ([value, share, count] | [value, share, count, _]) = words else {
        return false;
    };
    let (Some(value), Some(share), Some(_)) = (whole(value), whole(share), whole(count)) else {
        return false;
    };
    let percent = (share.value * 1e8).round() / 1e6;
    let before = run.figures.iter().filter_map(|f| {
        let percent = f.name.strip_prefix('p')?.strip_suffix("_ms")?;
        percent.parse::<f64>().ok()
    });
    let before = before.fold(0.0, f64::max);
    let next = KEPT.into_iter().find(|kept| *kept > before);
    // The last row is the largest, which stands below as well.
    if next.is_some_and(|next| percent >= next) && percent < 100.0 {
        run.scaled("", &format!("p{percent}_ms"), value, ms, line);
    }
    true
}

/// `#[Mean    =        0.411, StdDeviation   =        0.245]`.
fn totals(run: &mut Draft, totals: &str, ms: f64, line: u64) -> bool {
    run.has_summary = true;
    for part in totals.trim_end_matches(']').split(',') {
        let Some((name, text)) = part.split_once('=') else {
            continue;
        };
        let Some((n, _)) = number(text.trim()) else {
            continue;
        };
        let mut latency = |figure: &str, n: Number| run.scaled("", figure, n, ms, line);
        match name.trim() {
            "Mean" => latency("mean_ms", n),
            "StdDeviation" => latency("stddev_ms", n),
            "Max" => latency("max_ms", n),
            "Total count" => run.figure("", "count", n, line),
            _ => {}
        }
    }
    true
}
