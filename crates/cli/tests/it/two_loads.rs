//! Two clients, each a process of its own, that load into one database.

use super::common::{Said, Workdir, signal, wait_until};
use std::process::Child;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

const DONE: &str = "SELECT COUNT(*) FROM tidemark_load_journal WHERE state = 'done'";

/// A database of each kind, and its name.
fn databases(name: &str) -> Vec<(String, Database)> {
    let servers = [shared_mariadb().unwrap(), shared_postgres().unwrap()];
    let fresh = servers.map(|s| (s.engine().to_string(), s.fresh_database(name).unwrap()));
    fresh.into_iter().collect()
}

fn wait_for_chunks(database: &Database, more_than: u32) {
    wait_until("some chunks", || {
        database
            .query(DONE)
            .is_ok_and(|n| n.trim().parse::<u32>().is_ok_and(|n| n > more_than))
    });
}

fn said(child: Child) -> Said {
    Said::of(&child.wait_with_output().unwrap())
}

/// Each of the rows is there once, and no journal is left.
fn assert_complete(name: &str, database: &Database, tables: u32, rows: u32) {
    for table in 1..=tables {
        let sql = format!("SELECT COUNT(*), COUNT(DISTINCT id), MAX(id) FROM sbtest{table}");
        let counts = database.query(&sql).unwrap();
        let counts: Vec<u32> = counts
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|word| word.parse().ok())
            .collect();
        assert_eq!(counts, [rows; 3], "{name} sbtest{table}");
    }
    assert!(database.query(DONE).is_err(), "{name}: a journal is left");
}

#[test]
fn another_load_is_refused_and_the_first_ends_well() {
    for (name, database) in databases("two_loads") {
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        let with = |option: &'static str, command: &'static str| {
            let rows = "--table-size=60000";
            [
                "sysbench",
                "oltp_read_write",
                &target,
                rows,
                option,
                command,
            ]
            .map(str::to_string)
        };
        let run = |args: [String; 6]| dir.run(&args.each_ref().map(String::as_str));
        let first = dir.spawn(
            &with("--chunk-rows=500", "prepare")
                .each_ref()
                .map(String::as_str),
        );
        wait_for_chunks(&database, 2);
        // However long it takes.
        signal(first.id(), "STOP");
        let second = run(with("--rand-seed=9", "prepare"));
        assert_eq!(second.code, Some(5), "{name}: {second:?}");
        let words =
            "another Tidemark is loading, dropping or changing tables in this database (session ";
        assert!(second.err.contains(words), "{name}: {second:?}");
        let cleanup = run(with("--force=on", "cleanup"));
        assert_eq!(cleanup.code, Some(5), "{name}: {cleanup:?}");
        assert!(cleanup.err.contains(words), "{name}: {cleanup:?}");
        signal(first.id(), "CONT");
        let first = said(first);
        assert_eq!(first.code, Some(0), "{name}: {first:?}");
        assert_complete(&name, &database, 1, 60_000);
        // The next one finds no lock.
        let cleanup = run(with("--force=off", "cleanup"));
        assert_eq!(cleanup.code, Some(0), "{name}: {cleanup:?}");
    }
}

/// What both clients are told to do.
fn shared(target: &str) -> [&str; 7] {
    [
        "sysbench",
        "oltp_read_write",
        target,
        "--tables=2",
        "--table-size=100000",
        "--chunk-rows=1000",
        "prepare",
    ]
}

#[test]
fn two_that_load_the_same_share_it() {
    for (name, database) in databases("share") {
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        let first = dir.spawn(&shared(&target));
        wait_for_chunks(&database, 2);
        let second = said(dir.spawn(&shared(&target)));
        let first = said(first);
        for (who, other) in [(&first, &second), (&second, &first)] {
            assert_eq!(who.code, Some(0), "{name}: {who:?} {other:?}");
            let others = "rows were loaded by other clients";
            assert!(who.out.contains(others), "{name}: {who:?}");
        }
        let helps = "Another client is loading these tables: joining";
        assert!(second.out.contains(helps), "{name}: {second:?}");
        assert_complete(&name, &database, 2, 100_000);
    }
}

#[test]
fn one_of_two_is_killed_and_the_other_ends_the_load() {
    for (name, database) in databases("one_killed") {
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        let first = dir.spawn(&shared(&target));
        wait_for_chunks(&database, 2);
        let second = dir.spawn(&shared(&target));
        wait_until("the second", || {
            let clients = "SELECT COUNT(*) FROM tidemark_load_journal WHERE state = 'client'";
            database.query(clients).is_ok_and(|n| n.trim() == "2")
        });
        signal(first.id(), "KILL");
        said(first);
        let second = said(second);
        assert_eq!(second.code, Some(0), "{name}: {second:?}");
        assert_complete(&name, &database, 2, 100_000);
    }
}

#[test]
fn both_are_killed_and_started_again() {
    for (name, database) in databases("both_killed") {
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        let mut done = 2;
        for _ in 0..3 {
            let both = [dir.spawn(&shared(&target)), dir.spawn(&shared(&target))];
            wait_for_chunks(&database, done);
            for child in &both {
                signal(child.id(), "KILL");
            }
            both.into_iter().for_each(|child| drop(said(child)));
            done = database.query(DONE).unwrap().trim().parse().unwrap();
        }
        let both = [dir.spawn(&shared(&target)), dir.spawn(&shared(&target))];
        let both = both.map(said);
        for said in &both {
            assert_eq!(said.code, Some(0), "{name}: {both:?}");
        }
        assert_complete(&name, &database, 2, 100_000);
    }
}
