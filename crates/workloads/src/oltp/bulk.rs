//! `bulk_insert`: each session fills a table of its own with ascending keys.

use super::recognise::{has_columns, is_benchmark_table};
use super::rows::NoRows;
use super::schema;
use crate::terminal::User;
use crate::{Done, Prewarm, TablePlan, Workload};
use std::fmt::Write as _;
use tidemark_core::{DbError, ErrorClass, OptionError};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource, Session};

/// Longest text of one INSERT: sysbench's stay within 512 KiB whatever the server would take.
const INSERT_BYTES: usize = 512 * 1024;

/// The workload: it has no options of its own, and one table per session.
#[derive(Debug)]
pub(super) struct BulkInsert;

impl Workload for BulkInsert {
    fn name(&self) -> &'static str {
        "bulk_insert"
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        &["bulk_insert"]
    }

    fn tables(&self, _dialect: &Dialect, sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        Ok(tables(sessions).map(schema::bulk_table).collect())
    }

    fn rows(&self, _table: usize, _first: u64, _n: u64, _seed: u64) -> Box<dyn RowSource + Send> {
        Box::new(NoRows)
    }

    fn recognises(&self, found: &TableDescription) -> bool {
        self.additions(found).is_empty() && is_benchmark_table(found)
    }

    fn has_its_columns(&self, marked: &TableDescription) -> bool {
        has_columns(marked)
    }

    fn needs(&self, sessions: usize) -> Vec<String> {
        tables(sessions).map(schema::name).collect()
    }

    fn prewarm(&self, _dialect: &Dialect) -> Vec<Prewarm> {
        Vec::new()
    }

    fn statements(&self) -> crate::Statements {
        crate::Statements::OltpBulk(NoStatements)
    }

    fn terminal(&self, number: usize, _terminals: usize, _seed: u64) -> crate::Terminal {
        crate::Terminal::OltpBulk(BulkTerminal::new(number))
    }
}

fn tables(sessions: usize) -> impl Iterator<Item = u32> {
    1..=u32::try_from(sessions).unwrap_or(u32::MAX)
}

/// One session's writer: it collects rows and sends them in large INSERTs, so that a transaction
/// is a row and most transactions send nothing.
#[derive(Debug)]
pub struct BulkTerminal {
    table: usize,
    next: u64,
    sql: String,
    /// Rows in it.
    rows: u64,
}

/// What its sessions prepare: nothing.
#[derive(Debug)]
pub struct NoStatements;

impl NoStatements {
    pub(crate) async fn prepare(&mut self, _session: &mut Session) -> Result<(), DbError> {
        Ok(())
    }
}

impl User for BulkTerminal {
    type Statements = NoStatements;

    fn transaction(
        &mut self,
        session: &mut Session,
        _statements: &NoStatements,
    ) -> impl Future<Output = Result<Done, DbError>> {
        self.add_row(session)
    }

    fn finish(&mut self, session: &mut Session) -> impl Future<Output = Result<(), DbError>> {
        self.send(session)
    }
}

impl BulkTerminal {
    fn new(number: usize) -> Self {
        Self {
            table: number + 1,
            next: 1,
            sql: String::new(),
            rows: 0,
        }
    }

    /// Adds one row, after sending the rows collected when it finds no place beside them.
    ///
    /// # Errors
    /// The server's error; the row is not added then. Rows that may be sent again are kept.
    async fn add_row(&mut self, session: &mut Session) -> Result<Done, DbError> {
        let full = self.sql.len();
        self.add();
        if full > 0 && self.sql.len() > INSERT_BYTES {
            self.sql.truncate(full);
            self.send(session).await?;
            self.add();
        }
        self.rows += 1;
        self.next += 1;
        Ok(Done::of(0))
    }

    fn add(&mut self) {
        let (table, id) = (self.table, self.next);
        // Writing to a String can't fail.
        let _ = if self.sql.is_empty() {
            write!(self.sql, "INSERT INTO sbtest{table} VALUES({id},{id})")
        } else {
            write!(self.sql, ",({id},{id})")
        };
    }

    /// Sends the rows collected.
    ///
    /// # Errors
    /// The server's error. Rows are kept for another try when the statement was rolled back or the
    /// session is gone, and dropped when the server refuses them.
    async fn send(&mut self, session: &mut Session) -> Result<(), DbError> {
        if self.sql.is_empty() {
            return Ok(());
        }
        let sent = session.simple(&self.sql).await;
        let again = |e: &DbError| {
            matches!(
                e.class,
                ErrorClass::Retryable | ErrorClass::ConnectionLost | ErrorClass::Refused
            )
        };
        if sent.as_ref().is_err_and(again) {
            return sent.map(drop);
        }
        self.sql.clear();
        let rows = std::mem::take(&mut self.rows);
        sent.map(drop).map_err(|error| DbError {
            message: format!(
                "{} ({rows} rows that were counted when they were collected are not in the table)",
                error.message
            ),
            ..error
        })
    }
}
