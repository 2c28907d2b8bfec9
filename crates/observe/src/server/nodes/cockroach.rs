//! CockroachDB, by the names of its console's dashboards (CockroachDB manual, "Essential Metrics",
//! "Prometheus Endpoint").

use super::table::{MetricRow, NodeTable};

/// Histograms are in nanoseconds.
const NS: f64 = 1e-6;

/// A node.
pub(super) static NODE: NodeTable = NodeTable {
    name: "CockroachDB",
    port: 8080,
    path: "/_status/vars",
    tellers: &["sql_select_count", "sys_cpu_", "liveness_livenodes"],
    ignored: None,
    // Child metrics have labels of their own.
    labels_of_sums: Some(&["node_id", "store", "tenant", "cluster"]),
    rows: NODE_ROWS,
};

#[rustfmt::skip] // a row each
const NODE_ROWS: &[MetricRow] = &[
    // SQL.
    MetricRow::count("cockroach.statements", &["sql_select_count"]).with("kind", "select"),
    MetricRow::count("cockroach.statements", &["sql_insert_count"]).with("kind", "insert"),
    MetricRow::count("cockroach.statements", &["sql_update_count"]).with("kind", "update"),
    MetricRow::count("cockroach.statements", &["sql_delete_count"]).with("kind", "delete"),
    MetricRow::count("cockroach.transactions", &["sql_txn_begin_count"]).with("kind", "begin"),
    MetricRow::count("cockroach.transactions", &["sql_txn_commit_count"]).with("kind", "commit"),
    MetricRow::count("cockroach.transactions", &["sql_txn_rollback_count"]).with("kind", "rollback"),
    MetricRow::count("cockroach.transactions", &["sql_txn_abort_count"]).with("kind", "abort"),
    MetricRow::count("cockroach.restarts", &["txn_restarts_serializable"]).with("cause", "serializable"),
    MetricRow::count("cockroach.restarts", &["txn_restarts_writetooold"]).with("cause", "write-too-old"),
    MetricRow::count("cockroach.restarts", &["txn_restarts_txnaborted"]).with("cause", "aborted"),
    MetricRow::count("cockroach.restarts", &["txn_restarts_readwithinuncertainty"]).with("cause", "uncertainty"),
    MetricRow::count("cockroach.failures", &["sql_failure_count"]),
    MetricRow::durations("cockroach.service-latency", NS, &["sql_service_latency"]).counted().with_p99(),
    MetricRow::durations("cockroach.exec-latency", NS, &["sql_exec_latency"]),
    MetricRow::durations("cockroach.kv-latency", NS, &["exec_latency"]).counted(),
    MetricRow::gauge("cockroach.connections", "sessions", 0, &["sql_conns"]),
    MetricRow::gauge("cockroach.active-statements", "statements", 0, &["sql_statements_active"]),
    // Raft and the log.
    MetricRow::durations("cockroach.log-commit", NS, &["raft_process_logcommit_latency"]).counted().with_p99(),
    MetricRow::durations("cockroach.command-commit", NS, &["raft_process_commandcommit_latency"]),
    MetricRow::durations("cockroach.wal-sync", NS, &["storage_wal_fsync_latency"]).counted().with_p99(),
    MetricRow::durations("cockroach.round-trip", NS, &["round_trip_latency"]),
    MetricRow::gauge("cockroach.clock-offset", "ns", 0, &["clock_offset_meannanos"]),
    // Admission control.
    MetricRow::durations("cockroach.admission-wait", NS, &["admission_wait_durations_kv"]).with("queue", "kv").counted(),
    MetricRow::durations("cockroach.admission-wait", NS, &["admission_wait_durations_kv_stores"]).with("queue", "kv-stores").counted(),
    MetricRow::durations("cockroach.admission-wait", NS, &["admission_wait_durations_sql_kv_response"]).with("queue", "sql-kv-response").counted(),
    MetricRow::durations("cockroach.admission-wait", NS, &["admission_wait_durations_sql_sql_response"]).with("queue", "sql-sql-response").counted(),
    MetricRow::gauge("cockroach.io-overload", "ratio", 3, &["admission_io_overload"]).by("store"),
    // Processors.
    MetricRow::cpu("cockroach.cpu", 1e-9, &["sys_cpu_user_ns"]).with("mode", "user"),
    MetricRow::cpu("cockroach.cpu", 1e-9, &["sys_cpu_sys_ns"]).with("mode", "system"),
    MetricRow::gauge("cockroach.cpu-share", "ratio", 3, &["sys_cpu_combined_percent_normalized"]),
    MetricRow::gauge("cockroach.runnable-goroutines", "goroutines", 2, &["sys_runnable_goroutines_per_cpu"]),
    MetricRow::gauge("cockroach.memory", "bytes", -4, &["sys_rss"]),
    // Storage.
    MetricRow::gauge("cockroach.level0-sublevels", "sublevels", 0, &["storage_l0_sublevels"]).by("store"),
    MetricRow::gauge("cockroach.level0-files", "files", 0, &["storage_l0_num_files"]).by("store"),
    MetricRow::gauge("cockroach.read-amplification", "levels", 0, &["rocksdb_read_amplification"]).by("store"),
    MetricRow::count("cockroach.write-stalls", &["storage_write_stalls"]),
    MetricRow::count("cockroach.compactions", &["rocksdb_compactions"]),
    MetricRow::count("cockroach.block-cache", &["rocksdb_block_cache_hits"]).with("kind", "hit"),
    MetricRow::count("cockroach.block-cache", &["rocksdb_block_cache_misses"]).with("kind", "miss"),
    MetricRow::bytes("cockroach.disk-read", &["sys_host_disk_read_bytes"]),
    MetricRow::bytes("cockroach.disk-written", &["sys_host_disk_write_bytes"]),
    // Ranges.
    MetricRow::gauge("cockroach.leaseholders", "replicas", 0, &["replicas_leaseholders"]),
    MetricRow::gauge("cockroach.ranges-unavailable", "ranges", 0, &["ranges_unavailable"]),
    MetricRow::gauge("cockroach.ranges-underreplicated", "ranges", 0, &["ranges_underreplicated"]),
];
