//! Columns of prepared statements, which MariaDB sends again only when they have changed.

use crate::it::mysql::support::{cells, connect, connector, database, number, run};
use tidemark_core::PreparedMode;
use tidemark_drivers::{RowSet, Session, Statement, Value};

async fn read(
    session: &mut Session,
    statement: &Statement,
    values: &[Value<'_>],
) -> Vec<Option<String>> {
    let mut rows = RowSet::new();
    session.fetch(statement, values, &mut rows).await.unwrap();
    cells(&rows)
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).into())).collect()
}

#[test]
fn columns_come_once_and_again_when_they_change() {
    let db = database("columns");
    run(async move {
        let mut session = connect(&db.url()).await;
        let mut other = connect(&db.url()).await;
        session
            .simple("CREATE TABLE t (a INT, b DATETIME(3))")
            .await
            .unwrap();
        let row = "INSERT INTO t VALUES (-7, '2026-01-31 23:59:59.125')";
        session.simple(row).await.unwrap();
        let all = session.prepare("SELECT * FROM t").await.unwrap();
        let known = some(&["-7", "2026-01-31 23:59:59.125"]);
        // Who only counts keeps them, too.
        assert_eq!(session.execute(&all, &[]).await.unwrap().rows, 1);
        for _ in 0..3 {
            assert_eq!(read(&mut session, &all, &[]).await, known);
            assert_eq!(session.execute(&all, &[]).await.unwrap().rows, 1);
        }
        for (change, seen) in [
            ("MODIFY a BIGINT UNSIGNED", ["7", "2026-01-31 23:59:59.125"]),
            ("MODIFY a VARCHAR(9)", ["7", "2026-01-31 23:59:59.125"]),
            ("MODIFY b DATE", ["7", "2026-01-31"]),
        ] {
            other.simple("UPDATE t SET a = 7").await.unwrap();
            // Who counts between is told of the change, and who reads is not.
            other
                .simple(&format!("ALTER TABLE t {change}"))
                .await
                .unwrap();
            assert_eq!(session.execute(&all, &[]).await.unwrap().rows, 1);
            assert_eq!(read(&mut session, &all, &[]).await, some(&seen), "{change}");
        }
        other.simple("ALTER TABLE t ADD c TEXT").await.unwrap();
        let mut wider = some(&["7", "2026-01-31"]);
        wider.push(None);
        assert_eq!(read(&mut session, &all, &[]).await, wider);
    });
}

#[test]
fn columns_follow_what_values_are_given() {
    let db = database("columns_values");
    run(async move {
        let mut session = connect(&db.url()).await;
        let echo = session.prepare("SELECT ?, ?").await.unwrap();
        let (int, text) = (Value::Int, Value::Text);
        for (values, seen) in [
            ([int(1), int(2)], ["1", "2"]),
            ([int(3), int(-4)], ["3", "-4"]),
            ([text("tide"), int(5)], ["tide", "5"]),
            ([int(6), text("mark")], ["6", "mark"]),
            ([Value::Float(0.5), text("mark")], ["0.5", "mark"]),
        ] {
            assert_eq!(read(&mut session, &echo, &values).await, some(&seen));
        }
        // Statements know their own columns only.
        let name = session.prepare("SELECT 'name'").await.unwrap();
        for _ in 0..2 {
            assert_eq!(read(&mut session, &name, &[]).await, some(&["name"]));
            let values = [int(8), int(9)];
            assert_eq!(read(&mut session, &echo, &values).await, some(&["8", "9"]));
        }
        for sql in [
            "CREATE PROCEDURE several() BEGIN SELECT 1, 2; SELECT 'last'; END",
            "CREATE PROCEDURE failing(a INT) BEGIN SELECT a; IF a > 1 THEN SIGNAL SQLSTATE '45000'; \
             END IF; END",
        ] {
            session.simple(sql).await.unwrap();
        }
        let call = session.prepare("CALL several()").await.unwrap();
        for _ in 0..3 {
            assert_eq!(session.execute(&call, &[]).await.unwrap().rows, 2);
            assert_eq!(read(&mut session, &call, &[]).await, some(&["last"]));
        }
        let call = session.prepare("CALL failing(?)").await.unwrap();
        for value in [1, 2, 1, 1] {
            let mut rows = RowSet::new();
            let done = session.fetch(&call, &[int(value)], &mut rows).await;
            assert_eq!(done.is_err(), value > 1);
            assert!(done.is_err() || cells(&rows) == some(&["1"]));
        }
    });
}

/// The server sends half as much of a row that is shorter than what its columns are called.
#[test]
fn known_columns_are_not_sent() {
    let db = database("columns_bytes");
    run(async move {
        let sent = async |mode| {
            let mut session = connector(&db.url(), mode).connect(0).await.unwrap();
            let sql = "SELECT 1 AS the_first_of_three, 2 AS the_second_of_three, 3 AS the_third";
            let statement = session.prepare(sql).await.unwrap();
            session.execute(&statement, &[]).await.unwrap();
            let status = "SELECT variable_value FROM information_schema.session_status \
                          WHERE variable_name = 'Bytes_sent'";
            let before = number(&mut session, status).await;
            for _ in 0..50 {
                session.execute(&statement, &[]).await.unwrap();
            }
            number(&mut session, status).await - before
        };
        let (binary, text) = (
            sent(PreparedMode::Server).await,
            sent(PreparedMode::Text).await,
        );
        assert!(2 * binary < text, "{binary} and {text} bytes");
    });
}
