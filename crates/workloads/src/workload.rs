//! A workload with its options set.

use crate::{Check, Statements, Terminal, columns};
use std::any::Any;
use std::fmt::Debug;
use tidemark_core::{DbError, OptionError, Shard};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Connector, Dialect, RowSource};

/// A workload with its options set.
///
/// Rows of a table are made in units, numbered from 0; loading takes them in ranges of any size, from
/// any thread, and gets the same rows. A unit is one row unless [`Workload::row_count`] says otherwise.
pub trait Workload: Send + Sync + Debug + Any {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// What is timed: [`crate::Done::kind`] points in here.
    fn transaction_types(&self) -> &'static [&'static str];

    /// Outcomes that are counted beside the types, at most [`crate::MAX_NOTES`]: the indexes of
    /// [`crate::Done::notes`] point in here.
    fn notes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The one of these outcomes that is an error, by its index, and the error as the run counts it beside
    /// those that were ignored.
    fn noted_error(&self) -> Option<(usize, DbError)> {
        None
    }

    /// Whether its terminals have pauses of their own ([`Terminal::pause`]); the run's think time
    /// is not used then.
    fn paces(&self) -> bool {
        false
    }

    /// Whether sessions of one thread have something in common that costs each of them when it is alone,
    /// such as an interpreter with its program.
    fn shares_by_thread(&self) -> bool {
        false
    }

    /// Whether each of its terminals does the same number of the run's transactions, as pgbench's do,
    /// where a run has a number of them.
    fn events_are_each(&self) -> bool {
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

    /// Tells how sessions are opened, for users that open further ones.
    fn connects_by(&self, _connector: &Connector) {}

    /// How many round trips every transaction needs at least, one after the other.
    fn fewest_round_trips(&self) -> u32 {
        1
    }

    /// What a session needs for its transactions, not yet prepared.
    fn statements(&self) -> Statements;

    /// Several clients share the run, and this is one of them; called before its terminals are made.
    /// What the terminals of a client hand out among themselves (numbers of new records) must be nothing
    /// that another client hands out. What depends on a terminal's number alone needs no care.
    fn deal(&self, _shard: Shard) {}

    /// The `number`-th of `terminals` emulated users, both counted over all clients of the run.
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
    /// Whether it is the same benchmark's table with one more column that numbers its rows unseen: a
    /// table without a key, on a server that makes none.
    pub may_be_numbered: bool,
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
