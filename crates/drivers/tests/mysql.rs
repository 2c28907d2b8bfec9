//! The MySQL-protocol driver against a real MariaDB: statements, results and errors.

mod mysql_support;

use mysql_support::{connect, connector, database, run, step, text};
use tidemark_core::{Engine, PreparedMode};
use tidemark_drivers::Value;

const SBTEST: &str = "CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT, k INT DEFAULT 0 NOT NULL, \
                      c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, \
                      PRIMARY KEY (id)) CHARSET=utf8mb4";

#[test]
fn the_engine_and_its_version_are_known() {
    let db = database("engine");
    run(async move {
        let mut session = connect(&db.url()).await;
        assert_eq!(session.server().engine, Engine::Mariadb);
        let version = text(&mut session, "SELECT VERSION()").await;
        assert_eq!(session.server().version, version);
        assert_eq!(text(&mut session, "SELECT DATABASE()").await, db.name());
        session.close().await;
    });
}

#[test]
fn text_mode_and_server_mode_give_the_same() {
    let both = [PreparedMode::Server, PreparedMode::Text].map(|mode| {
        let db = database("modes");
        run(async move {
            let mut session = connector(&db.url(), mode).connect(0).await.unwrap();
            session.simple(SBTEST).await.unwrap();
            let mut seen = Vec::new();
            let insert = "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)";
            for id in 1..=20 {
                let c = format!("row {id}: it's a \"tide\" \\ with ? and \0, ü 🌊");
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
                    "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
                    &[int(3), int(9)],
                ),
                (
                    "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?) ORDER BY id",
                    &[int(1), int(2), Value::Null],
                ),
                ("UPDATE sbtest1 SET k=k+1 WHERE id=?", &[int(4)]),
                (
                    "UPDATE sbtest1 SET c=? WHERE id=?",
                    &[Value::Text("tide"), int(4)],
                ),
                (
                    "UPDATE sbtest1 SET c=? WHERE id=?",
                    &[Value::Text("tide"), int(4)],
                ),
                (
                    "UPDATE sbtest1 SET c=? WHERE id=?",
                    &[Value::Bytes(b"b'ytes"), int(7)],
                ),
                ("DELETE FROM sbtest1 WHERE id=?", &[int(6)]),
                (
                    "INSERT INTO sbtest1 (k) VALUES (?) RETURNING k, c",
                    &[Value::Float(2.0)],
                ),
                ("COMMIT", &[]),
                ("SELECT COUNT(*), SUM(k), MAX(id), MIN(c) FROM sbtest1", &[]),
            ] {
                seen.push(step(&mut session, sql, values).await);
            }
            (seen, session.counts())
        })
    });
    assert_eq!(both[0], both[1]);
    let (seen, counts) = &both[0];
    let outcomes: Vec<_> = seen[20..]
        .iter()
        .map(|(o, _)| (o.has_rows, o.rows, o.affected))
        .collect();
    assert_eq!(
        outcomes,
        [
            (false, 0, 0),
            (true, 1, 0),
            (true, 0, 0),
            (true, 7, 0),
            (true, 1, 0),
            (true, 7, 0),
            (true, 6, 0),
            (false, 0, 1),
            (false, 0, 1),
            (false, 0, 0),
            (false, 0, 1),
            (false, 0, 1),
            (true, 1, 0),
            (false, 0, 0),
            (true, 1, 0),
        ]
    );
    assert_eq!((counts.read, counts.write, counts.other), (8, 24, 4));
    assert_eq!(
        seen[21].1,
        [Some("row 5: it's a \"tide\" \\ with ? and \0, ü 🌊".into())]
    );
}
