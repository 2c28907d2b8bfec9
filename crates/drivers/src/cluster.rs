//! How a cluster's database names its nodes: what it is asked, and what its rows say. A table an engine,
//! in the engine's own file.

use crate::RowSet;

/// What a cluster's database is asked for its nodes.
#[derive(Debug, Clone, Copy)]
pub struct Cluster {
    /// What opens tables to a session that newer versions close; older ones don't know it.
    pub opening: Option<&'static str>,
    /// The query for nodes that have metrics.
    pub nodes: &'static str,
    /// The query for the console of the node that answers; others have theirs alike. Who may not ask it
    /// finds the usual port.
    pub console: Option<&'static str>,
    /// The nodes in the rows of both.
    pub read_nodes: fn(&RowSet, &RowSet) -> Vec<ClusterNode>,
    /// The right that allows the query for nodes.
    pub right: Option<NodeRight>,
    /// The query for all members.
    pub members: &'static str,
    /// The member in a row of it; `None` where the row names none.
    pub read_member: fn(&RowSet, usize) -> Option<ClusterMember>,
    /// The query for the members' machines: a member's address, `cpu`, `memory` or `disk`, the device, the
    /// property, its value (cores or bytes).
    pub machines: Option<&'static str>,
    /// The query for the members' configuration: a member's kind, its address, a setting's name, its value.
    pub configuration: Option<&'static str>,
}

/// A node that has metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterNode {
    /// What it is, as its makers call it: `TiKV`.
    pub kind: &'static str,
    /// Its host, as the database knows it.
    pub host: String,
    /// Its port of HTTP; `None` where it is the kind's usual one.
    pub port: Option<u16>,
    /// Whether it asks for TLS.
    pub is_tls: bool,
    /// Whether it may not be there.
    pub is_guess: bool,
}

impl ClusterNode {
    pub(crate) fn new(kind: &'static str, host: String, port: Option<u16>) -> Self {
        Self {
            kind,
            host,
            port,
            is_tls: false,
            is_guess: false,
        }
    }
}

/// A member of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterMember {
    /// What it is, in small letters.
    pub kind: String,
    /// Its host, as the database knows it.
    pub host: String,
    /// The port of its clients.
    pub port: Option<u16>,
    /// The port of its metrics.
    pub status_port: Option<u16>,
    /// Its version; empty where the database does not say it.
    pub version: String,
}

/// A right without which a cluster names no nodes.
#[derive(Debug, Clone, Copy)]
pub struct NodeRight {
    /// The query for the account that asks, as `grant` takes it.
    pub account: &'static str,
    /// The statement that grants it to `{account}`.
    pub grant: &'static str,
}

/// Host and port of `host:port`, `[::1]:port`, a bare host, or any of these in a URL.
pub fn parts(address: &str) -> Option<(String, Option<u16>)> {
    let bare = address.split_once("://").map_or(address, |(_, rest)| rest);
    let bare = bare.split('/').next().unwrap_or_default().trim();
    let (host, port) = match bare.strip_prefix('[') {
        Some(inside) => {
            let (host, rest) = inside.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => match bare.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') => (host, Some(port)),
            _ => (bare, None),
        },
    };
    let port = port.and_then(|port| port.parse().ok());
    (!host.is_empty()).then(|| (host.to_string(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;
    use tidemark_core::Engine;

    #[test]
    fn every_cluster_names_its_nodes() {
        for engine in Engine::ALL {
            let names_nodes = Dialect::new(engine).cluster().is_some();
            assert_eq!(names_nodes, engine.is_cluster(), "{engine}");
        }
    }

    #[test]
    fn databases_are_asked_what_their_manuals_have() {
        let of = |engine| Dialect::new(engine).cluster().unwrap();
        let tidb = of(Engine::Tidb);
        assert_eq!(
            tidb.nodes,
            "SELECT TYPE, INSTANCE, STATUS_ADDRESS, VERSION FROM information_schema.cluster_info"
        );
        assert_eq!(tidb.members, tidb.nodes);
        let cockroach = of(Engine::Cockroach);
        assert_eq!(
            cockroach.nodes,
            "SELECT address FROM crdb_internal.gossip_nodes WHERE is_live ORDER BY node_id"
        );
        assert_eq!(
            cockroach.console,
            Some("SELECT field, value FROM crdb_internal.node_runtime_info WHERE component = 'UI'")
        );
        assert_eq!(of(Engine::Yugabyte).nodes, "SELECT host FROM yb_servers()");
    }

    #[test]
    fn addresses_are_taken_apart() {
        let of = |text| parts(text).map(|(host, port)| (host, port.unwrap_or(0)));
        let some = |host: &str, port| Some((host.to_string(), port));
        assert_eq!(of("db1:80"), some("db1", 80));
        assert_eq!(of("http://db1:80/x"), some("db1", 80));
        assert_eq!(of("[::1]:80"), some("::1", 80));
        assert_eq!(of("fd00::1"), some("fd00::1", 0));
        assert_eq!(of("db1"), some("db1", 0));
        assert_eq!(of("db1:x"), some("db1", 0));
        assert_eq!((of(""), of(":80"), of("[::1")), (None, None, None));
    }
}
