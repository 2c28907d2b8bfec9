//! Statements and their results.

use crate::it::postgres::support::{connect, connector, run};
use std::rc::Rc;
use std::time::Duration;
use tidemark_core::{Engine, ErrorClass, PreparedMode};
use tidemark_drivers::{Cell, Outcome, RowSet, Session, Value};
use tidemark_runtime::{Executor, timeout};
use tidemark_testkit::{Database, shared_postgres};

fn database(name: &str) -> Database {
    shared_postgres().unwrap().fresh_database(name).unwrap()
}

const SBTEST: &str = "CREATE TABLE sbtest1 (id SERIAL PRIMARY KEY, k INTEGER DEFAULT 0 NOT NULL, \
                      c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL)";

/// What one statement gave: its outcome and its rows.
async fn step(
    session: &mut Session,
    sql: &str,
    values: &[Value<'_>],
) -> (Outcome, Vec<Option<String>>) {
    let statement = session.prepare(sql).await.unwrap();
    let mut rows = RowSet::new();
    let fetched = session.fetch(&statement, values, &mut rows).await.unwrap();
    let mut cells = Vec::new();
    for row in 0..rows.len() {
        for column in 0..rows.columns() {
            cells.push(rows.text(row, column));
        }
    }
    (fetched, cells)
}

async fn sysbench_statements(
    url: String,
    mode: PreparedMode,
) -> Vec<(Outcome, Vec<Option<String>>)> {
    let mut session = connector(&url, mode).connect(0).await.unwrap();
    session
        .simple("DROP TABLE IF EXISTS sbtest1")
        .await
        .unwrap();
    session.simple(SBTEST).await.unwrap();
    let mut seen = Vec::new();
    let insert = "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)";
    for id in 1..=20 {
        let c = format!("row {id}: it's a \"tide\" \\ with ? and $1, ü");
        let values = [
            Value::Int(id),
            Value::Int(id % 7),
            Value::Text(&c),
            Value::Text("pad"),
        ];
        seen.push(step(&mut session, insert, &values).await);
    }
    let int = Value::Int;
    for (sql, values) in [
        ("BEGIN", &[][..]),
        ("SELECT c FROM sbtest1 WHERE id=?", &[int(5)]),
        ("SELECT c FROM sbtest1 WHERE id=?", &[int(500)]),
        (
            "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?",
            &[int(3), int(9)],
        ),
        (
            "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?",
            &[int(3), int(9)],
        ),
        (
            "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
            &[int(3), int(9)],
        ),
        (
            "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
            &[int(3), int(9)],
        ),
        (
            "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?) ORDER BY id LIMIT ?",
            &[int(1), int(2), int(3), int(4)],
        ),
        ("UPDATE sbtest1 SET k=k+1 WHERE id=?", &[int(4)]),
        (
            "UPDATE sbtest1 SET c=? WHERE id=?",
            &[Value::Text("tide"), int(4)],
        ),
        (
            "UPDATE sbtest1 SET c=? WHERE id=?",
            &[Value::Text("none"), int(-4)],
        ),
        ("DELETE FROM sbtest1 WHERE id=?", &[int(6)]),
        (
            "INSERT INTO sbtest1 (k, c, pad) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING k",
            &[int(8), Value::Text(""), Value::Text("")],
        ),
        ("COMMIT", &[]),
        (
            "SELECT ?::text IS NULL, ?::float8, ?::bytea",
            &[
                Value::Null,
                Value::Float(-1.25e-3),
                Value::Bytes(&[0, 39, 92, 255]),
            ],
        ),
        ("CREATE TABLE copied AS SELECT * FROM sbtest1", &[]),
        ("DROP TABLE copied", &[]),
        ("", &[]),
    ] {
        // The explicit id of the rows above leaves the sequence at its start.
        if sql.contains("RETURNING") {
            session
                .simple("SELECT setval('sbtest1_id_seq', 1000)")
                .await
                .unwrap();
        }
        seen.push(step(&mut session, sql, values).await);
    }
    session.close().await;
    seen
}

#[test]
fn text_mode_equals_server_mode() {
    let db = database("modes");
    let prepared = run(sysbench_statements(db.url(), PreparedMode::Server));
    let text = run(sysbench_statements(db.url(), PreparedMode::Text));
    assert_eq!(prepared, text);
    let outcome = |has_rows, rows, affected| Outcome {
        has_rows,
        rows,
        affected,
    };
    let outcomes: Vec<Outcome> = prepared.iter().map(|(o, _)| *o).collect();
    assert!(outcomes[..20].iter().all(|o| *o == outcome(false, 0, 1)));
    assert_eq!(
        outcomes[20..],
        [
            outcome(false, 0, 0),
            outcome(true, 1, 0),
            outcome(true, 0, 0),
            outcome(true, 7, 0),
            outcome(true, 1, 0),
            outcome(true, 7, 0),
            outcome(true, 7, 0),
            outcome(true, 4, 0),
            outcome(false, 0, 1),
            outcome(false, 0, 1),
            outcome(false, 0, 0),
            outcome(false, 0, 1),
            outcome(true, 1, 1),
            outcome(false, 0, 0),
            outcome(true, 1, 0),
            outcome(false, 0, 20),
            outcome(false, 0, 0),
            outcome(false, 0, 0),
        ]
    );
    let c = prepared[21].1[0].as_deref().unwrap();
    assert_eq!(c.trim_end(), "row 5: it's a \"tide\" \\ with ? and $1, ü");
    let cells: Vec<_> = prepared[34].1.iter().map(|c| c.as_deref()).collect();
    assert_eq!(cells, [Some("t"), Some("-0.00125"), Some("\\x00275cff")]);
}

#[test]
fn the_server_is_known_and_statements_are_counted() {
    let db = database("counts");
    run(async move {
        let mut session = connect(&db.url()).await;
        assert_eq!(session.server().engine, Engine::Postgres);
        let version = session.query("SHOW server_version").await.unwrap();
        assert_eq!(Some(&session.server().version), version.text(0, 0).as_ref());
        for sql in [
            "CREATE TABLE t (a INT)",
            "BEGIN",
            "INSERT INTO t VALUES (1),(2)",
            "SELECT * FROM t",
            "SELECT * FROM t WHERE a>5",
            "UPDATE t SET a=9 WHERE a=7",
            "COMMIT",
        ] {
            session.simple(sql).await.unwrap();
        }
        let counts = session.counts();
        assert_eq!((counts.read, counts.write), (2, 1));
        assert_eq!((counts.other, counts.noop_writes), (4, 1));
        session.close().await;
    });
}

#[test]
fn results_larger_than_any_buffer_are_counted_and_read() {
    let db = database("large");
    run(async move {
        let mut session = connect(&db.url()).await;
        let sql = "SELECT i, repeat(chr(97 + (i % 26)::int), ?) FROM generate_series(1, ?) i";
        let statement = session.prepare(sql).await.unwrap();
        for (width, many) in [(1, 200_000), (3_000_000, 3), (70_000, 40)] {
            let values = [Value::Int(width), Value::Int(many)];
            let counted = session.execute(&statement, &values).await.unwrap();
            assert_eq!(counted.rows, many as u64);
            let mut rows = RowSet::new();
            let fetched = session.fetch(&statement, &values, &mut rows).await.unwrap();
            assert_eq!((fetched, rows.len()), (counted, many as usize));
            for row in 0..rows.len() {
                let number = row as i64 + 1;
                assert_eq!(rows.int(row, 0), Some(number));
                let Some(Cell::Bytes(text)) = rows.get(row, 1) else {
                    panic!("no text in row {row}");
                };
                assert_eq!(text.len(), width as usize);
                assert!(text.iter().all(|b| *b == b'a' + (number % 26) as u8));
            }
        }
    });
}

#[test]
fn a_request_larger_than_the_socket_takes_arrives_whole() {
    let db = database("request");
    run(async move {
        let mut session = connect(&db.url()).await;
        let text = "tide".repeat(2_000_000);
        let sql = "SELECT length(?), md5(?) = md5(repeat('tide', 2000000))";
        let statement = session.prepare(sql).await.unwrap();
        let mut rows = RowSet::new();
        let values = [Value::Text(&text), Value::Text(&text)];
        session.fetch(&statement, &values, &mut rows).await.unwrap();
        assert_eq!(rows.int(0, 0), Some(8_000_000));
        assert_eq!(rows.text(0, 1).as_deref(), Some("t"));
    });
}

#[test]
fn many_sessions_of_one_executor_get_their_own_replies() {
    let db = database("many");
    let connector = Rc::new(connector(&db.url(), PreparedMode::Server));
    let mut executor = Executor::new().unwrap();
    let done = Rc::new(std::cell::Cell::new(0));
    for number in 0..40i64 {
        let (connector, done) = (Rc::clone(&connector), Rc::clone(&done));
        executor.spawn(async move {
            let mut session = connector.connect(number as usize).await.unwrap();
            let sql = "SELECT ? + i, repeat('x', i::int) FROM generate_series(1, ?) i";
            let statement = session.prepare(sql).await.unwrap();
            let mut rows = RowSet::new();
            for turn in 0..30i64 {
                let many = (number * 7 + turn) % 50;
                let values = [Value::Int(number * 1000), Value::Int(many)];
                let outcome = session.execute(&statement, &values).await.unwrap();
                assert_eq!(outcome.rows, many as u64);
                session.fetch(&statement, &values, &mut rows).await.unwrap();
                for row in 0..rows.len() {
                    assert_eq!(rows.int(row, 0), Some(number * 1000 + row as i64 + 1));
                }
            }
            session.close().await;
            done.set(done.get() + 1);
        });
    }
    executor.run().unwrap();
    assert_eq!(done.get(), 40);
}

#[test]
fn notices_parameters_and_notifications_disturb_nothing() {
    let db = database("asynchronous");
    run(async move {
        let mut session = connect(&db.url()).await;
        session.simple("LISTEN tide").await.unwrap();
        let body = "BEGIN RAISE NOTICE 'first %', a; PERFORM pg_notify('tide', 'high'); \
                    PERFORM set_config('TimeZone', 'Asia/Tokyo', false); \
                    RAISE WARNING 'then'; RETURN a + 1; END";
        session
            .simple(&format!(
                "CREATE FUNCTION noisy(a INT) RETURNS INT LANGUAGE plpgsql AS $$ {body} $$"
            ))
            .await
            .unwrap();
        let statement = session
            .prepare("SELECT noisy(i::int) FROM generate_series(1, ?) i")
            .await
            .unwrap();
        let mut rows = RowSet::new();
        for _ in 0..3 {
            let outcome = session
                .fetch(&statement, &[Value::Int(5)], &mut rows)
                .await
                .unwrap();
            assert_eq!(outcome.rows, 5);
            let got: Vec<_> = (0..5).map(|row| rows.int(row, 0)).collect();
            assert_eq!(got, [2, 3, 4, 5, 6].map(Some));
        }
    });
}

#[test]
fn the_unix_socket_serves_too() {
    let Some(url) = shared_postgres().unwrap().socket_url() else {
        // A server that runs elsewhere has no socket here; a private one always has.
        assert!(std::env::var("TIDEMARK_TEST_POSTGRES_URL").is_ok());
        return;
    };
    run(async move {
        let mut session = connect(&url).await;
        let rows = session
            .query("SELECT inet_client_addr() IS NULL")
            .await
            .unwrap();
        assert_eq!(rows.text(0, 0).as_deref(), Some("t"));
    });
}

#[test]
fn a_session_whose_statement_was_given_up_is_lost() {
    let db = database("given_up");
    run(async move {
        let mut session = connect(&db.url()).await;
        let sleep = timeout(
            Duration::from_millis(50),
            session.simple("SELECT pg_sleep(5)"),
        );
        assert!(sleep.await.is_err());
        let error = session.query("SELECT 1").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost);
    });
}

#[test]
fn copies_sent_as_statements_are_refused_or_thrown_away() {
    let db = database("copies");
    run(async move {
        let mut session = connect(&db.url()).await;
        session.simple("CREATE TABLE t (a INT)").await.unwrap();
        session
            .simple("INSERT INTO t VALUES (1),(2)")
            .await
            .unwrap();
        let error = session.simple("COPY t FROM STDIN").await.unwrap_err();
        assert_eq!(error.code, "57014", "{error}");
        let statement = session.prepare("COPY t FROM STDIN").await.unwrap();
        for _ in 0..2 {
            let error = session.execute(&statement, &[]).await.unwrap_err();
            assert!(error.message.contains("no rows to copy"), "{error}");
        }
        session.simple("COPY t TO STDOUT").await.unwrap();
        let rows = session.query("SELECT count(*) FROM t").await.unwrap();
        assert_eq!(rows.int(0, 0), Some(2));
    });
}

#[test]
fn a_session_at_rest_and_its_calls_are_small() {
    let db = database("small");
    run(async move {
        let mut session = connect(&db.url()).await;
        let statement = session.prepare("SELECT ?::int").await.unwrap();
        let values = [Value::Int(1)];
        let execute = size_of_val(&session.execute(&statement, &values));
        let simple = size_of_val(&session.simple("SELECT 1"));
        // Ten thousand sessions must fit into 48 MiB, their tasks and statements included.
        for (call, size) in [("execute", execute), ("simple", simple)] {
            assert!(size <= 544, "{call}: {size} bytes");
        }
        let session_size = size_of::<tidemark_drivers::postgres::PostgresSession>();
        assert!(session_size <= 144, "{session_size}");
    });
}
