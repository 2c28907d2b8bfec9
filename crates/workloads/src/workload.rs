//! A workload with its options set, and its emulated users.

use crate::{Check, Done, Part, columns, oltp, tpcc, ycsb};
use std::fmt::Debug;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass, ErrorKind, OptionError};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource, Session};

/// A workload with its options set.
///
/// Rows of a table are made in units, numbered from 0; loading takes them in ranges of any size, from
/// any thread, and gets the same rows. A unit is one row unless [`Workload::row_count`] says otherwise.
pub trait Workload: Send + Sync + Debug {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// What is timed: [`Done::kind`] points in here.
    fn transaction_types(&self) -> &'static [&'static str];

    /// Outcomes that are counted beside the types, at most [`crate::MAX_NOTES`]: the indexes of
    /// [`Done::notes`] point in here.
    fn notes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether its terminals have pauses of their own ([`Terminal::pause`]); the run's think time
    /// is not used then.
    fn paces(&self) -> bool {
        false
    }

    /// The tables of `prepare` and `cleanup`, for a load or run with this many sessions.
    ///
    /// # Errors
    /// [`OptionError::Conflict`] when the engine can't do what the options ask for.
    fn tables(&self, dialect: &Dialect, sessions: usize) -> Result<Vec<TablePlan>, OptionError>;

    /// The rows of `count` units of the `table`-th plan from unit `first`; the same rows for the
    /// same seed, whatever the chunks.
    fn rows(&self, table: usize, first: u64, count: u64, seed: u64) -> Box<dyn RowSource + Send>;

    /// How many rows [`Workload::rows`] makes of `count` units of the `table`-th plan from unit
    /// `first`. A unit is one row, unless the workload says otherwise: an order's lines are five to
    /// fifteen rows that are made together.
    fn row_count(&self, _table: usize, _first: u64, count: u64, _seed: u64) -> u64 {
        count
    }

    /// How many rows the `table`-th plan's table has before a run, where no seed decides that and no
    /// run is meant to add to them.
    fn loaded_rows(&self, _table: usize, plan: &TablePlan) -> Option<u64> {
        plan.key.map(|_| plan.rows)
    }

    /// Whether a table that is there is one of this benchmark's, made by whatever tool: its columns,
    /// types and keys are those of the schema, in any of its variants. Only such a table, or one
    /// with Tidemark's mark, may be dropped.
    fn recognises(&self, found: &TableDescription) -> bool;

    /// What a table has beside columns, key and indexes that none of this benchmark's has, in words: a
    /// foreign key of its own, a trigger, partitions that its options don't ask for. A table with any
    /// of these is not recognised, and not dropped whatever mark it bears; partitions of a marked table
    /// are its own.
    fn additions(&self, found: &TableDescription) -> Vec<String> {
        columns::additions(found, |_| false, |_| false)
    }

    /// Whether the columns of a table that bears Tidemark's mark are those that this workload gives it,
    /// in any of its variants. A load that did not end lacks keys, so they are not asked for.
    fn has_its_columns(&self, _marked: &TableDescription) -> bool {
        true
    }

    /// Whether a table that bears Tidemark's mark can be one of this workload's. Workloads have names
    /// in common (`customer`, `orders`), and one's tables are not another's to drop.
    fn can_be(&self, _marked: &TableDescription) -> bool {
        true
    }

    /// Names of the tables that a run with this many sessions reads or writes.
    fn needs(&self, sessions: usize) -> Vec<String>;

    /// Statements that bring the tables into the server's memory, table by table.
    fn prewarm(&self, dialect: &Dialect) -> Vec<Prewarm>;

    /// Whether its transactions change nothing, so that they may run on a replica.
    fn only_reads(&self) -> bool {
        false
    }

    /// Whether an UPDATE that writes what is there already has hit something: its sessions then count
    /// the rows that were matched on every engine.
    fn counts_matched(&self) -> bool {
        false
    }

    /// The conditions that its tables meet after a load and after a run; none where the benchmark
    /// names none.
    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        Vec::new()
    }

    /// What a session needs for its transactions, not yet prepared.
    fn statements(&self) -> Statements;

    /// The `number`-th of `terminals` emulated users.
    fn terminal(&self, number: usize, terminals: usize, seed: u64) -> Terminal;
}

/// How one table is made, filled and checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TablePlan {
    /// Its name, unquoted.
    pub name: String,
    /// Statements that create it, and its partitions where they are tables of their own.
    pub create: Vec<String>,
    /// Columns in the order that [`Workload::rows`] writes them.
    pub columns: &'static [&'static str],
    /// Units to load ([`Workload::row_count`]): rows, where a unit is one row.
    pub rows: u64,
    /// About how many bytes a unit takes when it is sent, for the size of chunks and to begin with
    /// the largest table; 0 where it isn't known.
    pub unit_bytes: u32,
    /// The integer column that holds each of 1 to `rows` once, if there is one.
    pub key: Option<&'static str>,
    /// The integer column that begins the primary key and grows from unit to unit, if there is one.
    pub ascending: Option<&'static str>,
    /// Columns that find one row together, by which rows are compared after a load. Empty: `key`
    /// alone does, and without it no row is compared.
    pub row_key: &'static [&'static str],
    /// Statements that create indexes after the rows; a primary key too, where that is better.
    pub indexes: Vec<String>,
    /// Statements after that: sequences set past the loaded keys. A load that goes on may do them
    /// twice.
    pub finish: Vec<String>,
    /// Statements after all tables have their rows and indexes: foreign keys, each with a name of
    /// its own. Where the table has a constraint of one of a statement's names, a load that goes on
    /// leaves the statement out.
    pub after_all: Vec<String>,
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
    /// TPC-C.
    Tpcc(tpcc::Statements),
    /// YCSB.
    Ycsb(ycsb::Statements),
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
            Statements::Tpcc(statements) => statements.prepare(session).await,
            Statements::Ycsb(statements) => statements.prepare(session).await,
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
    /// TPC-C.
    Tpcc(tpcc::Terminal),
    /// YCSB.
    Ycsb(ycsb::Terminal),
    /// A workload whose run is not made of transactions: TPC-H's streams of queries.
    None,
}

impl Terminal {
    /// Runs one transaction with new random values.
    ///
    /// # Errors
    /// The server's error. A transaction that it left open is the caller's to roll back; the
    /// terminal can be asked for the next transaction at once. Fatal `workload` when the statements
    /// are another workload's.
    pub async fn transaction(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<Done, DbError> {
        match (self, statements) {
            // In a box: a session's task is as large as its largest wait, also of a session that
            // runs another workload.
            (Terminal::Tpcc(terminal), Statements::Tpcc(statements)) => {
                Box::pin(terminal.transaction(session, statements)).await
            }
            (Terminal::Oltp(terminal), Statements::Oltp(statements)) => {
                terminal.transaction(session, statements).await
            }
            (Terminal::Ycsb(terminal), Statements::Ycsb(statements)) => {
                terminal.transaction(session, statements).await
            }
            (Terminal::OltpBulk(terminal), _) => terminal.transaction(session).await,
            (Terminal::Oltp(_) | Terminal::Tpcc(_) | Terminal::Ycsb(_) | Terminal::None, _) => {
                Err(oltp::not_ready())
            }
        }
    }

    /// The pause before the next transaction, of a workload that paces: what the user thinks
    /// about the last one and types for the next, whose type is drawn now.
    pub fn pause(&mut self) -> Duration {
        match self {
            Terminal::Oltp(_) | Terminal::OltpBulk(_) | Terminal::Ycsb(_) | Terminal::None => {
                Duration::ZERO
            }
            Terminal::Tpcc(terminal) => terminal.pause(),
        }
    }

    /// Whether the error of the last transaction ended it for its user, who thinks before the next
    /// one. Otherwise [`Terminal::transaction`] is to be called again at once: it tries the same
    /// one, or, as sysbench's scripts do, another in its place.
    pub fn gave_up(&self) -> bool {
        match self {
            Terminal::Oltp(_) | Terminal::OltpBulk(_) | Terminal::Ycsb(_) | Terminal::None => false,
            Terminal::Tpcc(terminal) => terminal.gave_up(),
        }
    }

    /// Whether the last transaction left work for [`Terminal::deferred`].
    #[inline]
    pub fn has_deferred(&self) -> bool {
        match self {
            Terminal::Oltp(_) | Terminal::OltpBulk(_) | Terminal::Ycsb(_) | Terminal::None => false,
            Terminal::Tpcc(terminal) => terminal.has_deferred(),
        }
    }

    /// Does what the last transaction left to be done after its reply. It is timed and counted as a
    /// type of its own, and the user's pause does not wait for it.
    ///
    /// # Errors
    /// As [`Terminal::transaction`]. After one that may be tried again the work is still there, after
    /// another it may be given up ([`Terminal::gave_up`] tells). Fatal `workload` when there
    /// was none.
    pub async fn deferred(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<Done, DbError> {
        match (self, statements) {
            (Terminal::Tpcc(terminal), Statements::Tpcc(statements)) => {
                Box::pin(terminal.deferred(session, statements)).await
            }
            _ => Err(nothing_deferred()),
        }
    }

    /// The transactions that the last one was made of, where its parts are timed too; none of most.
    #[inline]
    pub fn parts(&self) -> &[Part] {
        match self {
            Terminal::Oltp(_) | Terminal::OltpBulk(_) | Terminal::Tpcc(_) | Terminal::None => &[],
            Terminal::Ycsb(terminal) => terminal.parts(),
        }
    }

    /// Sends what the terminal still holds back (`bulk_insert` collects rows); to be called once
    /// after the last transaction.
    ///
    /// # Errors
    /// As [`Terminal::transaction`].
    pub async fn finish(&mut self, session: &mut Session) -> Result<(), DbError> {
        match self {
            Terminal::Oltp(_) | Terminal::Tpcc(_) | Terminal::Ycsb(_) | Terminal::None => Ok(()),
            Terminal::OltpBulk(terminal) => terminal.finish(session).await,
        }
    }
}

/// Whether a terminal does the same again after an error, and not what comes next: retries would
/// leave out what fails often. What may be committed is not done again, or it would be there twice.
pub(crate) fn is_same_again(error: &DbError) -> bool {
    use ErrorClass::{ConnectionLost, Refused, Retryable};
    matches!(error.class, Retryable | ConnectionLost | Refused) && error.kind != ErrorKind::CommitUnknown
}

pub(crate) fn nothing_deferred() -> DbError {
    DbError::new(
        ErrorClass::Fatal,
        "workload",
        "deferred work was asked for and there is none",
    )
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
