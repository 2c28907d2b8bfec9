//! What looks proven, while a neighbour of the cause makes the same evidence.

use super::common::{Made, SECONDS, mariadb, run};
use tidemark_core::record::{ErrorCount, TableState};
use tidemark_core::{ErrorClass, ErrorKind};
use tidemark_diagnosis::{Cause, Confidence};

/// How sure a cause is that must be found.
fn confidence(made: &Made, cause: Cause) -> Confidence {
    let diagnosis = made.diagnosis();
    let found = diagnosis.findings.iter().find(|f| f.cause == cause);
    found
        .unwrap_or_else(|| panic!("no {cause:?}: {diagnosis:#?}"))
        .confidence
}

#[test]
fn rows_and_locks_that_the_server_counts_may_be_other_sessions() {
    let scans = run()
        .busy(0.97)
        .server(3.2, 2000.0)
        .threads(0.6, 100.0)
        .active("CPU", 7.0)
        .status("rows.read", 40e6)
        .status("rows.scanned", 39e6);
    scans.sure(Cause::MissingIndex);
    // Somebody's report reads whole tables, now and then or all the time.
    let reports = [0.3, 2.0].map(|sessions| scans.clone().others("CPU", sessions));
    for report in reports {
        assert_eq!(confidence(&report, Cause::MissingIndex), Confidence::Medium);
    }
    // A monitor does not.
    scans.clone().others("CPU", 0.01).sure(Cause::MissingIndex);
    let unseen = scans.without("server-activity", "");
    assert_eq!(confidence(&unseen, Cause::MissingIndex), Confidence::Medium);
    let rows = mariadb()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("Updating", 6.5)
        .status("locks.waits", 1000.0)
        .status("locks.wait-time", 5500.0);
    rows.sure(Cause::RowLocks);
    let theirs = rows.others("Updating", 3.0);
    assert_eq!(confidence(&theirs, Cause::RowLocks), Confidence::Medium);
    // PostgreSQL tells whose waits these are.
    run()
        .busy(0.3)
        .server(0.8, 20.0)
        .active("CPU", 1.0)
        .active("Lock:transactionid", 6.0)
        .others("CPU", 3.0)
        .sure(Cause::RowLocks);
}

#[test]
fn a_remote_host_whose_programs_are_not_seen_may_be_full_of_others() {
    let here = run()
        .busy(0.98)
        .threads(1.2, 900.0)
        .server(2.6, 2500.0)
        .active("CPU", 6.0);
    here.sure(Cause::ServerCpu);
    let remote = here
        .without("server-process", "")
        .with(|r| r.target_on_client = Some(false));
    let remote = ["0", "1", "2", "3"].iter().fold(remote, |made, core| {
        made.set("server-host", "cpu.busy", &[("core", core)], 0.98)
    });
    let remote = remote.busy(0.1).threads(0.2, 5.0);
    let found = remote.verdict(Cause::ServerCpu);
    assert_eq!(found.confidence, Confidence::Medium, "{found:?}");
}

#[test]
fn reads_of_sessions_that_wait_for_a_processor_are_not_surely_slow() {
    let slow = |busy: f64| {
        run()
            .busy(busy)
            .server(0.8, 20.0)
            .active("CPU", 1.0)
            .active("IO:DataFileRead", 6.0)
            .status("buffer.misses", 2000.0)
    };
    // 3 ms for each read.
    assert_eq!(confidence(&slow(0.3), Cause::DiskRate), Confidence::High);
    assert_eq!(confidence(&slow(0.98), Cause::DiskRate), Confidence::Medium);
}

#[test]
fn arrivals_that_were_missed_by_free_sessions_are_not_surely_too_many() {
    let missed = |service_ms: f64| {
        run()
            .load(1000, service_ms, service_ms - 0.5)
            .asked(1100.0, 40.0)
            .with(|r| r.totals.unserved_arrivals = 100 * SECONDS as u64)
    };
    assert_eq!(confidence(&missed(8.0), Cause::Overload), Confidence::High);
    // Two of eight sessions are busy on average: the rest of them came due in a pause.
    assert_eq!(
        confidence(&missed(2.0), Cause::Overload),
        Confidence::Medium
    );
}

#[test]
fn a_connection_that_was_refused_is_not_the_limit_of_a_run() {
    let refused = |count| {
        run().with(|r| {
            r.errors = vec![ErrorCount {
                code: "53300".into(),
                class: ErrorClass::Refused,
                kind: Some(ErrorKind::TooManySessions),
                count,
                first_message: String::new(),
            }];
        })
    };
    let limit = Cause::ConnectionLimit;
    assert_eq!(confidence(&refused(1), limit), Confidence::Low);
    assert_eq!(confidence(&refused(30_000), limit), Confidence::High);
    // One of many sessions is missing.
    let fewer = run().sessions(100).with(|r| r.sessions_opened = Some(99));
    assert_eq!(confidence(&fewer, limit), Confidence::Low);
}

#[test]
fn a_long_history_beside_the_rows_costs_not_surely() {
    let ages: Vec<f64> = (0..SECONDS).map(|n| 9.0 + n as f64).collect();
    let open = |made: Made| {
        made.server(2.0, 800.0)
            .over_time("server-status", "transactions.oldest", &[], &ages)
            .with(|r| {
                r.tables_before = vec![TableState {
                    table: "t".into(),
                    rows: 1000,
                    expected_rows: None,
                    min_key: None,
                    max_key: None,
                }];
            })
    };
    let cause = Cause::LongTransaction;
    let history = open(mariadb()).status("history.length", 50_000.0);
    assert_eq!(confidence(&history, cause), Confidence::Medium);
    let dead = open(run()).status("rows.dead", 50_000.0);
    assert_eq!(confidence(&dead, cause), Confidence::High);
}

#[test]
fn a_silence_in_which_packets_were_lost_may_be_the_networks() {
    let looks: Vec<f64> = (0..SECONDS)
        .map(|n| if matches!(n, 6 | 16) { f64::NAN } else { 5.0 })
        .collect();
    let silent = run()
        .dead(&[(5000, 2000.0), (15_000, 2000.0)])
        .without("server-activity", "")
        .over_time("server-activity", "sessions", &[("state", "idle")], &looks);
    let sent_again = |second: i64| {
        let again: Vec<f64> = (0..SECONDS)
            .map(|n| if n == second { 8.0 } else { 0.0 })
            .collect();
        let name = "network.retransmits";
        silent.clone().over_time("network", name, &[], &again)
    };
    // At another time, packets are nobody's stall.
    sent_again(25).sure(Cause::ServerStalls);
    let lost = sent_again(6);
    assert_eq!(confidence(&lost, Cause::ServerStalls), Confidence::Medium);
    let found = lost.verdict(Cause::ServerStalls);
    let says = &found.sentence.en;
    assert!(!says.contains("server stalled"), "{says}");
    let mut evidence = found.evidence.iter();
    assert!(evidence.any(|e| e.metric == "network network.retransmits"));
    // One packet is nobody's stall, nor are as many as at all times on a long way.
    let always = |usual: f64, within: f64| {
        let again: Vec<f64> = (0..SECONDS)
            .map(|n| if n == 6 { within } else { usual })
            .collect();
        let name = "network.retransmits";
        silent.clone().over_time("network", name, &[], &again)
    };
    always(0.0, 1.0).sure(Cause::ServerStalls);
    always(5.0, 5.0).sure(Cause::ServerStalls);
    let lost = always(5.0, 100.0);
    assert_eq!(confidence(&lost, Cause::ServerStalls), Confidence::Medium);
}

#[test]
fn a_little_that_was_added_is_not_the_distance_of_a_queue() {
    // 14 statements, of 16 ms some 14 on the way.
    let far = |added_ms: f64| {
        run()
            .load(500, 16.0, 15.9)
            .even()
            .busy(0.2)
            .server(0.5, 10.0)
            .threads(0.2, 10.0)
            .active("CPU", 0.6)
            .with(move |r| r.inject_rtt_ms = added_ms)
    };
    let cause = Cause::NetworkDistance;
    assert_eq!(confidence(&far(0.8), cause), Confidence::High);
    assert_eq!(confidence(&far(0.05), cause), Confidence::Medium);
    // Few looks are enough for what was asked for alone.
    assert_eq!(confidence(&far(0.8).lasting(3), cause), Confidence::High);
    assert_eq!(confidence(&far(0.05).lasting(3), cause), Confidence::Low);
    // A way that is long without it is not called the added one.
    let long = far(0.05).set("network", "network.min_rtt", &[], 1.0);
    let says = long.sure(cause).sentence.en;
    assert!(
        says.contains("takes 1.05 ms") && !says.contains("--inject-rtt"),
        "{says}"
    );
    // Nor does it hide a cost that is the same for each transaction.
    let unseen = far(0.05).without("server-activity", "");
    let says = unseen.verdict(cause).sentence.en;
    assert!(says.contains("fixed cost"), "{says}");
    // Nor is it what more sessions would make up for.
    let says_far = |added_ms: f64| {
        let findings = far(added_ms).sessions(4).diagnosis().findings;
        let few = findings.iter().find(|f| f.cause == Cause::TooFewSessions);
        few.unwrap().sentence.en.contains("for this distance")
    };
    assert!(says_far(0.8) && !says_far(0.05));
}

#[test]
fn a_log_on_a_disk_that_may_write_no_more_waits_for_the_disk() {
    let label = [("disk", "vda")];
    let on_disk = |written: f64| {
        let host = "client-host";
        run()
            .busy(0.3)
            .server(0.8, 20.0)
            .active("CPU", 1.0)
            .active("IO:WalSync", 6.0)
            .status("log.syncs", 900.0)
            .set(host, "disk.busy", &label, 0.6)
            .set(host, "disk.queue", &label, 1.5)
            .set(host, "disk.reads", &label, 0.0)
            .set(host, "disk.read-time", &label, 0.0)
            .set(host, "disk.writes", &label, 900.0)
            .set(host, "disk.written", &label, written)
            .set("server-process", "cgroup.written-allowed", &label, 20e6)
    };
    let found = on_disk(19e6).sure(Cause::DiskRate);
    assert!(found.sentence.en.contains("20.0 MB/s"), "{found:?}");
    let log = confidence(&on_disk(19e6), Cause::CommitLog);
    assert_eq!(log, Confidence::Medium);
    // With the journal of its file system more is written than the group may: nobody knows by whom.
    let over = on_disk(30e6);
    assert_eq!(confidence(&over, Cause::CommitLog), Confidence::Medium);
    let findings = over.diagnosis().findings;
    let disk = findings.iter().find(|f| f.cause == Cause::DiskRate);
    let disk = disk.unwrap();
    assert_eq!(disk.confidence, Confidence::Low);
    let says = &disk.sentence;
    assert!(says.en.contains("30.0 MB/s") && says.en.contains("not known"));
    assert!(says.zh.contains("尚不清楚"), "{says:?}");
    // One that may write much more waits for its flushes.
    on_disk(4e6).sure(Cause::CommitLog);
    assert!(!on_disk(4e6).finds(Cause::DiskRate));
}

#[test]
fn a_client_host_that_others_fill_is_not_surely_full_of_the_client() {
    let full_host = |threads: f64| {
        run()
            .with(|r| r.target_on_client = Some(false))
            .load(1000, 8.0, 2.0)
            .threads(threads, 1500.0)
            .busy(0.98)
            .active("CPU", 1.5)
    };
    let cause = Cause::ClientCpu;
    assert_eq!(confidence(&full_host(3.0), cause), Confidence::High);
    assert_eq!(confidence(&full_host(0.6), cause), Confidence::Medium);
}

#[test]
fn checkpoints_that_take_little_of_the_time_are_not_surely_the_limit() {
    let of = |falls: fn(i64) -> bool| {
        let rates = (0..SECONDS).map(|n| if falls(n) { 600 } else { 1000 });
        let written: Vec<f64> = (0..SECONDS)
            .map(|n| if falls(n) { 4000.0 } else { 0.0 })
            .collect();
        run()
            .rates(rates.collect())
            .status("checkpoints.requested", 0.17)
            .over_time("server-status", "checkpoints.pages-written", &[], &written)
    };
    let cause = Cause::Checkpoints;
    assert_eq!(confidence(&of(|n| n % 2 == 0), cause), Confidence::High);
    assert_eq!(confidence(&of(|n| n % 6 == 0), cause), Confidence::Medium);
}
