//! TPC-C when servers and clients die: no order is lost, none comes twice, and the consistency
//! conditions hold afterwards.

use super::common::{Said, Workdir, signal, wait_until};
use std::io::{BufRead, BufReader};
use tidemark_testkit::{SandboxEngine, Server, shared_mariadb, shared_postgres};

const ALL_HOLD: &str = "13 of 13 consistency conditions hold";
/// Orders of a warehouse's initial population (clause 4.3.3.1).
const POPULATED: u64 = 30_000;
const TERMINALS: u64 = 8;

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap()
}

/// A command line for one warehouse.
fn tpcc<'a>(target: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    [&["tpcc", target, "--warehouses=1"], args].concat()
}

#[test]
fn a_run_outlives_its_mariadb_and_every_order_is_there_once() {
    let (server, dir) = (Server::mariadb().unwrap(), Workdir::new());
    outlives(&server, &dir);
    what_is_cancelled_on_mariadb_is_taken_back_with_all_that_was_sent_along(&server, &dir);
}

#[test]
fn a_run_outlives_its_postgres_and_every_order_is_there_once() {
    outlives(&Server::postgres().unwrap(), &Workdir::new());
}

fn outlives(server: &Server, dir: &Workdir) {
    let name = server.url();
    let target = format!("--target={}", server.url());
    let run = |args: &[&str]| dir.ok(&tpcc(&target, args));
    run(&["-T2", "--no-check", "prepare"]);
    let terminals = format!("-T{TERMINALS}");
    // At a rate that leaves the processors to those who check and start.
    let rate = [terminals.as_str(), "--rate=60", "--time=40s"];
    let args = [&rate[..], &["--interval=1s", "run"]].concat();
    let mut child = dir.spawn(&tpcc(&target, &args));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.by_ref().find(|line| {
        let line = line.as_ref().unwrap();
        line.starts_with("[Current] NEW_ORDER")
    });
    first.unwrap().unwrap();
    let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    // While it goes on, in one snapshot.
    let during = run(&["-T2", "--snapshot", "check"]);
    assert!(during.out.contains(ALL_HOLD), "{name}: {during:?}");
    assert!(child.try_wait().unwrap().is_none(), "{name}: over already");
    server.kill9().unwrap();
    server.restart().unwrap();
    let mut said = Said::of(&child.wait_with_output().unwrap());
    said.out = rest.join().unwrap().join("\n");
    assert_eq!(said.code, Some(0), "{name}: {said:?}");

    let record = dir.last_record();
    // Nobody asked for one.
    let level = match server.engine() {
        SandboxEngine::MariaDb => "repeatable-read",
        SandboxEngine::Postgres => "read-committed",
    };
    assert_eq!(record["isolation"], level, "{name}");
    let totals = &record["totals"];
    assert!(
        totals["reconnects"].as_u64().unwrap() >= TERMINALS,
        "{name}: {totals:?}"
    );
    assert_eq!(record["outages"][0]["ended"], true, "{name}");
    let after = run(&["-T2", "check"]);
    assert!(after.out.contains(ALL_HOLD), "{name}: {after:?}");
    // Each order that was told as done is there. One whose COMMIT had no answer may be, too, and
    // those are counted.
    let errors = record["errors"].as_array().unwrap();
    let unknown = errors.iter().find(|e| e["code"] == "commit-unknown");
    let unknown = unknown.map_or(0, |e| e["count"].as_u64().unwrap());
    let done = totals["types"]["NewOrder"]["count"].as_u64().unwrap()
        - totals["notes"]["rolled_back"].as_u64().unwrap_or(0);
    let orders = number(&server.query("SELECT COUNT(*) FROM orders").unwrap()) - POPULATED;
    assert!(
        (done..=done + unknown).contains(&orders),
        "{name}: {done} orders were told as done, {unknown} commits are unknown, {orders} are there"
    );
    let entered = "SELECT SUM(d_next_o_id) - 10 * 3001 FROM district";
    assert_eq!(number(&server.query(entered).unwrap()), orders, "{name}");
    // Payments of every kind are in the history, once each.
    let paid = totals["types"]["Payment"]["count"].as_u64().unwrap();
    let rows = number(&server.query("SELECT COUNT(*) FROM history").unwrap()) - POPULATED;
    assert!(
        (paid..=paid + unknown).contains(&rows),
        "{name}: {paid} payments were told as done, {unknown} commits are unknown, {rows} are there"
    );
}

/// MariaDB does what follows a statement that failed, where several were sent at a time.
fn what_is_cancelled_on_mariadb_is_taken_back_with_all_that_was_sent_along(
    server: &Server,
    dir: &Workdir,
) {
    let target = format!("--target={}", server.url());
    let rows = |table: &str| {
        number(
            &server
                .query(&format!("SELECT COUNT(*) FROM {table}"))
                .unwrap(),
        )
    };
    let before = [rows("orders"), rows("history")];
    let args = ["-T16", "--time=3s", "--ignore-error", "run"];
    let mut child = dir.spawn(&tpcc(&target, &args));
    let busy = "SELECT id FROM information_schema.processlist WHERE command = 'Execute' \
                ORDER BY RAND() LIMIT 1";
    while child.try_wait().unwrap().is_none() {
        let id = server.query(busy).unwrap();
        if !id.trim().is_empty() {
            // It may have gone meanwhile.
            let _ = server.query(&format!("KILL QUERY {}", id.trim()));
        }
    }
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(0), "{said:?}");
    let after = dir.ok(&tpcc(&target, &["-T2", "check"]));
    assert!(after.out.contains(ALL_HOLD), "{after:?}");
    let record = dir.last_record();
    let errors = record["errors"].as_array().unwrap();
    let cancelled = errors.iter().find(|e| e["code"] == "1317");
    assert!(cancelled.is_some(), "nothing was cancelled: {errors:?}");
    let totals = &record["totals"];
    let done = totals["types"]["NewOrder"]["count"].as_u64().unwrap()
        - totals["notes"]["rolled_back"].as_u64().unwrap_or(0);
    assert_eq!(done, rows("orders") - before[0]);
    let paid = totals["types"]["Payment"]["count"].as_u64().unwrap();
    assert_eq!(paid, rows("history") - before[1]);
}

#[test]
fn a_load_whose_client_dies_again_and_again_ends_whole() {
    let databases = [
        shared_mariadb()
            .unwrap()
            .fresh_database("tpcc_kill")
            .unwrap(),
        shared_postgres()
            .unwrap()
            .fresh_database("tpcc_kill")
            .unwrap(),
    ];
    for database in databases {
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        let args = [
            "tpcc",
            &target,
            "--warehouses=1",
            "-T2",
            "--chunk-rows=4000",
            "prepare",
        ];
        let name = database.url();
        let loaded = || -> u64 {
            let tables = ["customer", "stock", "order_line", "history", "orders"];
            let counts = tables.map(|table| format!("(SELECT COUNT(*) FROM {table})"));
            // One question: many would take longer than the load.
            let sum = database.query(&format!("SELECT {}", counts.join(" + ")));
            sum.map_or(0, |n| number(&n))
        };
        let mut before = 0;
        for _ in 0..3 {
            let mut child = dir.spawn(&args);
            let mut ended = false;
            wait_until("more rows", || {
                ended = child.try_wait().unwrap().is_some();
                ended || loaded() >= before + 20_000
            });
            if !ended {
                signal(child.id(), "KILL");
            }
            let said = Said::of(&child.wait_with_output().unwrap());
            assert_eq!(
                said.code, None,
                "{name}: it ended before it was killed: {said:?}"
            );
            let now = loaded();
            assert!(now > before, "{name}: nothing was kept of {before} rows");
            before = now;
        }
        let last = dir.ok(&args);
        assert!(last.out.contains(ALL_HOLD), "{name}: {last:?}");
        assert!(last.out.contains("Resuming"), "{name}: {last:?}");
        for (table, rows) in [
            ("item", 100_000),
            ("warehouse", 1),
            ("stock", 100_000),
            ("district", 10),
            ("customer", 30_000),
            ("history", 30_000),
            ("orders", 30_000),
            ("new_order", 9_000),
        ] {
            let count = database.query(&format!("SELECT COUNT(*) FROM {table}"));
            assert_eq!(number(&count.unwrap()), rows, "{name}: {table}");
        }
        let lines = "SELECT COUNT(*) - (SELECT SUM(o_ol_cnt) FROM orders) FROM order_line";
        assert_eq!(number(&database.query(lines).unwrap()), 0, "{name}");
        let journal = "SELECT 1 FROM tidemark_load_journal";
        assert!(
            database.query(journal).is_err(),
            "{name}: the journal is left"
        );
    }
}

/// Hours of loading may be in it.
#[test]
fn an_unfinished_load_is_not_dropped_for_a_mistyped_number() {
    let databases = [
        shared_mariadb()
            .unwrap()
            .fresh_database("tpcc_typo")
            .unwrap(),
        shared_postgres()
            .unwrap()
            .fresh_database("tpcc_typo")
            .unwrap(),
    ];
    for database in databases {
        let name = database.url();
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        let args = |warehouses: &'static str| {
            let rest = ["-T2", "--chunk-rows=4000", "--no-check", "prepare"];
            [&["tpcc", &target, warehouses][..], &rest].concat()
        };
        let rows = || {
            let count = database.query("SELECT COUNT(*) FROM stock");
            count.map_or(0, |n| number(&n))
        };
        let child = dir.spawn(&args("--warehouses=1"));
        wait_until("rows", || rows() > 0);
        signal(child.id(), "KILL");
        child.wait_with_output().unwrap();
        let before = rows();
        let mistyped = dir.run(&args("--warehouses=2"));
        assert_eq!(mistyped.code, Some(5), "{name}: {mistyped:?}");
        for words in [
            "the load of table warehouse is incomplete: it has 1 row",
            "add --replace to start this one",
        ] {
            assert!(mistyped.err.contains(words), "{name}: {mistyped:?}");
        }
        assert_eq!(rows(), before, "{name}");
        // The same goes on with it; the test above waits for such a load's end.
        let child = dir.spawn(&args("--warehouses=1"));
        wait_until("more rows", || rows() > before);
        signal(child.id(), "INT");
        let same = Said::of(&child.wait_with_output().unwrap());
        assert!(same.out.contains("Resuming"), "{name}: {same:?}");
    }
}
