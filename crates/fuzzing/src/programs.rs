//! What the client of a session does.

use tidemark_core::{DbError, ErrorClass, Protocol};
use tidemark_drivers::{
    BulkMethod, LoadRequest, RowSet, RowSource, RowWriter, Sampler, Session, Value, catalog,
    journal, settings,
};

/// How many programs there are.
pub const PROGRAMS: usize = 4;

/// Runs a program; tells what each of its steps came to. It ends with the session.
///
/// # Panics
/// When a session goes on that said it was lost.
pub async fn run(number: usize, session: &mut Session) -> Vec<Result<(), DbError>> {
    let mut steps = Steps(Vec::new());
    let ended = match number {
        0 => statements(session, &mut steps).await,
        1 => loads(session, &mut steps).await,
        2 => looks(session, &mut steps).await,
        _ => kinds(session, &mut steps).await,
    };
    // The catalogue calls an answer without sense a broken protocol, in a session that goes on.
    if ended.is_none() && number != 2 {
        let more = session.simple("SELECT 1").await;
        assert!(more.is_err(), "a lost session answers: {:?}", steps.0);
    }
    steps.0
}

struct Steps(Vec<Result<(), DbError>>);

impl Steps {
    /// Notes a step. `None` ends the program: the session is lost.
    fn note<T>(&mut self, result: Result<T, DbError>) -> Option<Option<T>> {
        let (note, value) = match result {
            Ok(value) => (Ok(()), Some(value)),
            Err(e) => (Err(e), None),
        };
        let lost = matches!(&note, Err(e) if e.class == ErrorClass::ConnectionLost);
        self.0.push(note);
        (!lost).then_some(value)
    }
}

async fn statements(session: &mut Session, steps: &mut Steps) -> Option<()> {
    let mut rows = RowSet::new();
    let select = "SELECT id, k, c FROM t WHERE id > ?";
    if let Some(statement) = steps.note(session.prepare(select).await)? {
        steps.note(session.fetch(&statement, &[Value::Int(0)], &mut rows).await)?;
        read(&rows);
        steps.note(session.execute(&statement, &[Value::Int(1)]).await)?;
    }
    steps.note(session.simple("BEGIN").await)?;
    let insert = "INSERT INTO t (id, k) VALUES (?, ?)";
    if let Some(statement) = steps.note(session.prepare(insert).await)? {
        for values in [[1000, 1], [1000, 2]] {
            let values = values.map(Value::Int);
            steps.note(session.execute(&statement, &values).await)?;
        }
    }
    steps.note(session.rollback().await)?;
    steps.note(session.prepare("SELECT nothing FROM nowhere").await)?;
    if let Some(rows) = steps.note(session.query("SELECT k, c FROM t").await)? {
        read(&rows);
    }
    steps.note(session.simple("COMMIT").await)?;
    Some(())
}

struct Numbers(i64);

impl RowSource for Numbers {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        self.0 += 1;
        row.int(self.0);
        row.text("tide\tmark");
        self.0 <= 3
    }
}

async fn loads(session: &mut Session, steps: &mut Steps) -> Option<()> {
    let ways = match session.dialect().engine().protocol() {
        Protocol::Mysql => [BulkMethod::LoadData, BulkMethod::MultiRowInsert],
        _ => [BulkMethod::Copy, BulkMethod::MultiRowInsert],
    };
    for method in [None, Some(ways[0]), Some(ways[1])] {
        let request = LoadRequest {
            table: "loaded",
            columns: &["id", "c"],
            method,
        };
        steps.note(session.load(&request, &mut Numbers(0)).await)?;
    }
    Some(())
}

async fn looks(session: &mut Session, steps: &mut Steps) -> Option<()> {
    steps.note(catalog::list_tables(session).await)?;
    steps.note(catalog::describe_table(session, "t").await)?;
    steps.note(catalog::row_count(session, "t").await)?;
    steps.note(catalog::key_range(session, "t", "id").await)?;
    steps.note(catalog::table_mark(session, "t").await)?;
    steps.note(settings::settings_that_matter(session).await)?;
    steps.note(journal::read(session).await)?;
    let mut sampler = Sampler::new("t", &["id", "k", "c"], &[0]);
    steps.note(sampler.compare(session, b"1\t10\tone").await)?;
    steps.note(sampler.finish(session).await)?;
    Some(())
}

async fn kinds(session: &mut Session, steps: &mut Steps) -> Option<()> {
    let mut rows = RowSet::new();
    if let Some(statement) = steps.note(session.prepare("SELECT * FROM kinds").await)? {
        steps.note(session.fetch(&statement, &[], &mut rows).await)?;
        read(&rows);
        steps.note(session.execute(&statement, &[]).await)?;
    }
    if let Some(rows) = steps.note(session.query("SELECT * FROM kinds").await)? {
        read(&rows);
    }
    Some(())
}

/// Looks at every cell in every way.
pub(crate) fn read(rows: &RowSet) {
    for row in 0..rows.len() {
        for column in 0..rows.columns() {
            assert!(rows.get(row, column).is_some(), "a cell is missing");
            rows.int(row, column);
            rows.float(row, column);
            rows.text(row, column);
        }
    }
}
