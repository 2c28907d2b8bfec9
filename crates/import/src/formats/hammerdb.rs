//! HammerDB: results and time profiles, as text and as its jobs' JSON.

use super::json::JsonValue;
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{Number, number, unit_ms};
use tidemark_core::record::StatedFigure;

const TOOL: &str = "hammerdb";

/// Minutes that the test is said to have taken.
const MINUTES: &str = "minutes_elapsed";

/// Procedures by their names in time profiles.
const PROCEDURES: [(&str, &str); 5] = [
    ("neword", "NewOrder"),
    ("payment", "Payment"),
    ("delivery", "Delivery"),
    ("slev", "StockLevel"),
    ("ostat", "OrderStatus"),
];

fn procedure(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    PROCEDURES
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, of)| *of)
}

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim();
    if let Some(at) = plain.find("System achieved ") {
        return result(&plain[at + "System achieved ".len()..], line, doc);
    }
    if let Some(at) = plain.find(" Active Virtual Users configured") {
        // In a job's JSON it stands in quotes.
        let users = plain[..at]
            .rsplit([':', ' ', '"'])
            .next()
            .unwrap_or_default();
        let of_end = |f: &StatedFigure| f.name != MINUTES && f.of != COUNTER;
        let ended = doc.of(TOOL);
        let ended = ended.is_some_and(|d| d.figures.iter().any(of_end));
        let run = match ended {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        run.option("threads", users, line, From::Output);
        run.workload = "tpcc".into();
        return true;
    }
    if let Some(why) = failure(plain) {
        // All users of the run before have come to their ends.
        let run = match doc.of(TOOL).is_some_and(|d| d.section == ENDED) {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        // Only the next one says why.
        let said = run.failed.get_or_insert_with(|| why.clone());
        if said.starts_with("Vuser ") && !why.starts_with("Vuser ") {
            *said = why;
        }
        return true;
    }
    let (user, text) = match plain.strip_prefix("Vuser ").and_then(|t| t.split_once(':')) {
        Some((user, text)) => (user.trim(), text.trim()),
        None => ("", plain),
    };
    if tproc_h(user, text, line, doc) {
        return true;
    }
    let was = doc.of(TOOL).is_some();
    // `27975 PostgreSQL tpm`, of the transaction counter.
    if let (true, Some((n, rest))) = (was, number(plain))
        && rest.split_whitespace().count() <= 3
        && rest.trim_end().ends_with(" tpm")
    {
        doc.run(TOOL, line).figure(COUNTER, "tpm", n, line);
        return true;
    }
    // A job's JSON, and what stands in it beside the result.
    if was && is_of_json(plain) {
        doc.touch(line);
        return true;
    }
    for (label, name) in [
        ("Timing test period of ", "time"),
        ("Beginning rampup time of ", "warmup-time"),
    ] {
        if let Some((n, _)) = text.strip_prefix(label).and_then(number) {
            let seconds = (n.value * 60.0).to_string();
            let run = match doc.of(TOOL).is_some_and(|d| d.has("", "nopm")) {
                true => doc.begin(TOOL, line),
                false => doc.run(TOOL, line),
            };
            run.option(name, &seconds, line, From::Output);
            return true;
        }
    }
    // `|PERCENTILES 2026-07-05 09:54:03 to 2026-07-05 09:55:09`: the last one is of the whole test.
    if text.starts_with("|PERCENTILES ") {
        doc.run(TOOL, line);
        return true;
    }
    if text.starts_with('|') && text.contains("MIN-") && text.contains("SAMPLES-") {
        return profile(text, line, doc);
    }
    let users = text.strip_prefix(">>>>> SUMMARY OF ");
    if let Some((n, rest)) = users.and_then(number)
        && rest.trim_start().starts_with("ACTIVE VIRTUAL USERS")
    {
        let run = doc.run(TOOL, line);
        run.option("threads", &n.value.to_string(), line, From::Output);
        return true;
    }
    if let Some(name) = text.strip_prefix(">>>>> PROC:") {
        let run = doc.run(TOOL, line);
        run.section = procedure(name.trim()).unwrap_or("");
        return true;
    }
    if was && (text.starts_with("CALLS:") || text.starts_with("P99:")) {
        return called(text, line, doc);
    }
    // What stands before the end of the test are the minutes that it took.
    if let Some(run) = doc.of(TOOL) {
        let minutes = number(text).filter(|(_, rest)| {
            let rest = rest.trim_start();
            rest.starts_with("minutes elapsed") || rest.starts_with("...")
        });
        match minutes {
            Some((n, _)) => run.minutes = Some((n, line)),
            None if text.starts_with("Test complete") => {
                if let Some((n, at)) = run.minutes.take().filter(|(_, at)| at + 1 == line) {
                    run.figure("", MINUTES, n, at);
                }
            }
            None => {}
        }
    }
    let is_frame = plain.starts_with("Vuser ")
        || plain.starts_with("Hammerdb Log @")
        || plain.starts_with(">>>>>")
        || plain.starts_with("ALL VIRTUAL USERS COMPLETE");
    if is_frame && plain.starts_with("Hammerdb Log @") {
        doc.begin(TOOL, line);
    } else if is_frame && was {
        doc.touch(line);
    }
    if let Some(run) = doc.of(TOOL)
        && plain.starts_with("ALL VIRTUAL USERS COMPLETE")
        && run.has("", "nopm")
    {
        run.section = ENDED;
    }
    is_frame && doc.of(TOOL).is_some()
}

/// What the counter of transactions saw while the test ran.
const COUNTER: &str = "counter";

/// A bracket, or a text that is a job's number or time: `"5F04B1E9567603E253231363",`.
fn is_of_json(plain: &str) -> bool {
    let plain = plain.trim_end_matches(',');
    let text = plain.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let is_sign = |c: char| c.is_ascii_hexdigit() || matches!(c, '-' | ':' | ' ');
    matches!(plain, "[" | "]") || text.is_some_and(|t| t.len() >= 10 && t.chars().all(is_sign))
}

/// What follows belongs to another run.
const ENDED: &str = "ended";

/// `Error in Virtual User 3: …`, `Vuser 3:FINISHED FAILED`.
fn failure(plain: &str) -> Option<String> {
    let user = plain.strip_prefix("Vuser ").and_then(|t| t.split_once(':'));
    let is_failed = user.is_some_and(|(_, t)| t.trim() == "FINISHED FAILED")
        || plain.starts_with("Error in Virtual User ");
    is_failed.then(|| plain.chars().take(300).collect())
}

/// TPROC-H: `query 14 completed in 0.234 seconds`, `Completed 1 query set(s) in 12 seconds`, `Geometric
/// mean of query times returning rows (22) is 0.54321`. The first user's are the run's, others are kept
/// by their number.
fn tproc_h(user: &str, text: &str, line: u64, doc: &mut Doc) -> bool {
    let behind = |begin: &str, middle: &str| {
        let (first, rest) = number(text.strip_prefix(begin)?)?;
        let (second, _) = number(rest.trim_start().strip_prefix(middle)?)?;
        Some((first, second))
    };
    let query = behind("query ", "completed in ");
    let set = behind("Completed ", "query set(s) in ");
    let mean = behind("Geometric mean of query times returning rows (", ") is ");
    if query.is_none() && set.is_none() && mean.is_none() {
        return false;
    }
    let name = query.map(|(n, _)| format!("Q{}", n.value));
    let is_next = doc.of(TOOL).is_some_and(|run| {
        let again = run.queries.iter().any(|(q, ..)| Some(q) == name.as_ref());
        run.has("", "nopm") || again && run.has("", "elapsed_s") && run.user == user
    });
    let run = match is_next {
        true => doc.begin(TOOL, line),
        false => doc.run(TOOL, line),
    };
    if run.user.is_empty() {
        run.user = user.into();
    }
    run.has_summary = true;
    run.workload = "tpch".into();
    let is_first = run.user == user;
    let of = match is_first {
        true => String::new(),
        false => format!("user {user}"),
    };
    if let (Some(name), Some((_, took))) = (name, query) {
        let again = run.queries.iter().any(|(q, ..)| *q == name);
        match is_first && !again {
            true => run.queries.push((name, took.value, line)),
            false => run.figure(&of, &format!("{name}_s"), took, line),
        }
    }
    if let Some((_, took)) = set {
        run.figure(&of, "elapsed_s", took, line);
    }
    if let Some((_, mean)) = mean {
        run.figure(&of, "geometric_mean_s", mean, line);
    }
    true
}

/// Where the next number begins: behind a blank, as Db2's does not.
fn next_number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let begins = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        bytes.get(*at).is_some_and(u8::is_ascii_digit) && before.is_none_or(u8::is_ascii_whitespace)
    };
    (0..bytes.len()).find(begins)
}

/// `12345 NOPM from 23456 PostgreSQL TPM`, and the other way round before version 4.
fn result(text: &str, line: u64, doc: &mut Doc) -> bool {
    let mut rest = text;
    let mut found: Vec<(&str, Number)> = Vec::new();
    while let Some(at) = next_number(rest) {
        let Some((n, after)) = number(&rest[at..]) else {
            break;
        };
        let words = &after[..next_number(after).unwrap_or(after.len())];
        if words.contains("NOPM") {
            found.push(("nopm", n));
        } else if words.contains("TPM") {
            found.push(("tpm", n));
        }
        rest = after;
    }
    if found.is_empty() {
        return false;
    }
    let run = match doc.of(TOOL).is_some_and(|d| d.has("", "nopm")) {
        true => doc.begin(TOOL, line),
        false => doc.run(TOOL, line),
    };
    run.has_summary = true;
    run.workload = "tpcc".into();
    for (name, n) in found {
        run.figure("", name, n, line);
    }
    true
}

/// `|neword|MIN-391|P50%-685|P95%-1286|P99%-3298|MAX-246555|SAMPLES-3603`, microseconds.
fn profile(text: &str, line: u64, doc: &mut Doc) -> bool {
    let mut cells = text.trim_matches('|').split('|');
    let Some(of) = cells.next().and_then(procedure) else {
        return doc.of(TOOL).is_some();
    };
    let run = doc.run(TOOL, line);
    for cell in cells {
        let Some((label, n)) = cell.split_once('-') else {
            continue;
        };
        let Some((n, _)) = number(n) else { continue };
        match label.trim_end_matches('%') {
            "MIN" => run.scaled(of, "min_ms", n, 1e-3, line),
            "MAX" => run.scaled(of, "max_ms", n, 1e-3, line),
            "SAMPLES" => run.figure(of, "samples", n, line),
            p => run.scaled(of, &format!("{}_ms", p.to_lowercase()), n, 1e-3, line),
        }
    }
    true
}

/// `CALLS: 1234 MIN: 0.4ms AVG: 1.2ms MAX: 30.1ms TOTAL: 1400.2ms` and `P99: 3ms P95: 2ms P50: 1ms …`.
fn called(text: &str, line: u64, doc: &mut Doc) -> bool {
    let run = doc.run(TOOL, line);
    let of = run.section;
    if of.is_empty() {
        return true;
    }
    let mut words = text.split_whitespace();
    while let Some(label) = words.next() {
        let Some((n, unit)) = words.next().and_then(number) else {
            continue;
        };
        let ms = unit_ms(unit).unwrap_or(1.0);
        match label.trim_end_matches(':') {
            "CALLS" => run.figure(of, "count", n, line),
            "MIN" => run.scaled(of, "min_ms", n, ms, line),
            "AVG" => run.scaled(of, "mean_ms", n, ms, line),
            "MAX" => run.scaled(of, "max_ms", n, ms, line),
            "TOTAL" => run.scaled(of, "sum_ms", n, ms, line),
            p @ ("P50" | "P95" | "P99") => {
                run.scaled(of, &format!("{}_ms", p.to_lowercase()), n, ms, line);
            }
            _ => {}
        }
    }
    true
}

/// A job's result or time profile; numbers may be texts.
pub(super) fn of_json(values: &[JsonValue], run: &mut Draft) {
    run.has_summary = true;
    run.workload = "tpcc".into();
    for v in values {
        let Some(n) = v.number() else { continue };
        let mut parts = v.path.rsplit('/');
        let (name, of) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let of = procedure(of);
        match (of, name) {
            (_, "NOPM") => run.figure("", "nopm", n, v.line),
            (_, "TPM") => run.figure("", "tpm", n, v.line),
            (Some(of), "calls") => run.figure(of, "count", n, v.line),
            (Some(of), "avg_ms") => run.figure(of, "mean_ms", n, v.line),
            (Some(of), "total_ms") => run.figure(of, "sum_ms", n, v.line),
            (Some(of), "min_ms" | "max_ms" | "p50_ms" | "p95_ms" | "p99_ms") => {
                run.figure(of, name, n, v.line)
            }
            _ => {}
        }
    }
}
