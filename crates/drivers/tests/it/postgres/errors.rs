//! What goes wrong, and what may be done about it.

use crate::it::postgres::support::{connect, run, try_connect};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tidemark_core::ErrorClass;
use tidemark_drivers::{Session, Statement, Value};
use tidemark_runtime::{Executor, sleep};
use tidemark_testkit::{Database, SandboxEngine, Server, shared_postgres};

fn database(name: &str) -> Database {
    shared_postgres().unwrap().fresh_database(name).unwrap()
}

async fn table(session: &mut Session) {
    session
        .simple("CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL CHECK (b >= 0))")
        .await
        .unwrap();
    session
        .simple("INSERT INTO t VALUES (1, 10), (2, 20)")
        .await
        .unwrap();
}

#[test]
fn errors_have_their_class_and_leave_the_session_well() {
    let db = database("classes");
    run(async move {
        let mut session = connect(&db.url()).await;
        table(&mut session).await;
        for (sql, code, class) in [
            (
                "INSERT INTO t VALUES (1, 1)",
                "23505",
                ErrorClass::Constraint,
            ),
            (
                "INSERT INTO t VALUES (3, NULL)",
                "23502",
                ErrorClass::Constraint,
            ),
            (
                "INSERT INTO t VALUES (3, -1)",
                "23514",
                ErrorClass::Constraint,
            ),
            ("SELECT * FROM nowhere", "42P01", ErrorClass::Missing),
            ("SELECT nothing FROM t", "42703", ErrorClass::Missing),
            ("CREATE TABLE s.t (a INT)", "3F000", ErrorClass::Missing),
            ("SELEKT 1", "42601", ErrorClass::Fatal),
            ("SELECT 1/0", "22012", ErrorClass::Fatal),
        ] {
            let error = session.simple(sql).await.unwrap_err();
            assert_eq!((error.code.as_str(), error.class), (code, class), "{error}");
            // By Parse, or by Bind and Execute.
            let error = match session.prepare(sql).await {
                Ok(statement) => session.execute(&statement, &[]).await.unwrap_err(),
                Err(error) => error,
            };
            assert_eq!((error.code.as_str(), error.class), (code, class), "{error}");
        }
        let error = session.simple("SELECT * FROM nowhere").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "42P01: relation \"nowhere\" does not exist"
        );
        let rows = session.query("SELECT count(*) FROM t").await.unwrap();
        assert_eq!(rows.int(0, 0), Some(2));
    });
}

#[test]
fn values_must_fit_the_statement() {
    let db = database("values");
    run(async move {
        let mut session = connect(&db.url()).await;
        let statement = session.prepare("SELECT ?::int + ?").await.unwrap();
        let error = session
            .execute(&statement, &[Value::Int(1)])
            .await
            .unwrap_err();
        assert!(
            error.message.contains("2 parameters and 1 values"),
            "{error}"
        );
        let values = [Value::Text("one"), Value::Int(2)];
        let error = session.execute(&statement, &values).await.unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.class),
            ("22P02", ErrorClass::Fatal)
        );
        let error = session.simple("SELECT '\0'").await.unwrap_err();
        assert!(error.message.contains("zero byte"), "{error}");
        let values = [Value::Int(1), Value::Int(2)];
        assert_eq!(session.execute(&statement, &values).await.unwrap().rows, 1);
    });
}

#[test]
fn a_failed_transaction_goes_on_after_a_rollback() {
    let db = database("failed");
    run(async move {
        let mut session = connect(&db.url()).await;
        table(&mut session).await;
        let update = session.prepare("UPDATE t SET b=? WHERE a=1").await.unwrap();
        let insert = session
            .prepare("INSERT INTO t VALUES (?, 0)")
            .await
            .unwrap();
        session.simple("BEGIN").await.unwrap();
        session.execute(&update, &[Value::Int(5)]).await.unwrap();
        let error = session
            .execute(&insert, &[Value::Int(1)])
            .await
            .unwrap_err();
        assert_eq!(error.class, ErrorClass::Constraint);
        let error = session
            .execute(&update, &[Value::Int(6)])
            .await
            .unwrap_err();
        assert_eq!(error.code, "25P02");
        session.rollback().await.unwrap();
        let rows = session.query("SELECT b FROM t WHERE a=1").await.unwrap();
        assert_eq!(rows.int(0, 0), Some(10));
        session.execute(&insert, &[Value::Int(7)]).await.unwrap();
    });
}

/// A session in a transaction that has changed row `key` and seen the others.
async fn begun(url: &str, begin: &str, key: i64) -> (Session, Statement) {
    let mut session = connect(url).await;
    let sql = "UPDATE t SET b=b+1 WHERE a=?";
    let update = session.prepare(sql).await.unwrap();
    session.simple(begin).await.unwrap();
    session.simple("SELECT 1 FROM t").await.unwrap();
    session.execute(&update, &[Value::Int(key)]).await.unwrap();
    (session, update)
}

fn sum(db: &Database) -> String {
    db.query("SELECT sum(b) FROM t").unwrap().trim().to_string()
}

fn with_table(name: &str) -> Database {
    let db = database(name);
    let url = db.url();
    run(async move {
        let mut session = connect(&url).await;
        table(&mut session).await;
    });
    db
}

#[test]
fn a_deadlock_is_retryable() {
    let db = with_table("deadlock");
    let url = db.url();
    let errors = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&errors);
    run(async move {
        let first = begun(&url, "BEGIN", 1).await;
        let second = begun(&url, "BEGIN", 2).await;
        let others = Rc::new(Cell::new(2));
        for ((mut session, update), own, other) in [(first, 1, 2), (second, 2, 1)] {
            let (seen, others) = (Rc::clone(&seen), Rc::clone(&others));
            tidemark_runtime::spawn(async move {
                let result = session.execute(&update, &[Value::Int(other)]).await;
                if let Err(error) = result {
                    seen.borrow_mut().push(error);
                    session.rollback().await.unwrap();
                    while others.get() == 2 {
                        sleep(Duration::from_millis(5)).await;
                    }
                    // From its beginning again, it succeeds.
                    session.simple("BEGIN").await.unwrap();
                    for key in [own, other] {
                        session.execute(&update, &[Value::Int(key)]).await.unwrap();
                    }
                }
                session.simple("COMMIT").await.unwrap();
                others.set(others.get() - 1);
            });
        }
    });
    let errors = errors.borrow();
    let codes: Vec<_> = errors.iter().map(|e| (e.code.as_str(), e.class)).collect();
    assert_eq!(codes, [("40P01", ErrorClass::Retryable)]);
    assert_eq!(sum(&db), "34");
}

#[test]
fn a_serialization_failure_is_retryable() {
    let db = with_table("serialization");
    let url = db.url();
    run(async move {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ";
        let (mut first, update) = begun(&url, begin, 1).await;
        let (mut second, other_update) = begun(&url, begin, 2).await;
        first.execute(&update, &[Value::Int(1)]).await.unwrap();
        first.simple("COMMIT").await.unwrap();
        for attempt in 0..2 {
            let result = second.execute(&other_update, &[Value::Int(1)]).await;
            if attempt == 1 {
                result.unwrap();
                break;
            }
            let error = result.unwrap_err();
            let got = (error.code.as_str(), error.class);
            assert_eq!(got, ("40001", ErrorClass::Retryable));
            second.rollback().await.unwrap();
            second.simple(begin).await.unwrap();
            second
                .execute(&other_update, &[Value::Int(2)])
                .await
                .unwrap();
        }
        second.simple("COMMIT").await.unwrap();
    });
    assert_eq!(sum(&db), "34");
}

#[test]
fn a_lock_not_waited_for_is_retryable() {
    let db = with_table("nowait");
    run(async move {
        let mut holder = connect(&db.url()).await;
        let mut other = connect(&db.url()).await;
        holder.simple("BEGIN").await.unwrap();
        holder.simple("UPDATE t SET b=0 WHERE a=1").await.unwrap();
        let sql = "SELECT * FROM t WHERE a=1 FOR UPDATE NOWAIT";
        let error = other.simple(sql).await.unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.class),
            ("55P03", ErrorClass::Retryable)
        );
    });
}

async fn backend(session: &mut Session) -> i64 {
    let rows = session.query("SELECT pg_backend_pid()").await.unwrap();
    rows.int(0, 0).unwrap()
}

async fn terminate(session: &mut Session, pid: i64) {
    let sql = format!("SELECT pg_terminate_backend({pid}, 5000)");
    let rows = session.query(&sql).await.unwrap();
    assert_eq!(rows.text(0, 0).as_deref(), Some("t"));
}

#[test]
fn a_session_ended_between_statements_tells_why() {
    let db = database("ended_idle");
    run(async move {
        let mut killer = connect(&db.url()).await;
        let mut victim = connect(&db.url()).await;
        let pid = backend(&mut victim).await;
        terminate(&mut killer, pid).await;
        let error = victim.simple("SELECT 1").await.unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.class),
            ("57P01", ErrorClass::ConnectionLost),
            "{error}"
        );
        let error = victim.simple("SELECT 1").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
    });
}

#[test]
fn a_session_ended_within_a_statement_tells_why() {
    let db = database("ended_busy");
    let mut executor = Executor::new().unwrap();
    executor.spawn(async move {
        let mut killer = connect(&db.url()).await;
        let mut victim = connect(&db.url()).await;
        let pid = backend(&mut victim).await;
        tidemark_runtime::spawn(async move {
            sleep(Duration::from_millis(100)).await;
            terminate(&mut killer, pid).await;
            // The database is dropped when nobody uses it any more.
            drop(db);
        });
        let error = victim.simple("SELECT pg_sleep(30)").await.unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.class),
            ("57P01", ErrorClass::ConnectionLost)
        );
    });
    executor.run().unwrap();
}

#[test]
fn a_killed_server_is_a_lost_connection_and_then_refuses() {
    let server = Server::builder(SandboxEngine::Postgres).start().unwrap();
    run(async move {
        let url = server.url();
        let mut idle = connect(&url).await;
        let mut busy = connect(&url).await;
        let select = idle.prepare("SELECT ?::int").await.unwrap();
        let server = Rc::new(server);
        let killer = Rc::clone(&server);
        tidemark_runtime::spawn(async move {
            sleep(Duration::from_millis(100)).await;
            killer.kill9().unwrap();
        });
        let error = busy.simple("SELECT pg_sleep(30)").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        for _ in 0..2 {
            let error = idle.execute(&select, &[Value::Int(1)]).await.unwrap_err();
            assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        }
        let error = try_connect(&url).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Refused, "{error}");
        assert!(
            error.message.contains(&server.port().to_string()),
            "{error}"
        );
    });
}
