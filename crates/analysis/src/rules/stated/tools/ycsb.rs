//! Equations between figures that YCSB's programs alone print.

use super::super::equations::Equation;
use super::super::view::{ImportedRun, Range};
use super::equation;
use crate::thresholds::{PERCENTILE_STEP, STATED_APART};

/// Those of the Java one's output.
pub(super) fn java(view: &ImportedRun<'_>) -> Vec<Equation> {
    if view.nested() {
        return Vec::new();
    }
    let of_types = view.types().into_iter();
    let done = of_types.filter_map(|of| view.of(of, "count"));
    let done = done.reduce(Range::plus);
    // The whole counts what failed, too.
    let done = match (done, view.failed()) {
        (Some(done), Some(failed)) => Some(done.plus(failed)),
        (done, _) => done,
    };
    let made = view.all("rate").zip(view.all("elapsed_s"));
    let made = made.map(|(r, s)| r.times(s));
    let name = "rate × elapsed_s";
    vec![equation(
        name,
        "sum of operations",
        (made, done),
        STATED_APART,
        0.0,
    )]
}

/// Those of go-ycsb's output.
pub(super) fn go(view: &ImportedRun<'_>) -> Vec<Equation> {
    let mut all = Vec::new();
    // All types end together.
    let elapsed = view.all("elapsed_s");
    for of in view.types() {
        let by = elapsed.map_or(0.0, |s| 1.0 + s.value * STATED_APART);
        let sides = (view.of(of, "elapsed_s"), elapsed);
        all.push(Equation {
            of: of.into(),
            ..equation("elapsed_s", "run finished", sides, 0.0, by)
        });
    }
    let asked = view
        .number("operationcount")
        .filter(|_| view.option("maxexecutiontime").is_none());
    let is_run = view.option("command") != Some("load");
    if let (Some(asked), true, false) = (asked, is_run, view.nested()) {
        let done = match (view.count(), view.failed()) {
            (Some(done), Some(failed)) => Some(done.plus(failed)),
            (done, _) => done,
        };
        let line = view.line_of("operationcount");
        let by = view.sessions().unwrap_or(1.0);
        let sides = (done, Some(Range::exact(asked, line)));
        all.push(equation("count", "operationcount", sides, STATED_APART, by));
    }
    all.extend(total_of_all(view));
    all
}

/// The line of all operations beside those of each type. A READ_MODIFY_WRITE is counted in its parts.
fn total_of_all(view: &ImportedRun<'_>) -> Vec<Equation> {
    const TOTAL: &str = "TOTAL";
    let apart = ["", TOTAL, "CLEANUP", "READ_MODIFY_WRITE"];
    let types: Vec<&str> = view
        .parts()
        .into_iter()
        .filter(|of| !apart.contains(of) && view.of(of, "count").is_some())
        .collect();
    let whole = |name: &str| view.of(TOTAL, name);
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
    for (percent, stated) in view.percentiles(TOTAL) {
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
        one.of = TOTAL.into();
    }
    all
}
