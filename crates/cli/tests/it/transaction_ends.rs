//! `--end-with`: what a transaction ends with is what its rows show.

use super::common::Workdir;
use tidemark_core::record::RunRecord;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

const EVENTS: u64 = 20;

/// One session's run of a few UPDATEs, and its record.
fn run(work: &Workdir, target: &str, options: &[&str]) -> RunRecord {
    let events = format!("--events={EVENTS}");
    let line = ["sysbench", "oltp_update_index", target, "--table-size=100"];
    let more = ["--time=0", &events, "run"];
    work.ok(&[&line[..], options, &more].concat());
    serde_json::from_value(work.last_record()).unwrap()
}

fn others(record: &RunRecord) -> u64 {
    assert_eq!(record.totals.all.count, EVENTS);
    record.totals.statements.other
}

/// The run that was rolled back.
fn proves(work: &Workdir, target: &str, sum: impl Fn() -> u64) -> RunRecord {
    let line = ["sysbench", "oltp_update_index", target, "--table-size=100"];
    work.ok(&[&line[..], &["prepare"]].concat());
    let before = sum();
    // BEGIN and its end.
    let rolled_back = run(work, target, &["--end-with=rollback"]);
    assert_eq!((others(&rolled_back), sum()), (2 * EVENTS, before));
    let committed = run(work, target, &["--end-with=commit"]);
    assert_eq!((others(&committed), sum()), (2 * EVENTS, before + EVENTS));
    // As sysbench.
    let alone = run(work, target, &[]);
    assert_eq!((others(&alone), sum()), (0, before + 2 * EVENTS));
    rolled_back
}

fn sum_on(database: &Database) -> u64 {
    let said = database.query("SELECT SUM(k) FROM sbtest1").unwrap();
    said.trim().parse().unwrap()
}

#[test]
fn a_rollback_leaves_the_rows_as_they_were() {
    for server in [shared_mariadb().unwrap(), shared_postgres().unwrap()] {
        let work = Workdir::new();
        let database = server.fresh_database("ends").unwrap();
        let target = format!("--target={}", database.url());
        proves(&work, &target, || sum_on(&database));
    }
}

#[test]
fn an_embedded_database_is_left_so_too() {
    let work = Workdir::new();
    let file = work.path().join("ends.db");
    let sum = || {
        let database = rusqlite::Connection::open(&file).unwrap();
        let sum = database.query_row("SELECT SUM(k) FROM sbtest1", [], |row| row.get::<_, i64>(0));
        sum.unwrap() as u64
    };
    let rolled_back = proves(&work, "--target=sqlite:ends.db", sum);
    // The record's job is the same run again.
    let before = sum();
    work.ok(&["exec", "--from", &rolled_back.id]);
    assert_eq!(sum(), before);
}
