//! Two clients, each a process of its own, that would load into one database.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Said, Workdir, signal, wait_until};
use tidemark_testkit::{shared_mariadb, shared_postgres};

#[test]
fn the_second_is_refused_and_the_first_ends_well() {
    for server in [shared_mariadb().unwrap(), shared_postgres().unwrap()] {
        let database = server.fresh_database("two_loads").unwrap();
        let name = server.engine();
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
        let journal = "SELECT COUNT(*) FROM tidemark_load_journal";
        wait_until("some chunks", || {
            database
                .query(journal)
                .is_ok_and(|n| n.trim().parse::<u32>().is_ok_and(|n| n > 2))
        });
        // However long it takes.
        signal(first.id(), "STOP");
        let second = run(with("--rand-seed=9", "prepare"));
        assert_eq!(second.code, Some(5), "{name}: {second:?}");
        let said = "another Tidemark is loading or dropping tables in this database (session ";
        assert!(second.err.contains(said), "{name}: {second:?}");
        let cleanup = run(with("--force=on", "cleanup"));
        assert_eq!(cleanup.code, Some(5), "{name}: {cleanup:?}");
        assert!(cleanup.err.contains(said), "{name}: {cleanup:?}");
        signal(first.id(), "CONT");
        let first = Said::of(&first.wait_with_output().unwrap());
        assert_eq!(first.code, Some(0), "{name}: {first:?}");
        let rows = database.query("SELECT COUNT(*) FROM sbtest1").unwrap();
        assert_eq!(rows.trim(), "60000", "{name}");
        // The next one finds no lock.
        let cleanup = run(with("--force=off", "cleanup"));
        assert_eq!(cleanup.code, Some(0), "{name}: {cleanup:?}");
    }
}
