//! Causes inside the server.

use super::common::{Made, SECONDS, mariadb, run};
use tidemark_diagnosis::{Cause, Confidence};

fn climbing(from: f64, each: f64) -> Vec<f64> {
    (0..SECONDS).map(|n| from + each * n as f64).collect()
}

#[test]
fn commits_that_wait_for_the_log_are_seen_in_both_servers() {
    let postgres = run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("IO:WalSync", 4.0)
        .active("LWLock:WALWrite", 1.5)
        .status("log.syncs", 900.0)
        .status("log.sync-time", 800.0);
    let found = postgres.sure(Cause::CommitLog);
    assert!(
        found.sentence.en.contains("900 flushes/s at 0.889 ms"),
        "{}",
        found.sentence.en
    );
    let sentence = postgres.diagnosis().sentence;
    assert!(sentence.en.contains("Next limit"), "{}", sentence.en);
    let maria = mariadb()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("Commit", 6.0)
        .active("Sending data", 0.9)
        .status("log.syncs", 400.0);
    maria.sure(Cause::CommitLog);
    // On a full host a session is at its commit while it waits for a processor.
    let full = maria
        .clone()
        .busy(0.98)
        .server(2.9, 3800.0)
        .threads(0.9, 300.0);
    assert_eq!(full.diagnosis().verdict, Cause::ServerCpu);
    assert!(!full.finds(Cause::CommitLog));
    assert!(maria.without("server-activity", "").skips(Cause::CommitLog));
}

#[test]
fn the_cache_and_the_disk_are_told_apart_by_the_disk() {
    let reads = run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("IO:DataFileRead", 6.0)
        .status("buffer.misses", 9_000.0);
    let cache = reads.sure(Cause::CacheMisses);
    assert!(cache.share > 0.5);
    assert!(!reads.finds(Cause::DiskRate), "0.6 ms are no slow read");
    let disk = |made: Made, busy: f64, queue: f64| {
        let label = [("disk", "vda")];
        let of = |made: Made, name, value| made.set("client-host", name, &label, value);
        let made = of(made, "disk.busy", busy);
        let made = of(made, "disk.queue", queue);
        let made = of(made, "disk.reads", 9000.0);
        let made = of(made, "disk.read-time", 6000.0);
        of(made, "disk.writes", 0.0)
    };
    let full = disk(reads.clone(), 0.99, 6.0);
    assert!(full.finds(Cause::DiskRate) && full.finds(Cause::CacheMisses));
    assert_eq!(
        full.diagnosis().verdict,
        Cause::CacheMisses,
        "misses feed the disk"
    );
    assert!(
        !disk(reads.clone(), 0.99, 1.0).finds(Cause::DiskRate),
        "one request is no queue"
    );
    let slow = reads.status("buffer.misses", 2000.0);
    assert!(slow.finds(Cause::DiskRate), "3 ms for each read");
    // MariaDB shows no reads: its misses and the disk's times do.
    let maria = mariadb()
        .busy(0.3)
        .server(0.5, 20.0)
        .active("Sending data", 6.9)
        .status("buffer.misses", 9_000.0);
    assert!(disk(maria, 0.5, 1.0).finds(Cause::CacheMisses));
    let unseen = run().without("server-status", "");
    assert!(unseen.skips(Cause::CacheMisses));
    let unseen = unseen.without("server-activity", "");
    assert!(unseen.skips(Cause::DiskRate));
}

#[test]
fn rows_of_the_run_and_a_lock_of_somebody_else_are_told_apart_by_how_long() {
    let hot = run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("Lock:transactionid", 5.0)
        .active("Lock:tuple", 1.0);
    hot.sure(Cause::RowLocks);
    assert!(!hot.finds(Cause::LockHeld));
    let held = hot.clone().over_time(
        "server-status",
        "transactions.oldest",
        &[],
        &climbing(1.0, 1.0),
    );
    // One that waits long, while the row is passed on all the time.
    held.sure(Cause::RowLocks);
    let still = |made: super::common::Made| {
        let rates = (0..SECONDS).map(|n| if n % 5 == 2 { 10 } else { 1200 });
        made.rates(rates.collect())
    };
    let held = still(held);
    held.sure(Cause::LockHeld);
    assert!(!held.finds(Cause::RowLocks));
    let maria = mariadb()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("Updating", 6.5)
        .status("locks.waits", 1000.0)
        .status("locks.wait-time", 5500.0);
    let found = maria.sure(Cause::RowLocks);
    assert!(
        found.sentence.en.contains("1,000 waits/s of 5.50 ms"),
        "{}",
        found.sentence.en
    );
    still(maria.clone().status("locks.waits", 0.5)).sure(Cause::LockHeld);
    assert!(!run().finds(Cause::RowLocks) && !mariadb().finds(Cause::RowLocks));
    let unseen = maria.without("server-activity", "");
    assert!(unseen.skips(Cause::RowLocks) && unseen.skips(Cause::LockHeld));
}

#[test]
fn a_table_lock_is_found_even_if_no_transaction_ended() {
    let wait = "Waiting for table metadata lock";
    let locked = mariadb()
        .busy(0.05)
        .server(0.01, 0.0)
        .active("Sending data", 0.0)
        .active(wait, 8.0);
    // Nothing ends while somebody else has it.
    let held = locked
        .clone()
        .load(200, 40.0, 39.9)
        .active(wait, 5.0)
        .dead(&[(3000, 1000.0), (9000, 1000.0), (21_000, 1000.0)]);
    // Three seconds of those in which sessions waited for it.
    assert_eq!(held.verdict(Cause::LockHeld).confidence, Confidence::Medium);
    let most = [(3000, 4000.0), (9000, 4000.0), (15_000, 4000.0)];
    held.dead(&most).sure(Cause::LockHeld);
    let none = locked.rates(vec![0; SECONDS as usize]).with(|r| {
        r.totals.statements = tidemark_core::record::StatementCounts::default();
    });
    let diagnosis = none.diagnosis();
    assert_eq!(diagnosis.verdict, Cause::LockHeld, "{diagnosis:#?}");
    assert!(diagnosis.parts.is_empty(), "there is no latency to split");
}

#[test]
fn latches_are_found_where_the_server_shows_them() {
    let made = run()
        .busy(0.5)
        .server(1.2, 20.0)
        .active("CPU", 1.5)
        .active("LWLock:BufferContent", 5.0);
    let found = made.sure(Cause::Latches);
    assert!(
        found.sentence.en.contains("LWLock:BufferContent"),
        "{}",
        found.sentence.en
    );
    let locks = made
        .active("Lock:tuple", 5.0)
        .active("LWLock:BufferContent", 1.0);
    assert_eq!(locks.diagnosis().verdict, Cause::RowLocks);
    let maria = mariadb()
        .busy(0.3)
        .server(0.5, 10.0)
        .active("Updating", 6.5);
    assert!(maria.skips(Cause::Latches));
    assert_eq!(maria.diagnosis().verdict, Cause::NotEnoughSeen);
}

#[test]
fn checkpoints_are_those_that_the_log_forced() {
    let maria = mariadb()
        .status("checkpoint.age", 70e6)
        .status("pages.written", 3000.0)
        .active("Updating", 7.4)
        .active("Sending data", 0.1);
    let calm = mariadb()
        .status("checkpoint.age", 70e6)
        .status("pages.written", 3000.0)
        .active("Sending data", 2.0);
    assert!(!calm.finds(Cause::Checkpoints), "nobody waits");
    // Latches are no state, either.
    let found = maria.verdict(Cause::Checkpoints);
    assert_eq!(found.confidence, Confidence::Medium);
    // The rate falls with the room.
    let falls = |n: i64| n % 6 >= 3;
    let age: Vec<f64> = (0..SECONDS)
        .map(|n| if falls(n) { 78e6 } else { 50e6 })
        .collect();
    let rates = (0..SECONDS).map(|n| if falls(n) { 500 } else { 1500 });
    maria
        .clone()
        .rates(rates.collect())
        .over_time("server-status", "checkpoint.age", &[], &age)
        .sure(Cause::Checkpoints);
    assert!(!mariadb().finds(Cause::Checkpoints));
    // A long run in a small log, of which pages are flushed at leisure.
    assert!(
        !maria
            .status("pages.written", 50.0)
            .finds(Cause::Checkpoints)
    );
    let dips = |n: i64| n % 6 >= 3;
    let rates = (0..SECONDS).map(|n| if dips(n) { 500 } else { 1500 });
    let written: Vec<f64> = (0..SECONDS)
        .map(|n| if dips(n) { 4000.0 } else { 0.0 })
        .collect();
    let postgres = run()
        .rates(rates.collect())
        .status("checkpoints.requested", 0.17)
        .over_time("server-status", "checkpoints.pages-written", &[], &written);
    postgres.sure(Cause::Checkpoints);
    // Those of the clock are none.
    assert!(
        !postgres
            .clone()
            .status("checkpoints.requested", 0.0)
            .finds(Cause::Checkpoints)
    );
    assert!(
        postgres
            .without("server-status", "")
            .skips(Cause::Checkpoints)
    );
}

#[test]
fn a_long_transaction_ages_and_purge_that_is_late_does_not_stop() {
    let open = run().over_time(
        "server-status",
        "transactions.oldest",
        &[],
        &climbing(2.0, 1.0),
    );
    // Nothing shows that anybody pays for it.
    let unfelt = open
        .clone()
        .busy(0.97)
        .threads(1.2, 900.0)
        .server(2.6, 2500.0);
    assert_eq!(unfelt.diagnosis().verdict, Cause::ServerCpu);
    let found = unfelt.diagnosis().findings;
    let found = found.iter().find(|f| f.cause == Cause::LongTransaction);
    let found = found.unwrap();
    assert_eq!((found.confidence, found.share), (Confidence::Low, 0.0));
    assert!(found.sentence.en.contains("No effect"), "{found:?}");
    // The same work takes more and more of the CPU, as dead rows become more;
    let slower = |made: Made| {
        let cpu = climbing(1.0, 0.03);
        made.over_time("server-process", "process.cpu-user", &[], &cpu)
    };
    let dead = climbing(0.0, 500.0);
    let dead = slower(open.clone()).over_time("server-status", "rows.dead", &[], &dead);
    dead.sure(Cause::LongTransaction);
    let other = slower(open.clone()).diagnosis().findings;
    let other = other.iter().find(|f| f.cause == Cause::LongTransaction);
    assert_eq!(
        other.unwrap().confidence,
        Confidence::Low,
        "of something else"
    );
    // or there are many for each row.
    let of_table = |made: Made, rows| {
        made.with(|r| {
            r.tables_before = vec![tidemark_core::record::TableState {
                table: "t".into(),
                rows,
                expected_rows: None,
                min_key: None,
                max_key: None,
            }];
        })
    };
    let many = open.clone().status("rows.dead", 5000.0).server(2.0, 800.0);
    let found = of_table(many.clone(), 100).sure(Cause::LongTransaction);
    assert!(found.sentence.en.contains("50.0 for each row"), "{found:?}");
    let few = of_table(many, 1_000_000).diagnosis();
    assert_eq!(few.verdict, Cause::NotEnoughSeen, "{few:#?}");
    // Many short ones, one after the other.
    let short: Vec<f64> = (0..SECONDS).map(|n| (n % 6) as f64).collect();
    assert!(
        !run()
            .over_time("server-status", "transactions.oldest", &[], &short)
            .finds(Cause::LongTransaction)
    );
    let kept = mariadb().over_time(
        "server-status",
        "history.length",
        &[],
        &climbing(100.0, 990.0),
    );
    assert_ne!(kept.diagnosis().verdict, Cause::LongTransaction);
    assert!(kept.finds(Cause::LongTransaction), "as a note");
    let found = slower(kept).verdict(Cause::LongTransaction);
    assert_eq!(found.confidence, Confidence::Medium);
    // PostgreSQL's slots and replicas have no transaction that is open.
    let slot = climbing(100.0, 990.0);
    let slot = run().over_time("server-status", "transactions.held-back", &[], &slot);
    let dead = climbing(0.0, 500.0);
    let slot = slower(slot).over_time("server-status", "rows.dead", &[], &dead);
    slot.verdict(Cause::LongTransaction);
    let late = climbing(100.0, 990.0).into_iter().enumerate();
    let late: Vec<f64> = late
        .map(|(n, v)| if n == 20 { 18_000.0 } else { v })
        .collect();
    let late = mariadb().over_time("server-status", "history.length", &[], &late);
    assert!(!late.finds(Cause::LongTransaction));
    assert!(!late.finds(Cause::Cleanup), "nothing got slower");
    // The same work takes more and more of the CPU.
    let slower = late.over_time(
        "server-process",
        "process.cpu-user",
        &[],
        &climbing(1.0, 0.03),
    );
    assert!(slower.finds(Cause::Cleanup));
    // PostgreSQL's vacuum, with as many dead rows as there are others.
    let dead = climbing(0.0, 500.0);
    let dead = run().over_time("server-status", "rows.dead", &[], &dead);
    let dead = dead.over_time(
        "server-process",
        "process.cpu-user",
        &[],
        &climbing(1.0, 0.03),
    );
    let found = of_table(dead.clone(), 5_000).diagnosis().findings;
    let found = found.iter().find(|f| f.cause == Cause::Cleanup).unwrap();
    assert!(found.sentence.en.contains("Vacuum"), "{found:?}");
    assert!(!of_table(dead, 1_000_000).finds(Cause::Cleanup), "few");
    // Readers pay for what others left.
    let reads = |history| {
        mariadb()
            .with(|r| r.totals.statements.write = 0)
            .over_time(
                "server-status",
                "transactions.oldest",
                &[],
                &climbing(9.0, 1.0),
            )
            .status("history.length", history)
    };
    assert!(reads(30_000.0).finds(Cause::LongTransaction));
    assert!(!reads(100.0).finds(Cause::LongTransaction));
    assert!(
        mariadb()
            .without("server-status", "")
            .skips(Cause::LongTransaction)
    );
    let unseen = run().without("server-status", "").over_time(
        "server-process",
        "process.cpu-user",
        &[],
        &climbing(1.0, 0.03),
    );
    assert!(unseen.skips(Cause::Cleanup));
}

#[test]
fn a_missing_index_reads_rows_that_nobody_asked_for() {
    let made = run()
        .busy(0.97)
        .server(3.2, 2000.0)
        .threads(0.6, 100.0)
        .active("CPU", 7.0);
    let scans = made.clone().status("rows.read", 40e6);
    let scans = scans.status("rows.scanned", 39e6);
    scans.sure(Cause::MissingIndex);
    assert!(scans.finds(Cause::ServerCpu), "which it makes");
    assert!(
        !made
            .clone()
            .status("rows.read", 400e3)
            .finds(Cause::MissingIndex)
    );
    assert!(made.without("server-status", "").skips(Cause::MissingIndex));
}

#[test]
fn one_node_of_a_cluster_works() {
    let cluster = run().with(|r| {
        r.target_on_client = Some(false);
        if let Some(server) = &mut r.server {
            server.engine = tidemark_core::Engine::Tidb;
        }
    });
    assert!(cluster.skips(Cause::StoreImbalance));
    let nodes = |most: f64| {
        ["a:20180", "b:20180", "c:20180"]
            .iter()
            .fold(cluster.clone(), |made, node| {
                let cores = if *node == "b:20180" { most } else { 0.4 };
                made.set("server-nodes", "tikv.cpu", &[("instance", node)], cores)
            })
    };
    let found = nodes(3.8).verdict(Cause::StoreImbalance);
    assert!(
        found.sentence.en.contains("b:20180"),
        "{}",
        found.sentence.en
    );
    let metrics: Vec<&str> = found.evidence.iter().map(|e| &*e.metric).collect();
    assert_eq!(metrics.first(), Some(&"server-nodes tikv.cpu (b:20180)"));
    assert!(!nodes(0.5).finds(Cause::StoreImbalance));
    assert!(!run().skips(Cause::StoreImbalance));
}

#[test]
fn a_store_that_falls_behind_with_compaction_is_a_note() {
    let sublevels = |most: f64| {
        let stores = [("a:8080", "1", 2.0), ("b:8080", "2", most)];
        stores.iter().fold(run(), |made, (node, store, levels)| {
            let labels = [("instance", *node), ("store", *store)];
            let name = "cockroach.level0-sublevels";
            made.set("server-nodes", name, &labels, *levels)
        })
    };
    assert!(!sublevels(8.0).finds(Cause::Cleanup));
    let diagnosis = sublevels(35.0).diagnosis();
    let mut findings = diagnosis.findings.iter();
    let found = findings.find(|f| f.cause == Cause::Cleanup).unwrap();
    assert_eq!((found.confidence, found.share), (Confidence::Low, 0.0));
    let says = &found.sentence;
    assert!(says.en.contains("on b:8080"), "{says:?}");
    assert!(says.zh.contains("b:8080"), "{says:?}");
    assert!(says.zh.contains("CockroachDB：L0 子层数"), "{says:?}");
}

#[test]
fn writes_of_a_cluster_wait_for_the_log_of_its_nodes() {
    let cluster = run().without("server-activity", "").with(|r| {
        r.target_on_client = Some(false);
        if let Some(server) = &mut r.server {
            server.engine = tidemark_core::Engine::Tidb;
        }
    });
    let logs = |slow_ms: f64| {
        // The slow one writes three times as often.
        let nodes = [("a:20180", 0.4, 100.0), ("b:20180", slow_ms, 300.0)];
        nodes
            .iter()
            .fold(cluster.clone(), |made, (node, ms, times)| {
                let label = [("instance", *node)];
                made.set("server-nodes", "tikv.append-log", &label, *ms)
                    .set("server-nodes", "tikv.append-log.rate", &label, *times)
            })
    };
    assert!(cluster.skips(Cause::CommitLog));
    assert!(logs(1.0).skips(Cause::CommitLog), "of 8 ms");
    let diagnosis = logs(4.0).diagnosis();
    let mut findings = diagnosis.findings.iter();
    let found = findings.find(|f| f.cause == Cause::CommitLog).unwrap();
    assert_eq!(found.confidence, Confidence::Medium);
    assert!((found.share - 3.1 / 8.0).abs() < 0.01, "{found:?}");
    let says = &found.sentence;
    assert!(says.en.contains("TiKV: append log"), "{says:?}");
    assert!(says.zh.contains("TiKV：Append Log 延迟"), "{says:?}");
    let reads = logs(4.0).with(|r| r.totals.statements.write = 0);
    assert!(!reads.finds(Cause::CommitLog));
}

#[test]
fn reads_that_mariadb_waits_for_are_told_by_their_number() {
    let waiting = |rate, ms, pending| {
        mariadb()
            .busy(0.1)
            .server(0.1, 10.0)
            .threads(0.05, 1.0)
            .load(rate, ms, ms - 0.1)
            .active("Statistics", 7.5)
            .without("server-activity", "idle")
            .status("buffer.requests", 10.0 * rate as f64)
            .status("buffer.misses", rate as f64)
            .status("data.pending-reads", pending)
    };
    // 75 ms for a read: no disk is so slow by itself.
    let throttled = waiting(100, 75.0, 7.4);
    throttled.sure(Cause::DiskRate);
    assert!(throttled.finds(Cause::CacheMisses));
    let cached = waiting(16_000, 0.5, 4.0);
    cached.verdict(Cause::CacheMisses);
    assert!(!cached.finds(Cause::DiskRate));
}

#[test]
fn commits_of_mariadb_wait_for_the_log_where_their_status_is_updated() {
    let slow = mariadb()
        .busy(0.1)
        .server(0.1, 10.0)
        .threads(0.05, 1.0)
        .load(350, 22.8, 22.6)
        .active("Sending data", 0.1)
        .active("Updating status", 5.7)
        .active("Commit", 2.0)
        .status("log.syncs", 90.0)
        .status("data.syncs", 90.0);
    slow.verdict(Cause::CommitLog);
}
