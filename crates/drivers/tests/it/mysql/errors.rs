//! The MySQL-protocol driver against a real MariaDB: errors, lost connections, and what goes on after
//! them.

use crate::it::mysql::support::{connect, database, number, run, text, try_connect};
use std::cell::Cell as Flag;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{Session, Value};
use tidemark_runtime::{Executor, sleep, timeout};
use tidemark_testkit::Server;

/// The error's class and code, from a session that goes on after it.
async fn error_of(session: &mut Session, sql: &str) -> (ErrorClass, String) {
    let by_text = session.simple(sql).await.unwrap_err();
    let by_query = session.query(sql).await.unwrap_err();
    let prepared = match session.prepare(sql).await {
        Ok(statement) => session.execute(&statement, &[]).await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(by_text, by_query);
    assert_eq!(by_text.code, prepared.code);
    assert_eq!(number(session, "SELECT 42").await, 42);
    (by_text.class, by_text.code)
}

#[test]
fn errors_have_their_class_and_leave_the_session_well() {
    let db = database("errors");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL)")
            .await
            .unwrap();
        session.simple("INSERT INTO t VALUES (1, 1)").await.unwrap();
        for (sql, class, code) in [
            (
                "INSERT INTO t VALUES (1, 2)",
                ErrorClass::Constraint,
                "1062",
            ),
            (
                "INSERT INTO t VALUES (2, NULL)",
                ErrorClass::Constraint,
                "1048",
            ),
            ("SELECT * FROM absent", ErrorClass::Missing, "1146"),
            ("SELECT absent FROM t", ErrorClass::Missing, "1054"),
            ("SELECT * FROM absent.t", ErrorClass::Missing, "1146"),
            ("USE absent", ErrorClass::Missing, "1049"),
            ("SELEC 1", ErrorClass::Fatal, "1064"),
            (
                "SELECT (SELECT a FROM t UNION SELECT 2)",
                ErrorClass::Fatal,
                "1242",
            ),
        ] {
            assert_eq!(
                error_of(&mut session, sql).await,
                (class, code.into()),
                "{sql}"
            );
        }
    });
}

#[test]
fn a_failed_execution_does_not_spoil_the_next() {
    let db = database("failed");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))")
            .await
            .unwrap();
        let insert = session
            .prepare("INSERT INTO t VALUES (?, ?)")
            .await
            .unwrap();
        let null = [Value::Int(1), Value::Null];
        assert_eq!(session.execute(&insert, &null).await.unwrap().affected, 1);
        let twice = [Value::Int(1), Value::Text("x")];
        assert_eq!(
            session.execute(&insert, &twice).await.unwrap_err().code,
            "1062"
        );
        for (id, value) in [
            (2, Value::Text("two")),
            (3, Value::Null),
            (4, Value::Int(4)),
            (5, Value::Float(5.5)),
            (6, Value::Bytes(b"six")),
            (7, Value::Text("seven")),
        ] {
            session
                .execute(&insert, &[Value::Int(id), value])
                .await
                .unwrap();
        }
        let joined = text(&mut session, "SELECT GROUP_CONCAT(b ORDER BY a) FROM t").await;
        assert_eq!(joined, "two,4,5.5,six,seven");
    });
}

#[test]
fn misuse_is_told_before_anything_is_sent() {
    let db = database("misuse");
    run(async move {
        let mut session = connect(&db.url()).await;
        let mut other = connect(&db.url()).await;
        let statement = session.prepare("SELECT ?").await.unwrap();
        for values in [&[][..], &[Value::Int(1), Value::Int(2)]] {
            let error = session.execute(&statement, values).await.unwrap_err();
            assert_eq!(
                (error.class, error.code.as_str()),
                (ErrorClass::Fatal, "usage")
            );
            assert!(error.message.contains("has 1 parameters"), "{error}");
        }
        let error = other
            .execute(&statement, &[Value::Int(1)])
            .await
            .unwrap_err();
        assert!(error.message.contains("another session"), "{error}");
        let one = session.execute(&statement, &[Value::Int(1)]).await.unwrap();
        assert_eq!(one.rows, 1);
    });
}

#[test]
fn a_real_deadlock_is_retryable() {
    let db = database("deadlock");
    let url = db.url();
    run({
        let url = url.clone();
        async move {
            let mut session = connect(&url).await;
            session
                .simple("CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB")
                .await
                .unwrap();
            session
                .simple("INSERT INTO t VALUES (1, 0), (2, 0)")
                .await
                .unwrap();
        }
    });
    let locked = Rc::new(Flag::new(0));
    let outcomes = Rc::new(std::cell::RefCell::new(Vec::<Result<(), DbError>>::new()));
    let mut executor = Executor::new().unwrap();
    for (first, second) in [(1, 2), (2, 1)] {
        let (url, locked, outcomes) = (url.clone(), Rc::clone(&locked), Rc::clone(&outcomes));
        executor.spawn(async move {
            let mut session = connect(&url).await;
            let update = session
                .prepare("UPDATE t SET b=b+1 WHERE a=?")
                .await
                .unwrap();
            session.simple("BEGIN").await.unwrap();
            session
                .execute(&update, &[Value::Int(first)])
                .await
                .unwrap();
            locked.set(locked.get() + 1);
            while locked.get() < 2 {
                sleep(Duration::from_millis(5)).await;
            }
            let updated = session.execute(&update, &[Value::Int(second)]).await;
            // The deadlock's victim was rolled back and may begin again.
            if updated.is_err() {
                session.simple("ROLLBACK").await.unwrap();
                session.simple("BEGIN").await.unwrap();
                session
                    .execute(&update, &[Value::Int(first)])
                    .await
                    .unwrap();
            }
            session.simple("COMMIT").await.unwrap();
            outcomes.borrow_mut().push(updated.map(drop));
        });
    }
    executor.run().unwrap();
    let outcomes = outcomes.take();
    let errors: Vec<_> = outcomes.iter().filter_map(|o| o.as_ref().err()).collect();
    assert_eq!((outcomes.len(), errors.len()), (2, 1));
    assert_eq!(
        (errors[0].class, errors[0].code.as_str()),
        (ErrorClass::Retryable, "1213")
    );
}

#[test]
fn a_killed_session_is_lost_and_says_so_again() {
    let db = database("killed");
    run(async move {
        let mut session = connect(&db.url()).await;
        let mut killer = connect(&db.url()).await;
        let id = number(&mut session, "SELECT CONNECTION_ID()").await;
        killer.simple(&format!("KILL {id}")).await.unwrap();
        let begun = Instant::now();
        let lost = loop {
            match session.simple("SELECT 1").await {
                Ok(_) => sleep(Duration::from_millis(5)).await,
                Err(error) => break error,
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "it lives on");
        };
        assert_eq!(lost.class, ErrorClass::ConnectionLost, "{lost}");
        for _ in 0..2 {
            let error = session.simple("SELECT 1").await.unwrap_err();
            assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        }
    });
}

#[test]
fn a_statement_given_up_half_way_ends_the_session() {
    let db = database("given_up");
    run(async move {
        let mut session = connect(&db.url()).await;
        let slow = session.simple("SELECT SLEEP(30)");
        assert!(timeout(Duration::from_millis(100), slow).await.is_err());
        // The reply that is still to come must not be taken for another statement's.
        let begun = Instant::now();
        let error = session.query("SELECT 42").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost);
        assert!(error.message.contains("aborted"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    });
}

#[test]
fn a_server_that_dies_is_a_lost_connection() {
    let server = Server::mariadb().unwrap();
    run(async move {
        let mut idle = connect(&server.url()).await;
        let mut busy = connect(&server.url()).await;
        let statement = busy.prepare("SELECT SLEEP(?)").await.unwrap();
        let server = Rc::new(server);
        let killer = Rc::clone(&server);
        tidemark_runtime::spawn(async move {
            sleep(Duration::from_millis(200)).await;
            killer.kill9().unwrap();
        });
        let error = busy
            .execute(&statement, &[Value::Int(60)])
            .await
            .unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        let error = idle.simple("SELECT 1").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        let url = server.url();
        let refused = try_connect(&url).await.unwrap_err();
        assert_eq!(refused.class, ErrorClass::Refused, "{refused}");
        assert!(
            refused.message.contains(&server.port().to_string()),
            "{refused}"
        );
    });
}
