//! What a statement's outcome tells, and what a transaction keeps.

use crate::it::contract::Db;
use crate::it::contract::backend::count;
use tidemark_core::record::StatementCounts;
use tidemark_core::{Engine, PreparedMode};
use tidemark_drivers::{Outcome, RowSet, Value};

pub async fn the_server_names_itself(db: Db) {
    let session = db.session().await;
    assert_eq!(session.server().engine, db.engine());
    assert!(
        session
            .server()
            .version
            .starts_with(|c: char| c.is_ascii_digit()),
        "{}",
        session.server().version
    );
    assert_eq!(session.dialect(), db.dialect());
}

pub async fn rows_and_changes_are_counted(db: Db) {
    let [server, text] = db.sessions().await;
    for (first, mut session) in [(1, server), (100, text)] {
        if first == 1 {
            db.make_t(&mut session).await;
        }
        let insert = session.prepare("INSERT INTO t (id, n) VALUES (?, ?), (?, ?)");
        let insert = insert.await.unwrap();
        let values = [first, 7, first + 1, 7].map(Value::Int);
        let changed = |affected| Outcome {
            affected,
            ..Outcome::default()
        };
        assert_eq!(session.execute(&insert, &values).await, Ok(changed(2)));

        let select = session.prepare("SELECT id, n FROM t WHERE id >= ? ORDER BY id");
        let select = select.await.unwrap();
        let read = |rows| Outcome {
            has_rows: true,
            rows,
            affected: 0,
        };
        let from = |n| [Value::Int(n)];
        assert_eq!(session.execute(&select, &from(first)).await, Ok(read(2)));
        assert_eq!(
            session.execute(&select, &from(first + 1)).await,
            Ok(read(1))
        );
        assert_eq!(session.execute(&select, &from(1000)).await, Ok(read(0)));
        assert_eq!(
            session.simple("SELECT id FROM t WHERE id = 0").await,
            Ok(read(0))
        );

        let update = session.prepare("UPDATE t SET n = n + 1 WHERE id >= ?");
        let update = update.await.unwrap();
        assert_eq!(session.execute(&update, &from(first)).await, Ok(changed(2)));
        let delete = format!("DELETE FROM t WHERE id = {first}");
        assert_eq!(session.simple(&delete).await, Ok(changed(1)));
    }
}

pub async fn what_a_savepoint_ends_is_no_transaction(db: Db) {
    for (index, mut session) in db.sessions().await.into_iter().enumerate() {
        if index == 0 {
            db.make_t(&mut session).await;
        }
        let begin = session.dialect().begin();
        let statements = [
            begin,
            "INSERT INTO t (id) VALUES (1)",
            "SAVEPOINT s",
            "ROLLBACK TO SAVEPOINT s",
        ];
        for sql in statements {
            session.simple(sql).await.unwrap();
        }
        // As after an error: what is open is rolled back, and the next transaction can begin.
        session.rollback().await.unwrap();
        session.simple(begin).await.unwrap();
        assert_eq!(count(&mut session, "t").await, 0);
        session.simple("COMMIT").await.unwrap();
        // Nothing is open, and nothing is sent.
        let before = session.counts();
        session.rollback().await.unwrap();
        assert_eq!(session.counts(), before);
    }
}

pub async fn a_write_that_changes_nothing_is_other(db: Db) {
    for (index, mut session) in db.sessions().await.into_iter().enumerate() {
        if index == 0 {
            db.make_t(&mut session).await;
        }
        let before = session.counts();
        let update = session
            .prepare("UPDATE t SET n = 1 WHERE id = ?")
            .await
            .unwrap();
        let outcome = session.execute(&update, &[Value::Int(-5)]).await.unwrap();
        assert_eq!(outcome, Outcome::default());
        session.simple("DELETE FROM t WHERE id = -5").await.unwrap();
        session.simple(session.dialect().begin()).await.unwrap();
        session
            .simple("INSERT INTO t (id) VALUES (1)")
            .await
            .unwrap();
        session.simple("SELECT id FROM t").await.unwrap();
        session.simple("ROLLBACK").await.unwrap();
        let counts = session.counts() - before;
        assert_eq!(
            (counts.read, counts.write, counts.other, counts.noop_writes),
            (1, 1, 4, 2)
        );
    }
}

/// Whether it is counted as a statement or not; an embedded database has no way to it.
pub async fn each_wait_for_an_answer_is_a_round_trip(db: Db) {
    let waits = u64::from(db.engine() != Engine::Sqlite);
    let fresh = db.connector(PreparedMode::Server).connect(0).await.unwrap();
    assert_eq!(
        fresh.counts(),
        StatementCounts::default(),
        "opening is none"
    );
    fresh.close().await;
    for (mut session, prepares) in db.sessions().await.into_iter().zip([waits, 0]) {
        let before = session.counts();
        let statement = session.prepare("SELECT 1").await.unwrap();
        assert_eq!((session.counts() - before).round_trips, prepares);
        let before = session.counts();
        let mut rows = RowSet::new();
        session.execute(&statement, &[]).await.unwrap();
        session.fetch(&statement, &[], &mut rows).await.unwrap();
        session.simple("SELECT 2").await.unwrap();
        session.fetch_text("SELECT 3", &mut rows).await.unwrap();
        session.query("SELECT 4").await.unwrap();
        let missing = session.simple("SELECT a FROM tidemark_missing").await;
        missing.unwrap_err();
        let counted = session.counts() - before;
        assert_eq!((counted.read, counted.round_trips), (4, 6 * waits));
    }
}

pub async fn rollback_undoes_and_commit_keeps(db: Db) {
    let mut one = db.session().await;
    let mut other = db.session().await;
    db.make_t(&mut one).await;
    let [begin, commit, rollback] = [one.dialect().begin(), "COMMIT", "ROLLBACK"];
    let begin = one.prepare(begin).await.unwrap();
    let commit = one.prepare(commit).await.unwrap();
    let rollback = one.prepare(rollback).await.unwrap();
    let insert = one.prepare("INSERT INTO t (id) VALUES (?)").await.unwrap();

    one.execute(&begin, &[]).await.unwrap();
    one.execute(&insert, &[Value::Int(1)]).await.unwrap();
    assert_eq!(count(&mut one, "t").await, 1);
    assert_eq!(count(&mut other, "t").await, 0);
    one.execute(&rollback, &[]).await.unwrap();
    assert_eq!(count(&mut one, "t").await, 0);

    one.execute(&begin, &[]).await.unwrap();
    one.execute(&insert, &[Value::Int(2)]).await.unwrap();
    one.execute(&commit, &[]).await.unwrap();
    assert_eq!(count(&mut other, "t").await, 1);

    one.simple(one.dialect().begin_read()).await.unwrap();
    assert_eq!(count(&mut one, "t").await, 1);
    one.simple("COMMIT").await.unwrap();
}

pub async fn rollback_outside_a_transaction_is_taken(db: Db) {
    for mut session in db.sessions().await {
        session.simple("ROLLBACK").await.unwrap();
        let rollback = session.prepare("ROLLBACK").await.unwrap();
        let outcome = session.execute(&rollback, &[]).await.unwrap();
        assert_eq!(outcome, Outcome::default());
    }
}

pub async fn an_open_transaction_is_rolled_back_and_nothing_else_is_sent(db: Db) {
    let mut sessions = db.sessions().await;
    db.make_t(&mut sessions[0]).await;
    for mut session in sessions {
        let before = session.counts();
        session.rollback().await.unwrap();
        assert_eq!(session.counts(), before, "there was nothing to roll back");

        let begin = session.prepare(session.dialect().begin()).await.unwrap();
        session.execute(&begin, &[]).await.unwrap();
        session
            .simple("INSERT INTO t (id) VALUES (1)")
            .await
            .unwrap();
        session
            .simple("INSERT INTO t (id) VALUES (1)")
            .await
            .unwrap_err();
        session.rollback().await.unwrap();
        assert_eq!((session.counts() - before).total(), 3);
        assert_eq!(count(&mut session, "t").await, 0);
        session.rollback().await.unwrap();
        assert_eq!((session.counts() - before).total(), 3);
    }
}

/// What was only prepared, or failed, is told from what was executed.
pub async fn texts_are_kept_with_how_often_they_were_executed(db: Db) {
    for mut session in db.sessions().await {
        session.simple("CREATE TABLE t (id INTEGER)").await.unwrap();
        assert!(session.given_texts().is_empty() && session.last_text().is_none());
        session.keep_texts();
        let insert = session.prepare("INSERT INTO t VALUES (?)").await.unwrap();
        let select = session.prepare("SELECT id FROM t").await.unwrap();
        let _unused = session.prepare("DELETE FROM t").await.unwrap();
        for id in [1, 2] {
            session.execute(&insert, &[Value::Int(id)]).await.unwrap();
        }
        let mut rows = RowSet::new();
        session.fetch(&select, &[], &mut rows).await.unwrap();
        assert_eq!(session.last_text(), Some("SELECT id FROM t"));
        let missing = "SELECT a FROM tidemark_missing";
        session.simple(missing).await.unwrap_err();
        assert_eq!(session.last_text(), Some(missing));
        session.query("SELECT id FROM t").await.unwrap();
        let texts = session.given_texts().iter();
        let told: Vec<_> = texts.map(|t| (t.sql.as_str(), t.executed)).collect();
        let expected = [
            ("INSERT INTO t VALUES (?)", 2),
            ("SELECT id FROM t", 2),
            ("DELETE FROM t", 0),
            (missing, 0),
        ];
        assert_eq!(told, expected);
        session.simple("DROP TABLE t").await.unwrap();
        session.close().await;
    }
}
