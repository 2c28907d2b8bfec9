//! mysqlslap (mariadb-slap): how long all queries took, and how many clients ran them.

use crate::doc::Doc;
use crate::draft::From;
use crate::scan::{Number, labelled, number};

const TOOL: &str = "mysqlslap";

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim();
    if plain == "Benchmark" {
        doc.begin(TOOL, line);
        return true;
    }
    if plain.starts_with("Running for engine") && doc.of(TOOL).is_some() {
        doc.touch(line);
        return true;
    }
    if csv(plain, line, doc) {
        return true;
    }
    let names = ["mysqlslap: ", "mariadb-slap: "];
    let said = names.into_iter().find_map(|name| plain.strip_prefix(name));
    let is_next = doc.command.as_ref().is_some_and(|c| c.tool == TOOL);
    if let Some(why) = said
        && (is_next || doc.of(TOOL).is_some())
    {
        let run = doc.run(TOOL, line);
        if !why.starts_with("[Warning]") {
            let why = why.chars().take(300).collect();
            run.failed.get_or_insert(why);
        }
        return true;
    }
    let Some((label, value)) = labelled(plain) else {
        return false;
    };
    let name = match label {
        "Average number of seconds to run all queries" => "elapsed_s",
        "Minimum number of seconds to run all queries" => "shortest_s",
        "Maximum number of seconds to run all queries" => "longest_s",
        "Number of clients running queries" => "threads",
        "Average number of queries per client" => "queries_per_client",
        _ => return false,
    };
    let Some((n, _)) = number(value) else {
        return false;
    };
    let run = match name == "elapsed_s" && doc.of(TOOL).is_some_and(|d| d.has("", name)) {
        true => doc.begin(TOOL, line),
        false => doc.run(TOOL, line),
    };
    run.has_summary = true;
    if run.workload.is_empty() {
        run.workload = "queries".into();
    }
    match name {
        "threads" => run.option(name, &n.value.to_string(), line, From::Output),
        _ => run.figure("", name, n, line),
    }
    true
}

/// A line of `--csv`: engine, kind of test, mean, shortest and longest seconds, clients, queries of each.
fn csv(plain: &str, line: u64, doc: &mut Doc) -> bool {
    let kinds = ["mixed", "query", "read", "write", "key", "update", "load"];
    let fields: Vec<&str> = plain.split(',').collect();
    let [engine, kind, rest @ ..] = fields.as_slice() else {
        return false;
    };
    if !kinds.contains(kind) || engine.contains(|c: char| !c.is_ascii_alphanumeric()) {
        return false;
    }
    let numbers: Option<Vec<Number>> = rest
        .iter()
        .map(|field| {
            number(field)
                .filter(|(_, odd)| odd.is_empty())
                .map(|(n, _)| n)
        })
        .collect();
    let Some([mean, shortest, longest, clients, each]) = numbers.as_deref() else {
        return false;
    };
    let run = doc.begin(TOOL, line);
    run.has_summary = true;
    run.workload = (*kind).into();
    if !engine.is_empty() {
        run.option("engine", engine, line, From::Output);
    }
    run.option("threads", &clients.value.to_string(), line, From::Output);
    for (name, n) in [
        ("elapsed_s", mean),
        ("shortest_s", shortest),
        ("longest_s", longest),
        ("queries_per_client", each),
    ] {
        run.figure("", name, *n, line);
    }
    true
}
