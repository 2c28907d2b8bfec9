//! Which nodes a cluster has: as the database says, or as the user does.

use super::super::access::EndpointAccess;
use super::super::url::Url;
use super::table::{NodeKind, YB_QUERY};
use crate::db::{Db, Refusal};
use tidemark_core::record::{Gap, GapKind};
use tidemark_core::{Engine, Host};
use tidemark_drivers::cluster::{ClusterNode, NodeRight};
use tidemark_drivers::{Connector, Dialect};

/// A node to be looked at.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Host and port of its metrics.
    pub instance: String,
    pub url: Url,
    /// What it is, where that is known.
    pub kind: Option<NodeKind>,
    /// Whether it may not be there: nothing is said of it then.
    pub is_guess: bool,
    /// Whether the user wrote its address: then that is taken as it is.
    pub is_given: bool,
}

impl Node {
    fn new(kind: NodeKind, host: &str, port: u16) -> Option<Self> {
        let host = match host.contains(':') {
            true => format!("[{host}]"),
            false => host.to_string(),
        };
        let text = format!("http://{host}:{port}{}", kind.path());
        // A host that makes no URL is no node's.
        let url = Url::parse(&text, port).ok()?;
        Some(Self::at(url, Some(kind)))
    }

    fn at(url: Url, kind: Option<NodeKind>) -> Self {
        let url = match url.path().contains("/prometheus-metrics") {
            true => url.asking(YB_QUERY),
            false => url,
        };
        Self {
            instance: url.address().into(),
            url,
            kind,
            is_guess: false,
            is_given: false,
        }
    }
}

/// The nodes that a user named.
///
/// # Errors
/// Which URL is wrong, and a right one.
pub(super) fn given(urls: &str, access: &EndpointAccess) -> Result<Vec<Node>, Gap> {
    let urls = urls.split(',').map(str::trim).filter(|url| !url.is_empty());
    let nodes = urls.map(|url| match Url::parse(url, NodeKind::Tidb.port()) {
        Ok(url) => Ok(Node {
            is_given: true,
            ..Node::at(url.with(access), None)
        }),
        Err(why) => Err(Gap::new(GapKind::Failed, format!("--observe-nodes: {why}"))),
    });
    nodes.collect()
}

/// The nodes that the database names.
///
/// # Errors
/// Why it names none.
pub(super) fn discovered(
    engine: Engine,
    connector: &Connector,
    db: &mut Db,
    access: &EndpointAccess,
) -> Result<Vec<Node>, Gap> {
    let here = host_of(connector);
    let Some(cluster) = Dialect::new(engine).cluster() else {
        return Err(Gap::new(GapKind::Engine, engine.to_string()));
    };
    let rows = match (db.query(cluster.nodes), cluster.opening) {
        (Err(why), Some(opening)) if why.is_of_the_statement() => {
            let _unknown = db.query(opening);
            db.query(cluster.nodes)
        }
        (answered, _) => answered,
    };
    let rows = rows.map_err(|why| refused(why, cluster.right.as_ref(), db))?;
    let console = cluster.console.and_then(|sql| db.query(sql).ok());
    let named = (cluster.read_nodes)(&rows, &console.unwrap_or_default());
    let mut nodes = reached(named, here);
    // Their addresses are the database's word: they learn no sign-in.
    let access = access.without_sign_in();
    for node in &mut nodes {
        node.url = node.url.clone().with(&access);
    }
    match nodes.is_empty() {
        true => Err(Gap::new(GapKind::Failed, "the database named no nodes")),
        false => Ok(nodes),
    }
}

/// What would allow what was refused.
fn refused(why: Refusal, right: Option<&NodeRight>, db: &mut Db) -> Gap {
    const WORDS: [&str; 4] = ["privilege", "denied", "permission", "allowed"];
    let said = why.to_string().to_lowercase();
    let is_of_rights = why.is_of_the_statement() && WORDS.iter().any(|word| said.contains(word));
    let Some(right) = right.filter(|_| is_of_rights) else {
        return why.gap();
    };
    let account = db.query(right.account).ok();
    let account = account.and_then(|rows| rows.text(0, 0));
    let account = account.unwrap_or_else(|| "ACCOUNT".into());
    let grant = right.grant.replace("{account}", &account);
    Gap::new(GapKind::NodesRefused, grant)
}

/// Where the nodes are that the database names, of the kinds that have a table.
fn reached(named: Vec<ClusterNode>, here: &str) -> Vec<Node> {
    let nodes = named.into_iter().filter_map(|named| {
        let kind = NodeKind::named(named.kind)?;
        let port = named.port.unwrap_or(kind.port());
        let node = Node::new(kind, &reachable(named.host, here), port)?;
        let url = match named.is_tls {
            true => node.url.with_tls(),
            false => node.url.clone(),
        };
        Some(Node {
            url,
            is_guess: named.is_guess,
            ..node
        })
    });
    nodes.collect()
}

/// The target's host as this one knows it.
pub(crate) fn host_of(connector: &Connector) -> &str {
    match connector.hosts().first() {
        Some((Host::Tcp { host, .. }, _)) => host.as_str(),
        _ => "127.0.0.1",
    }
}

/// A node that calls itself by an address of its own machine is on the target's host.
pub(crate) fn reachable(host: String, here: &str) -> String {
    let is_own = |host: &str| matches!(host, "localhost" | "::1") || host.starts_with("127.");
    match host.as_str() {
        "0.0.0.0" | "::" => here.to_string(),
        own if is_own(own) && !is_own(here) => here.to_string(),
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_drivers::{Cell, RowSet};

    /// Rows made by hand: the databases are not at hand.
    fn made(columns: usize, rows: &[&[&str]]) -> RowSet {
        let mut set = RowSet::new();
        set.reset(columns);
        for cell in rows.iter().flat_map(|row| row.iter()) {
            set.push(match *cell {
                "NULL" => Cell::Null,
                text => Cell::Bytes(text.as_bytes()),
            });
        }
        set
    }

    fn named(nodes: &[Node]) -> Vec<(Option<NodeKind>, &str, &str)> {
        let nodes = nodes.iter();
        nodes
            .map(|n| (n.kind, n.instance.as_str(), n.url.path()))
            .collect()
    }

    fn nodes_of(engine: Engine, rows: &RowSet, console: &RowSet, here: &str) -> Vec<Node> {
        let cluster = Dialect::new(engine).cluster().unwrap();
        let named = (cluster.read_nodes)(rows, console);
        let is_known = |named: &ClusterNode| NodeKind::named(named.kind).is_some();
        assert!(named.iter().all(is_known), "{named:?}");
        reached(named, here)
    }

    fn tidb(rows: &RowSet, here: &str) -> Vec<Node> {
        nodes_of(Engine::Tidb, rows, &RowSet::new(), here)
    }

    fn cockroach(rows: &RowSet, console: &RowSet, here: &str) -> Vec<Node> {
        nodes_of(Engine::Cockroach, rows, console, here)
    }

    #[test]
    fn tidbs_nodes_are_read() {
        let rows = made(
            4,
            &[
                &["tidb", "10.0.0.1:4000", "10.0.0.1:10081", "8.5.3"],
                &["pd", "10.0.0.2:2379", "10.0.0.2:2379", "8.5.3"],
                &["tikv", "10.0.0.3:20160", "NULL", "8.5.3"],
                &["tikv", "tikv-1.tikv:20160", "", "8.5.3"],
                &["tiflash", "10.0.0.4:3930", "10.0.0.4:20292", "8.5.3"],
                &["tidb", "NULL", "NULL", "NULL"],
                &["NULL", "10.0.0.5:1", "10.0.0.5:2", "NULL"],
                &["tidb", "0.0.0.0:4000", "0.0.0.0:10080", "8.5.3"],
                &["tidb", "127.0.0.1:4001", "127.0.0.1:10082", "8.5.3"],
            ],
        );
        assert_eq!(
            named(&tidb(&rows, "db1")),
            [
                (Some(NodeKind::Tidb), "10.0.0.1:10081", "/metrics"),
                (Some(NodeKind::Pd), "10.0.0.2:2379", "/metrics"),
                (Some(NodeKind::Tikv), "10.0.0.3:20180", "/metrics"),
                (Some(NodeKind::Tikv), "tikv-1.tikv:20180", "/metrics"),
                (Some(NodeKind::Tidb), "db1:10080", "/metrics"),
                (Some(NodeKind::Tidb), "db1:10082", "/metrics"),
            ]
        );
        // Older ones have fewer columns.
        let rows = made(2, &[&["tikv", "10.0.0.3:20160"]]);
        assert_eq!(tidb(&rows, "db1")[0].instance, "10.0.0.3:20180");
        assert!(tidb(&RowSet::new(), "db1").is_empty());
    }

    #[test]
    fn cockroachs_nodes_are_read() {
        let rows = made(1, &[&["10.0.0.1:26257"], &["[fd00::2]:26257"], &["NULL"]]);
        let console = [
            &["Scheme", "http"],
            &["Host", "10.0.0.1"],
            &["Port", "8088"],
        ];
        let console = made(2, &console.map(|row| row.as_slice()));
        let nodes = cockroach(&rows, &console, "db1");
        let of = Some(NodeKind::Cockroach);
        assert_eq!(
            named(&nodes),
            [
                (of, "10.0.0.1:8088", "/_status/vars"),
                (of, "[fd00::2]:8088", "/_status/vars"),
            ]
        );
        let nodes = cockroach(&rows, &RowSet::new(), "db1");
        assert_eq!(nodes[0].instance, "10.0.0.1:8080");
        let console = made(2, &[&["Host", "10.0.0.1"], &["Scheme", "https"]]);
        let nodes = cockroach(&rows, &console, "db1");
        assert!(nodes[0].url.is_tls() && nodes[0].instance == "10.0.0.1:8080");
    }

    #[test]
    fn yugabytes_nodes_are_read() {
        let rows = made(1, &[&["10.0.0.1"], &["127.0.0.2"], &["NULL"], &[""]]);
        let nodes = nodes_of(Engine::Yugabyte, &rows, &RowSet::new(), "127.0.0.1");
        let path = "/prometheus-metrics?reset_histograms=false&show_help=false";
        assert_eq!(
            named(&nodes[..3]),
            [
                (Some(NodeKind::YbTserver), "10.0.0.1:9000", path),
                (Some(NodeKind::YbSql), "10.0.0.1:13000", path),
                (Some(NodeKind::YbMaster), "10.0.0.1:7000", path),
            ]
        );
        assert!(nodes[2].is_guess && !nodes[0].is_guess);
        assert_eq!(
            (nodes.len(), nodes[3].instance.as_str()),
            (6, "127.0.0.2:9000")
        );
    }

    fn given_by(urls: &str) -> Result<Vec<Node>, Gap> {
        given(urls, &EndpointAccess::default())
    }

    #[test]
    fn nodes_can_be_given() {
        let nodes = given_by("http://db1:10080/metrics, http://db2").unwrap();
        assert_eq!(
            named(&nodes),
            [
                (None, "db1:10080", "/metrics"),
                (None, "db2:10080", "/metrics")
            ]
        );
        let nodes = given_by("http://db1:9000/prometheus-metrics").unwrap();
        assert!(nodes[0].url.path().ends_with(YB_QUERY));
        let gap = given_by("db1:10080").unwrap_err();
        assert!(
            gap.detail.starts_with("--observe-nodes: db1:10080: "),
            "{gap:?}"
        );
        assert!(
            gap.detail.contains("for example http://db1:10080/metrics"),
            "{gap:?}"
        );
        let nodes = given_by("https://db1:8080/metrics").unwrap();
        assert!(nodes[0].url.is_tls() && nodes[0].is_given);
    }
}
