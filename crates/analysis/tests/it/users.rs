//! The rules of users and sessions, on made records.

use super::common::{clean, histogram, of_rates, only, option, rules};
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_analysis::Severity;
use tidemark_core::record::*;
use tidemark_core::{Engine, ErrorClass, Job, Pacing, ServerInfo};
use tidemark_stats::Histogram;

#[test]
fn users_that_were_not_working_are_missed() {
    let mut record = clean();
    record.sessions = 18;
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    record.sessions = 10;
    assert_eq!(only(&record, "littles-law").severity, Severity::Suspect);
    // Eight sessions can't do the work of two.
    record.sessions = 2;
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    // Time between transactions excuses nothing: a latency is what the session waited.
    record.sessions = 18;
    record.totals.fairness.between_avg_s = Some(11.0);
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    // Latencies of earlier records end before the client's own time begins: it counts, and without
    // it nothing can be told.
    record.latency_end = LatencyEnd::Arrival;
    assert_eq!(rules(&record), [""; 0]);
    record.totals.fairness.between_avg_s = None;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn sessions_whose_threads_waited_for_a_processor_are_told_as_such() {
    // Eight of eighteen were seen in a transaction, and ten between two.
    let mut record = clean();
    record.sessions = 18;
    record.totals.fairness.between_avg_s = Some(record.totals.elapsed_s * 10.0 / 18.0);
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    record.usage.waiting_threads = Some(9.0);
    let found = only(&record, "littles-law");
    assert_eq!(found.severity, Severity::Suspect);
    let waiting = found.figure("waiting").cloned();
    assert_eq!(waiting, Some(tidemark_analysis::Figure::Number(9.0)));
    assert!(found.says.en.contains("waited for a processor"));
    assert_eq!(rules(&record), ["littles-law"]);
    // Two threads that waited are no ten sessions.
    record.usage.waiting_threads = Some(2.0);
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    assert!(only(&record, "littles-law").figure("waiting").is_none());
    // Threads that waited within their transactions are no sessions between two.
    record.usage.waiting_threads = Some(10.0);
    record.totals.fairness.between_avg_s = Some(0.1);
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    // None is told of where nobody is missing.
    record.sessions = 8;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn sessions_that_were_allowed_to_be_missing_are_told_and_not_missed_twice() {
    let mut record = clean();
    record.sessions = 18;
    record.sessions_opened = Some(8);
    assert_eq!(only(&record, "offered-load").severity, Severity::Suspect);
    // Those that were opened have to work.
    record.sessions_opened = Some(12);
    assert_eq!(rules(&record), ["littles-law", "offered-load"]);
}

#[test]
fn a_client_that_makes_its_sessions_wait_is_told() {
    let split = |share: f64| {
        let mut record = clean();
        let mut server = Histogram::new();
        for i in 0..20_000 {
            let ms = 7.9 * (0.5 + (i as f64 + 0.5) / 20_000.0);
            server.record(Duration::from_secs_f64(ms * share / 1000.0));
        }
        record.totals.all.server = Some(EncodedHistogram(server.encode()));
        record.client.cores = 2;
        record
    };
    let mut record = split(0.14);
    let found = only(&record, "client-bound");
    assert_eq!(found.severity, Severity::Suspect);
    let client = match found.figure("client") {
        Some(tidemark_analysis::Figure::Number(share)) => *share,
        other => panic!("{other:?}"),
    };
    assert!((client - 86.0).abs() < 0.5, "{client}");
    // Server and client on one host are measured together, as every tool does.
    record.target_on_client = Some(true);
    assert_eq!(only(&record, "client-bound").severity, Severity::Note);
    assert_eq!(rules(&split(0.9)), [""; 0]);
    // What the script itself pauses is no wait for this host: of 86 % here 80 %.
    let mut paused = split(0.14);
    paused.totals.all.paused_ms = 7.9 * 20_000.0 * 0.8;
    assert_eq!(rules(&paused), [""; 0]);
    // And no distance to the server.
    let mut even = clean();
    let mut same = Histogram::new();
    (0..20_000).for_each(|_| same.record(Duration::from_micros(7900)));
    even.totals.all.service = EncodedHistogram(same.encode());
    assert_eq!(rules(&even), ["latency-floor"]);
    even.totals.all.paused_ms = 7.9 * 20_000.0 * 0.8;
    assert_eq!(rules(&even), [""; 0]);
}

#[test]
fn transactions_that_the_client_began_late_are_told() {
    // 1,000 arrivals a second, served in 7.9 ms once they were begun.
    let late = |ms: f64| {
        let mut record = clean();
        record.rate = Some(1000.0);
        let response = histogram(20_000, 7.9 + ms);
        record.totals.all.response = Some(EncodedHistogram(response.encode()));
        let lateness = histogram(20_000, ms);
        record.totals.lateness = Some(EncodedHistogram(lateness.encode()));
        record
    };
    let mut record = late(5.0);
    let found = only(&record, "client-bound");
    assert_eq!(found.severity, Severity::Suspect);
    assert!(found.says.en.contains("started"), "{found:?}");
    super::common::both_languages_use_the_figures(&found);
    record.target_on_client = Some(true);
    assert_eq!(only(&record, "client-bound").severity, Severity::Note);
    // An embedded database has no other host.
    let mut embedded = late(5.0);
    embedded.server = Some(ServerInfo {
        engine: Engine::Sqlite,
        version: "3.50".into(),
    });
    let found = tidemark_analysis::findings(&embedded).unwrap();
    let found = found.iter().find(|f| f.rule == "client-bound").unwrap();
    assert_eq!(found.severity, Severity::Note);
    assert!(found.says.en.contains("are one process"), "{found:?}");
    super::common::both_languages_use_the_figures(found);
    assert_eq!(rules(&late(2.0)), [""; 0]);
    // A client that sleeps until then is woken so late by the operating system.
    let woken = |executors: usize, job: Option<Job>, ms: f64| {
        let mut record = late(ms);
        let response = histogram(20_000, 0.2 + ms);
        record.totals.all.response = Some(EncodedHistogram(response.encode()));
        (record.executors, record.client.cores, record.job) = (executors, 4, job);
        let found = tidemark_analysis::findings(&record).unwrap();
        found
            .into_iter()
            .find(|f| f.rule == "client-bound")
            .unwrap()
    };
    let asleep = |pacing: Pacing, busy_poll: Duration| {
        let job = serde_json::json!({
            "version": 1,
            "target": {"url": "sqlite:a.db"},
            "workload": {"name": "oltp_point_select", "settings": {}},
            "tool": {"name": "sysbench", "settings": {}},
        });
        let mut job: Job = serde_json::from_value(job).unwrap();
        (job.load.pacing, job.load.busy_poll) = (pacing, busy_poll);
        Some(job)
    };
    let open = || Pacing::Rate(1000.0);
    let poll = Duration::from_micros(500);
    for (executors, job) in [
        (5, None),
        (4, asleep(open(), Duration::ZERO)),
        (4, asleep(Pacing::Closed, poll)),
    ] {
        let found = woken(executors, job.clone(), 0.1);
        assert_eq!(found.severity, Severity::Note, "{found:?}");
        assert!(found.instead.en.contains("--busy-poll"), "{found:?}");
        super::common::both_languages_use_the_figures(&found);
        // More is the processor's.
        assert_eq!(woken(executors, job, 0.5).severity, Severity::Suspect);
    }
    let awake = woken(4, asleep(open(), poll), 0.1);
    assert_eq!(awake.severity, Severity::Suspect);
    assert!(!awake.instead.en.contains("--busy-poll"), "{awake:?}");
    // What waited for a session is no lateness: nobody could have begun it.
    record.totals.lateness = None;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn sessions_that_did_most_of_the_work_are_told() {
    let mut record = clean();
    let fairness = &mut record.totals.fairness;
    (fairness.events_avg, fairness.events_stddev) = (2500.0, 300.0);
    assert_eq!(rules(&record), [""; 0]);
    record.totals.fairness.events_stddev = 1500.0;
    assert_eq!(only(&record, "unfair").severity, Severity::Note);
    record.totals.fairness.events_stddev = 2600.0;
    assert_eq!(only(&record, "unfair").severity, Severity::Suspect);
    // On a schedule whoever is free takes the next.
    record.rate = Some(1000.0);
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn users_are_not_missed_while_their_host_was_out_of_reach() {
    let mut record = clean();
    let misses_users = |record: &RunRecord| rules(record).contains(&"littles-law");
    // A quarter more users than were seen, who could not work for 15 % of the time.
    record.sessions = 10;
    assert!(misses_users(&record));
    let out_for = |record: &mut RunRecord, share: f64| {
        let seconds = record.totals.elapsed_s * share;
        record.totals.outage_s = seconds;
        record.outages = vec![Outage {
            host: "a:1".into(),
            start_ms: 0,
            length_ms: seconds * 1000.0,
            ended: true,
            first_error: "refused".into(),
        }];
    };
    out_for(&mut record, 0.15);
    assert!(!misses_users(&record));
    record.sessions = 13;
    assert!(misses_users(&record));
    out_for(&mut record, 0.95);
    assert!(!misses_users(&record));
    // Of four hosts the other three could be reached.
    record.totals.hosts = vec![HostLoad::default(); 4];
    assert!(misses_users(&record));
}

#[test]
fn users_who_think_are_users() {
    let mut record = clean();
    record.totals.all.response = Some(record.totals.all.service.clone());
    record.terminals = Some(108);
    option(&mut record, "think-time", "exp:100ms");
    assert_eq!(rules(&record), [""; 0]);
    record.terminals = Some(300);
    assert_eq!(rules(&record), ["littles-law"]);
    // TPC-C's users key and think by a clock that no record holds.
    option(&mut record, "wait", "on");
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn an_open_loop_has_no_users_and_no_drift() {
    let rates: Vec<u64> = (0..20).map(|n| 500 + 50 * n).collect();
    let mut record = of_rates(&rates);
    assert_eq!(rules(&record), ["drift"]);
    record.rate = Some(1000.0);
    record.sessions = 500;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn errors_that_were_retried_excuse_no_missing_user() {
    let again = |retries: u64, workload: &str, code: &str, class: ErrorClass| {
        let mut record = clean();
        record.workload = workload.into();
        record.totals.notes = BTreeMap::from([("retries".to_string(), retries)]);
        // A third of all tries failed, and 8 of 12 users were seen.
        record.totals.ignored_errors = 9_763;
        record.errors = vec![ErrorCount {
            code: code.into(),
            class,
            kind: None,
            count: 9_763,
            first_message: "why".into(),
        }];
        record.sessions = 12;
        if workload == "pgbench" {
            let found = tidemark_analysis::findings(&record).unwrap();
            let errors = found.iter().find(|f| f.rule == "error-rate").unwrap();
            assert!(!errors.says.en.contains("retried"), "{errors:?}");
        }
        rules(&record).contains(&"littles-law")
    };
    let run = |workload: &str, code: &str, class| again(0, workload, code, class);
    let retryable = ErrorClass::Retryable;
    assert!(run("oltp_read_write", "1020", retryable));
    assert!(run("tpcc", "1020", retryable));
    assert!(run("tpcc", "lost", ErrorClass::ConnectionLost));
    // sysbench's scripts and YCSB try another one within the same transaction.
    assert!(run("oltp_read_write", "1062", ErrorClass::Constraint));
    // What TPC-C's users saw fail is in no latency.
    assert!(!run("tpcc", "tpcc", ErrorClass::Fatal));
    assert!(!run("tpcc", "commit-unknown", ErrorClass::ConnectionLost));
    // A serialization failure is a failed transaction of pgbench's, unless it is tried again.
    assert!(!run("pgbench", "40001", retryable));
    assert!(again(9_763, "pgbench", "40001", retryable));
}

#[test]
fn a_moment_tells_nothing_of_its_users() {
    let mut record = clean();
    record.sessions = 100;
    assert!(rules(&record).contains(&"littles-law"));
    record.totals.elapsed_s = 0.02;
    assert!(!rules(&record).contains(&"littles-law"));
}
