//! Lines that a tool always prints and that are not there.

use super::view::ImportedRun;
use super::{finding, words};
use crate::texts::{missing, sampler_gaps};
use crate::thresholds::STALLED_EXPECTED;
use crate::{Figure, Finding, Severity};
use std::collections::BTreeSet;
use tidemark_core::Source;
use tidemark_core::record::{RunState, StatedInterval};

/// Figures that stand together in an output, and how many of them make one. Whoever quotes a line or
/// two of it lost none.
struct OutputBlock {
    tool: &'static str,
    figures: &'static [&'static str],
    least: usize,
    /// The same where the output begins with its first lines, so that nobody quotes a part.
    first: usize,
    /// A figure of older versions, which print others.
    unless: &'static str,
    /// Options that such an output states: whoever quotes a part leaves some of them out.
    options: &'static [&'static str],
}

const BLOCKS: &[OutputBlock] = &[
    OutputBlock {
        tool: "sysbench",
        figures: &[
            "read",
            "write",
            "other",
            "statement_sum",
            "count",
            "statements",
            "ignored_errors",
            "reconnects",
        ],
        least: 6,
        first: 2,
        unless: "read_write",
        options: &[],
    },
    OutputBlock {
        tool: "sysbench",
        figures: &[
            "elapsed_s",
            "events",
            "min_ms",
            "mean_ms",
            "max_ms",
            "sum_ms",
        ],
        least: 4,
        first: 4,
        unless: "read_write",
        options: &[],
    },
    OutputBlock {
        tool: "sysbench",
        figures: &["events_avg", "time_avg_s"],
        least: 1,
        first: 1,
        unless: "",
        options: &[],
    },
    // Since version 14, of which the rate has one line and connecting one of its own.
    OutputBlock {
        tool: "pgbench",
        figures: &["count", "mean_ms", "connecting_ms", "rate"],
        least: 3,
        first: 3,
        unless: "rate_with_connecting",
        options: &["script", "scale", "protocol", "threads", "jobs"],
    },
    // The summary as JSON.
    OutputBlock {
        tool: "benchbase",
        figures: &[
            "min_ms", "p25_ms", "p50_ms", "p75_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms",
            "mean_ms",
        ],
        least: 6,
        first: 6,
        unless: "",
        options: &["DBMS Type"],
    },
    // Older ones have the rate alone.
    OutputBlock {
        tool: "benchbase",
        figures: &["elapsed_s", "count", "rate"],
        least: 2,
        first: 2,
        unless: "",
        options: &["DBMS Type"],
    },
];

/// A figure at the beginning of a tool's summary, and those of the rest.
const ENDINGS: &[(&str, &str, &[&str])] = &[
    (
        "sysbench",
        "elapsed_s",
        &["mean_ms", "max_ms", "events_avg", "time_avg_s"],
    ),
    ("pgbench", "count", &["mean_ms", "rate"]),
    (
        "mysqlslap",
        "elapsed_s",
        &["shortest_s", "longest_s", "queries_per_client"],
    ),
    ("benchmarksql", "tpmc", &["tpm_total", "elapsed_s", "count"]),
];

/// What a line holds.
enum Holds {
    Option(&'static str),
    Figure(&'static str),
    /// A figure of any type.
    OfType(&'static str),
}

/// A log that has its lines in one order: whoever has its first and its last ones quotes no part.
struct Log {
    tool: &'static str,
    ends: &'static [Holds],
    /// Lines between them, and how each begins.
    between: &'static [(Holds, &'static str)],
    /// So many of those make such a log.
    least: usize,
}

const LOGS: &[Log] = &[
    Log {
        tool: "hammerdb",
        ends: &[
            Holds::Option("warmup-time"),
            Holds::Figure("minutes_elapsed"),
        ],
        between: &[
            (Holds::Option("time"), "Timing test period of"),
            (Holds::Option("threads"), "Active Virtual Users configured"),
            (Holds::Figure("nopm"), "TEST RESULT"),
        ],
        least: 2,
    },
    Log {
        tool: "benchbase",
        ends: &[Holds::Option("warmup-time"), Holds::OfType("completed")],
        between: &[(Holds::Figure("count"), "Results(")],
        least: 0,
    },
];

/// Lines of a log that are not there; `None` where it is none, or a part.
fn lost_of_log(view: &ImportedRun<'_>) -> Option<Vec<&'static str>> {
    let log = LOGS.iter().find(|log| log.tool == view.imported.tool)?;
    let holds = |line: &Holds| match line {
        Holds::Option(name) => is_stated(view, name),
        Holds::Figure(name) => view.all(name).is_some(),
        Holds::OfType(name) => view.imported.figures.iter().any(|f| f.name == *name),
    };
    let lost = log.between.iter().filter(|(line, _)| !holds(line));
    let lost: Vec<&'static str> = lost.map(|(_, begins)| *begins).collect();
    let is_whole = log.ends.iter().all(holds) && log.between.len() - lost.len() >= log.least;
    is_whole.then_some(lost)
}

/// Whether the output itself states an option.
fn is_stated(view: &ImportedRun<'_>, name: &str) -> bool {
    let option = view.record.options.get(name);
    option.is_some_and(|o| o.source == Source::Output)
}

/// Figures of an output of which most are there.
pub(super) fn missing_lines(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let tool = view.imported.tool.as_str();
    let mut found: Vec<Finding> = lines_of_types(view).into_iter().collect();
    let mut judged = !found.is_empty();
    if let Some(lost) = lost_of_log(view) {
        judged = true;
        found.extend(told(view, &lost));
    }
    for block in BLOCKS.iter().filter(|b| b.tool == tool) {
        let there = block.figures.iter().filter(|f| view.all(f).is_some());
        let there = there.count();
        // Who has the first lines and those over time has the whole output.
        let is_whole = view.imported.tool_version.is_some() && !view.imported.intervals.is_empty();
        let least = if is_whole { block.first } else { block.least };
        let is_quoted = there < least || !block.options.iter().all(|name| is_stated(view, name));
        if is_quoted || view.all(block.unless).is_some() {
            continue;
        }
        judged = true;
        let lost: Vec<&str> = block
            .figures
            .iter()
            .filter(|f| view.all(f).is_none())
            .copied()
            .collect();
        found.extend(told(view, &lost));
    }
    if found.is_empty() && view.record.state == RunState::Interrupted {
        judged = true;
        found.push(cut(view));
    }
    judged.then_some(found)
}

/// That the output ends before its summary, or within it.
fn cut(view: &ImportedRun<'_>) -> Finding {
    let mut figures = vec![
        ("first", Figure::Count(view.imported.first_line)),
        ("last", Figure::Count(view.imported.last_line)),
    ];
    let ending = ENDINGS.iter().find(|(tool, begin, _)| {
        let is_its = *tool == view.imported.tool;
        is_its && view.all(begin).is_some()
    });
    let names: &[&str] = match ending {
        Some(&(_, _, names)) => names,
        None => &[],
    };
    let lost = names.iter().filter(|name| view.all(name).is_none());
    let lost: Vec<&str> = lost.copied().collect();
    let says = match lost.is_empty() {
        true => {
            figures.push(("tool", Figure::Text(view.imported.tool.clone())));
            missing::CUT
        }
        false => {
            figures.push(("names", words::list(view, &lost)));
            missing::CUT_WITHIN
        }
    };
    let instead = missing::LINES_INSTEAD;
    finding(super::MISSING, Severity::Suspect, says, instead, figures)
}

/// Lines that were lost, if any.
fn told(view: &ImportedRun<'_>, lost: &[&str]) -> Option<Finding> {
    let figures = vec![
        ("first", Figure::Count(view.imported.first_line)),
        ("last", Figure::Count(view.imported.last_line)),
        ("names", words::list(view, lost)),
    ];
    let (says, instead) = (missing::LINES, missing::LINES_INSTEAD);
    let told = || finding(super::MISSING, Severity::Suspect, says, instead, figures);
    (!lost.is_empty()).then(told)
}

/// go-tpc's types, of which each has as many lines over time as the others and one of the whole run.
fn lines_of_types(view: &ImportedRun<'_>) -> Option<Finding> {
    let all = &view.imported.intervals;
    if view.imported.tool != "go-tpc" || view.imported.intervals_merged {
        return None;
    }
    let types: BTreeSet<&str> = all.iter().map(|i| i.of.as_str()).collect();
    let is_told = |of: &&&str| view.of(of, "count").is_some();
    let untold = types.iter().find(|of| !is_told(of));
    if let Some(of) = untold.filter(|_| types.iter().filter(is_told).count() > 1) {
        let figures = vec![
            ("first", Figure::Count(view.imported.first_line)),
            ("last", Figure::Count(view.imported.last_line)),
            ("names", Figure::Text(format!("[Summary] {of}"))),
        ];
        let (says, instead) = (missing::LINES, missing::LINES_INSTEAD);
        return Some(finding(
            super::MISSING,
            Severity::Suspect,
            says,
            instead,
            figures,
        ));
    }
    // A type of which few end has no line in some intervals, and the last one may be short: what is lost
    // is missing among all lines and among those of whole intervals.
    let lines = |of: &str| -> Option<(usize, usize)> {
        let of_type = all.iter().filter(|i| i.of == of);
        let counts: Vec<f64> = of_type.map(|i| i.count).collect::<Option<_>>()?;
        let usual = tidemark_stats::median(&counts);
        let whole = counts.iter().filter(|n| **n >= usual / 2.0).count();
        let steady = whole + 1 >= counts.len();
        (usual >= STALLED_EXPECTED && steady && whole > 2).then_some((counts.len(), whole))
    };
    let counted = types.iter().map(|&of| Some((of, lines(of)?)));
    let counted: Vec<(&str, (usize, usize))> = counted.flatten().collect();
    let (of, (fewest, fewest_whole)) = counted.iter().min_by_key(|(_, n)| *n)?;
    let (_, (most, most_whole)) = counted.iter().max_by_key(|(_, n)| *n)?;
    let is_lost = fewest < most && fewest_whole < most_whole;
    let figures = vec![
        ("first", Figure::Count(view.imported.first_line)),
        ("last", Figure::Count(view.imported.last_line)),
        ("name", Figure::Text((*of).into())),
        ("lines", Figure::Count(*fewest as u64)),
        ("most", Figure::Count(*most as u64)),
    ];
    let (says, instead) = (missing::OVER_TIME, missing::LINES_INSTEAD);
    is_lost.then(|| finding(super::MISSING, Severity::Suspect, says, instead, figures))
}

/// Seconds between lines over time that follow each other in the document: who shortens an output
/// leaves dots there.
pub(super) fn missing_seconds(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let all = &view.imported.intervals;
    let steady = all.iter().all(|i| !i.cumulative && i.of.is_empty());
    // Or each type is told from the run's begin.
    let by_type = all.iter().all(|i| i.cumulative);
    if all.len() < 3 || !steady && !by_type || view.imported.intervals_merged {
        return None;
    }
    let lines: BTreeSet<u64> = all.iter().map(|i| i.line).collect();
    let types: BTreeSet<&str> = all.iter().map(|i| i.of.as_str()).collect();
    let gap = types.iter().find_map(|of| {
        let of_type: Vec<&StatedInterval> = all.iter().filter(|i| i.of == *of).collect();
        gap_of(&of_type, &lines)
    });
    Some(gap.map_or(Vec::new(), |(after, away)| {
        let figures = vec![
            ("line", Figure::Count(after.line)),
            ("missing", Figure::Number(away)),
            ("end", Figure::Number(after.end_s)),
        ];
        let (says, instead) = (sampler_gaps::STATED, sampler_gaps::STATED_INSTEAD);
        vec![finding(
            "sampler-gaps",
            Severity::Suspect,
            says,
            instead,
            figures,
        )]
    }))
}

/// The first line of a type that comes too long after the one before, and by how much, where nothing but
/// other lines over time stands between them.
fn gap_of<'i>(
    of_type: &[&'i StatedInterval],
    lines: &BTreeSet<u64>,
) -> Option<(&'i StatedInterval, f64)> {
    let is_cumulative = of_type.iter().any(|i| i.cumulative);
    let steps = of_type.windows(2).filter_map(|two| match two {
        [a, b] => Some(b.end_s - a.end_s),
        _ => None,
    });
    let steps: Vec<f64> = steps.collect();
    // Of time that goes back another rule speaks.
    if is_cumulative && (steps.len() < 2 || steps.iter().any(|s| *s <= 0.0)) {
        return None;
    }
    let lengths: Vec<f64> = match is_cumulative {
        true => steps,
        false => of_type.iter().filter_map(|i| i.length_s).collect(),
    };
    let usual = tidemark_stats::median(&lengths);
    of_type.windows(2).find_map(|two| {
        let [a, b] = two else { return None };
        if b.line <= a.line {
            return None;
        }
        // The line of a queue may stand between.
        let queue = u64::from(a.more.contains_key("queue_length"));
        let others = lines.range(a.line + 1..b.line).count() as u64;
        let follows = b.line <= a.line + 1 + queue + others;
        let away = b.end_s - a.end_s - usual;
        (follows && away >= 0.9 * usual && usual > 0.0).then_some((*b, away))
    })
}
