//! TPC-C when servers and clients die: no order is lost, none comes twice, and the consistency
//! conditions hold afterwards.

use super::common::{Said, Workdir, signal, wait_until};
use std::io::{BufRead, BufReader};
use tidemark_testkit::{Engine, Server, shared_mariadb, shared_postgres};

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
    outlives(Server::mariadb().unwrap());
}

#[test]
fn a_run_outlives_its_postgres_and_every_order_is_there_once() {
    outlives(Server::postgres().unwrap());
}

fn outlives(server: Server) {
    let name = server.url();
    let dir = Workdir::new();
    let target = format!("--target={}", server.url());
    let run = |args: &[&str]| dir.ok(&tpcc(&target, args));
    run(&["-T2", "--no-check", "prepare"]);
    let terminals = format!("-T{TERMINALS}");
    let args = [terminals.as_str(), "--time=25s", "--interval=1s", "run"];
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
        Engine::MariaDb => "repeatable-read",
        Engine::Postgres => "read-committed",
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
#[test]
fn what_is_cancelled_on_mariadb_is_taken_back_with_all_that_was_sent_along() {
    let server = Server::mariadb().unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", server.url());
    dir.ok(&tpcc(&target, &["-T2", "--no-check", "prepare"]));
    let args = ["-T16", "--time=6s", "--ignore-error", "run"];
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
    let orders = number(&server.query("SELECT COUNT(*) FROM orders").unwrap()) - POPULATED;
    assert_eq!(done, orders);
    let paid = totals["types"]["Payment"]["count"].as_u64().unwrap();
    let rows = number(&server.query("SELECT COUNT(*) FROM history").unwrap()) - POPULATED;
    assert_eq!(paid, rows);
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
            "--warehouses=2",
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
            ("warehouse", 2),
            ("stock", 200_000),
            ("district", 20),
            ("customer", 60_000),
            ("history", 60_000),
            ("orders", 60_000),
            ("new_order", 18_000),
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
        let child = dir.spawn(&args("--warehouses=2"));
        wait_until("rows", || rows() > 0);
        signal(child.id(), "KILL");
        child.wait_with_output().unwrap();
        let before = rows();
        let mistyped = dir.run(&args("--warehouses=1"));
        assert_eq!(mistyped.code, Some(5), "{name}: {mistyped:?}");
        for words in [
            "the load of table warehouse is incomplete: it has 2 rows instead of 1 as this one",
            "add --replace to start this one",
        ] {
            assert!(mistyped.err.contains(words), "{name}: {mistyped:?}");
        }
        assert_eq!(rows(), before, "{name}");
        let same = dir.ok(&args("--warehouses=2"));
        assert!(same.out.contains("Resuming"), "{name}: {same:?}");
        assert_eq!(rows(), 200_000, "{name}");
    }
}

#[test]
fn a_condition_that_does_not_hold_is_named_and_ends_the_check_with_its_code() {
    let postgres = shared_postgres().unwrap();
    let database = postgres.fresh_database("tpcc_broken").unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    let prepared = dir.run(&tpcc(&target, &["prepare"]));
    assert_eq!(prepared.code, Some(0), "{prepared:?}");
    assert!(prepared.out.contains(ALL_HOLD), "{prepared:?}");
    let spoil = "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 4 AND o_id = 7";
    database.query(spoil).unwrap();
    for how in [&["check"][..], &["--snapshot", "check"]] {
        let said = dir.run(&tpcc(&target, how));
        assert_eq!(said.code, Some(3), "{said:?}");
        for line in [
            "Condition 3.3.2.4: violated 1 time, first: d_w_id=1, d_id=4, ",
            "Condition 3.3.2.6: violated 1 time, first: o_w_id=1, o_d_id=4, o_id=7, ",
            "11 of 13 consistency conditions hold",
        ] {
            assert!(said.out.contains(line), "{line}: {said:?}");
        }
        assert!(said.err.contains("2 of 13"), "{said:?}");
    }
}
