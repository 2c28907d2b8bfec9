//! mysqlslap (mariadb-slap): how long all queries took, and how many clients ran them.

use crate::doc::Doc;
use crate::draft::From;
use crate::scan::{labelled, number};

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
