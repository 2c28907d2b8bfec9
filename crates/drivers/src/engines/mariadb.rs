//! MariaDB.

use super::{Globals, Peculiarities, QueryLimit, SettingsReader, mysql};
use crate::BulkMethod::{BulkExecute, LoadData, MultiRowInsert};

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "MariaDB",
    bulk_methods: &[BulkExecute, LoadData, MultiRowInsert],
    explain: ["EXPLAIN FORMAT=JSON", "ANALYZE FORMAT=JSON"],
    query_limit: Some(QueryLimit {
        setting: "SESSION max_statement_time",
        value: |limit| limit.as_secs_f64().to_string(),
        clear: "SET SESSION max_statement_time = 0",
    }),
    requires_keys: Some("innodb_force_primary_key"),
    takes_ahead: true,
    settings: SettingsReader::Mariadb,
    globals: Globals::MysqlTable,
    ..mysql::TABLE
};
