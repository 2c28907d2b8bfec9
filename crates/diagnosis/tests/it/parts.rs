//! Parts add up to the mean, whatever a record holds.

use super::common::{mariadb, run};
use proptest::prelude::*;
use tidemark_diagnosis::{PartKind, WaitClass};

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
