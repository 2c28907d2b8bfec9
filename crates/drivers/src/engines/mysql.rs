//! Oracle MySQL, and what can't be told from it.

use super::{
    Globals, Locks, Peculiarities, QueryLimit, SettingsReader, Splits, TableLocks, UNSAID,
    milliseconds,
};
use crate::BulkMethod::{LoadData, MultiRowInsert};
use crate::CommitWait;
use tidemark_core::Isolation;

pub(super) const TABLE: Peculiarities = Peculiarities {
    bulk_methods: &[LoadData, MultiRowInsert],
    makes_tables_side_by_side: true,
    keeps_rows_by_key: true,
    requires_keys: Some("sql_require_primary_key"),
    refresh: &["ANALYZE TABLE {table}"],
    splits: Splits::Mysql,
    copies_for_foreign_keys: true,
    table_locks: TableLocks::Statement,
    explain: ["EXPLAIN FORMAT=TREE", "EXPLAIN ANALYZE"],
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
    locks: Locks::Named,
    settings: SettingsReader::Mysql,
    globals: Globals::Mysql,
    commit_wait: CommitWait::Logs,
    limits_sessions: true,
    limits_statements: true,
    ..UNSAID
};
