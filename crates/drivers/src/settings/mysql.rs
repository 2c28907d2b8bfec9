//! Settings of the MySQL family.

use super::listed;
use crate::{RowSet, Session};
use tidemark_core::record::Setting;
use tidemark_core::{DbError, ErrorClass};

/// What decides durability, memory, concurrency and the plan, whatever its value.
pub(super) const ALWAYS: &[&str] = &[
    "autocommit",
    "binlog_format",
    "have_ssl",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "innodb_snapshot_isolation",
    "innodb_thread_concurrency",
    "log_bin",
    "max_connections",
    "max_prepared_stmt_count",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "slow_query_log",
    "sql_mode",
    "sync_binlog",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "thread_pool_size",
    "transaction_isolation",
    "tx_isolation",
];

/// System variables of TiDB that change how transactions and queries are executed
/// (docs.pingcap.com/tidb/stable/system-variables).
pub(super) const TIDB: &[&str] = &[
    "autocommit",
    "max_connections",
    "sql_mode",
    "tidb_analyze_version",
    "tidb_constraint_check_in_place",
    "tidb_constraint_check_in_place_pessimistic",
    "tidb_disable_txn_auto_retry",
    "tidb_distsql_scan_concurrency",
    "tidb_enable_1pc",
    "tidb_enable_async_commit",
    "tidb_enable_clustered_index",
    "tidb_enable_paging",
    "tidb_enable_prepared_plan_cache",
    "tidb_enable_rate_limit_action",
    "tidb_enable_vectorized_expression",
    "tidb_executor_concurrency",
    "tidb_gc_life_time",
    "tidb_guarantee_linearizability",
    "tidb_isolation_read_engines",
    "tidb_mem_quota_query",
    "tidb_partition_prune_mode",
    "tidb_prepared_plan_cache_size",
    "tidb_rc_read_check_ts",
    "tidb_replica_read",
    "tidb_server_memory_limit",
    "tidb_session_plan_cache_size",
    "tidb_txn_mode",
    "transaction_isolation",
    "tx_isolation",
];

/// MariaDB tells the value it was compiled with
/// (mariadb.com/kb/en/information-schema-system_variables-table).
pub(super) async fn mariadb(session: &mut Session) -> Result<Vec<Setting>, DbError> {
    let rows = session
        .query(&format!(
            "SELECT LOWER(VARIABLE_NAME), GLOBAL_VALUE, DEFAULT_VALUE \
             FROM information_schema.SYSTEM_VARIABLES WHERE GLOBAL_VALUE IS NOT NULL \
             AND (GLOBAL_VALUE <> DEFAULT_VALUE OR LOWER(VARIABLE_NAME) IN ({}))",
            listed(ALWAYS)
        ))
        .await?;
    Ok(with_defaults(&rows))
}

/// MySQL 8 tells where each value comes from, but not the value it was compiled with
/// (dev.mysql.com/doc/refman/8.0/en/performance-schema-variables-info-table.html). Servers that
/// pass for MySQL and can't tell are asked for what always matters.
pub(super) async fn mysql(session: &mut Session) -> Result<Vec<Setting>, DbError> {
    let changed = session
        .query(&format!(
            "SELECT v.VARIABLE_NAME, v.VARIABLE_VALUE \
             FROM performance_schema.global_variables v \
             JOIN performance_schema.variables_info i USING (VARIABLE_NAME) \
             WHERE i.VARIABLE_SOURCE <> 'COMPILED' OR v.VARIABLE_NAME IN ({})",
            listed(ALWAYS)
        ))
        .await;
    match changed {
        Ok(rows) => Ok(without_defaults(&rows)),
        Err(e) if e.class == ErrorClass::ConnectionLost => Err(e),
        Err(_) => shown(session, ALWAYS).await,
    }
}

/// The named variables, as far as the server has them.
pub(super) async fn shown(session: &mut Session, names: &[&str]) -> Result<Vec<Setting>, DbError> {
    let rows = session
        .query(&format!(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})",
            listed(names)
        ))
        .await?;
    Ok(without_defaults(&rows))
}

fn with_defaults(rows: &RowSet) -> Vec<Setting> {
    (0..rows.len())
        .filter_map(|row| {
            Some(Setting {
                name: rows.text(row, 0)?,
                value: rows.text(row, 1)?,
                default: rows.text(row, 2),
            })
        })
        .collect()
}

fn without_defaults(rows: &RowSet) -> Vec<Setting> {
    (0..rows.len())
        .filter_map(|row| {
            Some(Setting {
                name: rows.text(row, 0)?,
                value: rows.text(row, 1)?,
                default: None,
            })
        })
        .collect()
}
