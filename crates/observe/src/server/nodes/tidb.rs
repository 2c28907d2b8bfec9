//! TiDB, TiKV and PD, by the names of their dashboards (TiDB manual, "Key Metrics", "Performance
//! Overview Dashboard", "TiKV Details").

use super::table::{MetricRow, NodeTable};

/// Histograms are in seconds.
const S: f64 = 1e3;

/// TiDB's SQL server.
pub(super) static TIDB: NodeTable = NodeTable {
    name: "TiDB",
    port: 10080,
    path: "/metrics",
    tellers: &["tidb_server_", "tidb_session_"],
    ignored: None,
    labels_of_sums: None,
    rows: TIDB_ROWS,
};

#[rustfmt::skip] // a row each
const TIDB_ROWS: &[MetricRow] = &[
    // Query Summary.
    MetricRow::count("tidb.statements", &["tidb_executor_statement_total"]).by("type"),
    MetricRow::count("tidb.commands", &["tidb_server_query_total"]).by("type"),
    MetricRow::count("tidb.command-errors", &["tidb_server_query_total"]).only("result", &["Error"]),
    MetricRow::durations("tidb.query-duration", S, &["tidb_server_handle_query_duration_seconds"]).by("sql_type").counted().with_p99(),
    MetricRow::durations("tidb.connection-idle", S, &["tidb_server_conn_idle_duration_seconds"]).by("in_txn").counted(),
    MetricRow::gauge("tidb.connections", "sessions", 0, &["tidb_server_connections"]),
    MetricRow::gauge("tidb.active-sessions", "sessions", 0, &["tidb_server_tokens"]),
    // The name says seconds; they are microseconds (pkg/metrics/server.go).
    MetricRow::durations("tidb.get-token", 1e-3, &["tidb_server_get_token_duration_seconds"]),
    // Time by phase.
    MetricRow::durations("tidb.parse", S, &["tidb_session_parse_duration_seconds"]).only("sql_type", &["general"]),
    MetricRow::durations("tidb.compile", S, &["tidb_session_compile_duration_seconds"]).only("sql_type", &["general"]),
    MetricRow::durations("tidb.execute", S, &["tidb_session_execute_duration_seconds"]).only("sql_type", &["general"]),
    MetricRow::durations("tidb.transaction-duration", S, &["tidb_session_transaction_duration_seconds"]).only("scope", &["general"]).by("type").counted(),
    // Requests to TiKV and PD.
    MetricRow::durations("tidb.kv-request", S, &["tidb_tikvclient_request_seconds"]).by("type").counted(),
    MetricRow::durations("tidb.backoff", S, &["tidb_tikvclient_backoff_seconds"]).by("type").counted(),
    MetricRow::durations("tidb.lock-keys", S, &["tidb_tikvclient_pessimistic_lock_keys_duration"]),
    MetricRow::durations("tidb.tso-wait", S, &["pd_client_cmd_handle_cmds_duration_seconds"]).only("type", &["wait"]).counted(),
    MetricRow::durations("tidb.tso-rpc", S, &["pd_client_request_handle_requests_duration_seconds"]).only("type", &["tso"]),
    MetricRow::count("tidb.plan-cache-hits", &["tidb_server_plan_cache_total"]),
    MetricRow::cpu("tidb.cpu", 1.0, &["process_cpu_seconds_total"]),
    MetricRow::gauge("tidb.memory", "bytes", -4, &["process_resident_memory_bytes"]),
];

/// TiDB's storage.
pub(super) static TIKV: NodeTable = NodeTable {
    name: "TiKV",
    port: 20180,
    path: "/metrics",
    tellers: &["tikv_"],
    ignored: None,
    labels_of_sums: None,
    rows: TIKV_ROWS,
};

#[rustfmt::skip] // a row each
const TIKV_ROWS: &[MetricRow] = &[
    // Cluster.
    MetricRow::cpu("tikv.cpu", 1.0, &["process_cpu_seconds_total"]),
    MetricRow::gauge("tikv.memory", "bytes", -4, &["process_resident_memory_bytes"]),
    MetricRow::gauge("tikv.size", "bytes", -4, &["tikv_engine_size_bytes"]).only("db", &["kv"]).by("type"),
    MetricRow::gauge("tikv.regions", "regions", 0, &["tikv_raftstore_region_count"]).by("type"),
    // Thread CPU.
    MetricRow::cpu("tikv.thread-cpu", 1.0, &["tikv_thread_cpu_seconds_total"])
        .only("name", &["grpc*", "raftstore_*", "rs_*", "store_write*", "apply_*", "sched_*", "unified_read*", "cop_*", "store_read*", "rocksdb*"])
        .by_threads("name"),
    // gRPC.
    MetricRow::durations("tikv.grpc", S, &["tikv_grpc_msg_duration_seconds"]).by("type").counted(),
    // Raft IO and propose.
    MetricRow::durations("tikv.append-log", S, &["tikv_raftstore_append_log_duration_seconds"]).counted().with_p99(),
    MetricRow::durations("tikv.commit-log", S, &["tikv_raftstore_commit_log_duration_seconds"]).with_p99(),
    MetricRow::durations("tikv.apply-log", S, &["tikv_raftstore_apply_log_duration_seconds"]).with_p99(),
    MetricRow::durations("tikv.propose-wait", S, &["tikv_raftstore_request_wait_time_duration_secs"]),
    MetricRow::durations("tikv.apply-wait", S, &["tikv_raftstore_apply_wait_time_duration_secs"]),
    MetricRow::durations("tikv.raft-engine-write", S, &["raft_engine_write_duration_seconds"]),
    MetricRow::durations("tikv.raft-engine-sync", S, &["raft_engine_sync_log_duration_seconds"]).counted().with_p99(),
    // Raft waterfall: each from the proposal on.
    MetricRow::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_batch_wait_duration_seconds"]).with("step", "batch-wait"),
    MetricRow::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_send_to_queue_duration_seconds"]).with("step", "send-to-queue"),
    MetricRow::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_before_write_duration_seconds"]).with("step", "before-write"),
    MetricRow::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_write_kvdb_end_duration_seconds"]).with("step", "write-kvdb-end"),
    MetricRow::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_write_end_duration_seconds"]).with("step", "write-end"),
    MetricRow::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_persist_duration_seconds"]).with("step", "persist"),
    MetricRow::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_commit_log_duration_seconds"]).with("step", "commit-log"),
    // Scheduler and storage.
    MetricRow::durations("tikv.latch-wait", S, &["tikv_scheduler_latch_wait_duration_seconds"]).by("type"),
    MetricRow::durations("tikv.scheduler-command", S, &["tikv_scheduler_command_duration_seconds"]).by("type"),
    MetricRow::durations("tikv.async-request", S, &["tikv_storage_engine_async_request_duration_seconds"]).by("type"),
    MetricRow::durations("tikv.coprocessor", S, &["tikv_coprocessor_request_duration_seconds"]).by("req").counted(),
    MetricRow::durations("tikv.coprocessor-wait", S, &["tikv_coprocessor_request_wait_seconds"]).only("type", &["all"]).by("req"),
    // RocksDB.
    MetricRow::count("tikv.block-cache", &["tikv_engine_cache_efficiency"]).only("type", &["block_cache_hit", "block_cache_miss"]).by("type"),
    MetricRow::bytes("tikv.engine-flow", &["tikv_engine_flow_bytes"]).only("type", &["wal_file_bytes", "bytes_read", "iter_bytes_read", "bytes_written", "flush_write_bytes"]).by("type"),
    MetricRow::bytes("tikv.compaction-flow", &["tikv_engine_compaction_flow_bytes"]).by("type"),
    // The engine's own percentile of its stalls, in microseconds.
    MetricRow::gauge("tikv.write-stall", "µs", 0, &["tikv_engine_write_stall"]).only("type", &["write_stall_percentile99"]).by("db"),
    MetricRow::gauge("tikv.level0-files", "files", 0, &["tikv_engine_num_files_at_level"]).only("level", &["0"]).by("cf"),
];

/// TiDB's placement driver.
pub(super) static PD: NodeTable = NodeTable {
    name: "PD",
    port: 2379,
    path: "/metrics",
    tellers: &["pd_cluster_", "pd_scheduler_", "pd_server_", "pd_regions_"],
    ignored: None,
    labels_of_sums: None,
    rows: PD_ROWS,
};

#[rustfmt::skip] // a row each
const PD_ROWS: &[MetricRow] = &[
    MetricRow::cpu("pd.cpu", 1.0, &["process_cpu_seconds_total"]),
    MetricRow::gauge("pd.memory", "bytes", -4, &["process_resident_memory_bytes"]),
    MetricRow::durations("pd.grpc", S, &["grpc_server_handling_seconds"]).by("grpc_method").counted(),
    MetricRow::durations("pd.tso-handle", S, &["pd_server_handle_tso_duration_seconds"]).counted().with_p99(),
    MetricRow::durations("pd.etcd-sync", S, &["etcd_disk_wal_fsync_duration_seconds"]).counted().with_p99(),
    MetricRow::gauge("pd.hot-regions", "regions", 0, &["pd_hotspot_status"]).only("type", &["hot_read_region_as_leader", "hot_write_region_as_leader"]).by("type"),
    MetricRow::gauge("pd.regions", "regions", 0, &["pd_regions_status"]).by("type"),
    MetricRow::count("pd.operators", &["pd_schedule_operators_count"]).by("type"),
];
