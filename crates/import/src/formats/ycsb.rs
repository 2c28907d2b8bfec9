//! go-ycsb's lines a type, and the Java YCSB's `[TYPE], name, value`.

use super::{Format, styles};
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{Number, number, seconds, value};
use std::collections::BTreeMap;
use tidemark_core::record::{StatedFigure, StatedInterval};

const GO: &str = "go-ycsb";
const JAVA: &str = "ycsb";
/// A part whose latencies are printed in milliseconds, as in the oldest versions.
const IN_MS: &str = "ms";

/// go-ycsb's: a row of its table and an object of its JSON are a line each.
pub(super) const GO_FORMAT: Format = Format {
    tool: GO,
    take: go,
    has_object: is_heading,
};
/// The Java one's.
pub(super) const JAVA_FORMAT: Format = Format::of_lines(JAVA, java);

/// `READ - Takes(s): 1.6, Count: 488, OPS: 310.8, Avg(us): 835, …`. The lines count from the begin: the
/// last of each type is its summary.
fn go(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim_start_matches([' ', '\t', '>']).trim_end();
    if plain.starts_with('"') {
        return property(plain, line, doc);
    }
    if plain.starts_with("****") && plain.contains("propert") {
        doc.begin(GO, line);
        return true;
    }
    if plain.starts_with(['|', '+']) {
        return row(plain, line, doc);
    }
    if plain.starts_with("****") && doc.of(GO).is_some() {
        doc.touch(line);
        return true;
    }
    if let Some(took) = plain.strip_prefix("Run finished, takes ") {
        let took = seconds(took);
        // It stands above the figures of its run.
        let run = match doc.of(GO).is_some_and(|d| d.has("", "elapsed_s")) {
            true => doc.begin(GO, line),
            false => doc.run(GO, line),
        };
        run.has_summary = true;
        if let Some(value) = took {
            // Printed to the nanosecond.
            run.figure("", "elapsed_s", Number { value, decimals: 6 }, line);
        }
        return true;
    }
    let Some((name, rest)) = plain.split_once("- Takes(s):") else {
        return false;
    };
    let name = name.trim().to_string();
    if name.is_empty() || name.len() > 60 || name.starts_with('[') {
        return false;
    }
    let Some((took, rest)) = number(rest.trim_start()) else {
        return false;
    };
    let count = value(rest, "Count:");
    if let Some(of) = name.strip_suffix("_ERROR") {
        let run = doc.run(GO, line);
        // Each line counts from the begin.
        let own = format!("{of} ");
        run.figures.retain(|f| match f.of.as_str() {
            "errors" => f.name != of,
            "failed" => !f.name.starts_with(&own),
            _ => true,
        });
        run.figure("failed", &format!("{of} elapsed_s"), took, line);
        for (figure, n, factor) in super::go_tpc::figures(rest) {
            match figure.as_str() {
                "count" => run.figure("errors", of, n, line),
                _ => run.scaled("failed", &format!("{of} {figure}"), n, factor, line),
            }
        }
        return true;
    }
    let before = doc.of(GO).and_then(|run| {
        let mut seen = run.figures.iter().rev();
        let last = seen.find(|f| f.of == name && f.name == "elapsed_s")?;
        let first = run.intervals.iter().find(|i| i.of == name);
        let first = first.map_or(last.value, |i| i.end_s);
        // No run begins so late: a rule tells the time.
        let is_late = line == run.last_line + 1 && took.value > 1.5 * first;
        Some(last.value).filter(|_| !is_late)
    });
    // Time does not go back within a run, nor does a count.
    let counted = doc.of(GO).and_then(|run| {
        let mut seen = run.figures.iter().rev();
        Some(seen.find(|f| f.of == name && f.name == "count")?.value)
    });
    let fell = counted
        .zip(count)
        .is_some_and(|(last, now)| now.value < last);
    let is_next = before.is_some_and(|before| before > took.value + 0.05);
    let run = match is_next || before.is_some() && fell {
        true => doc.begin(GO, line),
        false => doc.run(GO, line),
    };
    if let Some(at) = run
        .figures
        .iter()
        .position(|f| f.of == name && f.name == "elapsed_s")
    {
        // What the type had until now becomes a line over time.
        let earlier: Vec<_> = run.figures.extract_if(at.., |f| f.of == name).collect();
        let of = |n: &str| earlier.iter().find(|f| f.name == n).map(|f| f.value);
        let fields = ["elapsed_s", "count", "rate", "mean_ms", "p99_ms"];
        let others = earlier.iter().filter(|f| !fields.contains(&&*f.name));
        run.interval(StatedInterval {
            line: earlier.first().map_or(line, |f| f.line),
            of: name.clone(),
            cumulative: true,
            end_s: of("elapsed_s").unwrap_or_default(),
            count: of("count"),
            rate: of("rate"),
            mean_ms: of("mean_ms"),
            percentile_ms: of("p99_ms"),
            more: others.map(|f| (f.name.clone(), f.value)).collect(),
            ..StatedInterval::default()
        });
    }
    run.figure(&name, "elapsed_s", took, line);
    if let Some(n) = count {
        run.figure(&name, "count", n, line);
    }
    for part in rest.split(", ") {
        let Some((label, n)) = part.split_once(':') else {
            continue;
        };
        let label = label.trim();
        let Some((n, _)) = number(n.trim()) else {
            continue;
        };
        let us = 1e-3;
        match label {
            "OPS" => run.figure(&name, "rate", n, line),
            "Avg(us)" => run.scaled(&name, "mean_ms", n, us, line),
            "Min(us)" => run.scaled(&name, "min_ms", n, us, line),
            "Max(us)" => run.scaled(&name, "max_ms", n, us, line),
            _ => {
                if let Some((percent, "th(us)")) = number(label) {
                    run.scaled(&name, &format!("p{}_ms", percent.value), n, us, line);
                }
            }
        }
    }
    true
}

/// Whether names are of a table or an object of go-ycsb's.
fn is_heading(names: &[String]) -> bool {
    let has = |name: &str| names.iter().any(|n| n == name);
    has("Operation") && has("Takes(s)") && !has("Prefix")
}

/// A line of the table that `outputstyle=table` prints. Its cells are what the lines have.
fn row(plain: &str, line: u64, doc: &mut Doc) -> bool {
    match styles::line(plain, &mut doc.go_names, is_heading) {
        Some(styles::TableLine::Row(row)) => go(&row, line, doc),
        Some(_) => {
            if doc.of(GO).is_some() {
                doc.touch(line);
            }
            true
        }
        None => false,
    }
}

/// `"recordcount"="1000"`.
fn property(plain: &str, line: u64, doc: &mut Doc) -> bool {
    let parts = plain.trim_matches('"').split_once("\"=\"");
    let Some((name, value)) = parts else {
        return false;
    };
    // Properties stand before figures.
    let again = doc.of(GO).is_some_and(|d| d.has_figures());
    let run = match again {
        true => doc.begin(GO, line),
        false => doc.run(GO, line),
    };
    run.option(&crate::command::canonical(name), value, line, From::Output);
    if name == "dotransactions" && value == "false" {
        run.option("command", "load", line, From::Output);
    }
    true
}

/// `[READ], AverageLatency(us), 835.2`, `[OVERALL], Throughput(ops/sec), 1234.5`.
fn java(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim_start_matches([' ', '\t', '>']).trim_end();
    if let Some(rest) = plain.strip_prefix('[') {
        return measurement(rest, line, doc);
    }
    let Some(run) = status(plain, line) else {
        let frame = plain.starts_with("YCSB Client ")
            || plain.starts_with("Command line: ")
            || plain.starts_with("Loading workload");
        // What its layer above the database says at its start.
        if plain.starts_with("DBWrapper: ") && doc.of(JAVA).is_some() {
            doc.touch(line);
            return true;
        }
        if frame {
            doc.begin(JAVA, line);
            if let Some(words) = plain.strip_prefix("Command line: ") {
                options(words, line, doc);
            }
        }
        return frame;
    };
    // Whole seconds are printed, and the last one again at the end.
    let last = doc
        .of(JAVA)
        .filter(|d| !d.has_summary)
        .and_then(|d| d.last_moment());
    if last.is_some_and(|last| last == run.end_s) {
        doc.touch(line);
        return true;
    }
    let goes_back = doc.of(JAVA).is_some_and(|d| {
        let back = last.is_some_and(|last| last > run.end_s);
        d.has_summary || back && !d.is_out_of_order(line, run.end_s)
    });
    let open = match goes_back {
        true => doc.begin(JAVA, line),
        false => doc.run(JAVA, line),
    };
    open.next_interval(run);
    true
}

/// Whether a line is of a type's second kind of measurement, as with `measurementtype` set to
/// `hdrhistogram+histogram`: its lines follow those of the first, count the same operations and have about the same mean.
fn is_measured_twice(run: &Draft, of: &str, name: &str, n: Number) -> bool {
    let follows = run.figures.last().is_some_and(|last| last.of == of);
    let mut counts = run
        .figures
        .iter()
        .filter(|f| f.of == of && f.name == "count");
    let is_same = counts.next().is_some_and(|first| first.value == n.value);
    let first_mean = || {
        let mut means = run.figures.iter();
        means.find(|f| f.of == of && f.name == "mean_ms")
    };
    let is_second = match name {
        "Operations" => is_same,
        "AverageLatency(us)" | "AverageLatency(ms)" => {
            let unit = if name.ends_with("(us)") { 1e-3 } else { 1.0 };
            let is_near = |first: f64| (first - n.value * unit).abs() <= 0.01 * first;
            counts.next().is_some() && first_mean().is_some_and(|first| is_near(first.value))
        }
        _ => false,
    };
    follows && is_second
}

/// `2026-01-01 10:00:00:123 10 sec: 12345 operations; 1234.5 current ops/sec; …`.
fn status(plain: &str, line: u64) -> Option<StatedInterval> {
    let at = plain.find(" sec: ")?;
    let rest = plain.get(at + 6..)?;
    let (operations, after) = number(rest)?;
    if !after.trim_start().starts_with("operations;") {
        return None;
    }
    let (end, _) = number(plain.get(..at)?.rsplit(' ').next()?)?;
    let rate = after.split(';').find_map(|part| {
        let (n, unit) = number(part.trim())?;
        unit.trim_start()
            .starts_with("current ops")
            .then_some(n.value)
    });
    let mut more = BTreeMap::from([("operations".to_string(), operations.value)]);
    let types = after
        .split('[')
        .skip(1)
        .filter_map(|t| t.split_once([':', ' ']));
    for (of, fields) in types.take(20) {
        for field in fields.split([',', ']']) {
            let Some((name, n)) = field.trim().split_once('=') else {
                continue;
            };
            let (name, factor) = match name {
                "Count" => ("count".to_string(), 1.0),
                // `[READ AverageLatency(us)=835.2]` of older versions.
                "Avg" | "AverageLatency(us)" => ("mean_ms".into(), 1e-3),
                "Min" => ("min_ms".into(), 1e-3),
                "Max" => ("max_ms".into(), 1e-3),
                // `99.9=1200`.
                _ => match number(name) {
                    Some((percent, "")) => (format!("p{}_ms", percent.value), 1e-3),
                    _ => continue,
                },
            };
            if let Some((n, _)) = number(n) {
                more.insert(format!("{} {name}", of.trim()), n.value * factor);
            }
        }
    }
    Some(StatedInterval {
        line,
        end_s: end.value,
        rate,
        more,
        ..StatedInterval::default()
    })
}

fn measurement(rest: &str, line: u64, doc: &mut Doc) -> bool {
    let Some((of, rest)) = rest.split_once("],") else {
        return false;
    };
    let (of, mut parts) = (of.trim(), rest.splitn(2, ','));
    let (Some(name), Some(text)) = (parts.next(), parts.next()) else {
        return false;
    };
    let (name, text) = (name.trim(), text.trim());
    let Some((n, odd)) = number(text) else {
        // `NaN`, of a type that never ended.
        return matches!(text, "NaN") && doc.of(JAVA).is_some();
    };
    if !odd.trim().is_empty() && !odd.trim_start().starts_with(['#', '/', '(']) {
        return false;
    }
    // The same operations again, timed from when they were due (measurement.interval=both), and those
    // that failed: both are counted and timed apart.
    let apart = of.strip_prefix("Intended-").map(|of| ("intended", of));
    let apart = apart.or(of.strip_suffix("-FAILED").map(|of| ("failed", of)));
    if let Some((class, of)) = apart {
        let run = doc.run(JAVA, line);
        let figure = match (class, name) {
            ("failed", "Operations") => {
                run.figure("errors", of, n, line);
                return true;
            }
            (_, "AverageLatency(us)") => "mean_ms".into(),
            (_, "MinLatency(us)") => "min_ms".into(),
            (_, "MaxLatency(us)") => "max_ms".into(),
            _ => match number(name) {
                Some((percent, "thPercentileLatency(us)" | "PercentileLatency(us)")) => {
                    format!("p{}_ms", percent.value)
                }
                _ => return true,
            },
        };
        run.scaled(class, &format!("{of} {figure}"), n, 1e-3, line);
        return true;
    }
    let us = 1e-3;
    // What stands once in an output begins another run.
    let (of_run, figure) = match (of, name) {
        ("OVERALL", "RunTime(ms)") => ("", "elapsed_s"),
        ("OVERALL", "Throughput(ops/sec)") => ("", "rate"),
        (of, "Operations") => (of, "count"),
        (of, "AverageLatency(us)" | "AverageLatency(ms)") => (of, "mean_ms"),
        (of, _) => (of, ""),
    };
    let is_next = doc
        .of(JAVA)
        .is_some_and(|run| run.has(of_run, figure) && !is_measured_twice(run, of, name, n));
    if is_next {
        // A count right above a mean that is another one is the next run's.
        let counted = doc.of(JAVA).and_then(|run| {
            let is_count = |f: &StatedFigure| f.of == of && f.name == "count";
            let is_twice = run.figures.iter().filter(|f| is_count(f)).count() > 1;
            run.figures.pop_if(|last| is_twice && is_count(last))
        });
        doc.begin(JAVA, line).figures.extend(counted);
    }
    let run = doc.run(JAVA, line);
    run.has_summary = true;
    match (of, name) {
        ("OVERALL", "RunTime(ms)") => run.scaled("", "elapsed_s", n, 1e-3, line),
        ("OVERALL", "Throughput(ops/sec)") => run.figure("", "rate", n, line),
        (_, "Operations") => run.figure(of, "count", n, line),
        (_, "AverageLatency(us)") => {
            run.section = "";
            run.scaled(of, "mean_ms", n, us, line);
        }
        (_, "MinLatency(us)") => run.scaled(of, "min_ms", n, us, line),
        (_, "MaxLatency(us)") => run.scaled(of, "max_ms", n, us, line),
        (_, "AverageLatency(ms)") => {
            run.section = IN_MS;
            run.figure(of, "mean_ms", n, line);
        }
        (_, "MinLatency(ms)") => run.figure(of, "min_ms", n, line),
        (_, "MaxLatency(ms)") => run.figure(of, "max_ms", n, line),
        _ => return named(run, of, name, n, line),
    }
    true
}

fn named(run: &mut Draft, of: &str, name: &str, n: Number, line: u64) -> bool {
    if let Some(status) = name.strip_prefix("Return=") {
        run.figure(of, &format!("return_{status}"), n, line);
        return true;
    }
    if let Some((percent, rest)) = number(name)
        && rest.to_ascii_lowercase().contains("percentilelatency")
    {
        let unit = if rest.contains("(ms)") { 1.0 } else { 1e-3 };
        // 99.9 and 99.99 are written 99.9 or as 99.9PercentileLatency.
        run.scaled(of, &format!("p{}_ms", percent.value), n, unit, line);
        return true;
    }
    // A histogram's counts of each millisecond, or a time series' means in the unit of its mean.
    if let Ok(at) = name.parse::<u64>() {
        let unit = if run.section == IN_MS { 1.0 } else { 1e-3 };
        match n.decimals {
            _ if n.value == 0.0 => {}
            0 => run.figure(of, &format!("count_at_{at}ms"), n, line),
            _ => run.scaled(of, &format!("mean_ms_at_{at}ms"), n, unit, line),
        }
        return true;
    }
    if let Some(at) = name.strip_prefix('>') {
        run.figure(of, &format!("count_above_{at}ms"), n, line);
        return true;
    }
    // Collectors.
    of.starts_with("TOTAL_GC") || of == "OVERALL" || name.parse::<f64>().is_ok()
}

fn options(words: &str, line: u64, doc: &mut Doc) {
    let Some(command) = crate::command::command(&format!("ycsb run {words}"), line) else {
        return;
    };
    let run = doc.run(JAVA, line);
    run.workload = command.workload;
    for (name, value) in &command.options {
        run.option(name, value, line, From::Output);
    }
    if words.split_whitespace().any(|w| w == "-load") {
        run.option("command", "load", line, From::Output);
    }
}
