//! Loading rows.

use crate::it::postgres::support::{Rows, connect, rows, run};
use tidemark_core::ErrorClass;
use tidemark_drivers::{BulkMethod, LoadRequest, RowWriter, Session, Value};
use tidemark_testkit::{Database, shared_postgres};

fn database(name: &str) -> Database {
    shared_postgres().unwrap().fresh_database(name).unwrap()
}

fn into<'a>(table: &'a str, columns: &'a [&'a str], method: BulkMethod) -> LoadRequest<'a> {
    LoadRequest {
        table,
        columns,
        method: Some(method),
    }
}

const METHODS: [BulkMethod; 2] = [BulkMethod::Copy, BulkMethod::MultiRowInsert];

async fn number(session: &mut Session, sql: &str) -> i64 {
    session.query(sql).await.unwrap().int(0, 0).unwrap()
}

#[test]
fn both_ways_load_the_same_rows_whatever_is_in_them() {
    let db = database("ways");
    run(async move {
        let mut session = connect(&db.url()).await;
        let columns = ["id", "Odd Name", "f", "b"];
        for (table, method) in ["copied", "in\"serted"].into_iter().zip(METHODS) {
            let quoted = session.dialect().quote(table);
            let create = format!(
                "CREATE TABLE {quoted} (id INT PRIMARY KEY, \"Odd Name\" TEXT, f FLOAT8, b BYTEA)"
            );
            session.simple(&create).await.unwrap();
            let mut source = rows(|i, row: &mut RowWriter<'_>| {
                if i == 30_000 {
                    return false;
                }
                row.int(i as i64);
                match i % 5 {
                    0 => row.push(Value::Null),
                    1 => row.text("\\N"),
                    2 => row.text("\\."),
                    3 => row.text(&format!("a\tb\\c\nd\re'f\"g {i} ü")),
                    _ => row.text(""),
                }
                row.push(Value::Float(i as f64 / 8.0));
                let bytes = (i as u32).to_be_bytes();
                row.push(Value::Bytes(&bytes));
                true
            });
            let loaded = session
                .load(&into(table, &columns, method), &mut source)
                .await
                .unwrap();
            assert_eq!((loaded.rows, loaded.method), (30_000, method));
            let quoted = session.dialect().quote(table);
            let sql = format!(
                "SELECT count(*) FROM {quoted} WHERE f = id / 8.0 \
                 AND b = decode(lpad(to_hex(id), 8, '0'), 'hex') \
                 AND \"Odd Name\" IS NOT DISTINCT FROM CASE id % 5 WHEN 0 THEN NULL \
                 WHEN 1 THEN E'\\\\N' WHEN 2 THEN E'\\\\.' \
                 WHEN 3 THEN E'a\\tb\\\\c\\nd\\re''f\"g ' || id || ' ü' ELSE '' END"
            );
            assert_eq!(number(&mut session, &sql).await, 30_000);
        }
    });
}

/// The same source by COPY and by INSERT, whose literals the server itself reads.
#[test]
fn copied_numbers_and_dates_are_those_that_the_server_reads_from_text() {
    const ROWS: u64 = 20_000;
    let db = database("typed");
    run(async move {
        let mut session = connect(&db.url()).await;
        let columns = ["id", "small", "n", "d", "at", "c", "wide"];
        for (table, method) in ["copied", "inserted"].into_iter().zip(METHODS) {
            let create = format!(
                "CREATE TABLE {table} (wide NUMERIC, id BIGINT PRIMARY KEY, small SMALLINT, \
                 gone INT, n NUMERIC(15,2), d DATE, at TIMESTAMP, c CHAR(3))"
            );
            session.simple(&create).await.unwrap();
            let drop = format!("ALTER TABLE {table} DROP COLUMN gone");
            session.simple(&drop).await.unwrap();
            let mut source = rows(|i, row: &mut RowWriter<'_>| {
                if i == ROWS {
                    return false;
                }
                let i = i as i64;
                // Spread over all magnitudes, small and large ones alike.
                let mixed = (i.wrapping_mul(6_364_136_223_846_793_005) >> (i % 50)) / 7;
                row.int(i);
                row.int(i % 65_536 - 32_768);
                row.text(&format!("{}.{:02}", mixed % 10_000_000_000, i % 100));
                row.text(&format!(
                    "{:04}-{:02}-{:02}",
                    1900 + i % 200,
                    1 + i % 12,
                    1 + i % 28
                ));
                row.text(&format!(
                    "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}",
                    1970 + i % 80,
                    1 + i % 12,
                    1 + i % 28,
                    i % 24,
                    i % 60,
                    i % 59,
                    i % 1_000_000
                ));
                row.text(["a", "", "xyz"][i as usize % 3]);
                match i % 3 {
                    0 => row.push(Value::Null),
                    1 => row.int(mixed),
                    _ => row.text(&format!("-0.{:0>1$}", i, (i % 40) as usize)),
                }
                true
            });
            let request = into(table, &columns, method);
            let loaded = session.load(&request, &mut source).await.unwrap();
            assert_eq!((loaded.rows, loaded.method), (ROWS, method));
        }
        // As text, so that the digits after the point count, too.
        let same = "SELECT count(*) FROM (SELECT t::text FROM copied t INTERSECT \
                    SELECT t::text FROM inserted t) s";
        assert_eq!(number(&mut session, same).await, ROWS as i64);

        let refused = session
            .load(
                &into("copied", &["id", "small"], BulkMethod::Copy),
                &mut rows(|i, row: &mut RowWriter<'_>| {
                    row.int(1_000_000 + i as i64);
                    row.int(40_000);
                    true
                }),
            )
            .await
            .unwrap_err();
        assert!(
            refused
                .message
                .contains("column 2: Int(40000) is not a smallint"),
            "{refused}"
        );
        assert_eq!(
            number(&mut session, "SELECT count(*) FROM copied").await,
            ROWS as i64
        );
    });
}

#[test]
fn copy_is_the_best_way_and_no_rows_are_no_error() {
    let db = database("none");
    run(async move {
        let mut session = connect(&db.url()).await;
        session.simple("CREATE TABLE t (a INT)").await.unwrap();
        let best = LoadRequest {
            table: "t",
            columns: &["a"],
            method: None,
        };
        let loaded = session
            .load(&best, &mut rows(|_, _: &mut RowWriter<'_>| false))
            .await
            .unwrap();
        assert_eq!((loaded.rows, loaded.method), (0, BulkMethod::Copy));
        for method in METHODS {
            let request = into("t", &["a"], method);
            let loaded = session
                .load(&request, &mut rows(|_, _: &mut RowWriter<'_>| false))
                .await
                .unwrap();
            assert_eq!(loaded.rows, 0);
        }
        let request = into("t", &["a"], BulkMethod::LoadData);
        let error = session
            .load(&request, &mut rows(|_, _: &mut RowWriter<'_>| false))
            .await
            .unwrap_err();
        assert_eq!(error.class, ErrorClass::Fatal);
        assert_eq!(number(&mut session, "SELECT count(*) FROM t").await, 0);
    });
}

/// Rows with distinct keys but for one that comes twice, and text that makes the whole large.
fn with_a_duplicate(at: u64, many: u64) -> Rows<impl FnMut(u64, &mut RowWriter<'_>) -> bool> {
    rows(move |i, row: &mut RowWriter<'_>| {
        if i == many {
            return false;
        }
        row.int(if i == at { 0 } else { i as i64 });
        row.text(&"tide".repeat(50));
        true
    })
}

#[test]
fn a_bad_row_ends_the_load_early_and_leaves_nothing() {
    let db = database("bad_row");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT PRIMARY KEY, b TEXT)")
            .await
            .unwrap();
        for method in METHODS {
            let mut source = with_a_duplicate(10_000, 400_000);
            let error = session
                .load(&into("t", &["a", "b"], method), &mut source)
                .await
                .unwrap_err();
            assert_eq!(error.class, ErrorClass::Constraint, "{error}");
            assert!(
                source.made < 400_000,
                "{method:?} went on to the last row after the server refused one"
            );
            assert_eq!(number(&mut session, "SELECT count(*) FROM t").await, 0);
        }
    });
}

#[test]
fn a_load_belongs_to_the_surrounding_transaction() {
    let db = database("surrounded");
    run(async move {
        let mut session = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT PRIMARY KEY, b TEXT)")
            .await
            .unwrap();
        for method in METHODS {
            let request = into("t", &["a", "b"], method);
            session.simple("BEGIN").await.unwrap();
            let mut source = with_a_duplicate(u64::MAX, 2_000);
            session.load(&request, &mut source).await.unwrap();
            assert_eq!(number(&mut session, "SELECT count(*) FROM t").await, 2_000);
            session.simple("ROLLBACK").await.unwrap();
            assert_eq!(number(&mut session, "SELECT count(*) FROM t").await, 0);

            session.simple("BEGIN").await.unwrap();
            let mut source = with_a_duplicate(1_000, 2_000);
            session.load(&request, &mut source).await.unwrap_err();
            let error = session.simple("SELECT 1").await.unwrap_err();
            assert_eq!(
                error.code, "25P02",
                "the transaction must have failed: {error}"
            );
            session.rollback().await.unwrap();
            assert_eq!(number(&mut session, "SELECT count(*) FROM t").await, 0);
        }
    });
}

#[test]
fn errors_before_the_first_row_are_those_of_a_statement() {
    let db = database("before");
    run(async move {
        let mut session = connect(&db.url()).await;
        session.simple("CREATE TABLE t (a INT)").await.unwrap();
        for method in METHODS {
            for (table, columns) in [("nowhere", ["a"]), ("t", ["nothing"])] {
                let mut source = with_a_duplicate(u64::MAX, 10);
                let error = session
                    .load(&into(table, &columns, method), &mut source)
                    .await
                    .unwrap_err();
                assert_eq!(error.class, ErrorClass::Missing, "{error}");
            }
            let mut source = rows(|i, row: &mut RowWriter<'_>| {
                row.int(1);
                row.int(2);
                i < 10
            });
            let error = session
                .load(&into("t", &["a"], method), &mut source)
                .await
                .unwrap_err();
            assert_eq!(error.class, ErrorClass::Fatal, "{error}");
        }
        assert_eq!(number(&mut session, "SELECT count(*) FROM t").await, 0);
    });
}
