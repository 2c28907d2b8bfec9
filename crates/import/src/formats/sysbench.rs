//! sysbench 0.4, 0.5, 1.0 and 1.1: header, intermediate results, histogram, summary.

use super::sysbench_interval::{csv, interval, percent};
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{Number, after, labelled, number, unit_ms, value};

const TOOL: &str = "sysbench";

/// Lines that only frame the others.
const FRAMES: [&str; 25] = [
    "Running the test with following options",
    "Initializing random number generator",
    "Initializing worker threads",
    "Random number generator seed",
    "Threads started",
    "Time limit exceeded",
    "(last message repeated",
    "Done.",
    "Maximum response time",
    "Doing OLTP test",
    "Running mixed OLTP test",
    "Using Special distribution",
    "Using Uniform distribution",
    "Using Gaussian distribution",
    "Using Pareto distribution",
    "Using \"BEGIN\"",
    "Using auto_inc",
    "Using 1 test tables",
    "WARNING: ",
    "Additional request validation",
    "Maximum number of requests",
    "Primer prime numbers",
    "Prime numbers limit",
    "General statistics",
    "percentile stats:",
];

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    if text.starts_with('[') || text.contains("thds:") || text.contains("threads:") {
        if let Some(mut one) = interval(text, line) {
            place(doc, line, one.end_s);
            let run = doc.run(TOOL, line);
            if run.last_moment().is_none() {
                run.percent = percent(text);
            }
            // Switched off, it is printed as zero.
            if run.percent == Some(0.0) {
                one.percentile_ms = None;
            }
            run.next_interval(one);
            return true;
        }
        if text.starts_with('[') && text.contains("queue length:") && doc.of(TOOL).is_some() {
            if let Some(last) = doc.of(TOOL).and_then(|run| run.last_interval()) {
                for (label, name) in [
                    ("queue length:", "queue_length"),
                    ("concurrency:", "concurrency"),
                ] {
                    if let Some(n) = value(text, label) {
                        last.more.insert(name.to_string(), n.value);
                    }
                }
            }
            doc.touch(line);
            return true;
        }
    }
    let plain = text.trim_start_matches([' ', '\t', '>']).trim_end();
    if checkpoint(plain, line, doc) || header(plain, line, doc) || summary(plain, line, doc) {
        return true;
    }
    let is_next = doc.command.as_ref().is_some_and(|c| c.tool == TOOL);
    if let Some(reason) = plain.strip_prefix("FATAL:")
        && (is_next || doc.of(TOOL).is_some())
    {
        let reason = reason.trim().chars().take(300).collect();
        doc.run(TOOL, line).failed.get_or_insert(reason);
        return true;
    }
    let Some(run) = doc.of(TOOL) else {
        return false;
    };
    let is_windowed = run.windows.is_any();
    if histogram(plain, line, run) {
        doc.touch(line);
        doc.no_figure = is_windowed;
        return true;
    }
    if plain.starts_with(|c: char| c.is_ascii_digit())
        && let Some(one) = csv(plain, line)
    {
        run.next_interval(one);
        doc.touch(line);
        return true;
    }
    // The JSON hook prints a list.
    let is_list = matches!(plain, "[" | "]") && !run.intervals.is_empty();
    if is_list || FRAMES.iter().any(|f| plain.starts_with(f)) {
        doc.touch(line);
        return true;
    }
    false
}

/// An interval that does not follow begins another run. Behind a checkpoint's report it may follow.
fn place(doc: &mut Doc, line: u64, end_s: f64) {
    let follows = doc.of(TOOL).is_none_or(|run| {
        (!run.has_summary || run.windows.goes_on())
            && (run.last_moment().is_none_or(|last| end_s > last)
                || run.is_out_of_order(line, end_s))
    });
    if !follows {
        doc.begin(TOOL, line);
    }
}

/// `[ 2s ] Checkpoint report:`: the summary of a window follows.
fn checkpoint(plain: &str, line: u64, doc: &mut Doc) -> bool {
    if !plain.starts_with('[') || !plain.ends_with("Checkpoint report:") {
        return false;
    }
    let Some((end, _)) = plain.get(1..).map(str::trim_start).and_then(number) else {
        return false;
    };
    let follows = doc.of(TOOL).is_none_or(|run| match run.windows.last() {
        Some(last) => run.windows.goes_on() && end.value > last,
        None => !run.has_summary,
    });
    let run = match follows {
        true => doc.run(TOOL, line),
        false => doc.begin(TOOL, line),
    };
    run.windows.open(end.value, run.figures.len());
    run.section = "checkpoint";
    run.has_summary = true;
    true
}

fn header(plain: &str, line: u64, doc: &mut Doc) -> bool {
    if let Some(version) = plain.strip_prefix("sysbench ") {
        let Some(number) = version.split([' ', ':', '-']).next() else {
            return false;
        };
        let is_version = number.starts_with(|c: char| c.is_ascii_digit())
            && number.contains('.')
            && (version.contains('(') || version.contains("multi-threaded") || version.len() < 20);
        if !is_version {
            return false;
        }
        doc.begin(TOOL, line).version = Some(number.into());
        return true;
    }
    // It has no colon.
    const EVERY: &str = "Report intermediate results every";
    let every = plain.strip_prefix(EVERY).map(str::trim_start);
    let Some((label, value)) = every.map(|n| (EVERY, n)).or_else(|| labelled(plain)) else {
        return false;
    };
    let name = match label {
        EVERY => "report-interval",
        "Number of threads" => "threads",
        "Target transaction rate" => "rate",
        "Test execution time" => "time",
        _ => return false,
    };
    let Some((n, _)) = number(value) else {
        return false;
    };
    let again = doc.of(TOOL).is_some_and(|d| d.has_figures());
    let run = match again {
        true => doc.begin(TOOL, line),
        false => doc.run(TOOL, line),
    };
    run.option(name, &n.value.to_string(), line, From::Output);
    true
}

/// A label of the summary and its line's figures: what the first is, and the one in brackets.
const COUNTS: [(&str, &str, &str); 20] = [
    ("transactions", "count", "rate"),
    ("queries", "statements", "statement_rate"),
    ("read/write requests", "read_write", "read_write_rate"),
    (
        "other operations",
        "other_operations",
        "other_operations_rate",
    ),
    ("deadlocks", "ignored_errors", "ignored_error_rate"),
    ("ignored errors", "ignored_errors", "ignored_error_rate"),
    ("reconnects", "reconnects", "reconnect_rate"),
    ("read", "read", ""),
    ("write", "write", ""),
    ("other", "other", ""),
    ("total", "statement_sum", ""),
    ("total number of events", "events", ""),
    ("events/s (eps)", "rate", ""),
    ("events per second", "rate", ""),
    ("Total operations", "count", "rate"),
    ("reads/s", "read_rate", ""),
    ("writes/s", "write_rate", ""),
    ("fsyncs/s", "fsync_rate", ""),
    ("read, MiB/s", "read_mib_rate", ""),
    ("written, MiB/s", "written_mib_rate", ""),
];

/// A part of the summary, by its heading.
fn section(plain: &str) -> Option<&'static str> {
    let known = [
        ("SQL statistics", "sql"),
        ("OLTP test statistics", "sql"),
        ("CPU speed", "speed"),
        ("File operations", "speed"),
        ("Total operations", "speed"),
        ("Operations performed", "speed"),
        ("Throughput", "throughput"),
        ("queries performed", "queries"),
        ("General statistics", "general"),
        ("Test execution summary", "general"),
        ("Latency (ms)", "latency"),
        ("Latency histogram", "histogram"),
        ("Threads fairness", "fairness"),
    ];
    let found = known.iter().find(|(label, _)| plain.starts_with(label));
    let of_old = matches!(
        plain.trim_end_matches(':'),
        "response time" | "per-request statistics"
    );
    let name = found
        .map(|(_, name)| *name)
        .or(of_old.then_some("latency"))?;
    (plain.contains(':') || name == "histogram").then_some(name)
}

fn summary(plain: &str, line: u64, doc: &mut Doc) -> bool {
    if let Some(section) = section(plain) {
        let again = doc.of(TOOL).is_some_and(|run| match section {
            "sql" if run.section == "checkpoint" => false,
            "histogram" if run.windows.goes_on() => false,
            // What follows the last checkpoint has no heading. Behind a histogram it may be its own.
            "sql" if run.windows.goes_on() => {
                if run.figures.len() > run.windows.first_figure() {
                    run.windows.end(run.figures.len());
                }
                false
            }
            "sql" | "speed" | "histogram" => run.has_summary && run.section != "histogram",
            // Version 1.1 has it between statements and latencies, all have it below files and the CPU.
            "throughput" => run.has("", "elapsed_s") && !run.windows.is_any(),
            _ => false,
        });
        if again {
            doc.begin(TOOL, line);
        }
        let run = doc.run(TOOL, line);
        run.section = section;
        run.has_summary = true;
        performed(run, plain, line);
        if let Some((label @ "Total operations", value)) = labelled(plain) {
            figure(run, label, value, line);
        }
        return true;
    }
    if moved(plain, line, doc) {
        return true;
    }
    // Of an output that is quoted in part it may be the first line.
    if plain.starts_with("transactions:") && plain.contains("per sec.") {
        let is_known = |run: &mut Draft| run.has("", "count") && !run.windows.is_any();
        let run = match doc.of(TOOL).is_some_and(is_known) {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        run.has_summary = true;
    }
    let Some(run) = doc.of(TOOL).filter(|run| run.has_summary) else {
        return false;
    };
    let taken = performed(run, plain, line)
        || labelled(plain).is_some_and(|(label, value)| figure(run, label, value, line));
    if taken {
        doc.touch(line);
    }
    taken
}

/// `8329.87 MiB transferred (2775.45 MiB/sec)`, of memory.
fn moved(plain: &str, line: u64, doc: &mut Doc) -> bool {
    let Some(run) = doc.of(TOOL).filter(|run| run.has_summary) else {
        return false;
    };
    let Some((n, rest)) = number(plain) else {
        return false;
    };
    let rest = rest.trim_start();
    let rest = rest
        .strip_prefix("MiB transferred")
        .or_else(|| rest.strip_prefix("MB transferred"));
    let each = rest.and_then(|r| number(r.trim_start().strip_prefix('(')?));
    let Some((each, _)) = each else { return false };
    run.figure("", "transferred_mib", n, line);
    run.figure("", "mib_rate", each, line);
    doc.touch(line);
    true
}

/// What is below `Operations performed` before 1.0, of files and of memory.
fn performed(run: &mut Draft, plain: &str, line: u64) -> bool {
    if let Some(("Operations performed", text)) = labelled(plain) {
        let Some((count, rest)) = number(text) else {
            return false;
        };
        // `1048576 (1834567.12 ops/sec)` of memory.
        if let Some((each, _)) = rest.trim_start().strip_prefix(['(', '（']).and_then(number) {
            run.figure("", "count", count, line);
            run.figure("", "rate", each, line);
            return true;
        }
        // `6003 Read, 3997 Write, 12769 Other = 22769 Total` of files.
        for part in text.split([',', '=']) {
            let Some((n, what)) = number(part.trim_start()) else {
                continue;
            };
            let name = match what.trim() {
                "Read" => "file_reads",
                "Write" => "file_writes",
                "Other" => "file_others",
                "Total" => "file_operations",
                _ => continue,
            };
            run.figure("", name, n, line);
        }
        return true;
    }
    if let Some((n, "Requests/sec executed")) = number(plain).map(|(n, rest)| (n, rest.trim())) {
        run.figure("", "rate", n, line);
        return true;
    }
    if !(plain.starts_with("Read ") && plain.contains("Total transferred ")) {
        return false;
    }
    for (label, name) in [
        ("Read ", "read_mib"),
        ("Written ", "written_mib"),
        ("transferred ", "transferred_mib"),
        ("(", "mib_rate"),
    ] {
        if let Some((n, rest)) = after(plain, label) {
            run.scaled("", name, n, mib(rest), line);
        }
    }
    true
}

/// MiB in a unit as it was printed before 1.0: `Mb` are 1,048,576 bytes.
fn mib(rest: &str) -> f64 {
    match rest.chars().next() {
        Some('K') => 1.0 / 1024.0,
        Some('M') => 1.0,
        Some('G') => 1024.0,
        Some('T') => 1024.0 * 1024.0,
        _ => 1.0 / (1024.0 * 1024.0),
    }
}

/// `read:  IOPS=6149.15 96.08 MiB/s (100.75 MB/s)`, of files since 1.1.
fn files(run: &mut Draft, label: &str, value: &str, line: u64) -> bool {
    let Some((each, rest)) = value.strip_prefix("IOPS=").and_then(number) else {
        return false;
    };
    let (name, mib) = match label {
        "read" => ("read_rate", "read_mib_rate"),
        "write" => ("write_rate", "written_mib_rate"),
        "fsync" => ("fsync_rate", ""),
        _ => return false,
    };
    run.figure("", name, each, line);
    if let Some((n, unit)) = number(rest.trim_start())
        && unit.trim_start().starts_with("MiB/s")
        && !mib.is_empty()
    {
        run.figure("", mib, n, line);
    }
    true
}

fn figure(run: &mut Draft, label: &str, value: &str, line: u64) -> bool {
    if files(run, label, value, line) {
        return true;
    }
    let Some((n, rest)) = number(value) else {
        return false;
    };
    if let Some((_, name, rate)) = COUNTS.iter().find(|(l, ..)| *l == label) {
        // Beside transactions a second it is another figure, and both must agree.
        let own = run.figures.get(run.windows.first_figure()..);
        let is_second = own.is_some_and(|own| own.iter().any(|f| f.name == "rate"));
        let name = match label {
            "events/s (eps)" if is_second => "event_rate",
            _ => name,
        };
        run.figure("", name, n, line);
        if let Some((each, _)) = rest.trim_start().strip_prefix(['(', '（']).and_then(number)
            && !rate.is_empty()
        {
            run.figure("", rate, each, line);
        }
        return true;
    }
    let latency = unit_ms(rest).unwrap_or(1.0);
    match label {
        "total time" | "time elapsed" => run.scaled("", "elapsed_s", n, seconds_of(rest), line),
        "total time taken by event execution" => {
            run.scaled("", "sum_ms", n, 1000.0 * seconds_of(rest), line);
        }
        "min" => run.scaled("", "min_ms", n, latency, line),
        "avg" => run.scaled("", "mean_ms", n, latency, line),
        "max" => run.scaled("", "max_ms", n, latency, line),
        "sum" => run.scaled("", "sum_ms", n, latency, line),
        "events (avg/stddev)" => pair(run, "events_avg", "events_stddev", n, rest, line),
        "execution time (avg/stddev)" => pair(run, "time_avg_s", "time_stddev_s", n, rest, line),
        _ => return percentile(run, label, n, latency, line),
    }
    true
}

/// `95th percentile`, and `approx.  95 percentile` before 1.0.
fn percentile(run: &mut Draft, label: &str, n: Number, ms: f64, line: u64) -> bool {
    let Some(words) = label.strip_suffix("percentile") else {
        return false;
    };
    let words = words.trim().trim_start_matches("approx.").trim_start();
    let Some((percent, _)) = number(words) else {
        return false;
    };
    // Percentiles that are switched off are printed as zero.
    if percent.value > 0.0 && n.value > 0.0 {
        run.scaled("", &format!("p{}_ms", percent.value), n, ms, line);
    }
    true
}

fn pair(run: &mut Draft, one: &str, other: &str, n: Number, rest: &str, line: u64) {
    run.figure("", one, n, line);
    if let Some((second, _)) = rest.trim_start().strip_prefix('/').and_then(number) {
        run.figure("", other, second, line);
    }
}

/// Seconds in the unit that follows; seconds where none does.
fn seconds_of(rest: &str) -> f64 {
    unit_ms(rest).map_or(1.0, |ms| ms / 1000.0)
}

/// A row of the histogram: `value |**** count`.
fn histogram(plain: &str, line: u64, run: &mut Draft) -> bool {
    if run.section != "histogram" {
        return false;
    }
    if plain.starts_with("value ") && plain.contains("distribution") {
        return true;
    }
    let Some((value, bar)) = plain.split_once('|') else {
        return false;
    };
    let (Some((value, _)), Some((count, rest))) = (
        number(value.trim()),
        number(bar.trim_start_matches(['*', ' '])),
    ) else {
        return false;
    };
    if !rest.is_empty() {
        return false;
    }
    // Beside checkpoints nothing says which of their windows it is of.
    if run.windows.is_any() {
        return true;
    }
    run.figure(
        "histogram",
        &format!("bucket_{}_ms", value.value),
        count,
        line,
    );
    true
}
