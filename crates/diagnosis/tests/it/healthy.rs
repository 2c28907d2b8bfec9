//! Runs without a bottleneck, and with the CPU as an honest one.

use super::common::{mariadb, run};
use tidemark_diagnosis::Cause;

#[test]
fn a_run_in_which_nothing_is_short_has_no_finding() {
    for made in [run(), mariadb()] {
        let diagnosis = made.diagnosis();
        assert_eq!(diagnosis.findings, [], "{diagnosis:#?}");
        assert_eq!(diagnosis.verdict, Cause::NotEnoughSeen);
        assert!(!diagnosis.sentence.en.is_empty());
    }
}

#[test]
fn a_full_host_that_client_and_server_share_is_the_server_cpu_and_nothing_else() {
    for made in [run().active("CPU", 5.0), mariadb()] {
        let made = made.busy(0.97).threads(1.2, 900.0).server(2.6, 2500.0);
        let found = made.sure(Cause::ServerCpu);
        assert!(found.excludes.contains(&Cause::TooFewSessions));
        assert_eq!(
            made.diagnosis().findings.len(),
            1,
            "{:#?}",
            made.diagnosis()
        );
    }
}

#[test]
fn a_rate_that_was_served_is_no_bottleneck() {
    let made = run().asked(1000.0, 0.05);
    let found = made.sure(Cause::OfferedLoad);
    assert!(found.sentence.en.contains("1,000"), "{}", found.sentence.en);
    assert!(!run().finds(Cause::OfferedLoad));
}

#[test]
fn without_any_series_the_verdict_says_what_to_collect() {
    let made = run()
        .without("client-host", "")
        .without("server-process", "")
        .without("server-activity", "")
        .without("server-status", "");
    let diagnosis = made.diagnosis();
    assert_eq!(diagnosis.verdict, Cause::NotEnoughSeen, "{diagnosis:#?}");
    assert!(
        diagnosis.sentence.en.contains("--observe"),
        "{}",
        diagnosis.sentence.en
    );
    for cause in [
        Cause::ServerCpu,
        Cause::CommitLog,
        Cause::RowLocks,
        Cause::LockHeld,
        Cause::NetworkDistance,
        Cause::TooFewSessions,
        Cause::DiskRate,
        Cause::CacheMisses,
        Cause::MissingIndex,
        Cause::Checkpoints,
        Cause::LongTransaction,
        Cause::CpuQuota,
        Cause::Neighbour,
        Cause::Latches,
    ] {
        assert!(made.skips(cause), "{cause:?}: {diagnosis:#?}");
    }
}
