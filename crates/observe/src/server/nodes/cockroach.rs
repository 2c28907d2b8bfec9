//! CockroachDB, by the names of its console's dashboards (CockroachDB manual, "Essential Metrics",
//! "Prometheus Endpoint").

use super::table::Row;

/// Histograms are in nanoseconds.
const NS: f64 = 1e-6;

/// A node.
#[rustfmt::skip] // a row each
pub(super) const NODE: &[Row] = &[
    // SQL.
    Row::count("cockroach.statements", &["sql_select_count"]).with("kind", "select"),
    Row::count("cockroach.statements", &["sql_insert_count"]).with("kind", "insert"),
    Row::count("cockroach.statements", &["sql_update_count"]).with("kind", "update"),
    Row::count("cockroach.statements", &["sql_delete_count"]).with("kind", "delete"),
    Row::count("cockroach.transactions", &["sql_txn_begin_count"]).with("kind", "begin"),
    Row::count("cockroach.transactions", &["sql_txn_commit_count"]).with("kind", "commit"),
    Row::count("cockroach.transactions", &["sql_txn_rollback_count"]).with("kind", "rollback"),
    Row::count("cockroach.transactions", &["sql_txn_abort_count"]).with("kind", "abort"),
    Row::count("cockroach.restarts", &["txn_restarts_serializable"]).with("cause", "serializable"),
    Row::count("cockroach.restarts", &["txn_restarts_writetooold"]).with("cause", "write-too-old"),
    Row::count("cockroach.restarts", &["txn_restarts_txnaborted"]).with("cause", "aborted"),
    Row::count("cockroach.restarts", &["txn_restarts_readwithinuncertainty"]).with("cause", "uncertainty"),
    Row::count("cockroach.failures", &["sql_failure_count"]),
    Row::durations("cockroach.service-latency", NS, &["sql_service_latency"]).counted().with_p99(),
    Row::durations("cockroach.exec-latency", NS, &["sql_exec_latency"]),
    Row::durations("cockroach.kv-latency", NS, &["exec_latency"]).counted(),
    Row::gauge("cockroach.connections", "sessions", 0, &["sql_conns"]),
    Row::gauge("cockroach.active-statements", "statements", 0, &["sql_statements_active"]),
    // Raft and the log.
    Row::durations("cockroach.log-commit", NS, &["raft_process_logcommit_latency"]).counted().with_p99(),
    Row::durations("cockroach.command-commit", NS, &["raft_process_commandcommit_latency"]),
    Row::durations("cockroach.wal-sync", NS, &["storage_wal_fsync_latency"]).counted().with_p99(),
    Row::durations("cockroach.round-trip", NS, &["round_trip_latency"]),
    Row::gauge("cockroach.clock-offset", "ns", 0, &["clock_offset_meannanos"]),
    // Admission control.
    Row::durations("cockroach.admission-wait", NS, &["admission_wait_durations_kv"]).with("queue", "kv").counted(),
    Row::durations("cockroach.admission-wait", NS, &["admission_wait_durations_kv_stores"]).with("queue", "kv-stores").counted(),
    Row::durations("cockroach.admission-wait", NS, &["admission_wait_durations_sql_kv_response"]).with("queue", "sql-kv-response").counted(),
    Row::durations("cockroach.admission-wait", NS, &["admission_wait_durations_sql_sql_response"]).with("queue", "sql-sql-response").counted(),
    Row::gauge("cockroach.io-overload", "ratio", 3, &["admission_io_overload"]).by("store"),
    // Processors.
    Row::cpu("cockroach.cpu", 1e-9, &["sys_cpu_user_ns"]).with("mode", "user"),
    Row::cpu("cockroach.cpu", 1e-9, &["sys_cpu_sys_ns"]).with("mode", "system"),
    Row::gauge("cockroach.cpu-share", "ratio", 3, &["sys_cpu_combined_percent_normalized"]),
    Row::gauge("cockroach.runnable-goroutines", "goroutines", 2, &["sys_runnable_goroutines_per_cpu"]),
    Row::gauge("cockroach.memory", "bytes", -4, &["sys_rss"]),
    // Storage.
    Row::gauge("cockroach.level0-sublevels", "sublevels", 0, &["storage_l0_sublevels"]).by("store"),
    Row::gauge("cockroach.level0-files", "files", 0, &["storage_l0_num_files"]).by("store"),
    Row::gauge("cockroach.read-amplification", "levels", 0, &["rocksdb_read_amplification"]).by("store"),
    Row::count("cockroach.write-stalls", &["storage_write_stalls"]),
    Row::count("cockroach.compactions", &["rocksdb_compactions"]),
    Row::count("cockroach.block-cache", &["rocksdb_block_cache_hits"]).with("kind", "hit"),
    Row::count("cockroach.block-cache", &["rocksdb_block_cache_misses"]).with("kind", "miss"),
    Row::bytes("cockroach.disk-read", &["sys_host_disk_read_bytes"]),
    Row::bytes("cockroach.disk-written", &["sys_host_disk_write_bytes"]),
    // Ranges.
    Row::gauge("cockroach.leaseholders", "replicas", 0, &["replicas_leaseholders"]),
    Row::gauge("cockroach.ranges-unavailable", "ranges", 0, &["ranges_unavailable"]),
    Row::gauge("cockroach.ranges-underreplicated", "ranges", 0, &["ranges_underreplicated"]),
];
