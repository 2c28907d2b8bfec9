//! YugabyteDB's processes (YugabyteDB manual, "Metrics").

use super::table::{MetricRow, NodeTable};

/// Latencies are in microseconds.
const US: f64 = 1e-3;

// What every process has; milliseconds of processors, microseconds of spinlocks.
const CPU_USER: MetricRow =
    MetricRow::cpu("yugabyte.cpu", 1e-3, &["cpu_utime"]).with("mode", "user");
const CPU_SYSTEM: MetricRow =
    MetricRow::cpu("yugabyte.cpu", 1e-3, &["cpu_stime"]).with("mode", "system");
const SPINLOCK: MetricRow = MetricRow::time("yugabyte.spinlock", US, &["spinlock_contention_time"]);
const ALLOCATED: &[&str] = &["generic_current_allocated_bytes"];
const MEMORY: MetricRow = MetricRow::gauge("yugabyte.memory", "bytes", -4, ALLOCATED);
const WAITED: &[&str] = &["voluntary_context_switches"];
const SWITCHES: MetricRow =
    MetricRow::count("yugabyte.context-switches", WAITED).with("kind", "voluntary");
const PUSHED: &[&str] = &["involuntary_context_switches"];
const PREEMPTIONS: MetricRow =
    MetricRow::count("yugabyte.context-switches", PUSHED).with("kind", "involuntary");

/// The tablet server.
pub(super) static TSERVER: NodeTable = NodeTable {
    name: "YB-TServer",
    port: 9000,
    path: "/prometheus-metrics",
    tellers: &["handler_latency_yb_tserver_", "log_append_latency"],
    ignored: Some("metric_type"),
    labels_of_sums: None,
    rows: TSERVER_ROWS,
};

#[rustfmt::skip] // a row each
const TSERVER_ROWS: &[MetricRow] = &[
    // Requests for tablets.
    MetricRow::durations("yugabyte.read", US, &["handler_latency_yb_tserver_TabletServerService_Read"]).counted(),
    MetricRow::durations("yugabyte.write", US, &["handler_latency_yb_tserver_TabletServerService_Write"]).counted(),
    MetricRow::durations("yugabyte.perform", US, &["handler_latency_yb_tserver_PgClientService_Perform"]).counted(),
    MetricRow::durations("yugabyte.update-consensus", US, &["handler_latency_yb_consensus_ConsensusService_UpdateConsensus"]).counted(),
    MetricRow::durations("yugabyte.rpc-queue", US, &["rpc_incoming_queue_time"]),
    MetricRow::count("yugabyte.rpc-rejected", &["rpcs_queue_overflow"]).with("cause", "queue-overflow"),
    MetricRow::count("yugabyte.rpc-rejected", &["rpcs_timed_out_in_queue"]).with("cause", "timed-out"),
    // The log.
    MetricRow::durations("yugabyte.log-append", US, &["log_append_latency"]).counted(),
    MetricRow::durations("yugabyte.log-sync", US, &["log_sync_latency"]).counted(),
    MetricRow::durations("yugabyte.log-group-commit", US, &["log_group_commit_latency"]).counted(),
    MetricRow::bytes("yugabyte.log-written", &["log_bytes_logged"]),
    // Back pressure.
    MetricRow::count("yugabyte.rejections", &["majority_sst_files_rejections"]).with("cause", "majority-sst-files"),
    MetricRow::count("yugabyte.rejections", &["leader_memory_pressure_rejections"]).with("cause", "leader-memory"),
    MetricRow::count("yugabyte.rejections", &["operation_memory_pressure_rejections"]).with("cause", "operation-memory"),
    MetricRow::count("yugabyte.conflicts", &["transaction_conflicts"]),
    // RocksDB.
    MetricRow::count("yugabyte.block-cache", &["rocksdb_block_cache_hit"]).with("kind", "hit"),
    MetricRow::count("yugabyte.block-cache", &["rocksdb_block_cache_miss"]).with("kind", "miss"),
    MetricRow::count("yugabyte.rocksdb-operations", &["rocksdb_number_db_seek"]).with("kind", "seek"),
    MetricRow::count("yugabyte.rocksdb-operations", &["rocksdb_number_db_next"]).with("kind", "next"),
    MetricRow::bytes("yugabyte.compaction-read", &["rocksdb_compact_read_bytes"]),
    MetricRow::bytes("yugabyte.compaction-written", &["rocksdb_compact_write_bytes"]),
    MetricRow::time("yugabyte.stalls", US, &["rocksdb_stall_micros"]).with("store", "regular"),
    MetricRow::time("yugabyte.stalls", US, &["intentsdb_rocksdb_stall_micros"]).with("store", "intents"),
    MetricRow::gauge("yugabyte.sst-files", "files", 0, &["rocksdb_current_version_num_sst_files"]),
    MetricRow::gauge("yugabyte.clock-skew", "µs", 0, &["hybrid_clock_skew"]),
    CPU_USER, CPU_SYSTEM, SPINLOCK, MEMORY, SWITCHES, PREEMPTIONS,
];

/// YSQL, beside a tablet server.
pub(super) static YSQL: NodeTable = NodeTable {
    name: "YSQL",
    port: 13000,
    path: "/prometheus-metrics",
    tellers: &["handler_latency_yb_ysqlserver_", "yb_ysqlserver_"],
    ignored: Some("metric_type"),
    labels_of_sums: None,
    rows: YSQL_ROWS,
};

#[rustfmt::skip] // a row each
const YSQL_ROWS: &[MetricRow] = &[
    MetricRow::durations("yugabyte.ysql", US, &["handler_latency_yb_ysqlserver_SQLProcessor_SelectStmt"]).with("statement", "select").counted(),
    MetricRow::durations("yugabyte.ysql", US, &["handler_latency_yb_ysqlserver_SQLProcessor_InsertStmt"]).with("statement", "insert").counted(),
    MetricRow::durations("yugabyte.ysql", US, &["handler_latency_yb_ysqlserver_SQLProcessor_UpdateStmt"]).with("statement", "update").counted(),
    MetricRow::durations("yugabyte.ysql", US, &["handler_latency_yb_ysqlserver_SQLProcessor_DeleteStmt"]).with("statement", "delete").counted(),
    MetricRow::durations("yugabyte.ysql", US, &["handler_latency_yb_ysqlserver_SQLProcessor_BeginStmt"]).with("statement", "begin").counted(),
    MetricRow::durations("yugabyte.ysql", US, &["handler_latency_yb_ysqlserver_SQLProcessor_CommitStmt"]).with("statement", "commit").counted(),
    MetricRow::durations("yugabyte.ysql", US, &["handler_latency_yb_ysqlserver_SQLProcessor_RollbackStmt"]).with("statement", "rollback").counted(),
    MetricRow::durations("yugabyte.ysql", US, &["handler_latency_yb_ysqlserver_SQLProcessor_OtherStmts"]).with("statement", "other").counted(),
    MetricRow::count("yugabyte.catalog-misses", &["handler_latency_yb_ysqlserver_SQLProcessor_CatalogCacheMisses_count", "yb_ysqlserver_CatalogCacheMisses_count", "handler_latency_yb_ysqlserver_SQLProcessor_CatalogCacheTableMisses_count"]),
    MetricRow::gauge("yugabyte.connections", "sessions", 0, &["yb_ysqlserver_connection_total"]),
    MetricRow::gauge("yugabyte.active-connections", "sessions", 0, &["yb_ysqlserver_active_connection_total"]),
    MetricRow::count("yugabyte.connections-rejected", &["yb_ysqlserver_connection_over_limit_total"]),
];

/// The master.
pub(super) static MASTER: NodeTable = NodeTable {
    name: "YB-Master",
    port: 7000,
    path: "/prometheus-metrics",
    tellers: &["handler_latency_yb_master_"],
    ignored: Some("metric_type"),
    labels_of_sums: None,
    rows: MASTER_ROWS,
};

#[rustfmt::skip] // a row each
const MASTER_ROWS: &[MetricRow] = &[
    MetricRow::durations("yugabyte.catalog-read", US, &["handler_latency_yb_tserver_TabletServerService_Read"]).counted(),
    MetricRow::durations("yugabyte.tablet-locations", US, &["handler_latency_yb_master_MasterClient_GetTabletLocations"]).counted(),
    CPU_USER, CPU_SYSTEM, SPINLOCK, MEMORY, SWITCHES, PREEMPTIONS,
];
