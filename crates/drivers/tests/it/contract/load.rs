//! Loading many rows, by every way that a dialect offers.

use crate::it::contract::Db;
use crate::it::contract::backend::count;
use crate::it::contract::values::TEXTS;
use tidemark_core::{Engine, ErrorClass};
use tidemark_drivers::{
    BulkMethod, LoadRequest, RowSource, RowWriter, SampleComparison, Sampler, Session, Value,
};

const COLUMNS: &[&str] = &["id", "n", "s", "f", "b"];

/// The values of row `id`.
struct Row {
    n: Option<i64>,
    s: Option<String>,
    f: f64,
    b: Vec<u8>,
}

fn row(id: i64) -> Row {
    let text = TEXTS[id as usize % TEXTS.len()];
    Row {
        n: (id % 7 != 0).then(|| if id % 2 == 0 { i64::MIN + id } else { id << 33 }),
        s: (id % 11 != 0).then(|| format!("{id}: {text}")),
        f: id as f64 / 16.0,
        b: vec![id as u8, 0, b'\t', b'\n', b'\\', b'\'', 255],
    }
}

/// Rows 1 to `last`; with `twice`, row `twice` comes a second time at the end.
struct Rows {
    next: i64,
    last: i64,
    twice: Option<i64>,
}

impl Rows {
    fn to(last: i64) -> Self {
        Self {
            next: 1,
            last,
            twice: None,
        }
    }
}

impl RowSource for Rows {
    fn next_row(&mut self, writer: &mut RowWriter<'_>) -> bool {
        let id = if self.next <= self.last {
            self.next += 1;
            self.next - 1
        } else {
            match self.twice.take() {
                Some(id) => id,
                None => return false,
            }
        };
        let row = row(id);
        writer.int(id);
        writer.push(row.n.map_or(Value::Null, Value::Int));
        writer.push(row.s.as_deref().map_or(Value::Null, Value::Text));
        writer.push(Value::Float(row.f));
        writer.push(Value::Bytes(&row.b));
        true
    }
}

fn into_t(method: Option<BulkMethod>) -> LoadRequest<'static> {
    LoadRequest {
        table: "t",
        columns: COLUMNS,
        method,
    }
}

async fn make(db: &Db, session: &mut Session) {
    db.make_t(session).await;
    let alter = format!("ALTER TABLE t ADD COLUMN b {}", db.bytes_type());
    session.simple(&alter).await.unwrap();
}

pub async fn ten_thousand_rows_by_every_method(db: Db) {
    const ROWS: i64 = 10_000;
    let methods = db.binary_methods();
    assert!(!methods.is_empty());
    // Which way is taken unasked is for text.
    let unasked = (db.engine() != Engine::Mysql).then_some(None);
    let mut session = db.session().await;
    make(&db, &mut session).await;
    for method in methods.into_iter().map(Some).chain(unasked) {
        let before = session.counts();
        session.simple(session.dialect().begin()).await.unwrap();
        let loaded = session
            .load(&into_t(method), &mut Rows::to(ROWS))
            .await
            .unwrap();
        session.simple("COMMIT").await.unwrap();
        assert_eq!(loaded.rows, ROWS as u64, "{method:?}");
        if let Some(method) = method {
            assert_eq!(loaded.method, method);
        }
        assert_eq!(
            (session.counts() - before).total(),
            2,
            "loading is not counted"
        );
        let sql = "SELECT id, n, s, f, b FROM t ORDER BY id";
        let read = session.query(sql).await.unwrap();
        assert_eq!(read.len(), ROWS as usize);
        for (at, id) in (1..=ROWS).enumerate() {
            let row = row(id);
            assert_eq!(read.int(at, 0), Some(id));
            assert_eq!(read.int(at, 1), row.n, "{method:?}, row {id}");
            assert_eq!(read.text(at, 2), row.s, "{method:?}, row {id}");
            assert_eq!(read.float(at, 3), Some(row.f), "{method:?}, row {id}");
            assert_eq!(db.bytes(&read, at, 4), Some(row.b), "{method:?}, row {id}");
        }
        session.simple("DELETE FROM t").await.unwrap();
    }
}

pub async fn a_load_that_fails_leaves_nothing_after_rollback(db: Db) {
    let mut session = db.session().await;
    make(&db, &mut session).await;
    for method in &db.binary_methods() {
        session.simple(session.dialect().begin()).await.unwrap();
        let mut rows = Rows {
            twice: Some(77),
            ..Rows::to(5_000)
        };
        let e = session
            .load(&into_t(Some(*method)), &mut rows)
            .await
            .unwrap_err();
        assert_eq!(e.class, ErrorClass::Constraint, "{method:?}: {e}");
        session.simple("ROLLBACK").await.unwrap();
        assert_eq!(count(&mut session, "t").await, 0, "{method:?}");

        // The session loads again, now outside of a transaction.
        let loaded = session
            .load(&into_t(Some(*method)), &mut Rows::to(10))
            .await;
        assert_eq!(loaded.unwrap().rows, 10, "{method:?}");
        assert_eq!(count(&mut session, "t").await, 10);
        session.simple("DELETE FROM t").await.unwrap();
    }
}

pub async fn a_load_into_a_missing_table_is_missing(db: Db) {
    let mut session = db.session().await;
    for method in db.dialect().bulk_methods() {
        let e = session
            .load(&into_t(Some(*method)), &mut Rows::to(5_000))
            .await;
        let e = e.unwrap_err();
        assert_eq!(e.class, ErrorClass::Missing, "{method:?}: {e}");
        assert_eq!(session.query("SELECT 5").await.unwrap().int(0, 0), Some(5));
    }
}

pub async fn a_load_of_no_rows(db: Db) {
    let mut session = db.session().await;
    make(&db, &mut session).await;
    for method in db.dialect().bulk_methods() {
        let loaded = session
            .load(&into_t(Some(*method)), &mut Rows::to(0))
            .await
            .unwrap();
        assert_eq!((loaded.rows, loaded.method), (0, *method));
    }
    assert_eq!(count(&mut session, "t").await, 0);
}

pub async fn a_method_of_another_engine_is_refused(db: Db) {
    let mut session = db.session().await;
    make(&db, &mut session).await;
    let every = [
        BulkMethod::BulkExecute,
        BulkMethod::Copy,
        BulkMethod::LoadData,
        BulkMethod::MultiRowInsert,
        BulkMethod::PreparedInsert,
    ];
    for method in every {
        if !db.dialect().bulk_methods().contains(&method) {
            let e = session.load(&into_t(Some(method)), &mut Rows::to(3)).await;
            assert_eq!(e.unwrap_err().class, ErrorClass::Fatal, "{method:?}");
        }
    }
    assert_eq!(count(&mut session, "t").await, 0);
}

/// More rows than one statement asks for, of which one has gone, one has another text, one another
/// number and one lost its NULL.
pub async fn a_sample_tells_the_rows_that_differ(db: Db) {
    let mut session = db.session().await;
    make(&db, &mut session).await;
    let method = db.binary_methods().first().copied();
    session
        .load(&into_t(method), &mut Rows::to(100))
        .await
        .unwrap();
    let whole = sampled(&mut session).await;
    assert_eq!((whole.rows, whole.mismatches), (100, 0));

    for sql in [
        "DELETE FROM t WHERE id = 3",
        "UPDATE t SET s = 'other' WHERE id = 40",
        "UPDATE t SET f = f + 1 WHERE id = 64",
        "UPDATE t SET n = 0 WHERE id = 98",
    ] {
        session.query(sql).await.unwrap();
    }
    let changed = sampled(&mut session).await;
    assert_eq!((changed.rows, changed.mismatches), (100, 4));
    assert_ne!(changed.checksum, whole.checksum);
}

async fn sampled(session: &mut Session) -> SampleComparison {
    let mut sampler = Sampler::new("t", &["id", "n", "s", "f"], &[0]);
    for id in 1..=100 {
        let Row { n, s, f, .. } = row(id);
        let mut loaded = Vec::new();
        let mut writer = RowWriter::tsv(&mut loaded);
        writer.int(id);
        writer.push(n.map_or(Value::Null, Value::Int));
        writer.push(s.as_deref().map_or(Value::Null, Value::Text));
        writer.push(Value::Float(f));
        sampler.compare(session, &loaded).await.unwrap();
    }
    sampler.finish(session).await.unwrap()
}
