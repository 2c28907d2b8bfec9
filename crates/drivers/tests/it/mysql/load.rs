//! The MySQL-protocol driver against a real MariaDB: loading rows.

use crate::it::mysql::support::{connect, database, number, rows, run, text};
use tidemark_core::{Engine, ErrorClass};
use tidemark_drivers::{BulkMethod, LoadRequest, RowWriter, Session, Value};
use tidemark_testkit::{SandboxEngine as Kind, Server};

const METHODS: [BulkMethod; 3] = [
    BulkMethod::BulkExecute,
    BulkMethod::LoadData,
    BulkMethod::MultiRowInsert,
];

fn into<'a>(
    table: &'a str,
    columns: &'a [&'a str],
    method: impl Into<Option<BulkMethod>>,
) -> LoadRequest<'a> {
    LoadRequest {
        table,
        columns,
        method: method.into(),
    }
}

/// Rows of one integer and one text.
fn pairs(pairs: &'static [(i64, &'static str)]) -> impl tidemark_drivers::RowSource {
    rows(move |i, row: &mut RowWriter<'_>| {
        let Some((id, text)) = pairs.get(i as usize) else {
            return false;
        };
        row.int(*id);
        row.text(text);
        true
    })
}

/// What the text of row `i` is: everything that a form of rows might take for its own.
fn tricky(i: u64) -> Option<String> {
    match i % 6 {
        0 => None,
        1 => Some("\\N".into()),
        2 => Some(String::new()),
        3 => Some(format!("a\tb\\c\nd\re'f\"g\0h`i{i}ü🌊\u{1a}")),
        4 => Some("NULL".into()),
        _ => Some("x".repeat(i as usize % 200)),
    }
}

#[test]
fn both_ways_load_the_same_rows_whatever_is_in_them() {
    const ROWS: u64 = 30_000;
    let db = database("ways");
    run(async move {
        let mut session = connect(&db.url()).await;
        let columns = ["id", "odd `name", "f"];
        for (table, method) in ["loaded", "in`serted"].into_iter().zip(METHODS) {
            let quoted = session.dialect().quote(table);
            let create = format!(
                "CREATE TABLE {quoted} (id INT PRIMARY KEY, `odd ``name` TEXT, f DOUBLE) \
                 CHARSET=utf8mb4"
            );
            session.simple(&create).await.unwrap();
            let mut source = rows(|i, row: &mut RowWriter<'_>| {
                row.int(i as i64);
                match tricky(i) {
                    None => row.push(Value::Null),
                    Some(text) => row.text(&text),
                }
                row.push(Value::Float(i as f64 / 8.0));
                i < ROWS
            });
            let request = into(table, &columns, method);
            let loaded = session.load(&request, &mut source).await.unwrap();
            assert_eq!((loaded.rows, loaded.method), (ROWS, method));
            let sql = format!("SELECT id, `odd ``name`, f FROM {quoted} ORDER BY id");
            let read = session.query(&sql).await.unwrap();
            assert_eq!(read.len() as u64, ROWS);
            for i in 0..ROWS {
                let row = i as usize;
                assert_eq!(read.int(row, 0), Some(i as i64));
                assert_eq!(read.text(row, 1), tricky(i), "{method:?}, row {i}");
                assert_eq!(read.float(row, 2), Some(i as f64 / 8.0));
            }
        }
    });
}

#[test]
fn arrays_are_the_best_way_and_no_rows_are_no_error() {
    let db = database("none");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT, b TEXT)")
            .await
            .unwrap();
        for method in std::iter::once(None).chain(METHODS.map(Some)) {
            let loaded = session
                .load(&into("t", &["a", "b"], method), &mut pairs(&[]))
                .await
                .unwrap();
            assert_eq!(loaded.rows, 0);
            assert_eq!(loaded.method, method.unwrap_or(BulkMethod::BulkExecute));
        }
        let copy = into("t", &["a", "b"], BulkMethod::Copy);
        let error = session
            .load(&copy, &mut pairs(&[(1, "")]))
            .await
            .unwrap_err();
        assert_eq!(
            (error.class, error.code.as_str()),
            (ErrorClass::Fatal, "usage")
        );
        assert_eq!(number(&mut session, "SELECT COUNT(*) FROM t").await, 0);
    });
}

/// Loads `source` into `t` and expects an error, no rows, and a session that goes on.
async fn refused(
    session: &mut Session,
    method: BulkMethod,
    source: &mut dyn tidemark_drivers::RowSource,
    code: &str,
) -> ErrorClass {
    let before = number(session, "SELECT COUNT(*) FROM t").await;
    let request = into("t", &["a", "b"], method);
    let error = session.load(&request, source).await.unwrap_err();
    assert_eq!(error.code, code, "{method:?}: {error}");
    let after = number(session, "SELECT COUNT(*) FROM t").await;
    assert_eq!(
        (before, number(session, "SELECT @@in_transaction").await),
        (after, 0)
    );
    error.class
}

#[test]
fn a_short_or_bent_load_is_an_error_and_leaves_nothing() {
    let db = database("short");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(3) NOT NULL) CHARSET=latin1")
            .await
            .unwrap();
        session
            .simple("INSERT INTO t VALUES (7, 'old')")
            .await
            .unwrap();
        for method in METHODS {
            for mode in ["", "STRICT_TRANS_TABLES"] {
                let set = format!("SET sql_mode='{mode}'");
                session.simple(&set).await.unwrap();
                // A key that is there already; a value too long; one that latin1 hasn't.
                let twice = &mut pairs(&[(1, "a"), (7, "new"), (2, "b")]);
                let class = refused(&mut session, method, twice, "1062").await;
                assert_eq!(class, ErrorClass::Constraint);
                let long = &mut pairs(&[(1, "a"), (2, "long")]);
                let strict_insert = !mode.is_empty() && method != BulkMethod::LoadData;
                let code = if strict_insert { "1406" } else { "1265" };
                refused(&mut session, method, long, code).await;
                let wave = &mut pairs(&[(1, "a"), (2, "🌊")]);
                refused(&mut session, method, wave, "1366").await;
                let fewer = &mut rows(|i, row: &mut RowWriter<'_>| {
                    row.int(i as i64);
                    i < 2
                });
                let code = match method {
                    BulkMethod::BulkExecute => "load",
                    BulkMethod::LoadData => "1261",
                    _ => "1136",
                };
                refused(&mut session, method, fewer, code).await;
            }
        }
        assert_eq!(
            text(&mut session, "SELECT GROUP_CONCAT(b) FROM t").await,
            "old"
        );
    });
}

#[test]
fn text_is_converted_to_the_tables_character_set() {
    let db = database("charset");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT, b TEXT) CHARSET=latin1")
            .await
            .unwrap();
        for method in METHODS {
            let request = into("t", &["a", "b"], method);
            session
                .load(&request, &mut pairs(&[(1, "größe")]))
                .await
                .unwrap();
        }
        let hex = "SELECT COUNT(*) FROM t WHERE HEX(b) = '6772F6DF65'";
        assert_eq!(number(&mut session, hex).await, METHODS.len() as i64);
    });
}

#[test]
fn binary_data_is_whole_or_refused() {
    let db = database("binary");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT, b BLOB)")
            .await
            .unwrap();
        let bytes: Vec<u8> = (0..=255).collect();
        for method in METHODS {
            let mut source = rows(|i, row: &mut RowWriter<'_>| {
                row.int(i as i64);
                row.push(Value::Bytes(&bytes));
                i < 1
            });
            let request = into("t", &["a", "b"], method);
            let loaded = session.load(&request, &mut source).await;
            let whole = format!(
                "SELECT COUNT(*) FROM t WHERE b = x'{}'",
                bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()
            );
            let kept = number(&mut session, &whole).await;
            let all = number(&mut session, "SELECT COUNT(*) FROM t").await;
            match loaded {
                Ok(_) => assert_eq!((kept, all), (1, 1)),
                // MySQL takes only valid text.
                Err(error) => {
                    assert_eq!(session.server().engine, Engine::Mysql, "{error}");
                    assert_eq!((method, all), (BulkMethod::LoadData, 0), "{error}");
                }
            }
            session.simple("DELETE FROM t").await.unwrap();
        }
    });
}

#[test]
fn a_load_belongs_to_the_surrounding_transaction() {
    let db = database("surrounding");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT, b TEXT)")
            .await
            .unwrap();
        for method in METHODS {
            for (end, rows) in [("ROLLBACK", 0), ("COMMIT", 2)] {
                session.simple("BEGIN").await.unwrap();
                let request = into("t", &["a", "b"], method);
                let mut source = pairs(&[(1, "one"), (2, "two")]);
                let loaded = session.load(&request, &mut source).await.unwrap();
                assert_eq!(loaded.rows, 2);
                session.simple(end).await.unwrap();
                assert_eq!(number(&mut session, "SELECT COUNT(*) FROM t").await, rows);
            }
            session.simple("DELETE FROM t").await.unwrap();
        }
    });
}

#[test]
fn a_server_without_local_files_gets_commands_no_longer_than_it_takes() {
    let server = Server::builder(Kind::MariaDb)
        .setting("local-infile", "0")
        .setting("max-allowed-packet", "4096")
        .start()
        .unwrap();
    run(async move {
        let mut session = connect(&server.url()).await;
        session
            .simple("CREATE TABLE t (a INT, b TEXT)")
            .await
            .unwrap();
        for (method, used) in [
            (None, BulkMethod::BulkExecute),
            (Some(BulkMethod::MultiRowInsert), BulkMethod::MultiRowInsert),
        ] {
            session.simple("DELETE FROM t").await.unwrap();
            let mut source = rows(|i, row: &mut RowWriter<'_>| {
                row.int(i as i64);
                row.text(&"x".repeat(i as usize * 37 % 3000));
                i < 500
            });
            let request = into("t", &["a", "b"], method);
            let loaded = session.load(&request, &mut source).await.unwrap();
            assert_eq!((loaded.rows, loaded.method), (500, used));
            let right = "SELECT COUNT(*), COUNT(DISTINCT a) FROM t WHERE LENGTH(b) = a * 37 % 3000";
            let counted = session.query(right).await.unwrap();
            assert_eq!(
                (counted.int(0, 0), counted.int(0, 1)),
                (Some(500), Some(500))
            );
        }

        // Asked for by name, LOAD DATA is refused and not replaced.
        let request = into("t", &["a", "b"], BulkMethod::LoadData);
        let error = session
            .load(&request, &mut pairs(&[(1, "")]))
            .await
            .unwrap_err();
        assert_eq!(
            (error.class, error.code.as_str()),
            (ErrorClass::Fatal, "4166")
        );
        assert_eq!(number(&mut session, "SELECT COUNT(*) FROM t").await, 500);

        // A row that no statement can hold.
        let mut source = rows(|i, row: &mut RowWriter<'_>| {
            row.int(i as i64);
            row.text(&"x".repeat(100_000));
            i < 1
        });
        let request = into("t", &["a", "b"], None);
        let error = session.load(&request, &mut source).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        let mut session = connect(&server.url()).await;
        assert_eq!(number(&mut session, "SELECT COUNT(*) FROM t").await, 500);
    });
}

/// A packet that is longer than the server takes ends the connection, in the middle of LOAD DATA too.
#[test]
fn pieces_of_load_data_are_no_longer_than_the_server_takes() {
    for most in ["16384", "262144"] {
        let server = Server::builder(Kind::MariaDb)
            .setting("max-allowed-packet", most)
            .start()
            .unwrap();
        run(async move {
            let mut session = connect(&server.url()).await;
            let create = "CREATE TABLE t (a INT, b TEXT)";
            session.simple(create).await.unwrap();
            let mut source = rows(|i, row: &mut RowWriter<'_>| {
                row.int(i as i64);
                row.text(&"x".repeat(i as usize * 37 % 3000));
                i < 2_000
            });
            let request = into("t", &["a", "b"], BulkMethod::LoadData);
            let loaded = session.load(&request, &mut source).await.unwrap();
            assert_eq!((loaded.rows, loaded.method), (2_000, BulkMethod::LoadData));
            let right = "SELECT COUNT(DISTINCT a) FROM t WHERE LENGTH(b) = a * 37 % 3000";
            assert_eq!(number(&mut session, right).await, 2_000, "{most}");
        });
    }
}

#[test]
fn a_server_that_dies_under_a_load_is_a_lost_connection() {
    let server = Server::mariadb().unwrap();
    run(async move {
        let mut session = connect(&server.url()).await;
        session
            .simple("CREATE TABLE t (a INT, b TEXT)")
            .await
            .unwrap();
        let mut source = rows(|i, row: &mut RowWriter<'_>| {
            if i == 100_000 {
                server.kill9().unwrap();
            }
            row.int(i as i64);
            row.text("some words that make the row a little longer");
            i < 2_000_000
        });
        let request = into("t", &["a", "b"], None);
        let error = session.load(&request, &mut source).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        assert!(source.made < 2_000_000);
    });
}
