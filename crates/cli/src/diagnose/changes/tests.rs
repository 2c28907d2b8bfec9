use super::{ExperimentChange, Why, baseline, change as change_of};
use crate::exit::Failure;
use crate::jobs;
use crate::runner::JobOrder;
use std::time::Duration;
use tidemark_analysis::experiments::Experiment;
use tidemark_core::record::{RunRecord, Setting, TableState};
use tidemark_core::{Engine, Job, Pacing, PreparedMode, ServerInfo};

fn seen(engine: Engine, rows: u64) -> RunRecord {
    RunRecord {
        server: Some(ServerInfo {
            engine,
            version: String::new(),
        }),
        tables_before: vec![TableState {
            table: "sbtest1".into(),
            rows,
            expected_rows: None,
            min_key: None,
            max_key: None,
        }],
        ..RunRecord::default()
    }
}

fn order_of(job: &Job) -> Result<JobOrder, Failure> {
    jobs::order_of(job, None)
}

/// A run of sysbench with so many sessions and these settings of the workload.
fn sysbench(workload: &str, sessions: usize, settings: &str) -> Job {
    let text = format!(
        r#"{{"version": 1, "target": {{"url": "postgres://u@h:1/d"}},
            "workload": {{"name": "{workload}", "settings": {{{settings}}}}},
            "load": {{"terminals": {sessions}, "sessions": {sessions},
                      "ignore_errors": {{"retryable": {{"also": ["duplicate-key"]}}}}}},
            "tool": {{"name": "sysbench"}}}}"#
    );
    baseline(&Job::list_from_json(&text).unwrap().remove(0), 2)
}

fn ycsb(settings: &str) -> Job {
    let text = format!(
        r#"{{"version": 1, "target": {{"url": "postgres://u@h:1/d"}},
            "workload": {{"name": "ycsb", "settings": {{{settings}}}}},
            "load": {{"terminals": 4, "sessions": 4}}, "tool": {{"name": "ycsb"}}}}"#
    );
    baseline(&Job::list_from_json(&text).unwrap().remove(0), 2)
}

fn on(job: &Job, experiment: Experiment, engine: Engine) -> Result<ExperimentChange, Why> {
    let only_reads = order_of(job).unwrap().workload.only_reads();
    change_of(experiment, job, &seen(engine, 100_000), only_reads)
}

fn postgres(job: &Job, experiment: Experiment) -> Result<ExperimentChange, Why> {
    on(job, experiment, Engine::Postgres)
}

#[test]
fn every_change_is_a_job_that_a_command_line_can_ask_for() {
    let mut made = 0;
    for job in [
        sysbench("oltp_read_write", 8, r#""table-size": 100000"#),
        sysbench("oltp_point_select", 1, ""),
        sysbench("oltp_update_index", 8, r#""table-size": 2"#),
        ycsb(r#""recordcount": 100000, "operationcount": 1000"#),
    ] {
        for experiment in Experiment::ALL {
            let Ok(change) = postgres(&job, experiment) else {
                continue;
            };
            for changed in &change.jobs {
                order_of(changed).unwrap_or_else(|e| panic!("{experiment:?}: {e}"));
                assert_ne!(changed, &job, "{experiment:?}");
                let seconds = if change.jobs.len() > 1 { 3 } else { 2 };
                assert_eq!(changed.load.time, Some(Duration::from_secs(seconds)));
                made += 1;
            }
        }
    }
    assert!(made > 25, "{made}");
}

#[test]
fn a_baseline_is_a_short_closed_loop_that_writes_no_files() {
    let mut job = sysbench("oltp_read_write", 2, "");
    job.load.pacing = Pacing::Rate(500.0);
    job.load.events = Some(7);
    job.load.warmup = Duration::from_secs(9);
    job.outputs.record = Some("mine.json".into());
    job.outputs.store = Some("other.db".into());
    let base = baseline(&job, 3);
    assert_eq!(base.load.pacing, Pacing::Closed);
    assert_eq!(base.load.events, None);
    // What is cold at first does not count.
    assert_eq!(base.load.warmup, Duration::from_millis(300));
    assert_eq!((&base.outputs.record, &base.outputs.store), (&None, &None));
    order_of(&base).unwrap();
    // A number of operations would end a run before its time.
    let base = ycsb(r#""recordcount": 1000, "operationcount": 5"#);
    assert_eq!(
        base.workload.settings.get("operationcount"),
        Some(&0.into())
    );
}

#[test]
fn what_does_not_apply_is_told_with_the_reason() {
    let reads = sysbench("oltp_point_select", 4, r#""table-size": 100000"#);
    let one = sysbench("oltp_write_only", 1, r#""table-size": 100000"#);
    let why = |job: &Job, experiment| postgres(job, experiment).unwrap_err();
    assert_eq!(why(&reads, Experiment::NoCommitWait), Why::OnlyReads);
    assert_eq!(why(&reads, Experiment::DisjointKeys), Why::OnlyReads);
    assert_eq!(why(&reads, Experiment::ReadsOnly), Why::NoSwitch);
    assert_eq!(why(&one, Experiment::DisjointKeys), Why::OneSession);
    assert_eq!(why(&one, Experiment::SecondClient), Why::OneSession);
    assert_eq!(why(&one, Experiment::SessionsHalf), Why::OneSession);
    let small = sysbench("oltp_read_only", 4, r#""table-size": 5000"#);
    assert_eq!(why(&small, Experiment::OnePercent), Why::FewRows(50));
    // Writers would meet on a hundredth of it.
    let writes = sysbench("oltp_write_only", 16, r#""table-size": 50000"#);
    assert_eq!(why(&writes, Experiment::OnePercent), Why::FewRows(500));
    let inserts = sysbench("oltp_insert", 4, "");
    assert_eq!(why(&inserts, Experiment::DisjointKeys), Why::NoSwitch);
    let embedded = on(&one, Experiment::Text, Engine::Sqlite).unwrap_err();
    assert_eq!(embedded, Why::Embedded);
    for engine in [Engine::Tidb, Engine::Cockroach, Engine::Yugabyte] {
        let why = on(&one, Experiment::NoCommitWait, engine).unwrap_err();
        assert_eq!(why, Why::NoSetting);
    }
    let latest = ycsb(r#""recordcount": 100000, "requestdistribution": "latest""#);
    assert_eq!(why(&latest, Experiment::OnePercent), Why::NoSwitch);
}

#[test]
fn commits_stop_waiting_in_the_session_or_by_a_setting_of_the_server() {
    let job = sysbench("oltp_write_only", 2, "");
    let change = postgres(&job, Experiment::NoCommitWait).unwrap();
    let settings = &change.jobs[0].session.settings;
    assert_eq!(settings, &["synchronous_commit=off"]);
    assert!(change.settings.is_empty() && change.leaves_work);
    for engine in [Engine::Mysql, Engine::Mariadb] {
        let change = on(&job, Experiment::NoCommitWait, engine).unwrap();
        assert_eq!(change.settings, [("innodb_flush_log_at_trx_commit", "2")]);
        assert_eq!(change.jobs[0], job);
    }
    // Of a server's settings those that make it wait.
    let with = |settings: &[(&str, &str)]| {
        let mut seen = seen(Engine::Mysql, 100_000);
        let set = settings.iter().map(|(name, value)| Setting {
            name: name.to_string(),
            value: value.to_string(),
            default: None,
        });
        seen.settings = set.collect();
        change_of(Experiment::NoCommitWait, &job, &seen, false)
    };
    let flush = "innodb_flush_log_at_trx_commit";
    let both = with(&[(flush, "1"), ("log_bin", "ON"), ("sync_binlog", "1")]);
    assert_eq!(both.unwrap().settings, [(flush, "2"), ("sync_binlog", "0")]);
    let binary = with(&[(flush, "2"), ("log_bin", "ON"), ("sync_binlog", "1")]);
    assert_eq!(binary.unwrap().settings, [("sync_binlog", "0")]);
    // A server that does not wait, or that another diagnosis keeps from it: its value is no value before.
    for none in [
        with(&[(flush, "2"), ("log_bin", "OFF"), ("sync_binlog", "1")]),
        with(&[(flush, "0"), ("log_bin", "ON"), ("sync_binlog", "0")]),
    ] {
        assert_eq!(none.unwrap_err(), Why::NoWait);
    }
    // The job's own setting gives way, and one that waits for nothing leaves nothing to try.
    let mut other = job.clone();
    other.session.settings = vec!["work_mem=8MB".into(), "synchronous_commit=on".into()];
    let change = postgres(&other, Experiment::NoCommitWait).unwrap();
    let settings = &change.jobs[0].session.settings;
    assert_eq!(settings, &["work_mem=8MB", "synchronous_commit=off"]);
    let why = postgres(&change.jobs[0], Experiment::NoCommitWait).unwrap_err();
    assert_eq!(why, Why::NoWait);
}

#[test]
fn sessions_are_shared_by_two_clients() {
    let job = sysbench("oltp_read_only", 5, "");
    let change = postgres(&job, Experiment::SecondClient).unwrap();
    let sessions: Vec<usize> = change.jobs.iter().map(|j| j.load.sessions).collect();
    assert_eq!(sessions, [2, 3]);
    // Long and fine enough to see when both ran; the baseline beside them is the same.
    let base = change.base.unwrap();
    assert_eq!(base.load.sessions, 5);
    for job in change.jobs.iter().chain([&base]) {
        assert_eq!(job.load.time, Some(Duration::from_secs(3)));
        assert_eq!(job.load.interval, Duration::from_millis(100));
        order_of(job).unwrap();
    }
    assert_ne!(change.jobs[0].load.seed, change.jobs[1].load.seed);
}

#[test]
fn sessions_that_could_not_be_opened_are_no_experiment() {
    let job = sysbench("oltp_read_only", 64, "");
    let twice = postgres(&job, Experiment::SessionsTwice).unwrap();
    // 64 and 128 asked for, 12 of each opened.
    let why = twice.has_other_sessions(12, 12);
    assert_eq!(
        why,
        Some(Why::Sessions {
            opened: 12,
            wanted: 24
        })
    );
    assert_eq!(twice.has_other_sessions(64, 128), None);
    let half = postgres(&job, Experiment::SessionsHalf).unwrap();
    assert!(half.has_other_sessions(12, 12).is_some());
    assert_eq!(half.has_other_sessions(64, 32), None);
    let two = postgres(&job, Experiment::SecondClient).unwrap();
    assert_eq!(two.has_other_sessions(12, 12), None);
    let odd = sysbench("oltp_read_only", 3, "");
    let half = postgres(&odd, Experiment::SessionsHalf).unwrap();
    assert_eq!(half.has_other_sessions(3, 1), None);
}

#[test]
fn replies_come_later_by_a_part_of_the_latency() {
    let job = sysbench("oltp_read_only", 8, "");
    let mut seen = seen(Engine::Postgres, 1000);
    seen.sessions = 8;
    seen.totals.elapsed_s = 1.0;
    // 80 ms of four statements.
    seen.totals.all.count = 100;
    seen.totals.statements.read = 400;
    let change = change_of(Experiment::Rtt, &job, &seen, true).unwrap();
    assert_eq!(change.jobs[0].load.inject_rtt, Duration::from_millis(6));
    order_of(&change.jobs[0]).unwrap();
    let fast = change_of(Experiment::Rtt, &job, &RunRecord::default(), true).unwrap();
    assert_eq!(fast.jobs[0].load.inject_rtt, Duration::from_millis(1));
}

#[test]
fn text_is_compared_with_prepared_statements_whichever_the_job_has() {
    let mut job = sysbench("oltp_read_only", 5, "");
    let change = postgres(&job, Experiment::Text).unwrap();
    assert_eq!(change.jobs[0].load.prepared, PreparedMode::Text);
    assert!(!change.is_inverse);
    job.load.prepared = PreparedMode::Text;
    let change = postgres(&job, Experiment::Text).unwrap();
    assert_eq!(change.jobs[0].load.prepared, PreparedMode::Server);
    assert!(change.is_inverse);
}

#[test]
fn a_hot_row_becomes_as_many_rows_as_sessions_where_the_table_has_them() {
    let hot = sysbench("oltp_update_index", 8, r#""table-size": 1"#);
    let change = postgres(&hot, Experiment::DisjointKeys).unwrap();
    let settings = &change.jobs[0].workload.settings;
    assert_eq!(settings.get("table-size"), Some(&8.into()));
    assert_eq!(settings.get("disjoint-keys"), Some(&true.into()));
    let few = change_of(
        Experiment::DisjointKeys,
        &hot,
        &seen(Engine::Postgres, 3),
        false,
    );
    assert_eq!(few.unwrap_err(), Why::FewerRowsThanSessions);
}

/// Both sides have the same statements around theirs, also where the job omits them.
#[test]
fn a_rollback_is_compared_with_a_commit() {
    let job = sysbench("oltp_write_only", 4, r#""skip-trx": true"#);
    let change = on(&job, Experiment::Rollback, Engine::Mariadb).unwrap();
    let ends = [change.base.as_ref().unwrap(), &change.jobs[0]].map(|job| {
        let order = order_of(job).unwrap();
        assert!(!order.workload.only_reads());
        let settings = &job.workload.settings;
        assert_eq!(settings.get("skip-trx"), Some(&false.into()));
        settings.get("end-with").unwrap().clone()
    });
    assert_eq!(ends, ["commit", "rollback"]);
    let reads = sysbench("oltp_read_only", 4, "");
    let why = on(&reads, Experiment::Rollback, Engine::Mariadb).unwrap_err();
    assert_eq!(why, Why::OnlyReads);
    let other = ycsb(r#""recordcount": 1000, "updateproportion": 0.5"#);
    let why = on(&other, Experiment::Rollback, Engine::Mariadb).unwrap_err();
    assert_eq!(why, Why::NoSwitch);
}

#[test]
fn sessions_are_crowded_where_each_writes_to_one_of_fewer_rows() {
    let crowded =
        |workload, sessions, settings| super::is_crowded(&sysbench(workload, sessions, settings));
    let one = r#""table-size": 1"#;
    assert!(crowded("oltp_update_index", 2, one));
    assert!(!crowded("oltp_update_index", 1, one));
    assert!(!crowded("oltp_point_select", 2, one));
    assert!(!crowded("oltp_update_index", 2, ""));
    let many = r#""table-size": 10, "tables": 10"#;
    assert!(crowded("oltp_read_write", 101, many));
    assert!(!crowded("oltp_read_write", 100, many));
    assert!(!super::is_crowded(&ycsb("")));
}

#[test]
fn a_mix_is_halved() {
    let of = |job: &Job, experiment| postgres(job, experiment).unwrap().jobs.remove(0);
    let mix = sysbench("oltp_read_write", 2, "");
    assert_eq!(
        of(&mix, Experiment::ReadsOnly).workload.name,
        "oltp_read_only"
    );
    assert_eq!(
        of(&mix, Experiment::WritesOnly).workload.name,
        "oltp_write_only"
    );
    let mix = ycsb(r#""recordcount": 1000, "readproportion": 0.5, "updateproportion": 0.5"#);
    let reads = of(&mix, Experiment::ReadsOnly);
    assert!(order_of(&reads).unwrap().workload.only_reads());
    let writes = of(&mix, Experiment::WritesOnly).workload.settings;
    assert_eq!(writes.get("readproportion"), Some(&0.0.into()));
    assert_eq!(writes.get("updateproportion"), Some(&0.5.into()));
    let reads = ycsb(r#""recordcount": 1000, "readproportion": 1.0, "updateproportion": 0.0"#);
    let why = postgres(&reads, Experiment::WritesOnly).unwrap_err();
    assert_eq!(why, Why::NoSwitch);
}
