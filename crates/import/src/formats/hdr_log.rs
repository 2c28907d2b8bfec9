//! HdrHistogram logs: intervals with their whole distribution.

use super::hdr_percentiles;
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{Number, number};
use crate::unit::Unit;
use tidemark_core::record::StatedInterval;
use tidemark_stats::{Histogram, logged_histogram};

const TOOL: &str = "hdr-log";
/// Lines of all latencies were seen, not only of parts with tags.
const WHOLE: &str = "whole";

/// What programs log, unless they say otherwise.
const USUAL: Unit = Unit::Ns;
/// The option that keeps the stated unit.
const UNIT: &str = "unit";

/// Keeps the unit that a remark in the log's head names. jHiccup's is known.
fn state_unit(run: &mut Draft, remark: &str, line: u64) {
    let of_jhiccup = remark.contains("jHiccup").then_some(Unit::Ns);
    if let Some(unit) = Unit::in_words(remark).or(of_jhiccup) {
        run.option(UNIT, unit.name(), line, From::Output);
    }
}

fn stated_unit(run: &Draft) -> Option<Unit> {
    let stated = &run.options.get(UNIT)?.value;
    Unit::ALL.into_iter().find(|unit| unit.name() == stated)
}

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim();
    if hdr_percentiles::take(plain, line, doc) {
        return true;
    }
    if plain.starts_with("#[") && (plain.contains("Histogram log") || plain.contains("StartTime")) {
        let again = doc.of(TOOL).is_some_and(|d| d.has_figures());
        let run = match again {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        state_unit(run, plain, line);
        return true;
    }
    // Other remarks of its head.
    if plain.starts_with('#')
        && let Some(run) = doc.of(TOOL)
    {
        state_unit(run, plain, line);
        doc.touch(line);
        return true;
    }
    if plain.starts_with("\"StartTimestamp\"") {
        doc.run(TOOL, line);
        return true;
    }
    if !plain.contains(",HIST") {
        return false;
    }
    let fields: Vec<&str> = plain.split(',').collect();
    let (tagged, fields) = match fields.split_first() {
        Some((tag, fields)) if tag.starts_with("Tag=") => (true, fields),
        _ => (false, &fields[..]),
    };
    let [start, length, _, encoded] = fields else {
        return false;
    };
    let (Some((start, _)), Some((length, _))) = (number(start), number(length)) else {
        return false;
    };
    let asked = doc.unit;
    let stated = doc.of(TOOL).and_then(|run| stated_unit(run));
    let unit = stated.or(asked).unwrap_or(USUAL);
    let Ok(one) = logged_histogram(encoded, unit.ns()) else {
        return false;
    };
    let run = doc.run(TOOL, line);
    if stated.is_none() && asked.is_none() {
        run.without_unit = Some(USUAL);
    }
    run.has_summary = true;
    if tagged && run.section == WHOLE {
        // It is in the line without a tag, too.
        return true;
    }
    if !tagged {
        run.section = WHOLE;
    }
    let begin = run.option_number("begin").unwrap_or(start.value);
    if !run.options.contains_key("begin") {
        run.option("begin", &start.value.to_string(), line, From::Output);
    }
    run.interval(StatedInterval {
        line,
        end_s: start.value - begin + length.value,
        length_s: Some(length.value).filter(|l| *l > 0.0),
        count: Some(one.count() as f64),
        rate: Some(one.count() as f64 / length.value).filter(|r| r.is_finite()),
        percentile_ms: Some(one.percentile_ns(95.0) as f64 / 1e6),
        mean_ms: Some(one.mean_ns() / 1e6),
        ..StatedInterval::default()
    });
    let exact = |value| Number { value, decimals: 9 };
    run.figures.retain(|f| f.name != "elapsed_s");
    run.figure(
        "",
        "elapsed_s",
        exact(start.value - begin + length.value),
        line,
    );
    run.histogram.get_or_insert_with(Histogram::new).merge(&one);
    true
}
