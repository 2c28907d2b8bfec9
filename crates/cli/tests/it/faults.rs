//! Servers and clients that die in the middle.

use super::common::{Running, Said, Workdir, signal, wait_until};
use std::time::{Duration, Instant};
use tidemark_testkit::{SandboxEngine, Server, shared_mariadb, shared_postgres};

fn servers() -> [(&'static str, Server); 2] {
    [
        ("mariadb", Server::mariadb().unwrap()),
        ("postgres", Server::postgres().unwrap()),
    ]
}

#[test]
fn a_server_killed_in_a_run_and_not_back_fails_it_with_one_message() {
    for (name, server) in servers() {
        let dir = Workdir::new();
        let target = format!("--target={}", server.url());
        dir.ok(&[
            "sysbench",
            "oltp_read_write",
            &target,
            "--table-size=1000",
            "prepare",
        ]);
        for (policy, word) in [
            ("--reconnect-timeout=1", "not restored within 1 s"),
            ("--on-disconnect=fail", "connection"),
        ] {
            let run = Running::start(
                &dir,
                &[
                    "sysbench",
                    "oltp_read_write",
                    &target,
                    "--table-size=1000",
                    "--threads=4",
                    "--think-time=20ms",
                    "--time=60",
                    "--report-interval=1",
                    policy,
                    "run",
                ],
            );
            server.kill9().unwrap();
            let said = run.end();
            assert_eq!(said.code, Some(1), "{name} {policy}: {said:?}");
            assert!(said.err.contains(word), "{name} {policy}: {said:?}");
            assert!(!said.all().contains("panicked"), "{name}: {said:?}");
            // What was measured until then is printed and kept.
            assert!(said.out.contains("SQL statistics:"), "{name}: {said:?}");
            assert_eq!(dir.last_record()["state"], "failed");
            server.restart().unwrap();
        }
    }
}

#[test]
fn a_server_that_comes_back_is_used_again_and_the_reconnects_are_counted() {
    for (name, server) in servers() {
        let dir = Workdir::new();
        let target = format!("--target={}", server.url());
        dir.ok(&[
            "sysbench",
            "oltp_read_write",
            &target,
            "--table-size=1000",
            "prepare",
        ]);
        let run = Running::start(
            &dir,
            &[
                "sysbench",
                "oltp_read_write",
                &target,
                "--table-size=1000",
                "--threads=4",
                // What is looked for is not how fast it can be.
                "--think-time=20ms",
                "--time=8",
                "--report-interval=1",
                "run",
            ],
        );
        server.kill9().unwrap();
        server.restart().unwrap();
        let said = run.end();
        assert_eq!(said.code, Some(0), "{name}: {said:?}");
        let record = dir.last_record();
        assert!(
            record["totals"]["reconnects"].as_u64().unwrap() >= 4,
            "{name}: {said:?}"
        );
        assert!(!record["errors"].as_array().unwrap().is_empty(), "{name}");
        // The outage is told with its length, and kept apart from what was measured outside of it.
        let (before, after) = said.out.split_once("Outages:\n").unwrap();
        assert!(before.contains("Threads fairness:"), "{name}: {said:?}");
        assert!(
            after.contains("throughput outside of that:"),
            "{name}: {said:?}"
        );
        let outage = &record["outages"][0];
        assert_eq!(outage["ended"], true, "{name}: {outage:?}");
        assert!(
            outage["length_ms"].as_f64().unwrap() > 0.0,
            "{name}: {outage:?}"
        );
        let report = dir.ok(&["show", "last"]).out;
        assert!(
            report.contains("Hosts were unreachable for"),
            "{name}: {report}"
        );
    }
}

#[test]
fn a_load_whose_client_or_server_dies_goes_on_without_doubling_a_row() {
    for (name, server) in servers() {
        let dir = Workdir::new();
        let target = format!("--target={}", server.url());
        let args = [
            "sysbench",
            "oltp_read_write",
            &target,
            "--tables=2",
            "--table-size=60000",
            "--chunk-rows=2000",
            "--threads=2",
            "prepare",
        ];
        let journal = "SELECT COUNT(*) FROM tidemark_load_journal WHERE state = 'done'";
        let some_chunks = || {
            server
                .query(journal)
                .is_ok_and(|n| n.trim().parse::<u32>().is_ok_and(|n| n > 2))
        };
        let child = dir.spawn(&args);
        wait_until("some chunks", some_chunks);
        signal(child.id(), "KILL");
        child.wait_with_output().unwrap();
        // The server dies under the second attempt.
        let child = dir.spawn(&args);
        std::thread::sleep(Duration::from_millis(150));
        server.kill9().unwrap();
        let said = Said::of(&child.wait_with_output().unwrap());
        server.restart().unwrap();
        if said.code != Some(0) {
            assert!(matches!(said.code, Some(1 | 4)), "{name}: {said:?}");
            let last = dir.ok(&args);
            assert!(
                last.out.contains("were already loaded") || last.out.contains("Resuming"),
                "{name}: {last:?}"
            );
        }
        for table in ["sbtest1", "sbtest2"] {
            let counts = server
                .query(&format!(
                    "SELECT COUNT(*), COUNT(DISTINCT id), MAX(id) FROM {table}"
                ))
                .unwrap();
            let counts: Vec<_> = counts
                .split(|c: char| !c.is_ascii_digit())
                .filter(|w| !w.is_empty())
                .collect();
            assert_eq!(counts, ["60000"; 3], "{name} {table}");
        }
        assert!(
            server.query(journal).is_err(),
            "{name}: the journal is gone"
        );
    }
}

#[test]
fn ctrl_c_ends_with_the_summary_of_what_was_measured() {
    let databases = [
        shared_mariadb().unwrap().fresh_database("ctrl_c").unwrap(),
        shared_postgres().unwrap().fresh_database("ctrl_c").unwrap(),
    ];
    for database in databases {
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        dir.ok(&[
            "sysbench",
            "oltp_point_select",
            &target,
            "--table-size=1000",
            "prepare",
        ]);
        let run = Running::start(
            &dir,
            &[
                "sysbench",
                "oltp_point_select",
                &target,
                "--table-size=1000",
                "--threads=4",
                "--time=60",
                "--report-interval=1",
                "run",
            ],
        );
        signal(run.child.id(), "INT");
        let said = run.end();
        assert_eq!(said.code, Some(130), "{said:?}");
        assert!(
            said.out.contains("SQL statistics:") && said.out.contains("Threads fairness:"),
            "{said:?}"
        );
        let record = dir.last_record();
        assert_eq!(record["state"], "interrupted");
        let events: u64 = record["intervals"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|i| i["types"].as_object().unwrap().values())
            .map(|t| t["count"].as_u64().unwrap())
            .sum();
        // Conservation: the intervals add up to the total.
        assert_eq!(record["totals"]["all"]["count"].as_u64().unwrap(), events);
    }
}

/// A server that hangs, and a connection that leads nowhere, keep no run from its end.
#[test]
fn a_run_on_a_server_that_hangs_says_so_and_ctrl_c_ends_it_with_its_summary() {
    let server = Server::mariadb().unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", server.url());
    let words = |more: [&str; 3]| {
        let all = [
            "sysbench",
            "oltp_point_select",
            &target,
            "--table-size=1000",
        ];
        all.into_iter()
            .chain(more)
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let prepare = words(["--tables=1", "--threads=1", "prepare"]);
    dir.ok(&prepare.iter().map(String::as_str).collect::<Vec<_>>());
    // As executors do it, and as threads that wait in their reads.
    for threads in ["--threads=2", "--threads=100"] {
        let run = words([threads, "--time=2", "run"]);
        let mut run: Vec<&str> = run.iter().map(String::as_str).collect();
        run.insert(4, "--report-interval=1");
        let going = Running::start(&dir, &run);
        server.pause().unwrap();
        going.wait_for("time limit reached");
        signal(going.child.id(), "INT");
        let asked = Instant::now();
        going.wait_for("SQL statistics:");
        // Looking at the tables after the run takes the server to be awake.
        server.resume().unwrap();
        let said = going.end();
        assert!(asked.elapsed() < Duration::from_secs(20), "{said:?}");
        assert_eq!(said.code, Some(130), "{said:?}");
        assert!(said.out.contains("time limit reached"), "{said:?}");
        assert!(said.out.contains("SQL statistics:"), "{said:?}");
        assert_eq!(dir.last_record()["state"], "interrupted");
    }
}

/// Counting rows is no reason to wait for somebody else's lock, neither before a run nor after it.
#[test]
fn a_locked_table_does_not_hold_up_a_run_that_is_to_end() {
    let database = shared_mariadb().unwrap().fresh_database("locked").unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    let words = ["sysbench", "oltp_point_select", &target, "--table-size=100"];
    dir.ok(&[&words[..], &["prepare"]].concat());
    std::thread::scope(|scope| {
        scope.spawn(|| database.query("LOCK TABLES sbtest1 WRITE; SELECT SLEEP(60)"));
        let holder = || {
            let sql = "SELECT id FROM information_schema.processlist \
                       WHERE db = DATABASE() AND info LIKE 'SELECT SLEEP(60)%'";
            database.query(sql).unwrap().trim().to_string()
        };
        wait_until("the table is locked", || !holder().is_empty());
        let begun = Instant::now();
        let said = dir.run(&[&words[..], &["--time=1", "--forced-shutdown=1", "run"]].concat());
        assert!(begun.elapsed() < Duration::from_secs(20), "{said:?}");
        assert_ne!(said.code, Some(0), "{said:?}");
        let record = dir.last_record();
        let notes = record["notes"].to_string();
        assert!(notes.contains("sbtest1 could not be checked"), "{notes}");
        assert!(record["tables_after"].as_array().unwrap().is_empty());
        // It was locked all the time.
        database.query(&format!("KILL {}", holder())).unwrap();
    });
}

/// As `timeout` sends them: to the process, and to its group.
#[test]
fn two_signals_at_once_are_one_request() {
    let dir = Workdir::new();
    let target = "--target=sqlite:twice.db";
    let size = "--table-size=100";
    dir.ok(&["sysbench", "oltp_point_select", target, size, "prepare"]);
    let args = ["--time=60", "--report-interval=1", "run"];
    let run = [&["sysbench", "oltp_point_select", target, size], &args[..]].concat();
    let going = Running::start(&dir, &run);
    // Two of one kind could become one before they are seen.
    let both = format!("kill -INT {0}; kill -TERM {0}", going.child.id());
    let sent = std::process::Command::new("sh")
        .args(["-c", &both])
        .status();
    assert!(sent.unwrap().success());
    let said = going.end();
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(said.out.contains("Threads fairness:"), "{said:?}");
    assert_eq!(dir.last_record()["state"], "interrupted");
}

#[test]
fn an_interrupted_load_says_how_to_go_on() {
    let database = shared_mariadb()
        .unwrap()
        .fresh_database("interrupt")
        .unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    let args = [
        "sysbench",
        "oltp_read_write",
        &target,
        "--table-size=150000",
        "--chunk-rows=1000",
        "prepare",
    ];
    let child = dir.spawn(&args);
    wait_until("some chunks", || {
        database
            .query("SELECT COUNT(*) FROM tidemark_load_journal WHERE state = 'done'")
            .is_ok_and(|n| n.trim().parse::<u32>().is_ok_and(|n| n > 2))
    });
    signal(child.id(), "INT");
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(
        said.err.contains("of 150000 rows loaded") && said.err.contains("cleanup"),
        "{said:?}"
    );
    dir.ok(&["sysbench", "oltp_read_write", &target, "cleanup"]);
    assert!(database.query("SELECT 1 FROM sbtest1").is_err());
    assert!(
        database
            .query("SELECT 1 FROM tidemark_load_journal")
            .is_err()
    );
}

/// Commits that need not wait for the disk are lost with the server, rows and journal alike. Here
/// they stay in its memory for long, and the client does not see its end.
#[test]
fn a_load_does_again_what_a_crash_of_its_server_took_back() {
    let server = Server::builder(SandboxEngine::Postgres)
        .setting("synchronous_commit", "off")
        .setting("wal_writer_delay", "10s")
        .setting("wal_writer_flush_after", "1GB")
        .setting("wal_buffers", "64MB")
        .setting("bgwriter_lru_maxpages", "0")
        // Who makes room for a page writes the log as far as it goes.
        .setting("shared_buffers", "256MB")
        .setting("autovacuum", "off")
        .start()
        .unwrap();
    let done = || -> u32 {
        let sql = "SELECT COUNT(*) FROM tidemark_load_journal WHERE state = 'done'";
        let count = server.query(sql).unwrap_or_default();
        count.trim().parse().unwrap_or(0)
    };
    let dir = Workdir::new();
    let target = format!("--target={}", server.url());
    let child = dir.spawn(&[
        "sysbench",
        "oltp_read_write",
        &target,
        "--tables=2",
        // Long enough for several crashes.
        "--table-size=120000",
        "--chunk-rows=100",
        "--threads=2",
        "prepare",
    ]);
    wait_until("some chunks", || done() > 5);
    // One commit that waits for the disk, and for all before it.
    server
        .query("BEGIN; SET LOCAL synchronous_commit = on; CREATE TABLE durable (a INT); COMMIT")
        .unwrap();
    // Every ten seconds the server writes what it has: then nothing is lost, and another crash tells.
    let loses = |_| {
        let kept = done();
        wait_until("more chunks", || done() >= kept + 5);
        signal(child.id(), "STOP");
        let committed = done();
        server.kill9().unwrap();
        server.restart().unwrap();
        let left = done();
        signal(child.id(), "CONT");
        left < committed
    };
    assert!((0..8).any(loses), "no crash lost anything");
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(0), "{said:?}");
    for table in ["sbtest1", "sbtest2"] {
        let sql = format!("SELECT COUNT(*), COUNT(DISTINCT id), MAX(id) FROM {table}");
        let counts = server.query(&sql).unwrap();
        let counts = counts.replace(|c: char| !c.is_ascii_digit(), " ");
        let counts: Vec<_> = counts.split_whitespace().collect();
        assert_eq!(counts, ["120000"; 3], "{table}");
    }
    assert_eq!(done(), 0, "the journal is left");
}
