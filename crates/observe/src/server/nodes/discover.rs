//! Which nodes a cluster has: as the database says, or as the user does.

use super::super::access::EndpointAccess;
use super::super::http::Url;
use super::table::{NodeKind, YB_QUERY};
use crate::db::{Db, Refusal};
use tidemark_core::record::{Gap, GapKind};
use tidemark_core::{Engine, Host};
use tidemark_drivers::{Connector, RowSet};

/// TiDB's nodes; needs PROCESS.
const TIDB: &str = "SELECT TYPE, INSTANCE, STATUS_ADDRESS, VERSION \
                    FROM information_schema.cluster_info";
/// CockroachDB's nodes; needs VIEWCLUSTERMETADATA.
const COCKROACH: &str = "SELECT address FROM crdb_internal.gossip_nodes WHERE is_live \
                         ORDER BY node_id";
/// Where the node that answers has its console; others have theirs alike.
const CONSOLE: &str = "SELECT field, value FROM crdb_internal.node_runtime_info \
                       WHERE component = 'UI'";
/// From 25.4 on, tables of `crdb_internal` can be closed to sessions that don't ask for them.
const OPEN_INTERNALS: &str = "SET allow_unsafe_internals = on";
/// YugabyteDB's tablet servers.
const YUGABYTE: &str = "SELECT host FROM yb_servers()";

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
    let here = match connector.hosts().first() {
        Some((Host::Tcp { host, .. }, _)) => host.as_str(),
        _ => "127.0.0.1",
    };
    let mut nodes = match engine {
        Engine::Tidb => {
            let rows = db.query(TIDB).map_err(|why| refused(why, engine, db))?;
            tidb(&rows, here)
        }
        Engine::Cockroach => {
            let rows = match db.query(COCKROACH) {
                Err(why) if why.is_of_the_statement() => {
                    let _unknown = db.query(OPEN_INTERNALS);
                    db.query(COCKROACH)
                }
                answered => answered,
            };
            let rows = rows.map_err(|why| refused(why, engine, db))?;
            // Who may not ask it finds the usual port.
            let console = db.query(CONSOLE).unwrap_or_default();
            cockroach(&rows, &console, here)
        }
        Engine::Yugabyte => {
            let rows = db.query(YUGABYTE).map_err(|why| refused(why, engine, db))?;
            yugabyte(&rows, here)
        }
        other => return Err(Gap::new(GapKind::Engine, other.to_string())),
    };
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
fn refused(why: Refusal, engine: Engine, db: &mut Db) -> Gap {
    const WORDS: [&str; 4] = ["privilege", "denied", "permission", "allowed"];
    let said = why.to_string().to_lowercase();
    if !why.is_of_the_statement() || !WORDS.iter().any(|word| said.contains(word)) {
        return why.gap();
    }
    let account = match engine {
        Engine::Tidb => "SELECT REPLACE(CURRENT_USER(), '@', '\\'@\\'')",
        _ => "SELECT quote_ident(current_user)",
    };
    let account = db.query(account).ok().and_then(|rows| rows.text(0, 0));
    let account = account.unwrap_or_else(|| "ACCOUNT".into());
    let right = match engine {
        Engine::Tidb => format!("GRANT PROCESS ON *.* TO '{account}'"),
        Engine::Cockroach => format!("GRANT SYSTEM VIEWCLUSTERMETADATA TO {account}"),
        _ => return why.gap(),
    };
    Gap::new(GapKind::NodesRefused, right)
}

/// TiDB's, TiKV's and PD's, as `cluster_info` has them; of other kinds nothing is taken.
fn tidb(rows: &RowSet, here: &str) -> Vec<Node> {
    let nodes = (0..rows.len()).filter_map(|row| {
        let kind = match rows.text(row, 0)?.to_ascii_lowercase().as_str() {
            "tidb" => NodeKind::Tidb,
            "tikv" => NodeKind::Tikv,
            "pd" => NodeKind::Pd,
            _ => return None,
        };
        let status = rows.text(row, 2).unwrap_or_default();
        let (host, port) = match parts(&status) {
            Some((host, Some(port))) => (host, port),
            // The address without its port: that is another one.
            _ => (parts(&rows.text(row, 1)?)?.0, kind.port()),
        };
        Node::new(kind, &reachable(host, here), port)
    });
    nodes.collect()
}

/// CockroachDB's.
fn cockroach(rows: &RowSet, console: &RowSet, here: &str) -> Vec<Node> {
    let field = |wanted: &str| {
        let row = (0..console.len()).find(|row| console.text(*row, 0).as_deref() == Some(wanted));
        console.text(row?, 1)
    };
    // Scheme and port are fields of their own (crdb_internal.node_runtime_info).
    let port = field("Port").and_then(|port| port.parse().ok());
    let port: u16 = port.unwrap_or(NodeKind::Cockroach.port());
    let is_tls = field("Scheme").as_deref() == Some("https");
    let nodes = (0..rows.len()).filter_map(|row| {
        let (host, _) = parts(&rows.text(row, 0)?)?;
        let node = Node::new(NodeKind::Cockroach, &reachable(host, here), port)?;
        Some(match is_tls {
            true => Node {
                url: node.url.with_tls(),
                ..node
            },
            false => node,
        })
    });
    nodes.collect()
}

/// YugabyteDB's: of each host the tablet server and its YSQL, and a master if there is one.
fn yugabyte(rows: &RowSet, here: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    for row in 0..rows.len() {
        let host = rows.text(row, 0).filter(|host| !host.is_empty());
        let Some(host) = host.map(|host| reachable(host, here)) else {
            continue;
        };
        for kind in [NodeKind::YbTserver, NodeKind::YbSql, NodeKind::YbMaster] {
            nodes.extend(Node::new(kind, &host, kind.port()).map(|node| Node {
                is_guess: kind == NodeKind::YbMaster,
                ..node
            }));
        }
    }
    nodes
}

/// Host and port of `host:port`, `[::1]:port`, a bare host, or any of these in a URL.
pub(crate) fn parts(address: &str) -> Option<(String, Option<u16>)> {
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
    use tidemark_drivers::Cell;

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

    #[test]
    fn the_database_is_asked_what_its_manual_has() {
        assert_eq!(
            TIDB,
            "SELECT TYPE, INSTANCE, STATUS_ADDRESS, VERSION FROM information_schema.cluster_info"
        );
        assert_eq!(
            COCKROACH,
            "SELECT address FROM crdb_internal.gossip_nodes WHERE is_live ORDER BY node_id"
        );
        assert_eq!(
            CONSOLE,
            "SELECT field, value FROM crdb_internal.node_runtime_info WHERE component = 'UI'"
        );
        assert_eq!(YUGABYTE, "SELECT host FROM yb_servers()");
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
        let nodes = yugabyte(&rows, "127.0.0.1");
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
