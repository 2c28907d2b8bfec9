//! Clients of one test whose results a document has one by one.

use std::collections::{BTreeMap, BTreeSet};
use tidemark_core::record::RunRecord;

/// Options that tell tests of a document apart, and that clients of one test have in common. Hosts,
/// ports and accounts may differ.
pub const TEST_OPTIONS: [&str; 5] = [
    "warehouses",
    "table-size",
    "tables",
    "recordcount",
    "command",
];

/// Completes [`tidemark_core::record::Imported::test`], in which each run of a client has the headings
/// above it. The n-th results of several clients below the same headings, of the same workload with the
/// same sessions and options, are one test; what only one client has is none.
pub(crate) fn find_tests(runs: &mut [RunRecord]) {
    let mut clients: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut counted: BTreeMap<(String, String), u32> = BTreeMap::new();
    for run in runs.iter_mut() {
        let key = key(run);
        let Some(imported) = &mut run.imported else {
            continue;
        };
        let (Some(headings), Some(client)) = (&mut imported.test, &imported.client) else {
            continue;
        };
        let count = counted.entry((key.clone(), client.clone())).or_insert(0);
        *count += 1;
        let test = format!("{key} {count}");
        clients
            .entry(test.clone())
            .or_default()
            .insert(client.clone());
        *headings = test;
    }
    for imported in runs.iter_mut().filter_map(|run| run.imported.as_mut()) {
        let is_one = |test: &String| clients.get(test).is_some_and(|all| all.len() > 1);
        imported.test = imported.test.take().filter(is_one);
    }
}

/// What all clients of a test have in common, as people can read it.
fn key(run: &RunRecord) -> String {
    let mut words = Vec::new();
    if let Some(imported) = &run.imported {
        words.extend(imported.test.clone());
        words.push(imported.tool.clone());
    }
    words.push(run.workload.clone());
    words.push(format!("{} sessions", run.sessions));
    for name in TEST_OPTIONS {
        let option = run.options.get(name);
        words.extend(option.map(|o| format!("{name}={}", o.value)));
    }
    words.retain(|word| !word.is_empty());
    words.join(", ")
}
