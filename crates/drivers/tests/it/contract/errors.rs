//! How statements fail, and that the session is well afterwards.

use crate::it::contract::Db;
use tidemark_core::{DbError, Engine, ErrorClass};
use tidemark_drivers::{Session, Value};

async fn is_well(session: &mut Session) {
    let rows = session.query("SELECT 41 + 1").await.unwrap();
    assert_eq!(rows.int(0, 0), Some(42));
}

/// Prepares and executes, as one step: in text mode preparing finds nothing.
async fn attempt(session: &mut Session, sql: &str, values: &[Value<'_>]) -> Result<(), DbError> {
    let statement = session.prepare(sql).await?;
    session.execute(&statement, values).await.map(drop)
}

fn check(error: &DbError, class: ErrorClass, names: &str) {
    assert_eq!(error.class, class, "{error}");
    assert!(error.message.contains(names), "{error}");
    assert!(!error.code.is_empty());
}

pub async fn a_missing_table_is_missing(db: Db) {
    for mut session in db.sessions().await {
        for sql in [
            "SELECT * FROM nowhere WHERE id = ?",
            "DELETE FROM nowhere WHERE id = ?",
        ] {
            let e = attempt(&mut session, sql, &[Value::Int(1)])
                .await
                .unwrap_err();
            check(&e, ErrorClass::Missing, "nowhere");
            is_well(&mut session).await;
        }
        let e = session.simple("SELECT * FROM nowhere").await.unwrap_err();
        check(&e, ErrorClass::Missing, "nowhere");
        let e = session.query("SELECT * FROM nowhere").await.unwrap_err();
        check(&e, ErrorClass::Missing, "nowhere");
        is_well(&mut session).await;
    }
}

pub async fn a_missing_column_is_missing(db: Db) {
    let mut sessions = db.sessions().await;
    db.make_t(&mut sessions[0]).await;
    for mut session in sessions {
        for sql in [
            "SELECT height FROM t WHERE id = ?",
            "INSERT INTO t (height) VALUES (?)",
        ] {
            let e = attempt(&mut session, sql, &[Value::Int(1)])
                .await
                .unwrap_err();
            check(&e, ErrorClass::Missing, "height");
            is_well(&mut session).await;
        }
    }
}

pub async fn a_second_row_with_a_key_is_a_constraint(db: Db) {
    let mut sessions = db.sessions().await;
    db.make_t(&mut sessions[0]).await;
    sessions[0]
        .simple("INSERT INTO t (id) VALUES (1)")
        .await
        .unwrap();
    for mut session in sessions {
        let insert = session
            .prepare("INSERT INTO t (id) VALUES (?)")
            .await
            .unwrap();
        let before = session.counts();
        let e = session
            .execute(&insert, &[Value::Int(1)])
            .await
            .unwrap_err();
        check(&e, ErrorClass::Constraint, "");
        let failed = session.counts() - before;
        assert_eq!(failed.total(), 0, "a failed statement is not counted");
        let waited = u64::from(db.engine() != Engine::Sqlite);
        assert_eq!(failed.round_trips, waited, "it was waited for");
        let e = session.simple("INSERT INTO t (id) VALUES (NULL)").await;
        // SQLite alone takes NULL for a key that is not an INTEGER's; NOT NULL forbids it here.
        check(&e.unwrap_err(), ErrorClass::Constraint, "");
        is_well(&mut session).await;
        assert_eq!(
            crate::it::contract::backend::count(&mut session, "t").await,
            1
        );
    }
}

pub async fn wrong_sql_is_fatal_and_the_session_well(db: Db) {
    for mut session in db.sessions().await {
        let e = attempt(&mut session, "SELEKT 1", &[]).await.unwrap_err();
        check(&e, ErrorClass::Fatal, "SELEKT");
        let e = session.simple("UPDATE SET").await.unwrap_err();
        check(&e, ErrorClass::Fatal, "");
        is_well(&mut session).await;
    }
}

pub async fn an_error_within_a_transaction_leaves_it_to_roll_back(db: Db) {
    let mut sessions = db.sessions().await;
    db.make_t(&mut sessions[0]).await;
    for mut session in sessions {
        let insert = session
            .prepare("INSERT INTO t (id) VALUES (?)")
            .await
            .unwrap();
        session.simple(session.dialect().begin()).await.unwrap();
        session.execute(&insert, &[Value::Int(1)]).await.unwrap();
        let e = session
            .execute(&insert, &[Value::Int(1)])
            .await
            .unwrap_err();
        check(&e, ErrorClass::Constraint, "");
        session.simple("ROLLBACK").await.unwrap();
        assert_eq!(
            crate::it::contract::backend::count(&mut session, "t").await,
            0
        );
        // The statement prepared before is still good.
        session.simple(session.dialect().begin()).await.unwrap();
        session.execute(&insert, &[Value::Int(1)]).await.unwrap();
        session.simple("ROLLBACK").await.unwrap();
    }
}

pub async fn a_wrong_number_of_values_is_an_error(db: Db) {
    let mut session = db.session().await;
    db.make_t(&mut session).await;
    let insert = session
        .prepare("INSERT INTO t (id, n) VALUES (?, ?)")
        .await
        .unwrap();
    for values in [&[Value::Int(1)][..], &[Value::Int(1); 3][..], &[]] {
        let e = session.execute(&insert, values).await.unwrap_err();
        check(&e, ErrorClass::Fatal, "");
        is_well(&mut session).await;
    }
    assert_eq!(
        crate::it::contract::backend::count(&mut session, "t").await,
        0
    );
}
