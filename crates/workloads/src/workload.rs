//! A workload with its options set, and its emulated users.

use crate::oltp;
use std::fmt::Debug;
use tidemark_core::{DbError, OptionError};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource, Session};

/// A workload with its options set.
///
/// Rows of a table are numbered from 0; loading takes them in ranges of any size, from any thread,
/// and gets the same rows.
pub trait Workload: Send + Sync + Debug {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// What is timed: the index that [`Terminal::transaction`] returns points in here.
    fn transaction_types(&self) -> &'static [&'static str];

    /// The tables of `prepare` and `cleanup`, for a load or run with this many sessions.
    ///
    /// # Errors
    /// [`OptionError::Conflict`] when the engine can't do what the options ask for.
    fn tables(&self, dialect: &Dialect, sessions: usize) -> Result<Vec<TablePlan>, OptionError>;

    /// `count` rows of the `table`-th plan from row number `first`; the same rows for the same
    /// seed, whatever the chunks.
    fn rows(&self, table: usize, first: u64, count: u64, seed: u64) -> Box<dyn RowSource + Send>;

    /// Whether a table that is there is one of this benchmark's, made by whatever tool: its columns,
    /// types and keys are those of the schema, in any of its variants. Only such a table, or one
    /// with Tidemark's mark, may be dropped.
    fn recognises(&self, found: &TableDescription) -> bool;

    /// Names of the tables that a run with this many sessions reads or writes.
    fn needs(&self, sessions: usize) -> Vec<String>;

    /// Statements that bring the tables into the server's memory, table by table.
    fn prewarm(&self, dialect: &Dialect) -> Vec<Prewarm>;

    /// Whether its transactions change nothing, so that they may run on a replica.
    fn only_reads(&self) -> bool {
        false
    }

    /// What a session needs for its transactions, not yet prepared.
    fn statements(&self) -> Statements;

    /// The `number`-th of `terminals` emulated users.
    fn terminal(&self, number: usize, terminals: usize, seed: u64) -> Terminal;
}

/// How one table is made, filled and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePlan {
    /// Its name, unquoted.
    pub name: String,
    /// Statements that create it, and its partitions where they are tables of their own.
    pub create: Vec<String>,
    /// Columns in the order that [`Workload::rows`] writes them.
    pub columns: &'static [&'static str],
    /// Rows to load.
    pub rows: u64,
    /// The integer column that holds each of 1 to `rows` once, if there is one.
    pub key: Option<&'static str>,
    /// Statements that create indexes after the rows; a primary key too, where that is better.
    pub indexes: Vec<String>,
    /// Statements after that: sequences set past the loaded keys.
    pub finish: Vec<String>,
}

/// Statements that bring one table into the server's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prewarm {
    /// The table.
    pub table: String,
    /// In order, on one session.
    pub statements: Vec<String>,
}

/// What one session has prepared of a workload. It belongs to the session and not to a terminal,
/// because terminals may share fewer sessions.
#[derive(Debug)]
pub enum Statements {
    /// Everything is sent as text.
    None,
    /// The sysbench OLTP family.
    Oltp(oltp::Statements),
}

impl Statements {
    /// Prepares the statements; to be called again when the session is a new one.
    ///
    /// # Errors
    /// The server's error; [`tidemark_core::ErrorClass::Missing`] when a table does not exist.
    pub async fn prepare(&mut self, session: &mut Session) -> Result<(), DbError> {
        match self {
            Statements::None => Ok(()),
            Statements::Oltp(statements) => statements.prepare(session).await,
        }
    }
}

/// One emulated user: an enum over families, so that a call is a jump and not a boxed future.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // a box would not make them fewer
pub enum Terminal {
    /// The sysbench OLTP family.
    Oltp(oltp::Terminal),
    /// `bulk_insert`.
    OltpBulk(oltp::BulkTerminal),
}

impl Terminal {
    /// Runs one transaction with new random values and returns the index of its type.
    ///
    /// # Errors
    /// The server's error. A transaction that it left open is the caller's to roll back; the
    /// terminal can be asked for the next transaction at once. Fatal `workload` when the statements
    /// are another workload's.
    pub async fn transaction(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<usize, DbError> {
        match (self, statements) {
            (Terminal::Oltp(terminal), Statements::Oltp(statements)) => {
                terminal.transaction(session, statements).await
            }
            (Terminal::OltpBulk(terminal), _) => terminal.transaction(session).await,
            (Terminal::Oltp(_), Statements::None) => Err(oltp::not_ready()),
        }
    }

    /// Sends what the terminal still holds back (`bulk_insert` collects rows); to be called once
    /// after the last transaction.
    ///
    /// # Errors
    /// As [`Terminal::transaction`].
    pub async fn finish(&mut self, session: &mut Session) -> Result<(), DbError> {
        match self {
            Terminal::Oltp(_) => Ok(()),
            Terminal::OltpBulk(terminal) => terminal.finish(session).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred thousand terminals are some thirty megabytes.
    #[test]
    fn a_terminal_is_small() {
        assert!(size_of::<Terminal>() <= 296, "{}", size_of::<Terminal>());
    }
}
