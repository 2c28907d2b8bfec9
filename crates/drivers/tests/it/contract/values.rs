//! Values go to the server and come back, bound and written into the text.

use crate::it::contract::Db;
use tidemark_drivers::{Cell, RowSet, Session, Value};

/// Texts that break what is quoted, escaped or counted wrongly.
pub const TEXTS: &[&str] = &[
    "",
    " ",
    "plain",
    "it's",
    "''",
    "\"",
    "`",
    "\\",
    "\\\\",
    "\\'",
    "ends with \\",
    "\\N",
    "NULL",
    "?",
    "$1 :a @b %s",
    "-- no comment",
    "/* nor */ this; DROP TABLE t",
    "tab\there",
    "line\nfeed",
    "carriage\r\nreturn",
    "\\t\\n\\.",
    "\\.",
    "\u{1}\u{7f}\u{8}",
    "Grüße, 漢字, 🦀, e\u{301}",
    "trailing blanks   ",
];

/// Writes `value` into column `column` of row 1 and reads it back by `fetch`.
async fn there_and_back(session: &mut Session, column: &str, value: Value<'_>) -> RowSet {
    session.simple("DELETE FROM t").await.unwrap();
    let insert = format!("INSERT INTO t (id, {column}) VALUES (?, ?)");
    let insert = session.prepare(&insert).await.unwrap();
    let outcome = session.execute(&insert, &[Value::Int(1), value]).await;
    assert_eq!(outcome.unwrap().affected, 1, "{value:?}");
    let select = format!("SELECT {column} FROM t WHERE id = ?");
    let select = session.prepare(&select).await.unwrap();
    let mut rows = RowSet::new();
    let outcome = session.fetch(&select, &[Value::Int(1)], &mut rows).await;
    assert_eq!(outcome.unwrap().rows, 1);
    assert_eq!((rows.len(), rows.columns()), (1, 1));
    rows
}

async fn both(db: &Db) -> [Session; 2] {
    let mut sessions = db.sessions().await;
    db.make_t(&mut sessions[0]).await;
    sessions
}

pub async fn texts_come_back_as_they_went(db: Db) {
    for mut session in both(&db).await {
        for text in TEXTS {
            let rows = there_and_back(&mut session, "s", Value::Text(text)).await;
            assert_eq!(rows.text(0, 0).as_deref(), Some(*text), "{session:?}");
        }
        // A text is also found again by its value.
        for text in TEXTS {
            there_and_back(&mut session, "s", Value::Text(text)).await;
            let select = session.prepare("SELECT id FROM t WHERE s = ?");
            let select = select.await.unwrap();
            let found = session.execute(&select, &[Value::Text(text)]).await;
            assert_eq!(found.unwrap().rows, 1, "{text:?}");
        }
    }
}

pub async fn integers_come_back_as_they_went(db: Db) {
    for mut session in both(&db).await {
        for n in [
            0,
            1,
            -1,
            127,
            -128,
            255,
            32_768,
            -32_769,
            i64::from(i32::MAX),
            i64::from(i32::MIN),
            1 << 40,
            -(1 << 52),
            i64::MAX,
            i64::MIN,
        ] {
            let rows = there_and_back(&mut session, "n", Value::Int(n)).await;
            assert_eq!(rows.int(0, 0), Some(n), "{session:?}");
        }
    }
}

pub async fn floats_come_back_as_they_went(db: Db) {
    for mut session in both(&db).await {
        for f in [
            0.0,
            1.0,
            -1.5,
            0.1,
            1.0 / 3.0,
            1e300,
            -1e-300,
            123_456_789.125,
        ] {
            let rows = there_and_back(&mut session, "f", Value::Float(f)).await;
            assert_eq!(rows.float(0, 0), Some(f), "{session:?}");
        }
    }
}

pub async fn bytes_come_back_as_they_went(db: Db) {
    let every: Vec<u8> = (0..=255).collect();
    let mut sessions = both(&db).await;
    let alter = format!("ALTER TABLE t ADD COLUMN b {}", db.bytes_type());
    sessions[0].simple(&alter).await.unwrap();
    for mut session in sessions {
        for bytes in [&every[..], b"", b"\\x41", b"'\0\\"] {
            let rows = there_and_back(&mut session, "b", Value::Bytes(bytes)).await;
            assert_eq!(db.bytes(&rows, 0, 0).as_deref(), Some(bytes), "{session:?}");
        }
    }
}

pub async fn nulls_come_back_as_nulls(db: Db) {
    for mut session in both(&db).await {
        for column in ["n", "s", "f"] {
            let rows = there_and_back(&mut session, column, Value::Null).await;
            assert_eq!(rows.get(0, 0), Some(Cell::Null), "{session:?}");
        }
    }
}

pub async fn fetch_and_query_read_the_same(db: Db) {
    let mut session = db.session().await;
    db.make_t(&mut session).await;
    let insert = session.prepare("INSERT INTO t (id, n, s, f) VALUES (?, ?, ?, ?)");
    let insert = insert.await.unwrap();
    for (id, text) in (1i64..).zip(TEXTS) {
        let n = if id % 3 == 0 {
            Value::Null
        } else {
            Value::Int(-id)
        };
        let values = [
            Value::Int(id),
            n,
            Value::Text(text),
            Value::Float(id as f64 / 8.0),
        ];
        session.execute(&insert, &values).await.unwrap();
    }
    let sql = "SELECT id, n, s, f FROM t ORDER BY id";
    let select = session.prepare(sql).await.unwrap();
    let mut fetched = RowSet::new();
    let outcome = session.fetch(&select, &[], &mut fetched).await.unwrap();
    let counted = session.execute(&select, &[]).await.unwrap();
    assert_eq!(outcome, counted);
    let queried = session.query(sql).await.unwrap();
    assert_eq!(fetched.len(), TEXTS.len());
    assert_eq!(
        (queried.len(), queried.columns()),
        (fetched.len(), fetched.columns())
    );
    for row in 0..fetched.len() {
        for column in 0..2 {
            assert_eq!(fetched.int(row, column), queried.int(row, column));
        }
        assert_eq!(fetched.text(row, 2), queried.text(row, 2));
        assert_eq!(fetched.float(row, 3), queried.float(row, 3));
    }
}

pub async fn a_text_of_a_megabyte_comes_back(db: Db) {
    let text = "0123456789abcdé'\\".repeat(1 << 16);
    assert!(text.len() > 1 << 20);
    for mut session in both(&db).await {
        let rows = there_and_back(&mut session, "s", Value::Text(&text)).await;
        assert!(rows.text(0, 0).as_deref() == Some(&text), "{session:?}");
        // Skimming skips it as a whole, and the session finds the end of the reply.
        let outcome = session.simple("SELECT s, id FROM t").await.unwrap();
        assert_eq!(outcome.rows, 1);
        assert_eq!(
            session.query("SELECT id FROM t").await.unwrap().int(0, 0),
            Some(1)
        );
    }
}
