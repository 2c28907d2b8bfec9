//! SQLite.

use super::{Globals, Locks, Peculiarities, SettingsReader, TableLocks, UNSAID};
use crate::BulkMethod::PreparedInsert;
use crate::CommitWait;
use tidemark_core::Isolation::Serializable;

pub(super) const TABLE: Peculiarities = Peculiarities {
    bulk_methods: &[PreparedInsert],
    makes_tables_in_transactions: true,
    table_locks: TableLocks::File,
    explain: ["EXPLAIN QUERY PLAN", "EXPLAIN QUERY PLAN"],
    isolation_levels: &[Serializable],
    locks: Locks::File,
    settings: SettingsReader::Sqlite,
    commit_wait: CommitWait::Session("synchronous", "OFF"),
    globals: Globals::No(
        "SQLite has no server settings; session settings are PRAGMAs, for example session = { \
         synchronous = \"NORMAL\" }",
    ),
    ..UNSAID
};
