//! BenchBase's log: what it was asked for, and what each type's transactions came to.

use super::benchbase::TOOL;
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{labelled, number};

/// What the log says of a run's beginning, and the option; no option is none of its settings.
const LABELS: [(&str, &str); 11] = [
    ("Terminals", "threads"),
    ("Scale Factor", "scalefactor"),
    ("Isolation", "isolation"),
    ("Batch Size", "batch-size"),
    ("Type", "database"),
    ("Configuration", ""),
    ("Driver", ""),
    ("URL", ""),
    ("New Connection Per Txn", ""),
    ("Loader Threads", ""),
    ("Session Setup File", ""),
];

/// Headings of what transactions came to. Those that a workload rolls back by itself are no errors.
const OUTCOMES: [(&str, &str); 6] = [
    ("Completed Transactions:", "completed"),
    ("Aborted Transactions:", "aborted"),
    ("Rejected Transactions (Server Retry):", "errors"),
    ("Rejected Transactions (Retry Different):", "errors"),
    ("Unexpected SQL Errors:", "errors"),
    ("Unknown Status Transactions:", "errors"),
];

const PHASE_START: &str = "PHASE START ::";
/// What a phase is given, and the option.
const PHASE: [(&str, &str); 4] = [
    ("[Time=", "time"),
    ("[WarmupTime=", "warmup-time"),
    ("[Rate=", "rate"),
    ("[ActiveWorkers=", "threads"),
];

pub(super) fn take(plain: &str, line: u64, doc: &mut Doc) -> bool {
    if let Some(("Benchmark", name)) = labelled(plain)
        && name.contains("oltpbenchmark")
    {
        let name = name.split_whitespace().next().unwrap_or_default();
        doc.begin(TOOL, line).workload = name.to_lowercase();
        return true;
    }
    // The first line of a log that says anything, where its beginning was left out.
    if plain.contains(PHASE_START) && plain.contains("[Workload=") {
        let is_over = doc.of(TOOL).is_none_or(|run| run.has_summary);
        let run = match is_over {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        let name = plain.split_once("[Workload=");
        if let Some((name, _)) = name.and_then(|(_, rest)| rest.split_once(']'))
            && run.workload.is_empty()
        {
            run.workload = name.to_lowercase();
        }
    }
    let Some(run) = doc.of(TOOL) else {
        return false;
    };
    let taken = setting(run, plain, line) || outcome(run, plain, line);
    if taken {
        doc.touch(line);
    }
    taken
}

fn setting(run: &mut Draft, plain: &str, line: u64) -> bool {
    if plain.contains(PHASE_START) {
        for (label, name) in PHASE {
            let value = plain.find(label).map(|at| &plain[at + label.len()..]);
            // `unlimited` is no rate.
            if let Some((n, _)) = value.and_then(number) {
                run.option(name, &n.value.to_string(), line, From::Output);
            }
        }
        return true;
    }
    if plain.starts_with("[INFO") {
        return true;
    }
    let Some((label, value)) = labelled(plain) else {
        return false;
    };
    let Some((_, name)) = LABELS.iter().find(|(known, _)| *known == label) else {
        return false;
    };
    if !name.is_empty() {
        run.option(name, value, line, From::Output);
    }
    true
}

/// `com.oltpbenchmark.….NewOrder/01   [24120] ****`, below the heading of an outcome.
fn outcome(run: &mut Draft, plain: &str, line: u64) -> bool {
    if let Some((_, outcome)) = OUTCOMES.iter().find(|(heading, _)| *heading == plain) {
        run.section = outcome;
        return true;
    }
    let is_below = OUTCOMES.iter().any(|(_, outcome)| *outcome == run.section);
    if !is_below {
        return false;
    }
    if plain == "<EMPTY>" {
        return true;
    }
    let Some((name, rest)) = plain.split_once('[') else {
        return false;
    };
    let (Some((n, rest)), Some(name)) = (
        number(rest.trim_start()),
        name.split('/').next().and_then(|n| n.rsplit('.').next()),
    ) else {
        return false;
    };
    let of = name.trim();
    if !rest.starts_with(']') || of.is_empty() {
        return false;
    }
    match run.section {
        "errors" => run.figure("errors", of, n, line),
        outcome => run.figure(of, outcome, n, line),
    }
    true
}
