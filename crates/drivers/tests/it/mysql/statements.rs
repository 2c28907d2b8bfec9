//! The MySQL-protocol driver against a real MariaDB: statements and results.

use crate::it::mysql::support::{connect, connector, database, number, run, step, text};
use tidemark_core::{Engine, ErrorClass, PreparedMode, Target};
use tidemark_drivers::{Cell, ConnectOptions, Connector, RowSet, Value};
use tidemark_testkit::{SandboxEngine as Kind, Server};

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
            let mut counts = session.counts();
            // Preparing takes some of one session alone.
            counts.round_trips = 0;
            (seen, counts)
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

#[test]
fn every_type_reads_the_same_in_text_and_binary_form() {
    let db = database("types");
    run(async move {
        let mut session = connect(&db.url()).await;
        let columns = "a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d INT UNSIGNED, e BIGINT, \
                       f BIGINT UNSIGNED, g FLOAT, h DOUBLE, i DECIMAL(30,10), j DATE, \
                       k DATETIME, l DATETIME(6), m TIMESTAMP(3) NULL, n TIME, o TIME(2), p YEAR, \
                       q CHAR(5), r VARCHAR(50), s BLOB, t TEXT, u ENUM('x','y'), v SET('x','y'), \
                       w JSON, x BINARY(3), y BIT(3)";
        session
            .simple(&format!("CREATE TABLE t ({columns}) CHARSET=utf8mb4"))
            .await
            .unwrap();
        session.simple("SET sql_mode=''").await.unwrap();
        let insert = "INSERT INTO t VALUES (-128,65535,-8388608,4294967295,-9223372036854775808,\
             18446744073709551615,0.1,-1.5e300,12345678901234567890.0123456789,'2026-01-31',\
             '2026-01-31 00:00:00','2026-01-31 23:59:59.000001','2026-01-31 01:02:03.456',\
             '-838:59:59','12:00:00.25',2026,'ü','🌊',x'00ff','text','y','x,y','{\"a\": 1}',\
             x'010203',b'101'), (1,1,1,1,1,1,1,1,1,'0000-00-00','0001-01-01','2026-01-31',\
             '2026-01-31','00:00:00','00:00:00',1970,'','','','','x','','[]','',0), \
             (NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,\
             NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)";
        assert_eq!(session.simple(insert).await.unwrap().affected, 3);
        let plain = session.query("SELECT * FROM t").await.unwrap();
        let statement = session.prepare("SELECT * FROM t").await.unwrap();
        let mut binary = RowSet::new();
        session.fetch(&statement, &[], &mut binary).await.unwrap();
        assert_eq!((plain.columns(), plain.len()), (25, 3));
        for row in 0..3 {
            for column in 0..25 {
                let bytes = |rows: &RowSet| match rows.get(row, column) {
                    Some(Cell::Bytes(b)) => Some(b.to_vec()),
                    _ => rows.text(row, column).map(String::into_bytes),
                };
                // Numbers are compared as numbers: -1.5e300 has two ways of writing.
                if (6..8).contains(&column) {
                    assert_eq!(plain.float(row, column), binary.float(row, column));
                } else {
                    assert_eq!(bytes(&plain), bytes(&binary), "row {row}, column {column}");
                }
            }
        }
    });
}

#[test]
fn many_rows_are_counted_and_values_beyond_a_packet_are_whole() {
    let server = Server::builder(Kind::MariaDb)
        .setting("max-allowed-packet", "64M")
        .setting("sql-mode", "STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES")
        .start()
        .unwrap();
    run(async move {
        let mut session = connect(&server.url()).await;
        let many = "SELECT seq, REPEAT('x', 20) FROM seq_1_to_200000";
        assert_eq!(session.simple(many).await.unwrap().rows, 200_000);
        let statement = session.prepare(many).await.unwrap();
        assert_eq!(
            session.execute(&statement, &[]).await.unwrap().rows,
            200_000
        );
        let mut rows = RowSet::new();
        session.fetch(&statement, &[], &mut rows).await.unwrap();
        assert_eq!((rows.len(), rows.int(199_999, 0)), (200_000, Some(200_000)));

        session
            .simple("CREATE TABLE t (a INT PRIMARY KEY, b LONGTEXT)")
            .await
            .unwrap();
        let insert = session
            .prepare("INSERT INTO t VALUES (?, ?)")
            .await
            .unwrap();
        for (id, len) in [
            (1, 0xFF_FF_FF - 100),
            (2, 0xFF_FF_FF + 100),
            (3, 40_000_000),
        ] {
            let long = "tide".repeat(len / 4);
            let values = [Value::Int(id), Value::Text(&long)];
            assert_eq!(session.execute(&insert, &values).await.unwrap().affected, 1);
        }
        let select = session.prepare("SELECT b FROM t ORDER BY a").await.unwrap();
        assert_eq!(session.execute(&select, &[]).await.unwrap().rows, 3);
        session.fetch(&select, &[], &mut rows).await.unwrap();
        let lengths: Vec<_> = (0..3).map(|r| rows.text(r, 0).unwrap().len()).collect();
        assert_eq!(
            lengths,
            [
                (0xFF_FF_FF - 100) / 4 * 4,
                (0xFF_FF_FF + 100) / 4 * 4,
                40_000_000
            ]
        );
        assert!(rows.text(2, 0).unwrap() == "tide".repeat(10_000_000));

        // The server's sql_mode would leave backslashes in literals alone; ours are doubled.
        let connector = connector(&server.url(), PreparedMode::Text);
        let mut text_mode = connector.connect(0).await.unwrap();
        let insert = text_mode
            .prepare("INSERT INTO t VALUES (?, ?)")
            .await
            .unwrap();
        let values = [Value::Int(9), Value::Text("back\\slash's")];
        text_mode.execute(&insert, &values).await.unwrap();
        let read = text(&mut text_mode, "SELECT b FROM t WHERE a=9").await;
        assert_eq!(read, "back\\slash's");
        let mode = text(&mut text_mode, "SELECT @@sql_mode").await;
        assert_eq!(mode, "STRICT_TRANS_TABLES");
    });
}

#[test]
fn rows_that_an_update_matched_count_when_asked_for() {
    let db = database("matched");
    run(async move {
        for (count_matched, affected) in [(false, 0), (true, 1)] {
            let options = ConnectOptions {
                count_matched,
                ..ConnectOptions::default()
            };
            let target = Target::parse(&db.url()).unwrap();
            let connector = Connector::new(target, options).unwrap();
            let mut session = connector.connect(0).await.unwrap();
            for sql in [
                "CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, a INT)",
                "INSERT INTO t VALUES (1, 7)",
            ] {
                session.simple(sql).await.unwrap();
            }
            for (sql, affected) in [
                ("UPDATE t SET a = 7 WHERE id = 1", affected),
                ("UPDATE t SET a = 7 WHERE id = 2", 0),
                ("INSERT IGNORE INTO t VALUES (1, 8)", 0),
                ("UPDATE t SET a = 8 WHERE id = 1", 1),
            ] {
                let (outcome, _) = step(&mut session, sql, &[]).await;
                assert_eq!(outcome.affected, affected, "{count_matched}: {sql}");
            }
            assert_eq!(session.counts().noop_writes, 3 - affected);
        }
    });
}

#[test]
fn no_statement_makes_the_client_read_a_file() {
    let db = database("files");
    run(async move {
        let mut session = connect(&db.url()).await;
        session.simple("CREATE TABLE t (a TEXT)").await.unwrap();
        let sql = "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t";
        let error = session.simple(sql).await.unwrap_err();
        assert_eq!(
            (error.class, error.code.as_str()),
            (ErrorClass::Fatal, "local-infile")
        );
        assert_eq!(number(&mut session, "SELECT COUNT(*) FROM t").await, 0);
    });
}

#[test]
fn an_idle_session_and_a_waiting_statement_are_small() {
    let db = database("small");
    run(async move {
        let mut session = connect(&db.url()).await;
        let session_size = size_of::<tidemark_drivers::mysql::MysqlSession>();
        assert!(session_size <= 128, "{session_size}");
        let connector = connector(&db.url(), PreparedMode::Server);
        let statement = session.prepare("SELECT ?").await.unwrap();
        let values = [Value::Int(1)];
        let mut rows = RowSet::new();
        // A task is as large as the largest of what it waits for.
        let mut sizes = vec![size_of_val(&connector.connect(0))];
        sizes.push(size_of_val(&session.execute(&statement, &values)));
        sizes.push(size_of_val(&session.fetch(&statement, &values, &mut rows)));
        sizes.push(size_of_val(&session.simple("")));
        sizes.push(size_of_val(&session.query("")));
        sizes.push(size_of_val(&session.prepare("")));
        println!("bytes of a waiting call: {sizes:?}");
        assert!(sizes.iter().all(|size| *size <= 1024), "{sizes:?}");
    });
}
