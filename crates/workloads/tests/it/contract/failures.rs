//! How workloads fail, on every backend.

use crate::it::contract::backend::{Db, workload};
use crate::it::contract::steps::prepared;
use tidemark_core::{ErrorClass, PreparedMode};
use tidemark_drivers::catalog::row_count;

pub async fn a_missing_table_is_said_when_statements_are_prepared(db: Db) {
    let mut session = db.session(PreparedMode::Server).await;
    let workload = workload("oltp_read_write", &[("tables", "2")]);
    let error = workload
        .statements()
        .prepare(&mut session)
        .await
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Missing, "{error}");
    assert!(error.message.contains("sbtest1"), "{error}");
}

const VALIDATED: &[(&str, &str)] = &[
    ("table-size", "50"),
    ("validate", "on"),
    ("rand-type", "uniform"),
];

pub async fn a_missing_row_fails_validation(db: Db) {
    for (name, expected) in [
        ("oltp_point_select", "0 rows for id="),
        ("oltp_read_only", "0 rows for id="),
    ] {
        let (workload, mut session) = prepared(&db, name, VALIDATED).await;
        let mut terminal = workload.terminal(0, 1, 1);
        let mut statements = workload.statements();
        statements.prepare(&mut session).await.unwrap();
        terminal
            .transaction(&mut session, &statements)
            .await
            .unwrap();
        session.simple("DELETE FROM sbtest1").await.unwrap();
        let error = terminal
            .transaction(&mut session, &statements)
            .await
            .unwrap_err();
        assert_eq!(error.class, ErrorClass::Fatal, "{error}");
        assert!(error.message.contains("validation failed"), "{error}");
        assert!(error.message.contains(expected), "{error}");
        // The read-only transaction was left open.
        session.rollback().await.unwrap();
        session.simple("DROP TABLE sbtest1").await.unwrap();
    }
}

pub async fn a_spoilt_text_fails_validation(db: Db) {
    let (workload, mut session) = prepared(&db, "oltp_point_select", VALIDATED).await;
    let mut terminal = workload.terminal(0, 1, 1);
    let mut statements = workload.statements();
    statements.prepare(&mut session).await.unwrap();
    session
        .simple("UPDATE sbtest1 SET c='nonsense'")
        .await
        .unwrap();
    let error = terminal
        .transaction(&mut session, &statements)
        .await
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Fatal, "{error}");
    assert!(error.message.contains("ten groups of digits"), "{error}");
}

pub async fn a_session_that_was_replaced_is_prepared_again(db: Db) {
    let options = [("table-size", "50"), ("tables", "2")];
    let (workload, mut first) = prepared(&db, "oltp_read_write", &options).await;
    let mut terminal = workload.terminal(0, 1, 1);
    let mut statements = workload.statements();
    statements.prepare(&mut first).await.unwrap();
    terminal.transaction(&mut first, &statements).await.unwrap();
    first.close().await;
    let mut second = db.session(PreparedMode::Server).await;
    statements.prepare(&mut second).await.unwrap();
    for _ in 0..20 {
        terminal
            .transaction(&mut second, &statements)
            .await
            .unwrap();
    }
}

/// Where sysbench 1.0.20 was observed to cut its INSERTs.
pub async fn bulk_inserts_are_cut_where_sysbench_cuts_them(db: Db) {
    let (workload, mut session) = prepared(&db, "bulk_insert", &[]).await;
    let mut terminal = workload.terminal(0, 1, 1);
    let mut statements = workload.statements();
    statements.prepare(&mut session).await.unwrap();
    let before = session.counts().write;
    let mut sent = Vec::new();
    for row in 0..120_000 {
        terminal
            .transaction(&mut session, &statements)
            .await
            .unwrap();
        if session.counts().write - before > sent.len() as u64 {
            sent.push(row);
        }
    }
    assert_eq!(sent, [39_033, 76_480, 112_186]);
    terminal.finish(&mut session).await.unwrap();
    assert_eq!(row_count(&mut session, "sbtest1").await, Ok(120_000));
    assert_eq!(session.counts().write - before, 4);
}

/// Rows that the server refused are not sent again for ever.
pub async fn bulk_inserts_go_on_after_a_duplicate_key(db: Db) {
    let (workload, mut session) = prepared(&db, "bulk_insert", &[]).await;
    session
        .simple("INSERT INTO sbtest1 VALUES (7, 7)")
        .await
        .unwrap();
    let mut terminal = workload.terminal(0, 1, 1);
    let statements = workload.statements();
    for _ in 0..10 {
        terminal
            .transaction(&mut session, &statements)
            .await
            .unwrap();
    }
    let error = terminal.finish(&mut session).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Constraint, "{error}");
    assert!(
        error.message.contains("(10 rows that were counted"),
        "{error}"
    );
    for _ in 0..5 {
        terminal
            .transaction(&mut session, &statements)
            .await
            .unwrap();
    }
    terminal.finish(&mut session).await.unwrap();
    assert_eq!(row_count(&mut session, "sbtest1").await, Ok(6));
}

/// Two terminals of one number and seed draw the same keys.
pub async fn a_drawn_key_that_is_taken_is_drawn_again(db: Db) {
    for name in ["oltp_insert", "oltp_insert_batch"] {
        for option in [("auto-inc", "off"), ("key-order", "random")] {
            let options = [("table-size", "50"), option];
            let (workload, mut session) = prepared(&db, name, &options).await;
            let mut first = workload.terminal(0, 1, 1);
            let mut second = workload.terminal(0, 1, 1);
            let mut sql = workload.statements();
            sql.prepare(&mut session).await.unwrap();
            first.transaction(&mut session, &sql).await.unwrap();
            let taken = second.transaction(&mut session, &sql).await;
            let error = taken.unwrap_err();
            assert_eq!(error.class, ErrorClass::Retryable, "{name}: {error}");
            let codes = ["1062", "23505", "SQLITE_CONSTRAINT"];
            assert!(codes.contains(&error.code.as_str()), "{name}: {error}");
            session.rollback().await.unwrap();
            second.transaction(&mut session, &sql).await.unwrap();
            session.simple("DROP TABLE sbtest1").await.unwrap();
        }
    }
}
