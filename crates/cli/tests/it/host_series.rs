//! The client host's series, recorded with each run.

use super::common::Workdir;
use std::fs;
use std::time::{Duration, Instant};

/// The series of a run of which a file or an export tells, by source and name.
fn series(json: &str) -> Vec<(String, String, u64)> {
    let record: serde_json::Value = serde_json::from_str(json).unwrap();
    let all = record["series"].as_array().cloned().unwrap_or_default();
    let word = |s: &serde_json::Value, name: &str| s[name].as_str().unwrap().to_string();
    let told = |s: &serde_json::Value| {
        let count = s["count"].as_u64().unwrap();
        (word(s, "source"), word(s, "name"), count)
    };
    all.iter().map(told).collect()
}

#[test]
fn the_clients_host_is_recorded_with_each_run_whatever_ends_it() {
    let work = Workdir::new();
    let sysbench = |words: &[&str]| -> Vec<String> {
        let line = "sysbench oltp_point_select --db-driver=sqlite --table-size=100 --threads=2 \
                    --think-time=5ms";
        let all = line.split(' ').chain(words.iter().copied());
        all.map(String::from).collect()
    };
    let ok = |line: Vec<String>| work.ok(&line.iter().map(String::as_str).collect::<Vec<_>>());
    ok(sysbench(&["prepare"]));
    ok(sysbench(&["--time=3", "--out=run.json", "run"]));
    let written = fs::read_to_string(work.path().join("run.json")).unwrap();
    let told = series(&written);
    let busy = |told: &[(String, String, u64)]| {
        let busy = told.iter().find(|(_, name, _)| name == "cpu.busy");
        busy.map(|(source, _, count)| (source.clone(), *count))
    };
    let (source, count) = busy(&told).unwrap();
    assert_eq!(source, "client-host");
    // A busy machine leaves gaps.
    assert!((1..=4).contains(&count), "{told:?}");
    // It is in the store and travels.
    assert_eq!(series(&work.ok(&["export", "last"]).out), told);
    work.ok(&["import", "run.json", "--store", "other.db"]);
    let elsewhere = work
        .ok(&["runs", "--store", "other.db", "--limit", "1"])
        .out;
    let id = elsewhere.lines().nth(1).unwrap().split(' ').next().unwrap();
    let there = work.ok(&["export", id, "--store", "other.db"]).out;
    assert_eq!(series(&there), told);
    let again = work.ok(&["import", "run.json", "--store", "other.db"]);
    assert!(again.out.contains("was skipped"), "{again:?}");
    // Of a run that is kept nowhere it is in the file.
    ok(sysbench(&[
        "--time=2",
        "--store=off",
        "--out=off.json",
        "run",
    ]));
    let off = fs::read_to_string(work.path().join("off.json")).unwrap();
    assert!(busy(&series(&off)).is_some());

    // A client that is killed keeps what it handed over.
    let line = sysbench(&["--time=120", "run"]);
    let mut child = work.spawn(&line.iter().map(String::as_str).collect::<Vec<_>>());
    let db = rusqlite::Connection::open(work.path().join("store.db")).unwrap();
    let begun = Instant::now();
    let runs = "SELECT COUNT(DISTINCT run_id) FROM series WHERE source = 'client-host'";
    while db.query_row(runs, [], |row| row.get::<_, i64>(0)).unwrap() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no series");
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = series(&work.ok(&["export", "last"]).out);
    assert!(busy(&kept).unwrap().1 >= 4, "{kept:?}");
}
