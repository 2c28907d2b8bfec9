//! CockroachDB.

use super::{Globals, Locks, Peculiarities, SettingsReader, Splits, TableLocks, postgres};
use crate::cluster::{Cluster, ClusterMember, ClusterNode, NodeRight, parts};
use crate::{CommitWait, RowSet};

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "CockroachDB",
    names_itself: true,
    copies_binary: false,
    within_load: None,
    makes_tables_in_transactions: false,
    adds_primary_key_later: false,
    refresh: &["ANALYZE {table}"],
    splits: Splits::Cockroach,
    table_locks: TableLocks::No,
    explain: ["EXPLAIN", "EXPLAIN ANALYZE"],
    // A read of the past neither waits for writers nor is told to begin again (CockroachDB manual,
    // "AS OF SYSTEM TIME").
    begin_snapshot: &["BEGIN AS OF SYSTEM TIME '-1us'"],
    export_snapshot: None,
    locks: Locks::No,
    // `pg_backend_pid` gives numbers of its own (manual, "pg_backend_pid").
    numbers_sessions: false,
    settings: SettingsReader::Cockroach,
    globals: Globals::No(
        "changing CockroachDB's cluster settings is not supported; change them yourself, and add \
         the cluster as another target",
    ),
    commit_wait: CommitWait::Fixed,
    limits_sessions: false,
    cluster: Some(CLUSTER),
    ..postgres::TABLE
};

/// Its nodes; needs VIEWCLUSTERMETADATA.
const CLUSTER: Cluster = Cluster {
    // From 25.4 on, tables of `crdb_internal` can be closed to sessions that don't ask for them.
    opening: Some("SET allow_unsafe_internals = on"),
    nodes: "SELECT address FROM crdb_internal.gossip_nodes WHERE is_live ORDER BY node_id",
    console: Some(
        "SELECT field, value FROM crdb_internal.node_runtime_info WHERE component = 'UI'",
    ),
    read_nodes: nodes,
    right: Some(NodeRight {
        account: "SELECT quote_ident(current_user)",
        grant: "GRANT SYSTEM VIEWCLUSTERMETADATA TO {account}",
    }),
    members: "SELECT address, build_tag FROM crdb_internal.gossip_nodes \
              WHERE is_live ORDER BY node_id",
    read_member: member,
    machines: None,
    // Its settings are the cluster's.
    configuration: None,
};

fn nodes(rows: &RowSet, console: &RowSet) -> Vec<ClusterNode> {
    let field = |wanted: &str| {
        let row = (0..console.len()).find(|row| console.text(*row, 0).as_deref() == Some(wanted));
        console.text(row?, 1)
    };
    // Scheme and port are fields of their own (crdb_internal.node_runtime_info).
    let port: Option<u16> = field("Port").and_then(|port| port.parse().ok());
    let is_tls = field("Scheme").as_deref() == Some("https");
    let nodes = (0..rows.len()).filter_map(|row| {
        let (host, _) = parts(&rows.text(row, 0)?)?;
        Some(ClusterNode {
            is_tls,
            ..ClusterNode::new("CockroachDB", host, port)
        })
    });
    nodes.collect()
}

fn member(rows: &RowSet, row: usize) -> Option<ClusterMember> {
    let (host, port) = parts(&rows.text(row, 0)?)?;
    Some(ClusterMember {
        kind: "cockroach".into(),
        host,
        port,
        status_port: None,
        version: rows.text(row, 1).unwrap_or_default(),
    })
}
