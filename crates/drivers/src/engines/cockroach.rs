//! CockroachDB.

use super::{Globals, Locks, Peculiarities, SettingsReader, Splits, TableLocks, postgres};
use crate::CommitWait;

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "CockroachDB",
    names_itself: true,
    copies_binary: false,
    within_load: None,
    makes_tables_in_transactions: false,
    adds_primary_key_later: false,
    refresh: &["ANALYZE {table}"],
    splits: Splits::Cockroach,
    table_locks: TableLocks::No,
    explain: ["EXPLAIN", "EXPLAIN ANALYZE"],
    // A read of the past neither waits for writers nor is told to begin again (CockroachDB manual,
    // "AS OF SYSTEM TIME").
    begin_snapshot: &["BEGIN AS OF SYSTEM TIME '-1us'"],
    export_snapshot: None,
    locks: Locks::No,
    // `pg_backend_pid` gives numbers of its own (manual, "pg_backend_pid").
    numbers_sessions: false,
    settings: SettingsReader::Cockroach,
    globals: Globals::No(
        "changing CockroachDB's cluster settings is not supported; change them yourself, and add \
         the cluster as another target",
    ),
    commit_wait: CommitWait::Fixed,
    limits_sessions: false,
    ..postgres::TABLE
};
