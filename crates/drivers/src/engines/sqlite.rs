//! SQLite.

use super::{Globals, Locks, Peculiarities, Settings, Splits, TableLocks};
use crate::BulkMethod::PreparedInsert;
use tidemark_core::Isolation::Serializable;

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "",
    names_itself: false,
    bulk_methods: &[PreparedInsert],
    copies_binary: false,
    copy_options: "",
    within_load: None,
    makes_tables_in_transactions: true,
    makes_tables_side_by_side: false,
    adds_primary_key_later: false,
    keeps_rows_by_key: false,
    clustered_key: "",
    refresh: &["ANALYZE {table}"],
    splits: Splits::No,
    partitions_have_foreign_keys: false,
    copies_for_foreign_keys: false,
    table_locks: TableLocks::File,
    has_column_replicas: false,
    explain: ["EXPLAIN QUERY PLAN", "EXPLAIN QUERY PLAN"],
    analytics: &[],
    query_limit: None,
    isolation_levels: &[Serializable],
    isolation_queries: &[],
    begin_snapshot: &["BEGIN"],
    export_snapshot: None,
    locks: Locks::File,
    takes_ahead: false,
    numbers_sessions: true,
    settings: Settings::Sqlite,
    globals: Globals::No(
        "SQLite is no server and has no settings of its own; settings of a session are PRAGMAs, as \
         in session = { synchronous = \"NORMAL\" }",
    ),
    limits_sessions: false,
    limits_statements: false,
};
