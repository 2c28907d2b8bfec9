//! Parts add up to the mean, whatever a record holds.

use super::common::{Made, mariadb, run};
use proptest::prelude::*;
use tidemark_diagnosis::{PartKind, Split, WaitClass};

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
fn two_types(made: &Made) -> Vec<Split> {
    let mut record = made.record();
    let all = record.totals.types.remove("t").unwrap();
    for (name, parts) in [("order", 2), ("pay", 1)] {
        let mut stats = all.clone();
        stats.count = all.count / 3 * parts;
        record.totals.types.insert(name.into(), stats);
    }
    tidemark_diagnosis::diagnose(&record).parts
}

fn of_type(made: Made, kind: &'static str, wait: &'static str, sessions: f64) -> Made {
    let labels = [("state", "active"), ("type", kind), ("wait", wait)];
    made.set("server-activity", "sessions.of-types", &labels, sessions)
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
    let [all, order, pay] = &*two_types(&made) else {
        panic!("three");
    };
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
        .status("locks.wait-time", 2000.0);
    let made = of_type(made, "order", "Sending data", 1.0);
    let mut made = of_type(made, "pay", "Updating", 2.0);
    let blocked = |made: Made, kind, sessions| {
        made.set(
            "server-status",
            "locks.blocked.of-types",
            &[("type", kind)],
            sessions,
        )
    };
    made = blocked(made, "order", 0.5);
    made = blocked(made, "pay", 1.5);
    let [_, order, pay] = &*two_types(&made) else {
        panic!("three");
    };
    let near = |part: f64, ms: f64| assert!((part - ms).abs() < 0.05, "{order:#?} {pay:#?}");
    near(order.wait_ms(WaitClass::RowLock), 2.0 * 0.25 * 1.5);
    near(pay.wait_ms(WaitClass::RowLock), 2.0 * 0.75 * 3.0);
    // Those that are not blocked are on the processor: half a session of each.
    near(order.ms(PartKind::ServerCpu), 0.5 * 0.5 * 1.5);
    near(pay.ms(PartKind::ServerCpu), 0.5 * 0.5 * 3.0);
}

#[test]
fn types_that_were_hardly_seen_or_are_parts_of_others_have_no_parts_of_the_server() {
    let is_whole = |split: &Split| split.ms(PartKind::ServerAndNetwork) > 7.0;
    let made = of_type(run(), "order", "CPU", 2.0);
    let made = of_type(made, "pay", "CPU", 0.09);
    let [_, order, pay] = &*two_types(&made) else {
        panic!("three");
    };
    assert!(!is_whole(order), "{order:#?}");
    assert!(is_whole(pay), "2.7 session-seconds: {pay:#?}");

    let made = of_type(made, "pay", "CPU", 2.0);
    let mut record = made.record();
    // YCSB's READ is counted of a READ_MODIFY_WRITE, too.
    let all = record.totals.all.clone();
    record.totals.types = [("order".into(), all.clone()), ("pay".into(), all)].into();
    let parts = tidemark_diagnosis::diagnose(&record).parts;
    assert!(parts[1..].iter().all(is_whole), "{parts:#?}");
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
