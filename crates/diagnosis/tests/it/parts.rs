//! Parts add up to the mean, whatever a record holds.

use super::common::{Made, mariadb, run};
use proptest::prelude::*;
use tidemark_core::ErrorClass;
use tidemark_core::record::{ErrorCount, RunRecord};
use tidemark_diagnosis::{Cause, PartKind, Split, WaitClass};

#[test]
fn the_parts_of_a_made_run_are_where_they_were_put() {
    let made = run()
        .server(2.0, 500.0)
        .active("CPU", 3.0)
        .active("IO:WalSync", 3.0);
    let split = &made.diagnosis().parts[0];
    let near = |part: f64, ms: f64| assert!((part - ms).abs() < 0.1, "{split:#?}");
    near(split.mean_ms, 8.0);
    near(split.ms(PartKind::Client), 0.5);
    near(split.ms(PartKind::ServerCpu), 2.0);
    near(split.wait_ms(WaitClass::RunQueue), 0.5);
    near(split.wait_ms(WaitClass::Log), 3.0);
    near(split.ms(PartKind::Network), 1.5);
    near(split.ms(PartKind::Unexplained), 0.5);
}

#[test]
fn waiting_for_a_session_is_a_part_of_a_response() {
    let split = &run().asked(1000.0, 24.0).diagnosis().parts[0];
    assert!((split.mean_ms - 32.0).abs() < 0.1, "{split:#?}");
    assert!(
        (split.ms(PartKind::WaitingForSession) - 24.0).abs() < 0.1,
        "{split:#?}"
    );
}

#[test]
fn a_scripts_pauses_are_its_own_and_set_its_pace() {
    let mut record = run().load(1000, 8.0, 1.0).record();
    record.totals.all.paused_ms = 6.5 * record.totals.all.count as f64;
    let diagnosis = tidemark_diagnosis::diagnose(&record);
    let split = &diagnosis.parts[0];
    let near = |part: f64, ms: f64| assert!((part - ms).abs() < 0.1, "{split:#?}");
    near(split.ms(PartKind::Paused), 6.5);
    near(split.ms(PartKind::Client), 0.5);
    assert!(split.ms(PartKind::Network) <= 1.0, "{split:#?}");
    assert_eq!(diagnosis.findings[0].cause, Cause::OfferedLoad);
    assert!(
        diagnosis.findings[0]
            .sentence
            .en
            .contains("own pauses are 81")
    );
    // Where more than a quarter of the latency is something else, that limits it, too.
    for paused in [5.0, 0.0] {
        record.totals.all.paused_ms = paused * record.totals.all.count as f64;
        let diagnosis = tidemark_diagnosis::diagnose(&record);
        let offered = diagnosis
            .findings
            .iter()
            .find(|f| f.cause == Cause::OfferedLoad);
        assert_eq!(offered, None, "{paused}");
    }
    record.totals.all.paused_ms = 0.0;
    let diagnosis = tidemark_diagnosis::diagnose(&record);
    assert!(
        diagnosis
            .findings
            .iter()
            .all(|f| f.cause != Cause::OfferedLoad)
    );
}

#[test]
fn types_have_what_the_client_knows_of_them() {
    let mut record = run().record();
    let all = record.totals.all.clone();
    record.totals.types.insert("other".into(), all);
    let diagnosis = tidemark_diagnosis::diagnose(&record);
    assert_eq!(diagnosis.parts.len(), 3);
    let other = &diagnosis.parts[1];
    assert_eq!(other.of.as_deref(), Some("other"));
    assert!(other.ms(PartKind::ServerAndNetwork) > 7.0, "{other:#?}");
    assert_eq!(other.ms(PartKind::Unexplained), 0.0);
}

/// Of a made run whose transactions are of two types: a third of them is `pay`, the others are `order`, and both
/// last as long as all do.
fn two_types(made: &Made) -> [Split; 3] {
    let parts = tidemark_diagnosis::diagnose(&made.made_of_two()).parts;
    parts.try_into().unwrap()
}

impl Made {
    fn made_of_two(&self) -> RunRecord {
        let mut record = self.record();
        let all = record.totals.types.remove("t").unwrap();
        for (name, parts) in [("order", 2), ("pay", 1)] {
            let mut stats = all.clone();
            stats.count = all.count / 3 * parts;
            record.totals.types.insert(name.into(), stats);
        }
        record
    }
}

fn of_type(made: Made, kind: &'static str, wait: &'static str, sessions: f64) -> Made {
    let labels = [("state", "active"), ("type", kind), ("wait", wait)];
    made.set("server-activity", "sessions.by-type", &labels, sessions)
}

fn blocked(made: Made, kind: &'static str, sessions: f64) -> Made {
    let labels = [("type", kind)];
    made.set("server-status", "locks.blocked.by-type", &labels, sessions)
}

#[test]
fn types_have_the_servers_parts_by_what_their_sessions_were_seen_at() {
    let made = run()
        .server(2.0, 600.0)
        .active("CPU", 3.0)
        .active("IO:WalSync", 1.0)
        .active("Lock:tuple", 2.0);
    // Only some of the sessions tell their types: the parts are by those.
    let made = of_type(made, "order", "CPU", 1.0);
    let made = of_type(made, "pay", "CPU", 0.5);
    let made = of_type(made, "order", "IO:WalSync", 0.5);
    let made = of_type(made, "pay", "Lock:tuple", 1.0);
    let [all, order, pay] = &two_types(&made);
    let near = |part: f64, ms: f64, split: &Split| {
        assert!((part - ms).abs() < 0.1, "{ms}: {split:#?}");
    };
    near(all.wait_ms(WaitClass::RowLock), 2.0, all);
    // 2 ms of all are 6 of each pay, which alone waits for rows; 1 ms of the log 1.5 of each order.
    near(pay.wait_ms(WaitClass::Log), 0.0, pay);
    near(order.wait_ms(WaitClass::RowLock), 0.0, order);
    near(order.wait_ms(WaitClass::Log), 1.5, order);
    near(order.ms(PartKind::ServerCpu), 2.0, order);
    near(order.wait_ms(WaitClass::RunQueue), 0.6, order);
    // 6 ms of locks, 2 of CPU and 0.6 of waiting for it are more than the 7.5 that are left.
    near(pay.wait_ms(WaitClass::RowLock), 6.0 * 7.5 / 8.6, pay);
    near(pay.ms(PartKind::ServerCpu), 2.0 * 7.5 / 8.6, pay);
    // Six sessions of eight are in the server, three fifths of those that tell it with order.
    near(order.ms(PartKind::Network), 7.5 - 6.0 * 0.5 * 1.5, order);
    for split in [order, pay] {
        let sum: f64 = split.parts.iter().map(|p| p.ms).sum();
        assert!((sum - split.mean_ms).abs() < 1e-6, "{split:#?}");
        assert_eq!(split.ms(PartKind::ServerAndNetwork), 0.0, "{split:#?}");
    }
}

#[test]
fn row_locks_of_mariadb_are_the_types_that_its_transactions_tell() {
    let made = mariadb()
        .server(0.5, 0.0)
        .active("Sending data", 3.0)
        .status("locks.wait-time", 2000.0)
        .status("transactions.open", 3.0);
    let made = of_type(made, "order", "Sending data", 1.0);
    let mut made = of_type(made, "pay", "Updating", 2.0);
    made = blocked(made, "order", 0.5);
    made = blocked(made, "pay", 1.5);
    let [_, order, pay] = &two_types(&made);
    let near = |part: f64, ms: f64| assert!((part - ms).abs() < 0.05, "{order:#?} {pay:#?}");
    near(order.wait_ms(WaitClass::RowLock), 2.0 * 0.25 * 1.5);
    near(pay.wait_ms(WaitClass::RowLock), 2.0 * 0.75 * 3.0);
    // Those that are not blocked are on the processor: half a session of each.
    near(order.ms(PartKind::ServerCpu), 0.5 * 0.5 * 1.5);
    near(pay.ms(PartKind::ServerCpu), 0.5 * 0.5 * 3.0);
}

fn is_whole(split: &Split) -> bool {
    split.ms(PartKind::ServerAndNetwork) > 7.0
}

#[test]
fn types_that_were_hardly_seen_have_no_parts_of_the_server() {
    let made = of_type(run(), "order", "CPU", 2.0);
    let made = of_type(made, "pay", "CPU", 0.15);
    let [_, order, pay] = &two_types(&made);
    assert!(!is_whole(order), "{order:#?}");
    assert!(is_whole(pay), "4.5 session-seconds: {pay:#?}");

    // One of which few have ended was seen at few transactions.
    let mut record = of_type(made, "pay", "CPU", 2.0).made_of_two();
    record.totals.types.get_mut("pay").unwrap().count = 29;
    let parts = tidemark_diagnosis::diagnose(&record).parts;
    assert!(!is_whole(&parts[1]) && is_whole(&parts[2]), "{parts:#?}");
}

#[test]
fn types_that_went_on_while_the_server_was_asked_are_not_told_apart() {
    let made = of_type(run(), "order", "CPU", 2.0);
    let made = of_type(made, "pay", "CPU", 1.0);
    let went_on = |sessions| {
        let name = "sessions.by-type.went-on";
        two_types(&made.clone().set("server-activity", name, &[], sessions))
    };
    assert!(!went_on(0.59)[1..].iter().any(is_whole));
    assert!(went_on(0.61)[1..].iter().all(is_whole));
}

#[test]
fn where_many_tries_fail_types_have_no_parts_of_the_server() {
    let made = of_type(run(), "order", "CPU", 2.0);
    let made = of_type(made, "pay", "CPU", 1.0);
    let failing = |share: f64| {
        let mut record = made.made_of_two();
        let ended = record.totals.all.count as f64;
        record.errors = vec![ErrorCount {
            code: "40001".into(),
            class: ErrorClass::Retryable,
            kind: None,
            count: (ended * share / (1.0 - share)).round() as u64,
            first_message: String::new(),
        }];
        tidemark_diagnosis::diagnose(&record).parts
    };
    assert!(!failing(0.09)[1..].iter().any(is_whole));
    assert!(failing(0.11)[1..].iter().all(is_whole));
}

#[test]
fn parts_of_an_operation_are_in_no_types_way() {
    let made = of_type(run(), "order", "CPU", 2.0);
    let made = of_type(made, "pay", "CPU", 1.0);
    let mut record = made.made_of_two();
    // YCSB's READ within a READ_MODIFY_WRITE.
    record.totals.parts = [("order".into(), record.totals.all.clone())].into();
    let with = tidemark_diagnosis::diagnose(&record).parts;
    assert_eq!(with, two_types(&made));
    assert!(!with.iter().any(is_whole), "{with:#?}");
}

#[test]
fn few_row_locks_are_nobodys() {
    let made = mariadb()
        .server(0.5, 0.0)
        .status("locks.wait-time", 500.0)
        .status("transactions.open", 3.0);
    let made = of_type(made, "order", "Sending data", 1.0);
    let made = of_type(made, "pay", "Updating", 1.0);
    let row_locks = |sessions: f64| {
        let [_, _, pay] = two_types(&blocked(made.clone(), "pay", sessions));
        pay.wait_ms(WaitClass::RowLock)
    };
    assert_eq!(row_locks(0.9), 0.0, "27 session-seconds");
    assert!((row_locks(1.1) - 1.5).abs() < 0.05);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn types_together_have_no_more_than_all(
        work in proptest::array::uniform2(0.2..4.0_f64), locked in proptest::array::uniform2(0.0..4.0_f64),
        log in proptest::array::uniform2(0.0..2.0_f64), is_maria: bool,
    ) {
        let made = if is_maria { mariadb() } else { run() };
        // Little enough that nothing has to be made smaller to fit.
        let mut made = made.server(0.05, 10.0).active("Commit", 0.1).active("IO:WalSync", 0.1)
            .status("locks.wait-time", 50.0).status("transactions.open", 3.0);
        for (n, kind) in ["order", "pay"].into_iter().enumerate() {
            made = of_type(made, kind, if is_maria { "Updating" } else { "CPU" }, work[n]);
            made = of_type(made, kind, if is_maria { "Commit" } else { "IO:WalSync" }, log[n]);
            if is_maria {
                made = blocked(made, kind, locked[n]);
            }
        }
        let [all, order, pay] = &two_types(&made);
        // Those who look at locks see another moment: more may be blocked than are at work.
        let is_working = !is_maria || (0..2).any(|n| work[n] > locked[n] + 0.01);
        let has_cpu = [order, pay].iter().any(|split| split.ms(PartKind::ServerCpu) > 0.0);
        prop_assert!(has_cpu || !is_working, "{order:#?} {pay:#?}");
        let parts = all.parts.iter().filter(|p| matches!(p.part, PartKind::ServerCpu | PartKind::ServerWait));
        for part in parts {
            let of = |split: &Split| {
                let same = split.parts.iter().filter(|p| (p.part, p.class) == (part.part, part.class));
                same.map(|p| p.ms).sum::<f64>()
            };
            let together = (2.0 * of(order) + of(pay)) / 3.0;
            prop_assert!(together <= part.ms * 1.001 + 1e-9, "{part:?}: {order:#?} {pay:#?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn parts_of_random_runs_add_up_and_no_share_is_impossible(
        rate in 1_u64..3000, service in 0.01..200.0_f64, server in 0.0..1.0_f64, wait in 0.0..500.0_f64,
        sessions in 1_usize..200, busy in 0.0..1.0_f64, cores in 0.0..8.0_f64, delay in 0.0..9000.0_f64,
        log in 0.0..50.0_f64, rows in 0.0..50.0_f64, is_open: bool, is_maria: bool, added in 0.0..20.0_f64,
    ) {
        let made = if is_maria { mariadb() } else { run() };
        let mut made = made.sessions(sessions).load(rate, service, service * server).busy(busy)
            .server(cores, delay).threads(cores / 2.0, delay / 3.0)
            .active(if is_maria { "Commit" } else { "IO:WalSync" }, log)
            .active("Lock:tuple", rows).status("locks.wait-time", rows * 1000.0)
            .with(|r| r.inject_rtt_ms = added);
        if is_open {
            made = made.asked(rate as f64, wait);
        }
        let diagnosis = made.diagnosis();
        for split in &diagnosis.parts {
            let sum: f64 = split.parts.iter().map(|p| p.ms).sum();
            prop_assert!((sum - split.mean_ms).abs() <= 1e-6 * split.mean_ms, "{split:?}");
            prop_assert!(split.parts.iter().all(|p| p.ms > 0.0), "{split:?}");
        }
        let expected = service + if is_open { wait } else { 0.0 };
        prop_assert!((diagnosis.parts[0].mean_ms / expected - 1.0).abs() < 0.01);
        for found in &diagnosis.findings {
            prop_assert!((0.0..=1.0).contains(&found.share), "{found:?}");
            prop_assert!(found.evidence.iter().all(|e| e.value.is_finite()), "{found:?}");
            let others = diagnosis.findings.iter().map(|f| f.cause);
            prop_assert!(others.clone().all(|cause| !found.excludes.contains(&cause)), "{diagnosis:?}");
        }
    }
}
