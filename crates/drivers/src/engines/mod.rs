//! What each engine does otherwise than others of its protocol: a table an engine.
//!
//! Everything that asks "which engine is it" asks [`Dialect`](crate::Dialect) or the table here. What
//! holds for a protocol stands where the protocol is asked for.

mod cockroach;
mod mariadb;
mod mysql;
mod postgres;
mod sqlite;
mod tidb;
mod yugabyte;

use crate::cluster::Cluster;
use crate::{BulkMethod, CommitWait};
use std::time::Duration;
use tidemark_core::{Engine, Isolation, Protocol};

/// What is peculiar to an engine. A new one begins with the table of the engine that it is like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peculiarities {
    /// A word of the server's version that others of the protocol don't have; empty for the engine
    /// that is left when no word was found.
    pub version_word: &'static str,
    /// Whether `version()` begins with the engine's name and version, and not with those of an engine
    /// that it imitates.
    pub names_itself: bool,

    // Loading.
    /// Every way to load many rows, best first.
    pub bulk_methods: &'static [BulkMethod],
    /// Whether COPY takes binary rows.
    pub copies_binary: bool,
    /// Options of a COPY of text.
    pub copy_options: &'static str,
    /// What a session sets within a transaction that loads rows.
    pub within_load: Option<&'static str>,
    /// Whether making a table is part of a transaction.
    pub makes_tables_in_transactions: bool,
    /// Whether tables are best made by several sessions at once.
    pub makes_tables_side_by_side: bool,
    /// Whether a primary key is better added after the rows.
    pub adds_primary_key_later: bool,
    /// Whether a table's rows are kept in the order of its primary key, and counted by it.
    pub keeps_rows_by_key: bool,
    /// What follows PRIMARY KEY so that rows lie in the order of the key.
    pub clustered_key: &'static str,
    /// The setting by which the server makes no table without a primary key.
    pub requires_keys: Option<&'static str>,
    /// Statements that refresh the planner's statistics of `{table}`.
    pub refresh: &'static [&'static str],

    // Tables.
    /// How tables are split.
    pub splits: Splits,
    /// Whether tables in partitions can have foreign keys or be referred to by them.
    pub partitions_have_foreign_keys: bool,
    /// Whether adding a foreign key that is checked copies the table.
    pub copies_for_foreign_keys: bool,
    /// How a table is kept from other sessions.
    pub table_locks: TableLocks,
    /// Whether tables can be kept by columns too (TiFlash).
    pub has_column_replicas: bool,

    // Sessions and statements.
    /// What tells a query's plan, and the plan with what each step took.
    pub explain: [&'static str; 2],
    /// Variables of a session that plan analytical queries better.
    pub analytics: &'static [(&'static str, &'static str)],
    /// How the server ends queries that take longer than they may.
    pub query_limit: Option<QueryLimit>,
    /// The isolation levels that it has under their own names.
    pub isolation_levels: &'static [Isolation],
    /// Queries for the level that transactions have, and the column that tells.
    pub isolation_queries: &'static [(&'static str, usize)],
    /// Statements that begin a transaction in a snapshot.
    pub begin_snapshot: &'static [&'static str],
    /// The query that names a snapshot for other sessions.
    pub export_snapshot: Option<&'static str>,
    /// Locks that clients take by name.
    pub locks: Locks,
    /// Whether statements may be sent ahead of the answers to others (MySQL's protocol).
    pub takes_ahead: bool,
    /// Whether the number of a session is told in the protocol and by a query alike (PostgreSQL's).
    pub numbers_sessions: bool,

    // Settings.
    /// How the settings that matter are read.
    pub settings: SettingsReader,
    /// How settings of the whole server are changed.
    pub globals: Globals,
    /// What can be set so that commits do not wait for the disk.
    pub commit_wait: CommitWait,
    /// Whether the server tells how many sessions it takes.
    pub limits_sessions: bool,
    /// Whether the server keeps no more prepared statements than a limit, of all sessions together.
    pub limits_statements: bool,

    // Nodes.
    /// How a cluster names its nodes.
    pub cluster: Option<Cluster>,
}

/// What holds where an engine's table says nothing.
const UNSAID: Peculiarities = Peculiarities {
    version_word: "",
    names_itself: false,
    bulk_methods: &[BulkMethod::MultiRowInsert],
    copies_binary: false,
    copy_options: "",
    within_load: None,
    makes_tables_in_transactions: false,
    makes_tables_side_by_side: false,
    adds_primary_key_later: false,
    keeps_rows_by_key: false,
    clustered_key: "",
    requires_keys: None,
    refresh: &["ANALYZE {table}"],
    splits: Splits::No,
    partitions_have_foreign_keys: false,
    copies_for_foreign_keys: false,
    table_locks: TableLocks::No,
    has_column_replicas: false,
    explain: ["EXPLAIN", "EXPLAIN ANALYZE"],
    analytics: &[],
    query_limit: None,
    isolation_levels: &[Isolation::Serializable],
    isolation_queries: &[],
    begin_snapshot: &["BEGIN"],
    export_snapshot: None,
    locks: Locks::No,
    takes_ahead: false,
    numbers_sessions: true,
    settings: SettingsReader::Sqlite,
    globals: Globals::No("the engine has no settings of its own"),
    commit_wait: CommitWait::Fixed,
    limits_sessions: false,
    limits_statements: false,
    cluster: None,
};

/// How tables are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Splits {
    /// They are not.
    No,
    /// `PARTITION BY … PARTITIONS n`.
    Mysql,
    /// `PARTITION BY …`, and a table for each partition.
    Postgres,
    /// `SPLIT INTO … TABLETS`, `SPLIT AT VALUES`.
    Yugabyte,
    /// `USING HASH`, `ALTER TABLE … SPLIT AT VALUES`.
    Cockroach,
}

/// How a table is kept from other sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableLocks {
    /// It is not: a cluster has no such lock for clients.
    No,
    /// `LOCK TABLES`, until `UNLOCK TABLES`.
    Statement,
    /// `LOCK TABLE`, until the transaction ends.
    Transaction,
    /// With the whole file, until the transaction ends.
    File,
}

/// Locks that clients take by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// None.
    No,
    /// `GET_LOCK`.
    Named,
    /// `pg_advisory_lock`.
    Advisory,
    /// A file beside the database's.
    File,
}

/// How the settings that matter are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsReader {
    Mariadb,
    Mysql,
    Tidb,
    Postgres,
    Cockroach,
    Sqlite,
}

/// How settings of the whole server are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Globals {
    /// They are not, and why.
    No(&'static str),
    /// `SET GLOBAL`, and a table that says which can be changed.
    MysqlTable,
    /// `SET GLOBAL`.
    Mysql,
    /// `ALTER SYSTEM`.
    Postgres,
}

/// How the server ends queries that take longer than they may.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryLimit {
    /// The setting; `SET` and `=` stand around it.
    pub setting: &'static str,
    /// The limit as the setting takes it.
    pub value: fn(Duration) -> String,
    /// The statement that clears it.
    pub clear: &'static str,
}

/// Whole milliseconds, and one at least: 0 would be no limit.
fn milliseconds(limit: Duration) -> String {
    limit.as_millis().max(1).to_string()
}

/// The table of an engine.
pub(crate) const fn of(engine: Engine) -> &'static Peculiarities {
    match engine {
        Engine::Mysql => &mysql::TABLE,
        Engine::Mariadb => &mariadb::TABLE,
        Engine::Tidb => &tidb::TABLE,
        Engine::Postgres => &postgres::TABLE,
        Engine::Yugabyte => &yugabyte::TABLE,
        Engine::Cockroach => &cockroach::TABLE,
        Engine::Sqlite => &sqlite::TABLE,
    }
}

/// The engine of a protocol whose word is in one of these texts of a server.
pub(crate) fn detect(protocol: Protocol, texts: &[&str], otherwise: Engine) -> Engine {
    let is_said = |engine: &Engine| {
        let word = of(*engine).version_word;
        engine.protocol() == protocol
            && !word.is_empty()
            && texts.iter().any(|text| text.contains(word))
    };
    Engine::ALL.into_iter().find(is_said).unwrap_or(otherwise)
}
