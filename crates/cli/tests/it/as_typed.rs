//! Command lines as handbooks, other tools' examples and our own messages have them.

use super::common::Workdir;
use tidemark_core::record::RunRecord;
use tidemark_testkit::{SandboxEngine, Server, shared_mariadb, shared_postgres};

#[test]
fn oltp_common_makes_the_tables_of_all_scripts() {
    let work = Workdir::new();
    let with = |script: &str, command: &str| {
        let shape = ["--target=sqlite:a.db", "--tables=2", "--table-size=10"];
        let words = [&["sysbench", script], &shape[..], &["--events=5", command]].concat();
        work.ok(&words)
    };
    with("oltp_common.lua", "prepare");
    with("/usr/share/sysbench/oltp_point_select.lua", "run");
    assert_eq!(work.last_record()["totals"]["all"]["count"], 5);
    with("/usr/share/sysbench/oltp_common.lua", "cleanup");
}

#[test]
fn the_command_that_a_message_gives_makes_what_was_missing() {
    let work = Workdir::new();
    std::fs::write(work.path().join("a.db"), "").unwrap();
    let run = [
        "sysbench",
        "bulk_insert",
        "--target=sqlite:a.db",
        "--threads=3",
        "--time=1",
        "run",
    ];
    let said = work.run(&run);
    assert_ne!(said.code, Some(0), "{said:?}");
    let (_, advice) = said.err.split_once("tidemark ").unwrap();
    let advice: Vec<&str> = advice.lines().next().unwrap().split(' ').collect();
    assert!(advice.contains(&"--threads=3"), "{advice:?}");
    work.ok(&advice);
    work.ok(&run);
}

#[test]
fn a_workload_of_ycsbs_folder_is_the_built_in_one_and_said_to_be() {
    let work = Workdir::new();
    let line = |command| {
        [
            "ycsb",
            command,
            "sqlite",
            "-P",
            "workloads/workloada",
            "-p",
            "recordcount=100",
            "-p",
            "operationcount=50",
            "-p",
            "sqlite.db=y.db",
        ]
    };
    work.ok(&line("load"));
    let said = work.ok(&line("run"));
    let told = "-P workloads/workloada: file not found; the built-in workloada is used";
    assert!(said.all().contains(told), "{said:?}");
    // A list of runs tells YCSB's workloads apart.
    let listed = work.ok(&["runs"]).out;
    assert!(listed.contains("ycsb a"), "{listed}");
}

#[test]
fn a_table_without_the_key_that_the_server_requires_is_refused_before_it_is_made() {
    let server = Server::builder(SandboxEngine::MariaDb)
        .setting("innodb_force_primary_key", "ON")
        .start()
        .unwrap();
    let database = server.fresh_database("keyless").unwrap();
    let work = Workdir::new();
    let target = format!("--target={}", database.url());
    let line = ["sysbench", "oltp_read_only", &target, "--table-size=100"];
    let said = work.run(&[&line[..], &["--secondary=on", "prepare"]].concat());
    assert_eq!(said.code, Some(5), "{said:?}");
    for part in [
        "sbtest1 has no primary key",
        "innodb_force_primary_key=ON",
        "--secondary",
    ] {
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
    assert_eq!(database.query("SHOW TABLES").unwrap().trim(), "");
    work.ok(&[&line[..], &["prepare"]].concat());
}

/// What a server chose by itself is its default; what decides the outcome of conflicts is told whatever its
/// value.
#[test]
fn records_hold_the_settings_that_explain_them() {
    let settings = |url: String| {
        let work = Workdir::new();
        let target = format!("--target={url}");
        let line = ["sysbench", "oltp_point_select", &target, "--table-size=100"];
        work.ok(&[&line[..], &["prepare"]].concat());
        work.ok(&[&line[..], &["--events=5", "run"]].concat());
        let record: RunRecord = serde_json::from_value(work.last_record()).unwrap();
        record.settings
    };
    let mariadb = shared_mariadb().unwrap();
    let database = mariadb.fresh_database("explained").unwrap();
    let has = mariadb.query("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'");
    let has = !has.unwrap().trim().is_empty();
    let told = settings(database.url());
    let is_told = told.iter().any(|s| s.name == "innodb_snapshot_isolation");
    assert_eq!(is_told, has, "{told:?}");
    let postgres = shared_postgres().unwrap();
    let database = postgres.fresh_database("explained").unwrap();
    let told = settings(database.url());
    let autotuned = postgres
        .query(
            "SELECT name FROM pg_settings WHERE name = 'wal_buffers' AND setting <> boot_val \
             AND source IN ('default', 'override')",
        )
        .unwrap();
    assert_eq!(
        autotuned.trim(),
        "wal_buffers",
        "as it is left to the server"
    );
    let differs = |s: &&tidemark_core::record::Setting| {
        s.name == "wal_buffers" && s.default.as_ref() != Some(&s.value)
    };
    assert!(!told.iter().any(|s| differs(&s)), "{told:?}");
}
