//! PostgreSQL, and what can't be told from it.

use super::{
    Globals, Locks, Peculiarities, QueryLimit, Settings, Splits, TableLocks, milliseconds,
};
use crate::BulkMethod::{Copy, MultiRowInsert};
use tidemark_core::Isolation::{ReadCommitted, RepeatableRead, Serializable};

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "",
    names_itself: false,
    bulk_methods: &[Copy, MultiRowInsert],
    copies_binary: true,
    copy_options: "",
    within_load: Some("SET LOCAL synchronous_commit = off"),
    makes_tables_in_transactions: true,
    makes_tables_side_by_side: false,
    adds_primary_key_later: true,
    keeps_rows_by_key: false,
    clustered_key: "",
    refresh: &[
        "VACUUM {table}",
        "BEGIN",
        "SELECT set_config('default_statistics_target', \
         LEAST(current_setting('default_statistics_target')::integer, 30)::text, true)",
        "ANALYZE {table}",
        "COMMIT",
    ],
    splits: Splits::Postgres,
    partitions_have_foreign_keys: true,
    copies_for_foreign_keys: false,
    table_locks: TableLocks::Transaction,
    has_column_replicas: false,
    explain: ["EXPLAIN", "EXPLAIN (ANALYZE, BUFFERS)"],
    analytics: &[],
    query_limit: Some(QueryLimit {
        setting: "statement_timeout",
        value: milliseconds,
        clear: "SET statement_timeout = 0",
    }),
    isolation_levels: &[ReadCommitted, RepeatableRead, Serializable],
    isolation_queries: &[SHOW_ISOLATION],
    begin_snapshot: &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"],
    export_snapshot: Some("SELECT pg_export_snapshot()"),
    locks: Locks::Advisory,
    takes_ahead: false,
    numbers_sessions: true,
    settings: Settings::Postgres,
    globals: Globals::Postgres,
    limits_sessions: true,
    limits_statements: false,
};

pub(super) const SHOW_ISOLATION: (&str, usize) = ("SHOW transaction_isolation", 0);
