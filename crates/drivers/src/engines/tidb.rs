//! TiDB.

use super::{Peculiarities, SettingsReader, TableLocks, mysql};
use crate::cluster::{Cluster, ClusterMember, ClusterNode, NodeRight, parts};
use crate::{CommitWait, RowSet};
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
    cluster: Some(CLUSTER),
    ..mysql::TABLE
};

/// Its members; needs PROCESS.
const MEMBERS: &str = "SELECT TYPE, INSTANCE, STATUS_ADDRESS, VERSION \
                       FROM information_schema.cluster_info";

const CLUSTER: Cluster = Cluster {
    opening: None,
    nodes: MEMBERS,
    console: None,
    read_nodes: nodes,
    right: Some(NodeRight {
        account: "SELECT REPLACE(CURRENT_USER(), '@', '\\'@\\'')",
        grant: "GRANT PROCESS ON *.* TO '{account}'",
    }),
    members: MEMBERS,
    read_member: member,
    machines: Some(
        "SELECT INSTANCE, DEVICE_TYPE, DEVICE_NAME, NAME, VALUE \
         FROM information_schema.cluster_hardware \
         WHERE (DEVICE_TYPE = 'cpu' AND NAME = 'cpu-logical-cores') \
         OR (DEVICE_TYPE = 'memory' AND NAME = 'capacity') \
         OR (DEVICE_TYPE = 'disk' AND NAME = 'total')",
    ),
    // Needs CONFIG.
    configuration: Some(
        "SELECT TYPE, INSTANCE, `KEY`, VALUE FROM information_schema.cluster_config",
    ),
};

/// TiDB's, TiKV's and PD's, as `cluster_info` has them; of other kinds nothing is taken.
fn nodes(rows: &RowSet, _console: &RowSet) -> Vec<ClusterNode> {
    let nodes = (0..rows.len()).filter_map(|row| {
        let kind = match rows.text(row, 0)?.to_ascii_lowercase().as_str() {
            "tidb" => "TiDB",
            "tikv" => "TiKV",
            "pd" => "PD",
            _ => return None,
        };
        let status = rows.text(row, 2).unwrap_or_default();
        let (host, port) = match parts(&status) {
            Some((host, Some(port))) => (host, Some(port)),
            // The address without its port: that is another one.
            _ => (parts(&rows.text(row, 1)?)?.0, None),
        };
        Some(ClusterNode::new(kind, host, port))
    });
    nodes.collect()
}

fn member(rows: &RowSet, row: usize) -> Option<ClusterMember> {
    let (kind, instance) = rows.text(row, 0).zip(rows.text(row, 1))?;
    let (host, port) = parts(&instance)?;
    let status = rows.text(row, 2).unwrap_or_default();
    Some(ClusterMember {
        kind: kind.to_ascii_lowercase(),
        host,
        port,
        status_port: parts(&status).and_then(|(_, port)| port),
        version: rows.text(row, 3).unwrap_or_default(),
    })
}
