//! Causes in MySQL 8.4 and 9, by the states and counters that these have.

use super::common::{Made, SECONDS, mysql};
use tidemark_diagnosis::{Cause, Confidence};

/// When nothing ended, for most of the time in which sessions waited for a lock.
const STILL: [(i64, f64); 4] = [
    (2000, 4000.0),
    (9000, 4000.0),
    (16_000, 4000.0),
    (23_000, 4000.0),
];

/// A server whose sessions wait, and whose CPU is idle.
fn idle() -> Made {
    mysql().busy(0.3).server(0.8, 20.0).active("executing", 0.6)
}

#[test]
fn a_run_in_which_nothing_is_short_has_no_finding() {
    let diagnosis = mysql().diagnosis();
    assert_eq!(diagnosis.findings, [], "{diagnosis:#?}");
    let full = mysql().busy(0.97).threads(1.2, 900.0).server(2.6, 2500.0);
    full.sure(Cause::ServerCpu);
}

#[test]
fn commits_wait_in_the_states_of_mysql() {
    for state in [
        "waiting for handler commit",
        "Waiting for Binlog Group Commit ticket",
    ] {
        let commits = idle().active(state, 6.0).status("log.syncs", 400.0);
        commits.sure(Cause::CommitLog);
        assert!(!commits.finds(Cause::TableLocks));
    }
    let replica = idle().active("Waiting for semi-sync ACK from replica", 6.0);
    assert!(replica.finds(Cause::CommitLog));
}

#[test]
fn a_lock_on_commits_is_no_log() {
    let copied = idle().active("Waiting for commit lock", 6.0).dead(&STILL);
    copied.sure(Cause::LockHeld);
    assert!(!copied.finds(Cause::CommitLog));
}

#[test]
fn rows_and_table_locks_are_told_by_counters_and_states() {
    let rows = idle()
        .active("updating", 6.5)
        .status("locks.waits", 1000.0)
        .status("locks.waiting", 5.5)
        .status("locks.wait-time", 5500.0);
    rows.sure(Cause::RowLocks);
    let table = idle()
        .active("Waiting for table metadata lock", 6.5)
        .dead(&STILL);
    table.sure(Cause::LockHeld);
    // The oldest transaction is the one that holds the row.
    let held: Vec<f64> = (0..SECONDS).map(|n| n as f64).collect();
    let still = (0..SECONDS).map(|n| if n % 5 == 2 { 10 } else { 1200 });
    rows.over_time("server-status", "transactions.oldest", &[], &held)
        .rates(still.collect())
        .sure(Cause::LockHeld);
}

#[test]
fn a_redo_log_without_room_is_found_by_its_sequence_numbers() {
    let full = mysql()
        .status("checkpoint.age", 90e6)
        .status("checkpoint.most-age", 100e6)
        .status("pages.written", 3000.0)
        .active("executing", 0.1)
        .active("updating", 7.4);
    full.verdict(Cause::Checkpoints);
    let old = full.without("server-status", "checkpoint.age");
    assert!(old.skips(Cause::Checkpoints), "before 8.0.30");
}

#[test]
fn reads_are_told_by_requests_that_are_open() {
    let reads = mysql()
        .busy(0.1)
        .server(0.1, 10.0)
        .threads(0.05, 1.0)
        .load(16_000, 0.5, 0.4)
        .active("executing", 0.1)
        .active("statistics", 7.5)
        .status("buffer.requests", 160_000.0)
        .status("buffer.misses", 16_000.0)
        .status("data.pending-reads", 4.0);
    reads.verdict(Cause::CacheMisses);
    let scans = mysql()
        .busy(0.97)
        .server(3.2, 2000.0)
        .threads(0.6, 100.0)
        .active("executing", 7.0)
        .status("rows.read", 40e6)
        .status("rows.scanned", 39e6);
    scans.sure(Cause::MissingIndex);
}

#[test]
fn old_versions_are_told_by_the_length_of_the_history() {
    let kept: Vec<f64> = (0..SECONDS).map(|n| 100.0 + 990.0 * n as f64).collect();
    let kept = mysql().over_time("server-status", "history.length", &[], &kept);
    let found = kept.diagnosis().findings;
    let found = found.iter().find(|f| f.cause == Cause::LongTransaction);
    assert_eq!(
        found.unwrap().confidence,
        Confidence::Low,
        "which nobody feels"
    );
}

#[test]
fn latches_are_not_seen_and_said_to_be_so() {
    let unseen = mysql().busy(0.3).server(0.5, 10.0).active("updating", 6.5);
    assert!(unseen.skips(Cause::Latches));
}
