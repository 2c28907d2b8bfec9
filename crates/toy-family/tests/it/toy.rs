//! A family that no other crate knows loads, runs, and is in help, lists, reports and studies.
use std::path::Path;
use std::process::Command;

fn toy(dir: &Path, words: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tidemark-toy"))
        .args(words.split(' '))
        .current_dir(dir)
        .env("TIDEMARK_STORE", dir.join("runs.db"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{words}: {said}");
    said
}

fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "{part}: not in\n{text}");
}

#[test]
fn it_loads_runs_and_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let with = |words: &str| toy(dir.path(), words);
    let target = "--target=sqlite:toy.db --table-size=50";
    with(&format!("counters {target} prepare"));
    let said = with(&format!("counters {target} --threads=2 --time=1 run"));
    assert_has(&said, "transactions:");
    let shown = with("show last");
    assert_has(&shown, "count_up");
    assert_has(&shown, "counted");
    let page = with("report last --format=html -o -");
    assert_has(&page, "<h2>Counters</h2>");
    assert_has(&with("report last --lang=zh --format=md -o -"), "计数器");
    assert_has(&with("runs"), "count_up");
    with(&format!("counters {target} cleanup"));
}

#[test]
fn help_lists_and_studies_know_it() {
    let dir = tempfile::tempdir().unwrap();
    let help = toy(dir.path(), "--help");
    assert_has(&help, "counters     Add to counters");
    assert_has(&toy(dir.path(), "workloads"), "count_up");
    assert_has(&toy(dir.path(), "sysbench --help"), "count_up");
    assert_has(&toy(dir.path(), "counters help"), "--table-size");
    assert_has(&toy(dir.path(), "completions bash"), "counters");
    let study = "name = \"toy\"\ntime = \"1s\"\nrepeats = 1\n[[target]]\nname = \"lite\"\n\
                 url = \"sqlite:study.db\"\n[[workload]]\nname = \"count_up\"\n\
                 options = { table-size = 20 }\n";
    std::fs::write(dir.path().join("toy.toml"), study).unwrap();
    let plan = toy(dir.path(), "study plan toy.toml");
    assert_has(
        &plan,
        "sysbench count_up --target=sqlite:study.db --table-size=20",
    );
    toy(dir.path(), "study run toy.toml");
    assert_has(&toy(dir.path(), "report toy --format=csv -o -"), "count_up");
}
