//! Stores that are no target, damaged, of an older version, or locked.

use super::common::{Workdir, signal};
use super::keeping::{listed, three};
use std::fs;
use std::io::BufRead;
use std::time::{Duration, Instant};

#[test]
fn a_run_store_is_nothing_to_benchmark() {
    let (work, _) = three();
    let path = work.path().join("store.db");
    let before = fs::read(&path).unwrap();
    let target = "--target=sqlite:store.db";
    let point = ["sysbench", "oltp_point_select", target];
    for words in [
        [&point[..], &["prepare"]].concat(),
        [&point[..], &["cleanup"]].concat(),
        [&point[..], &["--force", "run"]].concat(),
        vec!["tpcc", target, "--warehouses=1", "prepare"],
        vec!["tpcc", target, "--warehouses=1", "cleanup"],
        vec!["tpch", target, "--sf=1", "cleanup"],
    ] {
        let said = work.run(&words);
        assert_eq!(said.code, Some(5), "{words:?}: {said:?}");
        assert!(said.err.contains("is a Tidemark run store"), "{said:?}");
    }
    // Reports and records replace older ones, but no results.
    let out = ["sysbench", "oltp_point_select", "--db-driver=sqlite"];
    let out = [&out[..], &["--events=1", "--out=store.db", "run"]].concat();
    let report = ["report", "last", "--format=md", "-o", "store.db"];
    for words in [&out[..], &report] {
        let said = work.run(words);
        assert_eq!(said.code, Some(5), "{words:?}: {said:?}");
        assert!(
            said.err
                .contains("store.db: already exists and was not written by Tidemark")
        );
    }
    for _ in 0..2 {
        work.ok(&["report", "last", "-o", "last.md"]);
    }
    assert_eq!(listed(&work, &[]).len(), 3);
    assert!(fs::read(&path).unwrap() == before, "the store was changed");
}

#[test]
fn a_damaged_store_is_told() {
    let (work, _) = three();
    let whole = work.ok(&["store", "check"]);
    assert!(whole.out.contains("is intact: 3 runs"), "{whole:?}");
    let path = work.path().join("store.db");
    let good = fs::read(&path).unwrap();
    let mut bytes = good.clone();
    bytes[..4096].fill(0);
    fs::write(&path, &bytes).unwrap();
    assert_ne!(work.run(&["runs"]).code, Some(0));
    assert_eq!(fs::read(&path).unwrap(), bytes, "not changed");

    // Damage behind the first page is told by a check.
    let mut bad = good.clone();
    for page in 2..good.len() / 4096 {
        bad[page * 4096 + 100..page * 4096 + 300].fill(0xff);
    }
    fs::write(work.path().join("bad.db"), &bad).unwrap();
    let told = work.run(&["store", "check", "--store", "bad.db"]);
    assert_eq!(told.code, Some(3), "{told:?}");
    assert!(
        told.all()
            .contains("sqlite3 bad.db .recover | sqlite3 recovered.db"),
        "{told:?}"
    );
}

#[test]
fn a_store_of_before_is_copied_and_its_user_told() {
    let (work, ids) = three();
    let path = work.path().join("store.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("DROP TABLE series; PRAGMA user_version = 3")
        .unwrap();
    drop(db);
    let told = work.ok(&["runs"]);
    let copy = work.path().join("store.db.format-3");
    assert_eq!(told.err.lines().count(), 1, "{told:?}");
    assert!(
        told.err.contains("to the format of this version"),
        "{told:?}"
    );
    assert!(told.err.contains("store.db.format-3"), "{told:?}");
    assert!(copy.is_file());
    let show = work.ok(&["show", &ids[0]]);
    assert_eq!(show.err, "");
}

#[test]
fn a_locked_store_lengthens_no_run_and_delays_no_end() {
    let work = Workdir::new();
    let sysbench = |words: &str| -> Vec<String> {
        let line = format!(
            "sysbench oltp_point_select --target=sqlite:a.db --table-size=100 --threads=2 \
             --think-time=5ms {words}"
        );
        line.split_whitespace().map(String::from).collect()
    };
    let run = |args: Vec<String>| work.ok(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let spawn =
        |args: Vec<String>| work.spawn(&args.iter().map(String::as_str).collect::<Vec<_>>());
    run(sysbench("prepare"));
    run(sysbench("--time=1 run"));
    let other = rusqlite::Connection::open(work.path().join("store.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The load ends in its time, and the run's end waits for the store.
    let mut begun = spawn(sysbench("--time=2 --report-interval=1 run"));
    let mut out = std::io::BufReader::new(begun.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("execution time") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "no summary");
    }
    assert!(begun.try_wait().unwrap().is_none(), "it did not wait");
    std::thread::sleep(Duration::from_secs(2));
    other.execute_batch("ROLLBACK").unwrap();
    std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    let ended = begun.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("waiting for the run store"), "{said}");
    let record = work.last_record();
    assert!(record["totals"]["elapsed_s"].as_f64().unwrap() < 3.0);
    assert!(record["intervals"].as_array().unwrap().len() >= 2);
    // Ctrl-C is heard, and what the store did not take is beside it.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = spawn(sysbench("--time=60 run"));
    std::thread::sleep(Duration::from_secs(2));
    let asked = Instant::now();
    signal(begun.id(), "INT");
    let ended = begun.wait_with_output().unwrap();
    assert!(
        asked.elapsed() < Duration::from_secs(8),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    other.execute_batch("ROLLBACK").unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let (_, advice) = said.split_once("is writable: ").expect(&said);
    let advice = advice.lines().next().unwrap();
    let words: Vec<&str> = advice.split_whitespace().skip(1).collect();
    let before = listed(&work, &[]);
    work.ok(&words);
    let mut after = listed(&work, &[]);
    after.retain(|id| !before.contains(id));
    assert_eq!(after.len(), 1, "{after:?}");
    let record = work.ok(&["show", &after[0], "--json"]).out;
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["state"], "interrupted", "{said}");
    assert!(!record["intervals"].as_array().unwrap().is_empty());
}
