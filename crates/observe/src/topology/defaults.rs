//! Defaults of what is tuned most, as TiDB 8.5's pages on configuration files have them. They were not
//! compared with a running cluster.

#[rustfmt::skip] // a row each
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("tidb", "binlog.enable", "false"),
    ("tidb", "log.level", "info"),
    ("tidb", "performance.max-procs", "0"),
    ("tidb", "performance.stmt-count-limit", "5000"),
    ("tidb", "performance.tcp-keep-alive", "true"),
    ("tidb", "performance.txn-entry-size-limit", "6291456"),
    ("tidb", "performance.txn-total-size-limit", "104857600"),
    ("tidb", "pessimistic-txn.max-retry-count", "256"),
    ("tidb", "split-table", "true"),
    ("tidb", "tikv-client.grpc-connection-count", "4"),
    ("tidb", "tikv-client.grpc-keepalive-time", "10"),
    ("tidb", "tikv-client.max-batch-size", "128"),
    ("tidb", "token-limit", "1000"),
    ("tidb", "txn-local-latches.enabled", "false"),
    ("tikv", "log.level", "info"),
    ("tikv", "pessimistic-txn.in-memory", "true"),
    ("tikv", "pessimistic-txn.pipelined", "true"),
    ("tikv", "pessimistic-txn.wait-for-lock-timeout", "1s"),
    ("tikv", "raft-engine.enable", "true"),
    ("tikv", "raft-engine.purge-threshold", "10GB"),
    ("tikv", "raftdb.max-open-files", "40960"),
    ("tikv", "raftstore.apply-max-batch-size", "256"),
    ("tikv", "raftstore.apply-pool-size", "2"),
    ("tikv", "raftstore.hibernate-regions", "true"),
    ("tikv", "raftstore.raft-base-tick-interval", "1s"),
    ("tikv", "raftstore.store-io-pool-size", "1"),
    ("tikv", "raftstore.store-pool-size", "2"),
    ("tikv", "readpool.coprocessor.use-unified-pool", "true"),
    ("tikv", "readpool.storage.use-unified-pool", "true"),
    ("tikv", "readpool.unified.max-thread-count", "max(4, 0.8 × CPU)"),
    ("tikv", "readpool.unified.min-thread-count", "1"),
    ("tikv", "rocksdb.max-open-files", "40960"),
    ("tikv", "rocksdb.max-sub-compactions", "3"),
    ("tikv", "server.grpc-concurrency", "5"),
    ("tikv", "server.grpc-concurrent-stream", "1024"),
    ("tikv", "server.grpc-raft-conn-num", "1"),
    ("tikv", "storage.api-version", "1"),
    ("tikv", "storage.block-cache.capacity", "0.45 × RAM"),
    ("tikv", "storage.flow-control.enable", "true"),
    ("tikv", "storage.reserve-space", "5GB"),
    ("tikv", "storage.scheduler-concurrency", "524288"),
    ("tikv", "storage.scheduler-worker-pool-size", "4 (CPU < 16), 8"),
    ("pd", "log.level", "info"),
    ("pd", "replication.location-labels", "[]"),
    ("pd", "replication.max-replicas", "3"),
    ("pd", "replication.strictly-match-label", "false"),
    ("pd", "schedule.hot-region-schedule-limit", "4"),
    ("pd", "schedule.leader-schedule-limit", "4"),
    ("pd", "schedule.max-pending-peer-count", "64"),
    ("pd", "schedule.max-snapshot-count", "64"),
    ("pd", "schedule.max-store-down-time", "30m"),
    ("pd", "schedule.merge-schedule-limit", "8"),
    ("pd", "schedule.region-schedule-limit", "2048"),
    ("pd", "schedule.replica-schedule-limit", "64"),
    ("pd", "schedule.split-merge-interval", "1h"),
];

/// A component's default of a setting.
pub(super) fn default_of(component: &str, name: &str) -> Option<&'static str> {
    let found = DEFAULTS
        .iter()
        .find(|(of, setting, _)| *of == component && *setting == name);
    found.map(|(.., default)| *default)
}
