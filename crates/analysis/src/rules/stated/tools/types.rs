//! Equations between figures of a whole run and those of its types, as far as the tool states both.

use super::super::equations::Equation;
use super::super::view::{ImportedRun, Range};
use super::equation;
use crate::thresholds::{PERCENTILE_STEP, STATED_APART};
use tidemark_core::record::RunState;

/// Those that hold for the outputs of the run's tool.
pub(super) fn equations(view: &ImportedRun<'_>) -> Vec<Equation> {
    let tool = view.tool();
    let mut all: Vec<Equation> = match tool.rate_is_of_types {
        true => sum_of_types(view).into_iter().collect(),
        false => Vec::new(),
    };
    if tool.types_end_with_run {
        all.extend(times_of_types(view));
    }
    if let Some(options) = tool.operations_asked {
        all.extend(count_asked(view, options));
    }
    if let Some(total) = tool.total_type {
        all.extend(total_of_all(view, total));
    }
    all
}

/// The whole run's operations beside those of each type.
fn sum_of_types(view: &ImportedRun<'_>) -> Option<Equation> {
    if view.nested() {
        return None;
    }
    let of_types = view.types().into_iter();
    let done = of_types.filter_map(|of| view.of(of, "count"));
    let done = done.reduce(Range::plus);
    let made = view.all("rate").zip(view.all("elapsed_s"));
    let made = made.map(|(r, s)| r.times(s));
    Some(equation(
        "rate × elapsed_s",
        "sum of operations",
        (made, with_failed(done, view)),
        STATED_APART,
        0.0,
    ))
}

/// What was done, and what failed where that is counted apart: the whole counts it, too.
fn with_failed(done: Option<Range>, view: &ImportedRun<'_>) -> Option<Range> {
    match (done, view.failed()) {
        (Some(done), Some(failed)) => Some(done.plus(failed)),
        (done, _) => done,
    }
}

/// Each type's time beside the run's.
fn times_of_types(view: &ImportedRun<'_>) -> Vec<Equation> {
    let elapsed = view.all("elapsed_s");
    let by = elapsed.map_or(0.0, |s| 1.0 + s.value * STATED_APART);
    let types = view.types().into_iter();
    types
        .map(|of| {
            let sides = (view.of(of, "elapsed_s"), elapsed);
            Equation {
                of: of.into(),
                ..equation("elapsed_s", "run finished", sides, 0.0, by)
            }
        })
        .collect()
}

/// As many operations as were asked for, unless the run ends by its time, or its output before the run.
fn count_asked(
    view: &ImportedRun<'_>,
    (asked, limit): (&'static str, &'static str),
) -> Option<Equation> {
    let number = view.number(asked)?;
    let is_load = view.option("command") == Some("load");
    let is_cut = view.record.state == RunState::Interrupted;
    if is_load || is_cut || view.nested() || view.option(limit).is_some() {
        return None;
    }
    let done = with_failed(view.count(), view);
    let by = view.sessions().unwrap_or(1.0);
    let sides = (done, Some(Range::exact(number, view.line_of(asked))));
    Some(equation("count", asked, sides, STATED_APART, by))
}

/// The line of all operations beside those of each type. A READ_MODIFY_WRITE is counted in its parts.
fn total_of_all(view: &ImportedRun<'_>, total: &'static str) -> Vec<Equation> {
    let apart = ["", total, "CLEANUP", "READ_MODIFY_WRITE"];
    let types: Vec<&str> = view
        .parts()
        .into_iter()
        .filter(|of| !apart.contains(of) && view.of(of, "count").is_some())
        .collect();
    let whole = |name: &str| view.of(total, name);
    let (Some(count), false) = (whole("count"), types.is_empty()) else {
        return Vec::new();
    };
    // Of every type, or the others may hold what is missed.
    let each =
        |name: &str| -> Option<Vec<Range>> { types.iter().map(|of| view.of(of, name)).collect() };
    let least = |all: Vec<Range>| all.into_iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let most = |all: Vec<Range>| all.into_iter().max_by(|a, b| a.value.total_cmp(&b.value));
    let counts = each("count");
    let sum = counts.and_then(|all| all.into_iter().reduce(Range::plus));
    let times = types.iter().map(|of| {
        let (n, ms) = view.of(of, "count").zip(view.of(of, "mean_ms"))?;
        Some(n.times(ms))
    });
    let time = times.collect::<Option<Vec<Range>>>();
    let time = time.and_then(|all| all.into_iter().reduce(Range::plus));
    let mean = time.zip(sum).map(|(time, n)| time.per(n));
    let mut all = vec![
        equation("count", "types", (Some(count), sum), STATED_APART, 0.0),
        equation(
            "mean_ms",
            "types",
            (whole("mean_ms"), mean),
            STATED_APART,
            0.0,
        ),
        equation(
            "min_ms",
            "types",
            (whole("min_ms"), each("min_ms").and_then(least)),
            0.0,
            0.0,
        ),
        equation(
            "max_ms",
            "types",
            (whole("max_ms"), each("max_ms").and_then(most)),
            0.0,
            0.0,
        ),
    ];
    for (percent, stated) in view.percentiles(total) {
        let name = format!("p{percent}_ms");
        let Some(parts) = each(&name) else { continue };
        // Older versions print whole milliseconds.
        let is_whole = parts
            .iter()
            .chain([&stated])
            .all(|r| r.value.fract() == 0.0);
        let step = if is_whole { 1.0 } else { 0.0 };
        let between = least(parts.clone()).zip(most(parts)).map(|(a, b)| {
            let nearest = stated.value.clamp(a.value, b.value);
            Range {
                value: nearest,
                low: a.low,
                high: b.high,
                line: stated.line,
            }
        });
        let sides = (Some(stated), between);
        all.push(equation(&name, "types", sides, PERCENTILE_STEP, step));
    }
    for one in &mut all {
        one.of = total.into();
    }
    all
}
