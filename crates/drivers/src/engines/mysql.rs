//! Oracle MySQL, and what can't be told from it.

use super::{
    Globals, Locks, Peculiarities, QueryLimit, Settings, Splits, TableLocks, milliseconds,
};
use crate::BulkMethod::{LoadData, MultiRowInsert};
use tidemark_core::Isolation;

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "",
    names_itself: false,
    bulk_methods: &[LoadData, MultiRowInsert],
    copies_binary: false,
    copy_options: "",
    within_load: None,
    makes_tables_in_transactions: false,
    makes_tables_side_by_side: true,
    adds_primary_key_later: false,
    keeps_rows_by_key: true,
    clustered_key: "",
    refresh: &["ANALYZE TABLE {table}"],
    splits: Splits::Mysql,
    partitions_have_foreign_keys: false,
    copies_for_foreign_keys: true,
    table_locks: TableLocks::Statement,
    has_column_replicas: false,
    explain: ["EXPLAIN FORMAT=TREE", "EXPLAIN ANALYZE"],
    analytics: &[],
    query_limit: Some(QueryLimit {
        setting: "SESSION max_execution_time",
        value: milliseconds,
        clear: "SET SESSION max_execution_time = 0",
    }),
    isolation_levels: &Isolation::ALL,
    isolation_queries: &[(
        "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')",
        1,
    )],
    // The snapshot needs REPEATABLE READ, whatever the server's default is (MySQL manual, "START
    // TRANSACTION, COMMIT, and ROLLBACK Statements").
    begin_snapshot: &[
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    ],
    export_snapshot: None,
    locks: Locks::Named,
    takes_ahead: false,
    numbers_sessions: true,
    settings: Settings::Mysql,
    globals: Globals::Mysql,
    limits_sessions: true,
    limits_statements: true,
};
