//! One session.

use super::counters::{Counted, count_waits};
use super::error::db_error;
use super::limit::ConnectionTimeout;
use super::open;
use crate::statement::StatementForm;
use crate::{
    BulkMethod, Cell, ConnectOptions, Dialect, LoadRequest, Loaded, Outcome, RowSet, RowSource,
    RowWriter, Statement, Template, Value, Verb,
};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, PrepFlags};
use std::fmt;
use std::time::Duration;
use tidemark_core::{DbError, Engine, ErrorClass, PreparedMode, ServerInfo, Target};
use tidemark_runtime::sleep;

const DIALECT: Dialect = Dialect::new(Engine::Sqlite);

/// A prepared statement with what is asked at each execution.
struct Prepared<'conn> {
    statement: rusqlite::Statement<'conn>,
    params: usize,
    is_rollback: bool,
}

impl<'conn> Prepared<'conn> {
    fn new(statement: rusqlite::Statement<'conn>, sql: &str) -> Self {
        Self {
            params: statement.parameter_count(),
            statement,
            is_rollback: is_rollback(sql),
        }
    }
}

type Statements<'conn> = Vec<Prepared<'conn>>;

self_cell::self_cell!(
    /// A connection and the statements prepared on it, which borrow it.
    struct Handle {
        owner: Connection,
        #[not_covariant]
        dependent: Statements,
    }
);

/// One session with an SQLite file.
pub struct SqliteSession {
    handle: Handle,
    server: ServerInfo,
    prepared: PreparedMode,
    /// Statement text in the making, for [`PreparedMode::Text`].
    text: Vec<u8>,
    rtt: Duration,
    /// Where statements have a time-out.
    limit: Option<ConnectionTimeout>,
    /// What it has counted for whoever observes.
    counted: Counted,
}

impl fmt::Debug for SqliteSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSession")
            .field("server", &self.server)
            .field("prepared", &self.prepared)
            .finish_non_exhaustive()
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        self.counted.closed(self.handle.borrow_owner());
    }
}

/// What becomes of a statement's rows.
enum RowHandling<'a> {
    Count,
    Decode(&'a mut RowSet),
}

impl SqliteSession {
    pub(crate) fn open(
        target: &Target,
        options: &ConnectOptions,
        must_exist: bool,
    ) -> Result<Self, DbError> {
        let mut connection = open::open(&target.database, must_exist)?;
        let limit = match options.statement_timeout {
            Some(timeout) => {
                Some(ConnectionTimeout::set(&mut connection, timeout).map_err(|e| db_error(&e))?)
            }
            None => None,
        };
        Ok(Self {
            handle: Handle::new(connection, |_| Vec::new()),
            server: ServerInfo {
                engine: Engine::Sqlite,
                version: rusqlite::version().to_owned(),
            },
            prepared: options.prepared,
            text: Vec::new(),
            rtt: options.inject_rtt,
            limit,
            counted: Counted::opened(),
        })
    }

    /// Counts what it waits for locks, in place of SQLite's own time-out, which is as long. For sessions of
    /// a run.
    pub(crate) fn count_waits(&self) {
        let longest = self.limit.as_ref().map(ConnectionTimeout::longest_wait);
        count_waits(
            self.handle.borrow_owner(),
            longest.unwrap_or(open::BUSY_TIMEOUT),
        );
    }

    /// Lets the injected distance pass.
    pub(crate) async fn travel(&self) {
        if !self.rtt.is_zero() {
            sleep(self.rtt).await;
        }
    }

    /// The time of a statement runs from here.
    pub(crate) fn begin_statement(&self) {
        if let Some(limit) = &self.limit {
            limit.begin();
        }
    }

    /// The statement has ended; whether its time had run out.
    pub(crate) fn end_statement(&mut self) -> bool {
        self.counted.tell(self.handle.borrow_owner());
        self.limit.as_ref().is_some_and(ConnectionTimeout::end)
    }

    /// How long a statement may take.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.limit.as_ref().map(ConnectionTimeout::timeout)
    }

    pub(crate) fn server(&self) -> &ServerInfo {
        &self.server
    }

    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        let verb = Verb::of(sql);
        if self.prepared == PreparedMode::Text {
            let form = StatementForm::Text(Template::new(sql));
            return Ok(Statement { verb, form });
        }
        let index = self.handle.with_dependent_mut(|connection, statements| {
            let flags = PrepFlags::SQLITE_PREPARE_PERSISTENT;
            let statement = connection.prepare_with_flags(sql, flags)?;
            statements.push(Prepared::new(statement, sql));
            Ok(statements.len() - 1)
        });
        Ok(Statement {
            verb,
            form: StatementForm::Sqlite {
                index: index.map_err(|e| db_error(&e))?,
            },
        })
    }

    pub(crate) fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, DbError> {
        self.run(statement, values, RowHandling::Count)
    }

    pub(crate) fn fetch(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        rows: &mut RowSet,
    ) -> Result<Outcome, DbError> {
        self.run(statement, values, RowHandling::Decode(rows))
    }

    pub(crate) fn simple(&mut self, sql: &str) -> Result<Outcome, DbError> {
        run_text(self.handle.borrow_owner(), sql, RowHandling::Count)
    }

    pub(crate) fn query(&mut self, sql: &str) -> Result<RowSet, DbError> {
        let mut rows = RowSet::new();
        self.simple_rows(sql, &mut rows)?;
        Ok(rows)
    }

    /// As [`Self::simple`], with the rows.
    pub(crate) fn simple_rows(&mut self, sql: &str, rows: &mut RowSet) -> Result<Outcome, DbError> {
        run_text(self.handle.borrow_owner(), sql, RowHandling::Decode(rows))
    }

    fn run(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        rows: RowHandling<'_>,
    ) -> Result<Outcome, DbError> {
        match &statement.form {
            StatementForm::Sqlite { index } => {
                self.handle.with_dependent_mut(|connection, statements| {
                    let prepared = statements
                        .get_mut(*index)
                        .ok_or_else(|| misuse("the statement belongs to another session"))?;
                    run_prepared(connection, prepared, values, rows)
                })
            }
            StatementForm::Text(template) => {
                check_count(template.params(), values)?;
                self.text.clear();
                template.render(&DIALECT, values, &mut self.text);
                let sql = std::str::from_utf8(&self.text)
                    .map_err(|_| misuse("a value is not UTF-8 text"))?;
                run_text(self.handle.borrow_owner(), sql, rows)
            }
            _ => Err(misuse("the statement belongs to another driver")),
        }
    }

    /// Inserts the source's rows one by one, in a transaction of its own when none is open.
    pub(crate) fn load(
        &mut self,
        request: &LoadRequest<'_>,
        source: &mut dyn RowSource,
    ) -> Result<Loaded, DbError> {
        let method = BulkMethod::PreparedInsert;
        if request.method.is_some_and(|asked| asked != method) {
            return Err(misuse("SQLite loads by a prepared INSERT only"));
        }
        let connection = self.handle.borrow_owner();
        let own_transaction = connection.is_autocommit();
        if own_transaction {
            run_text(connection, DIALECT.begin(), RowHandling::Count)?;
        }
        let loaded = insert_all(connection, request, source);
        if own_transaction {
            let end = if loaded.is_ok() { "COMMIT" } else { "ROLLBACK" };
            let ended = run_text(connection, end, RowHandling::Count);
            if loaded.is_ok() && ended.is_err() {
                run_text(connection, "ROLLBACK", RowHandling::Count)?;
            }
            ended?;
        }
        Ok(Loaded {
            rows: loaded?,
            method,
        })
    }
}

fn insert_all(
    connection: &Connection,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let columns: Vec<String> = request.columns.iter().map(|c| DIALECT.quote(c)).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        DIALECT.quote(request.table),
        columns.join(","),
        vec!["?"; columns.len()].join(",")
    );
    let mut insert = connection.prepare(&sql).map_err(|e| db_error(&e))?;
    let mut rows = 0;
    loop {
        let mut pushed = 0;
        let mut failed = None;
        let more = {
            let mut bind = |column: usize, value: Value<'_>| {
                pushed = column + 1;
                if let Err(e) = insert.raw_bind_parameter(pushed, borrowed(value)) {
                    failed.get_or_insert(e);
                }
            };
            source.next_row(&mut RowWriter::bind(&mut bind))
        };
        if !more {
            return Ok(rows);
        }
        if pushed != columns.len() {
            return Err(misuse(&format!(
                "a row of {pushed} values for {} columns",
                columns.len()
            )));
        }
        let inserted = match failed {
            Some(e) => Err(e),
            None => insert.raw_execute(),
        };
        inserted.map_err(|e| db_error(&e))?;
        rows += 1;
    }
}

fn run_text(connection: &Connection, sql: &str, rows: RowHandling<'_>) -> Result<Outcome, DbError> {
    let statement = connection.prepare(sql).map_err(|e| db_error(&e))?;
    run_prepared(connection, &mut Prepared::new(statement, sql), &[], rows)
}

fn run_prepared(
    connection: &Connection,
    prepared: &mut Prepared<'_>,
    values: &[Value<'_>],
    rows: RowHandling<'_>,
) -> Result<Outcome, DbError> {
    check_count(prepared.params, values)?;
    if prepared.is_rollback && connection.is_autocommit() {
        // SQLite ends the transaction itself after some errors and then refuses a ROLLBACK
        // (sqlite.org/lang_transaction.html, 2.1); servers take one at any time.
        if let RowHandling::Decode(rows) = rows {
            rows.reset(0);
        }
        return Ok(Outcome::default());
    }
    step_all(connection, &mut prepared.statement, values, rows).map_err(|e| db_error(&e))
}

fn step_all(
    connection: &Connection,
    statement: &mut rusqlite::Statement<'_>,
    values: &[Value<'_>],
    decode: RowHandling<'_>,
) -> Result<Outcome, rusqlite::Error> {
    for (i, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(i + 1, borrowed(*value))?;
    }
    let columns = statement.column_count();
    // sqlite3_changes() still tells of an earlier statement when this one changed nothing.
    let changes_before = connection.total_changes();
    let mut results = statement.raw_query();
    let mut rows = 0;
    match decode {
        RowHandling::Count => {
            while results.next()?.is_some() {
                rows += 1;
            }
        }
        RowHandling::Decode(out) => {
            out.reset(columns);
            while let Some(row) = results.next()? {
                rows += 1;
                for column in 0..columns {
                    out.push(match row.get_ref(column)? {
                        ValueRef::Null => Cell::Null,
                        ValueRef::Integer(v) => Cell::Int(v),
                        ValueRef::Real(v) => Cell::Float(v),
                        ValueRef::Text(v) | ValueRef::Blob(v) => Cell::Bytes(v),
                    });
                }
            }
        }
    }
    drop(results);
    let changed = connection.total_changes() != changes_before;
    Ok(Outcome {
        has_rows: columns > 0,
        rows,
        affected: if changed { connection.changes() } else { 0 },
    })
}

fn borrowed(value: Value<'_>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        Value::Null => ValueRef::Null,
        Value::Int(v) => ValueRef::Integer(v),
        Value::Float(v) => ValueRef::Real(v),
        Value::Text(v) => ValueRef::Text(v.as_bytes()),
        Value::Bytes(v) => ValueRef::Blob(v),
    })
}

fn is_rollback(sql: &str) -> bool {
    sql.trim_matches(|c: char| c.is_whitespace() || c == ';')
        .eq_ignore_ascii_case("rollback")
}

fn check_count(params: usize, values: &[Value<'_>]) -> Result<(), DbError> {
    if params == values.len() {
        return Ok(());
    }
    Err(misuse(&format!(
        "{} values for {params} parameters",
        values.len()
    )))
}

fn misuse(why: &str) -> DbError {
    DbError::new(ErrorClass::Fatal, "SQLITE_MISUSE", why)
}
