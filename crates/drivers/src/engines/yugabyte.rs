//! YugabyteDB's YSQL.

use super::postgres::{self, SHOW_ISOLATION};
use super::{Peculiarities, Splits, TableLocks};
use crate::CommitWait;

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "-YB-",
    copies_binary: false,
    // It commits every 20,000 rows unless told otherwise (docs, "COPY").
    copy_options: " WITH (ROWS_PER_TRANSACTION 0)",
    within_load: None,
    makes_tables_in_transactions: false,
    adds_primary_key_later: false,
    refresh: &["ANALYZE {table}"],
    splits: Splits::Yugabyte,
    table_locks: TableLocks::No,
    // It may give another level than it shows (manual, "Isolation levels").
    isolation_queries: &[
        ("SELECT yb_get_effective_transaction_isolation_level()", 0),
        SHOW_ISOLATION,
    ],
    export_snapshot: None,
    commit_wait: CommitWait::Fixed,
    ..postgres::TABLE
};
