//! YugabyteDB's YSQL.

use super::postgres::{self, SHOW_ISOLATION};
use super::{Peculiarities, Splits, TableLocks};
use crate::cluster::{Cluster, ClusterMember, ClusterNode};
use crate::{CommitWait, RowSet};

pub(super) const TABLE: Peculiarities = Peculiarities {
    version_word: "-YB-",
    copies_binary: false,
    // It commits every 20,000 rows unless told otherwise (docs, "COPY").
    copy_options: " WITH (ROWS_PER_TRANSACTION 0)",
    within_load: None,
    makes_tables_in_transactions: false,
    adds_primary_key_later: false,
    refresh: &["ANALYZE {table}"],
    splits: Splits::Yugabyte,
    table_locks: TableLocks::No,
    // It may give another level than it shows (manual, "Isolation levels").
    isolation_queries: &[
        ("SELECT yb_get_effective_transaction_isolation_level()", 0),
        SHOW_ISOLATION,
    ],
    export_snapshot: None,
    commit_wait: CommitWait::Fixed,
    cluster: Some(CLUSTER),
    ..postgres::TABLE
};

/// Its tablet servers.
const CLUSTER: Cluster = Cluster {
    opening: None,
    nodes: "SELECT host FROM yb_servers()",
    console: None,
    read_nodes: nodes,
    right: None,
    members: "SELECT host, port FROM yb_servers()",
    read_member: member,
    machines: None,
    configuration: None,
};

/// Of each host the tablet server and its YSQL, and a master if there is one.
fn nodes(rows: &RowSet, _console: &RowSet) -> Vec<ClusterNode> {
    let hosts = (0..rows.len()).filter_map(|row| rows.text(row, 0));
    let hosts = hosts.filter(|host| !host.is_empty());
    let of_host = |host: String| {
        ["YB-TServer", "YSQL", "YB-Master"].map(|kind| ClusterNode {
            is_guess: kind == "YB-Master",
            ..ClusterNode::new(kind, host.clone(), None)
        })
    };
    hosts.flat_map(of_host).collect()
}

fn member(rows: &RowSet, row: usize) -> Option<ClusterMember> {
    let host = rows.text(row, 0).filter(|host| !host.is_empty())?;
    let port = rows.int(row, 1).and_then(|port| u16::try_from(port).ok());
    Some(ClusterMember {
        kind: "yugabyte".into(),
        host,
        port: port.or(Some(5433)),
        status_port: None,
        version: String::new(),
    })
}
