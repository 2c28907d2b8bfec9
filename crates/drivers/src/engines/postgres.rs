//! PostgreSQL, and what can't be told from it.

use super::{
    Globals, Locks, Peculiarities, QueryLimit, SettingsReader, Splits, TableLocks, UNSAID,
    milliseconds,
};
use crate::BulkMethod::{Copy, MultiRowInsert};
use crate::CommitWait;
use tidemark_core::Isolation::{ReadCommitted, RepeatableRead, Serializable};

pub(super) const TABLE: Peculiarities = Peculiarities {
    bulk_methods: &[Copy, MultiRowInsert],
    copies_binary: true,
    within_load: Some("SET LOCAL synchronous_commit = off"),
    makes_tables_in_transactions: true,
    adds_primary_key_later: true,
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
    table_locks: TableLocks::Transaction,
    explain: ["EXPLAIN", "EXPLAIN (ANALYZE, BUFFERS)"],
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
    settings: SettingsReader::Postgres,
    globals: Globals::Postgres,
    commit_wait: CommitWait::Session("synchronous_commit", "off"),
    limits_sessions: true,
    ..UNSAID
};

pub(super) const SHOW_ISOLATION: (&str, usize) = ("SHOW transaction_isolation", 0);
