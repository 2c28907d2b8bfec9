//! What looks like a cause and is none, or is less sure than it looks.

use super::common::{Made, SECONDS, mariadb, run};
use tidemark_core::record::Outage;
use tidemark_diagnosis::{Cause, Confidence, Finding, PartKind};

fn finding(made: &Made, cause: Cause) -> Finding {
    let diagnosis = made.diagnosis();
    let found = diagnosis.findings.iter().find(|f| f.cause == cause);
    found
        .unwrap_or_else(|| panic!("no {cause:?}: {diagnosis:#?}"))
        .clone()
}

fn full(made: Made) -> Made {
    made.busy(0.98)
        .threads(1.2, 900.0)
        .server(2.6, 2500.0)
        .active("CPU", 6.0)
}

#[test]
fn terminals_that_mostly_wait_do_not_think() {
    let of = |service_ms, sessions| {
        full(run().sessions(200).load(1000, service_ms, service_ms - 0.1))
            .server(2.6, 1000.0 * sessions)
            .active("CPU", sessions)
            .terminals(200, 0.0)
    };
    // 10 ms of thinking, and 190 of waiting for a host that is full.
    let waits = of(190.0, 150.0);
    waits.verdict(Cause::ServerCpu);
    assert!(!waits.finds(Cause::OfferedLoad));
    // 192 ms of thinking: the same host is full of what they ask for.
    let thinks = of(8.0, 6.0);
    thinks.sure(Cause::OfferedLoad);
    assert!(thinks.finds(Cause::ServerCpu), "which is full");
    assert!(!thinks.busy(0.6).finds(Cause::ServerCpu));
    // One terminal more than sessions, and nobody thinks.
    let shared = run().terminals(9, 1.0);
    assert!(!shared.finds(Cause::OfferedLoad));
}

#[test]
fn gaps_between_slow_transactions_and_outages_are_no_stalls() {
    let times: Vec<(i64, f64)> = (0..25).map(|n| (n * 1200, 1200.0)).collect();
    let slow = run()
        .sessions(1)
        .load(1, 1200.0, 1199.0)
        .even()
        .busy(0.25)
        .server(0.9, 10.0)
        .threads(0.05, 1.0)
        .active("CPU", 0.95)
        .status("rows.read", 20.0)
        .dead(&times);
    assert!(!slow.finds(Cause::ServerStalls), "{:#?}", slow.diagnosis());
    slow.verdict(Cause::TooFewSessions);
    let stalled = run().dead(&[(5000, 2000.0)]);
    let found = finding(&stalled, Cause::ServerStalls);
    assert!(!found.sentence.en.contains("server"), "{found:?}");
    let away = stalled.clone().with(|r| {
        r.outages = vec![Outage {
            host: "db".into(),
            start_ms: 5000,
            length_ms: 2000.0,
            ended: true,
            first_error: String::new(),
        }];
    });
    assert!(!away.finds(Cause::ServerStalls));
    // A look that was lost at another time proves nothing.
    let looks: Vec<f64> = (0..SECONDS)
        .map(|n| if n == 20 { f64::NAN } else { 5.0 })
        .collect();
    let lost = stalled.without("server-activity", "").over_time(
        "server-activity",
        "sessions",
        &[("state", "idle")],
        &looks,
    );
    let found = finding(&lost, Cause::ServerStalls);
    assert_eq!(found.confidence, Confidence::Medium);
}

#[test]
fn checkpoints_that_nobody_waits_for_are_a_note() {
    let frequent = full(run())
        .status("checkpoints.requested", 0.1)
        .status("log.full-pages", 700.0)
        .status("log.written", 8.2e6);
    assert_eq!(frequent.diagnosis().verdict, Cause::ServerCpu);
    let found = finding(&frequent, Cause::Checkpoints);
    assert_eq!(found.confidence, Confidence::Low);
    assert!(found.excludes.is_empty(), "{found:?}");
    // Commits that wait for the log wait for its whole pages, too.
    let waits = frequent
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("LWLock:WALWrite", 5.6);
    let found = finding(&waits, Cause::Checkpoints);
    assert_eq!(found.confidence, Confidence::Medium);
    assert!((0.45..0.55).contains(&found.share), "{found:?}");
    // Two intervals of each kind, or a fall that chance makes, are no fall.
    let of = |rates: Vec<u64>, is_in: fn(usize) -> bool| {
        let written: Vec<f64> = (0..rates.len())
            .map(|n| if is_in(n) { 4000.0 } else { 0.0 })
            .collect();
        run()
            .rates(rates)
            .status("checkpoints.requested", 0.17)
            .over_time("server-status", "checkpoints.pages-written", &[], &written)
    };
    let two = |n: usize| (5..7).contains(&n);
    let rates = (0..30).map(|n| if two(n) { 300 } else { 1000 });
    assert!(!of(rates.collect(), two).finds(Cause::Checkpoints));
    let half = |n: usize| n.is_multiple_of(2);
    let wild = (0..30).map(|n| match n % 4 {
        0 => 100,
        2 => 1700,
        _ => 1100,
    });
    assert!(!of(wild.collect(), half).finds(Cause::Checkpoints));
    // A full log of MariaDB's whose commits wait for flushes: it is the flushes.
    let commits = mariadb()
        .busy(0.3)
        .server(0.5, 10.0)
        .status("checkpoint.age", 70e6)
        .status("pages.written", 3000.0)
        .status("log.syncs", 400.0)
        .active("Commit", 6.6)
        .active("Sending data", 0.6);
    commits.sure(Cause::CommitLog);
    assert!(!commits.finds(Cause::Checkpoints));
}

#[test]
fn locks_of_the_run_and_of_applications_are_not_held_by_another_session() {
    let writers = mariadb()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("Sending data", 1.0)
        .active("Waiting for table level lock", 6.0);
    let found = writers.verdict(Cause::TableLocks);
    assert_eq!(found.confidence, Confidence::Medium);
    assert!(!writers.finds(Cause::LockHeld));
    // Statements on rows share a table's metadata lock; who has it for itself is none of them.
    let of_ddl = |settings: serde_json::Value| {
        let job = serde_json::json!({
            "version": 1,
            "target": {"url": "mysql://root@127.0.0.1/test"},
            "workload": {"name": "oltp_read_write", "settings": settings},
            "load": {"time": "30s"},
            "tool": {"name": "sysbench", "settings": {}},
        });
        let made = mariadb()
            .busy(0.97)
            .server(3.0, 20.0)
            .active("Sending data", 5.0)
            .active("Waiting for table metadata lock", 2.0);
        made.with(|r| r.job = Some(serde_json::from_value(job.clone()).unwrap()))
    };
    let foreign = of_ddl(serde_json::json!({"tables": 4}));
    assert!(foreign.finds(Cause::LockHeld) && !foreign.finds(Cause::TableLocks));
    // A script may have DDL of its own.
    let script = of_ddl(serde_json::json!({"script": "ddl.lua"}));
    assert!(!script.finds(Cause::LockHeld) && script.finds(Cause::TableLocks));
    let advisory = run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("Lock:advisory", 5.0);
    for cause in [Cause::LockHeld, Cause::TableLocks, Cause::RowLocks] {
        assert!(!advisory.finds(cause), "{cause:?}");
    }
    // The server says who blocks them.
    let locked = run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("Lock:relation", 5.0);
    assert!(!locked.finds(Cause::LockHeld));
    let by_others = locked.clone().status("locks.blocked-by-others", 3.0);
    let unnamed = by_others.sure(Cause::LockHeld);
    assert!(unnamed.sentence.en.ends_with("Another session holds it."));
    assert!(
        unnamed.next.en.contains("pg_blocking_pids"),
        "{}",
        unnamed.next.en
    );
    assert!(!by_others.finds(Cause::TableLocks));
    let of = |blocker| [("blocker", blocker)];
    let idle = by_others
        .clone()
        .set("server-status", "locks.blocked", &of("waiting"), 4.0)
        .set(
            "server-status",
            "locks.blocked",
            &of("idle-in-transaction"),
            1.0,
        );
    let idle = idle.sure(Cause::LockHeld);
    assert!(
        idle.sentence.en.contains("idle in a transaction"),
        "{}",
        idle.sentence.en
    );
    // Or that it is the run itself, whatever else stood still for a moment.
    let own = locked.dead(&[(5000, 2000.0)]);
    assert!(own.finds(Cause::LockHeld));
    let own = own.status("locks.blocked-by-others", 0.0);
    assert!(!own.finds(Cause::LockHeld) && own.finds(Cause::TableLocks));
}

#[test]
fn sessions_of_others_are_not_the_runs() {
    let alone = run();
    let report = alone.clone().others("IO:DataFileRead", 8.0);
    let parts = |made: &Made| made.diagnosis().parts[0].clone();
    assert_eq!(
        parts(&alone),
        parts(&report),
        "which reads, and does not wait with it"
    );
    let found = finding(&report, Cause::OtherSessions);
    assert_eq!(found.confidence, Confidence::Low);
    assert_eq!(report.diagnosis().verdict, Cause::NotEnoughSeen);
    // Half of what uses the server's CPU is theirs.
    let shared = full(run()).others("CPU", 6.0);
    let found = finding(&shared, Cause::OtherSessions);
    assert!(
        found.share > 0.25 && found.confidence == Confidence::Medium,
        "{found:?}"
    );
    let cpu = |made: &Made| parts(made).ms(PartKind::ServerCpu);
    assert!((cpu(&full(run())) / cpu(&shared) - 2.0).abs() < 0.01);
    // One waits now and then.
    assert!(!run().others("CPU", 0.1).finds(Cause::OtherSessions));
}

#[test]
fn parts_that_are_more_than_the_whole_are_not_sure() {
    let waits = run().busy(0.3).server(0.8, 20.0).active("CPU", 1.0);
    let waits = waits.status("log.syncs", 900.0);
    waits
        .clone()
        .active("IO:WalSync", 6.0)
        .sure(Cause::CommitLog);
    let over = waits.active("IO:WalSync", 20.0);
    let found = over.verdict(Cause::CommitLog);
    assert_eq!(found.confidence, Confidence::Medium);
    let says = over.diagnosis().sentence.en;
    assert!(says.contains("2.8 times the latency"), "{says}");
}

#[test]
fn rows_of_an_index_are_no_missing_index_and_flushes_no_share_of_it() {
    let made = full(run()).status("rows.read", 40e6);
    let sums = made.clone().status("rows.scanned", 100.0);
    let found = finding(&sums, Cause::MissingIndex);
    assert_eq!(found.confidence, Confidence::Medium);
    assert!(found.sentence.en.contains("check whether"), "{found:?}");
    let batch = run()
        .busy(0.2)
        .server(0.3, 10.0)
        .active("CPU", 0.4)
        .active("IO:WalSync", 6.9)
        .status("log.syncs", 900.0)
        .status("rows.read", 9e6);
    batch.sure(Cause::CommitLog);
    assert!(!batch.finds(Cause::MissingIndex));
}

#[test]
fn misses_that_nobody_waits_for_are_a_hint() {
    let cached = full(run())
        .status("buffer.misses", 300e3)
        .status("buffer.requests", 5e6);
    assert_eq!(cached.diagnosis().verdict, Cause::ServerCpu);
    let found = finding(&cached, Cause::CacheMisses);
    assert_eq!(found.confidence, Confidence::Low);
}

#[test]
fn what_is_found_is_excluded_by_nobody_and_what_is_excluded_was_small() {
    let both = run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 0.8)
        .active("IO:WalSync", 3.0)
        .active("IO:DataFileRead", 3.0)
        .status("log.syncs", 500.0)
        .status("buffer.misses", 1000.0);
    assert!(both.finds(Cause::CommitLog) && both.finds(Cause::DiskRate));
    let locked = both.clone().active("Lock:tuple", 1.0);
    for made in [
        both,
        locked,
        full(run()),
        full(mariadb()),
        run().active("Lock:tuple", 4.0),
    ] {
        let diagnosis = made.diagnosis();
        for found in &diagnosis.findings {
            for other in &diagnosis.findings {
                assert!(!found.excludes.contains(&other.cause), "{diagnosis:#?}");
            }
        }
    }
    // Waits for rows are too many to be excluded, and too few to be found.
    let some = full(run()).active("Lock:tuple", 1.6);
    assert!(!some.finds(Cause::RowLocks));
    let found = finding(&some, Cause::ServerCpu);
    assert!(!found.excludes.contains(&Cause::RowLocks), "{found:?}");
    let none = finding(&full(run()), Cause::ServerCpu);
    assert!(none.excludes.contains(&Cause::RowLocks), "{none:?}");
    // Nobody looked.
    let unseen = full(run()).without("server-activity", "");
    let unseen = finding(&unseen, Cause::ServerCpu);
    assert!(!unseen.excludes.contains(&Cause::RowLocks), "{unseen:?}");
}

#[test]
fn sessions_that_were_refused_limit_only_what_has_room() {
    let fewer = |made: Made, why: &str| {
        made.sessions(1000).with(|r| {
            r.sessions_opened = Some(500);
            r.fewer_sessions_because = Some(why.into());
        })
    };
    let limit = "the server's max_connections is 500";
    let busy = fewer(full(run()), limit);
    assert_eq!(busy.diagnosis().verdict, Cause::ServerCpu);
    let found = finding(&busy, Cause::ConnectionLimit);
    assert_eq!((found.confidence, found.share), (Confidence::Low, 0.0));
    let idle = fewer(run().busy(0.4), limit);
    assert!(
        idle.sure(Cause::ConnectionLimit)
            .next
            .en
            .contains("max_connections")
    );
    let own = fewer(
        run().busy(0.4),
        "this process may open 1024 files (ulimit -n)",
    );
    let found = own.verdict(Cause::ConnectionLimit);
    assert!(found.next.en.contains("ulimit") && !found.next.en.contains("max_connections"));
}

#[test]
fn few_looks_and_wild_ones_are_less_sure() {
    let commits = run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("IO:WalSync", 5.0)
        .status("log.syncs", 900.0);
    commits.sure(Cause::CommitLog);
    let short = commits.clone().lasting(3).diagnosis();
    assert_eq!(short.verdict, Cause::NotEnoughSeen, "{short:#?}");
    assert!(
        short.sentence.en.contains("at least 10 s"),
        "{}",
        short.sentence.en
    );
    assert!(
        short
            .findings
            .iter()
            .all(|f| f.confidence == Confidence::Low)
    );
    // Bursts: 62 % of the latency, or much less.
    let wild: Vec<f64> = (0..SECONDS)
        .map(|n| if n % 3 == 0 { 15.0 } else { 0.0 })
        .collect();
    let labels = [("state", "active"), ("wait", "IO:WalSync")];
    let wild = commits.over_time("server-activity", "sessions", &labels, &wild);
    let found = wild.lasting(9).verdict(Cause::CommitLog);
    assert_eq!(found.confidence, Confidence::Medium);
    assert!(found.sentence.en.contains(" ± "), "{}", found.sentence.en);
    // Sessions that piled up once behind a deadlock: 40 % of the latency, or next to nothing.
    let pile = |at: &dyn Fn(i64) -> bool| {
        let sessions: Vec<f64> = (0..SECONDS)
            .map(|n| if at(n) { 15.0 } else { 0.5 })
            .collect();
        let labels = [("state", "active"), ("wait", "Lock:transactionid")];
        let made = run().busy(0.3).server(0.8, 20.0).active("CPU", 1.0);
        made.over_time("server-activity", "sessions", &labels, &sessions)
    };
    let once = pile(&|n| n < 2).lasting(7);
    assert_ne!(once.diagnosis().verdict, Cause::RowLocks);
    assert!(once.finds(Cause::RowLocks), "as a note");
    pile(&|_| true).lasting(7).verdict(Cause::RowLocks);
    // One second of a full host.
    let second = full(run()).lasting(1).diagnosis();
    assert!(
        second
            .findings
            .iter()
            .all(|f| f.confidence < Confidence::High),
        "{second:#?}"
    );
}

#[test]
fn what_the_kernel_does_for_interrupts_is_no_neighbour() {
    let busy = run()
        .busy(0.99)
        .active("CPU", 5.0)
        .threads(1.2, 400.0)
        .server(2.0, 1500.0);
    assert!(busy.finds(Cause::Neighbour));
    // Of 0.15 on each of four cores nobody else is to blame.
    let network = busy.set("client-host", "cpu.interrupts", &[], 0.15);
    assert!(
        !network.finds(Cause::Neighbour),
        "{:#?}",
        network.diagnosis()
    );
    // Of many processors steal is a mean of all.
    let stolen = run().busy(0.9).set("client-host", "cpu.steal", &[], 0.3);
    assert!(stolen.finds(Cause::CpuQuota));
}

#[test]
fn a_parallel_disk_with_requests_all_the_time_may_have_room() {
    let reads = run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("IO:DataFileWrite", 6.0);
    let on = |made: Made, disk: &'static str, busy: f64, each: fn(i64) -> (f64, f64)| {
        let label = [("disk", disk)];
        let host = "client-host";
        let of =
            |n: fn((f64, f64)) -> f64| -> Vec<f64> { (0..SECONDS).map(|s| n(each(s))).collect() };
        made.set(host, "disk.busy", &label, busy)
            .over_time(host, "disk.queue", &label, &of(|(queue, _)| queue))
            .over_time(host, "disk.reads", &label, &of(|(_, reads)| reads))
            .set(host, "disk.read-time", &label, 6000.0)
            .set(host, "disk.writes", &label, 100.0)
    };
    // The longer the queue, the more it serves.
    let flash = on(reads.clone(), "nvme0n1", 1.0, |n| match n % 2 {
        0 => (3.0, 9000.0),
        _ => (8.0, 24_000.0),
    });
    let found = finding(&flash, Cause::DiskRate);
    assert_eq!(found.confidence, Confidence::Medium);
    assert!(found.sentence.en.contains("Whether the disk"), "{found:?}");
    // The longer the queue, the longer each waits.
    let limited = on(reads.clone(), "nvme0n1", 1.0, |n| match n % 2 {
        0 => (3.0, 9000.0),
        _ => (8.0, 9000.0),
    });
    let found = finding(&limited, Cause::DiskRate);
    assert_eq!(found.confidence, Confidence::High);
    assert!(
        found.sentence.en.contains("Limited by the disk"),
        "{found:?}"
    );
    // Another disk of the host is busy; the data's is not.
    let backup = on(reads, "vdb", 1.0, |_| (6.0, 300.0));
    let backup = on(backup, "vda", 0.3, |_| (0.5, 500.0));
    assert!(backup.finds(Cause::DiskRate));
    let known = backup.with(|r| {
        r.server_disks = vec![tidemark_core::record::Disk {
            device: "vda".into(),
            ..Default::default()
        }];
    });
    assert!(!known.finds(Cause::DiskRate), "{:#?}", known.diagnosis());
}

#[test]
fn a_tail_that_is_spread_over_the_run_is_no_pause() {
    let all: Vec<usize> = (0..SECONDS as usize).collect();
    assert!(!run().slow(&all, 8, 300.0).finds(Cause::ServerStalls));
    // As many end as in other seconds, and some waited twice: not all waited at once.
    let apart = run().slow(&[3, 9, 15, 21], 12, 300.0);
    assert!(!apart.finds(Cause::ServerStalls));
    let one = run()
        .sessions(1)
        .load(100, 9.0, 8.9)
        .slow(&[3, 9], 1, 300.0);
    assert!(!one.finds(Cause::ServerStalls));
}

#[test]
fn an_ordinary_network_is_found_by_its_round_trips() {
    let near = run()
        .load(2000, 4.0, 3.9)
        .even()
        .busy(0.5)
        .server(1.6, 10.0)
        .threads(0.4, 10.0)
        .active("CPU", 2.6);
    assert!(!near.finds(Cause::NetworkDistance), "which may be a pooler");
    assert!(!near.finds(Cause::TooFewSessions));
    let measured = near.clone().set("network", "network.min_rtt", &[], 0.15);
    measured.sure(Cause::NetworkDistance);
    // Eight sessions on four cores, of which most are on their way.
    assert!(measured.finds(Cause::TooFewSessions));
    // Loopback.
    let here = near.set("network", "network.min_rtt", &[], 0.02);
    assert!(!here.finds(Cause::NetworkDistance));
}

#[test]
fn what_makes_little_of_another_cause_is_not_put_before_it() {
    let rows = |sessions| full(run()).active("Lock:tuple", sessions);
    let few = rows(2.1);
    assert!(few.finds(Cause::RowLocks));
    assert_eq!(few.diagnosis().verdict, Cause::ServerCpu);
    let many = rows(4.0).server(1.4, 600.0).active("CPU", 2.6);
    assert_eq!(many.diagnosis().verdict, Cause::RowLocks);
}

#[test]
fn the_next_limit_is_where_a_host_is_full_and_not_beyond() {
    let commits = run()
        .busy(0.4)
        .threads(0.6, 20.0)
        .server(1.0, 20.0)
        .active("CPU", 1.0)
        .active("IO:WalSync", 5.0)
        .status("log.syncs", 900.0);
    // 1.6 cores of four, of which 3.4 can be used.
    let says = commits.diagnosis().sentence.en;
    assert!(says.contains("about 2.1 times this rate"), "{says}");
}

#[test]
fn a_limit_that_is_known_proves_a_disk_that_is_at_it() {
    let on_disk = |made: Made, reads: f64, read: f64| {
        let label = [("disk", "vda")];
        let of = |made: Made, name, value| made.set("client-host", name, &label, value);
        let made = of(made, "disk.busy", 0.5);
        let made = of(made, "disk.queue", 7.0);
        let made = of(made, "disk.reads", reads);
        let made = of(made, "disk.read", read);
        let made = of(made, "disk.read-time", reads * 15.0);
        of(made, "disk.writes", 0.0)
    };
    let reads = run()
        .busy(0.2)
        .server(0.4, 20.0)
        .load(400, 20.0, 19.9)
        .active("CPU", 0.4)
        .active("IO:DataFileRead", 7.0)
        .status("buffer.requests", 2000.0)
        .status("buffer.misses", 400.0);
    let label = [("disk", "vda")];
    let allowed = |made: Made, name, most| made.set("server-process", name, &label, most);
    let limited = allowed(
        on_disk(reads.clone(), 400.0, 3e6),
        "cgroup.reads-allowed",
        400.0,
    );
    let found = limited.sure(Cause::DiskRate);
    let says = &found.sentence;
    assert!(
        says.en.contains("allows the server 400 reads/s"),
        "{says:?}"
    );
    assert!(says.zh.contains("每秒读 400 次"), "{says:?}");
    let metric = "server-process cgroup.reads-allowed";
    assert!(
        found.evidence.iter().any(|e| e.metric == metric),
        "{found:?}"
    );
    let bytes = allowed(
        on_disk(reads.clone(), 400.0, 3e6),
        "cgroup.read-allowed",
        3.2e6,
    );
    let says = bytes.sure(Cause::DiskRate).sentence.en;
    assert!(
        says.contains("3.20 MB/s read, of which 3.00 MB/s"),
        "{says}"
    );
    // One that leaves room proves nothing.
    let room = on_disk(reads.clone(), 400.0, 3e6);
    let room = allowed(room, "cgroup.reads-allowed", 4000.0);
    let found = finding(&room, Cause::DiskRate);
    assert!(!found.sentence.en.contains("allows"), "{found:?}");
    // More than that is read by somebody else on the same disk.
    let backup = on_disk(reads, 9000.0, 70e6);
    let backup = allowed(backup, "cgroup.reads-allowed", 4000.0);
    let found = finding(&backup, Cause::DiskRate);
    assert!(!found.sentence.en.contains("allows"), "{found:?}");
}
