//! TiDB, TiKV and PD, by the names of their dashboards (TiDB manual, "Key Metrics", "Performance
//! Overview Dashboard", "TiKV Details").

use super::table::Row;

/// Histograms are in seconds.
const S: f64 = 1e3;

/// TiDB's SQL server.
#[rustfmt::skip] // a row each
pub(super) const TIDB: &[Row] = &[
    // Query Summary.
    Row::count("tidb.statements", &["tidb_executor_statement_total"]).by("type"),
    Row::count("tidb.commands", &["tidb_server_query_total"]).by("type"),
    Row::count("tidb.command-errors", &["tidb_server_query_total"]).only("result", &["Error"]),
    Row::durations("tidb.query-duration", S, &["tidb_server_handle_query_duration_seconds"]).by("sql_type").counted().with_p99(),
    Row::durations("tidb.connection-idle", S, &["tidb_server_conn_idle_duration_seconds"]).by("in_txn").counted(),
    Row::gauge("tidb.connections", "sessions", 0, &["tidb_server_connections"]),
    Row::gauge("tidb.active-sessions", "sessions", 0, &["tidb_server_tokens"]),
    // The name says seconds; they are microseconds (pkg/metrics/server.go).
    Row::durations("tidb.get-token", 1e-3, &["tidb_server_get_token_duration_seconds"]),
    // Time by phase.
    Row::durations("tidb.parse", S, &["tidb_session_parse_duration_seconds"]).only("sql_type", &["general"]),
    Row::durations("tidb.compile", S, &["tidb_session_compile_duration_seconds"]).only("sql_type", &["general"]),
    Row::durations("tidb.execute", S, &["tidb_session_execute_duration_seconds"]).only("sql_type", &["general"]),
    Row::durations("tidb.transaction-duration", S, &["tidb_session_transaction_duration_seconds"]).only("scope", &["general"]).by("type").counted(),
    // Requests to TiKV and PD.
    Row::durations("tidb.kv-request", S, &["tidb_tikvclient_request_seconds"]).by("type").counted(),
    Row::durations("tidb.backoff", S, &["tidb_tikvclient_backoff_seconds"]).by("type").counted(),
    Row::durations("tidb.lock-keys", S, &["tidb_tikvclient_pessimistic_lock_keys_duration"]),
    Row::durations("tidb.tso-wait", S, &["pd_client_cmd_handle_cmds_duration_seconds"]).only("type", &["wait"]).counted(),
    Row::durations("tidb.tso-rpc", S, &["pd_client_request_handle_requests_duration_seconds"]).only("type", &["tso"]),
    Row::count("tidb.plan-cache-hits", &["tidb_server_plan_cache_total"]),
    Row::cpu("tidb.cpu", 1.0, &["process_cpu_seconds_total"]),
    Row::gauge("tidb.memory", "bytes", -4, &["process_resident_memory_bytes"]),
];

/// TiDB's storage.
#[rustfmt::skip] // a row each
pub(super) const TIKV: &[Row] = &[
    // Cluster.
    Row::cpu("tikv.cpu", 1.0, &["process_cpu_seconds_total"]),
    Row::gauge("tikv.memory", "bytes", -4, &["process_resident_memory_bytes"]),
    Row::gauge("tikv.size", "bytes", -4, &["tikv_engine_size_bytes"]).only("db", &["kv"]).by("type"),
    Row::gauge("tikv.regions", "regions", 0, &["tikv_raftstore_region_count"]).by("type"),
    // Thread CPU.
    Row::cpu("tikv.thread-cpu", 1.0, &["tikv_thread_cpu_seconds_total"])
        .only("name", &["grpc*", "raftstore_*", "rs_*", "store_write*", "apply_*", "sched_*", "unified_read*", "cop_*", "store_read*", "rocksdb*"])
        .by_threads("name"),
    // gRPC.
    Row::durations("tikv.grpc", S, &["tikv_grpc_msg_duration_seconds"]).by("type").counted(),
    // Raft IO and propose.
    Row::durations("tikv.append-log", S, &["tikv_raftstore_append_log_duration_seconds"]).counted().with_p99(),
    Row::durations("tikv.commit-log", S, &["tikv_raftstore_commit_log_duration_seconds"]).with_p99(),
    Row::durations("tikv.apply-log", S, &["tikv_raftstore_apply_log_duration_seconds"]).with_p99(),
    Row::durations("tikv.propose-wait", S, &["tikv_raftstore_request_wait_time_duration_secs"]),
    Row::durations("tikv.apply-wait", S, &["tikv_raftstore_apply_wait_time_duration_secs"]),
    Row::durations("tikv.raft-engine-write", S, &["raft_engine_write_duration_seconds"]),
    Row::durations("tikv.raft-engine-sync", S, &["raft_engine_sync_log_duration_seconds"]).counted().with_p99(),
    // Raft waterfall: each from the proposal on.
    Row::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_batch_wait_duration_seconds"]).with("step", "batch-wait"),
    Row::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_send_to_queue_duration_seconds"]).with("step", "send-to-queue"),
    Row::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_before_write_duration_seconds"]).with("step", "before-write"),
    Row::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_write_kvdb_end_duration_seconds"]).with("step", "write-kvdb-end"),
    Row::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_write_end_duration_seconds"]).with("step", "write-end"),
    Row::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_persist_duration_seconds"]).with("step", "persist"),
    Row::durations("tikv.waterfall", S, &["tikv_raftstore_store_wf_commit_log_duration_seconds"]).with("step", "commit-log"),
    // Scheduler and storage.
    Row::durations("tikv.latch-wait", S, &["tikv_scheduler_latch_wait_duration_seconds"]).by("type"),
    Row::durations("tikv.scheduler-command", S, &["tikv_scheduler_command_duration_seconds"]).by("type"),
    Row::durations("tikv.async-request", S, &["tikv_storage_engine_async_request_duration_seconds"]).by("type"),
    Row::durations("tikv.coprocessor", S, &["tikv_coprocessor_request_duration_seconds"]).by("req").counted(),
    Row::durations("tikv.coprocessor-wait", S, &["tikv_coprocessor_request_wait_seconds"]).only("type", &["all"]).by("req"),
    // RocksDB.
    Row::count("tikv.block-cache", &["tikv_engine_cache_efficiency"]).only("type", &["block_cache_hit", "block_cache_miss"]).by("type"),
    Row::bytes("tikv.engine-flow", &["tikv_engine_flow_bytes"]).only("type", &["wal_file_bytes", "bytes_read", "iter_bytes_read", "bytes_written", "flush_write_bytes"]).by("type"),
    Row::bytes("tikv.compaction-flow", &["tikv_engine_compaction_flow_bytes"]).by("type"),
    // The engine's own percentile of its stalls, in microseconds.
    Row::gauge("tikv.write-stall", "µs", 0, &["tikv_engine_write_stall"]).only("type", &["write_stall_percentile99"]).by("db"),
    Row::gauge("tikv.level0-files", "files", 0, &["tikv_engine_num_files_at_level"]).only("level", &["0"]).by("cf"),
];

/// TiDB's placement driver.
#[rustfmt::skip] // a row each
pub(super) const PD: &[Row] = &[
    Row::cpu("pd.cpu", 1.0, &["process_cpu_seconds_total"]),
    Row::gauge("pd.memory", "bytes", -4, &["process_resident_memory_bytes"]),
    Row::durations("pd.grpc", S, &["grpc_server_handling_seconds"]).by("grpc_method").counted(),
    Row::durations("pd.tso-handle", S, &["pd_server_handle_tso_duration_seconds"]).counted().with_p99(),
    Row::durations("pd.etcd-sync", S, &["etcd_disk_wal_fsync_duration_seconds"]).counted().with_p99(),
    Row::gauge("pd.hot-regions", "regions", 0, &["pd_hotspot_status"]).only("type", &["hot_read_region_as_leader", "hot_write_region_as_leader"]).by("type"),
    Row::gauge("pd.regions", "regions", 0, &["pd_regions_status"]).by("type"),
    Row::count("pd.operators", &["pd_schedule_operators_count"]).by("type"),
];
