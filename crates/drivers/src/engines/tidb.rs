//! TiDB.

use super::{Peculiarities, SettingsReader, TableLocks, mysql};
use crate::CommitWait;
use tidemark_core::Isolation::{ReadCommitted, RepeatableRead};

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "TiDB",
    makes_tables_side_by_side: false,
    keeps_rows_by_key: false,
    // Others read it as a comment (TiDB manual, "Clustered Indexes").
    clustered_key: " /*T![clustered_index] CLUSTERED */",
    // It has the setting of MySQL's, and no invisible columns.
    requires_keys: None,
    copies_for_foreign_keys: false,
    table_locks: TableLocks::No,
    has_column_replicas: true,
    explain: ["EXPLAIN", "EXPLAIN ANALYZE"],
    // Those that go-tpc sets for its TPC-H.
    analytics: &[
        ("tidb_default_string_match_selectivity", "0.1"),
        ("tidb_opt_join_reorder_threshold", "60"),
        ("tidb_prefer_broadcast_join_by_exchange_data_size", "ON"),
    ],
    isolation_levels: &[ReadCommitted, RepeatableRead],
    settings: SettingsReader::Tidb,
    commit_wait: CommitWait::Fixed,
    limits_statements: false,
    ..mysql::TABLE
};
