//! What a database says of its members.

use crate::server::{parts, reachable};
use std::time::Duration;
use tidemark_core::record::{ClusterDisk, ClusterHost, Component, Topology};
use tidemark_core::{Engine, Host, Observe};
use tidemark_drivers::{Connector, RowSet, Session};
use tidemark_runtime::timeout;

/// All questions together may take so long: a member that is away answers nobody.
const LONGEST: Duration = Duration::from_secs(2);
/// So many members are told of, and disks of a host.
const MOST_MEMBERS: usize = 256;
const MOST_DISKS: usize = 16;

/// TiDB's members; needs PROCESS.
const TIDB: &str = "SELECT TYPE, INSTANCE, STATUS_ADDRESS, VERSION \
                    FROM information_schema.cluster_info";
/// Their machines; needs PROCESS.
const HARDWARE: &str = "SELECT INSTANCE, DEVICE_TYPE, DEVICE_NAME, NAME, VALUE \
     FROM information_schema.cluster_hardware \
     WHERE (DEVICE_TYPE = 'cpu' AND NAME = 'cpu-logical-cores') \
     OR (DEVICE_TYPE = 'memory' AND NAME = 'capacity') OR (DEVICE_TYPE = 'disk' AND NAME = 'total')";
/// CockroachDB's; needs VIEWCLUSTERMETADATA.
const COCKROACH: &str = "SELECT address, build_tag FROM crdb_internal.gossip_nodes \
                         WHERE is_live ORDER BY node_id";
/// From 25.4 on, tables of `crdb_internal` can be closed to sessions that don't ask for them.
const OPEN_INTERNALS: &str = "SET allow_unsafe_internals = on";
/// YugabyteDB's tablet servers.
const YUGABYTE: &str = "SELECT host, port FROM yb_servers()";

/// Adds what the database says of its members to a file's topology, or makes one of it. The session may
/// be of no more use afterwards. What is refused or late is left out: the file stands.
pub async fn with_members(
    session: &mut Session,
    connector: &Connector,
    observe: &Observe,
    file: Option<Topology>,
) -> Option<Topology> {
    let mut topology = file.unwrap_or_default();
    if *observe != Observe::Off && !session.is_pooled() {
        let here = match connector.hosts().first() {
            Some((Host::Tcp { host, .. }, _)) => host.as_str(),
            _ => "127.0.0.1",
        };
        // What came before the time was over counts.
        let _late = timeout(LONGEST, ask(session, here, &mut topology)).await;
    }
    (!topology.hosts.is_empty()).then_some(topology)
}

async fn ask(session: &mut Session, here: &str, topology: &mut Topology) {
    match session.server().engine {
        Engine::Tidb => {
            if let Ok(rows) = session.query(TIDB).await {
                tidb(&rows, here, topology);
            }
            if let Ok(rows) = session.query(HARDWARE).await {
                hardware(&rows, here, topology);
            }
        }
        Engine::Cockroach => {
            let _unknown = session.simple(OPEN_INTERNALS).await;
            if let Ok(rows) = session.query(COCKROACH).await {
                plain(&rows, "cockroach", here, topology);
            }
        }
        Engine::Yugabyte => {
            if let Ok(rows) = session.query(YUGABYTE).await {
                yugabyte(&rows, here, topology);
            }
        }
        _ => {}
    }
}

fn tidb(rows: &RowSet, here: &str, topology: &mut Topology) {
    for row in 0..rows.len() {
        let Some((kind, instance)) = rows.text(row, 0).zip(rows.text(row, 1)) else {
            continue;
        };
        let status = rows.text(row, 2).unwrap_or_default();
        let status = parts(&status).and_then(|(_, port)| port);
        let version = rows.text(row, 3).unwrap_or_default();
        member(
            &kind.to_ascii_lowercase(),
            &instance,
            status,
            version,
            here,
            topology,
        );
    }
}

fn plain(rows: &RowSet, kind: &str, here: &str, topology: &mut Topology) {
    for row in 0..rows.len() {
        if let Some(address) = rows.text(row, 0) {
            let version = rows.text(row, 1).unwrap_or_default();
            member(kind, &address, None, version, here, topology);
        }
    }
}

fn yugabyte(rows: &RowSet, here: &str, topology: &mut Topology) {
    for row in 0..rows.len() {
        let port = rows.int(row, 1).and_then(|port| u16::try_from(port).ok());
        if let Some(host) = rows.text(row, 0).filter(|host| !host.is_empty()) {
            let address = super::joined(&host, port.unwrap_or(5433));
            member("yugabyte", &address, None, String::new(), here, topology);
        }
    }
}

/// A member that the database lists: one of the file's, or another.
fn member(
    kind: &str,
    address: &str,
    status_port: Option<u16>,
    version: String,
    here: &str,
    topology: &mut Topology,
) {
    let Some((host, port)) = parts(address) else {
        return;
    };
    topology.listed = true;
    let status_port = status_port.filter(|status| Some(*status) != port);
    let host = reachable(host, here);
    let all: usize = topology.hosts.iter().map(|h| h.components.len()).sum();
    let known = match topology.hosts.iter().position(|known| known.host == host) {
        Some(known) => known,
        None if all >= MOST_MEMBERS => return,
        None => {
            topology.hosts.push(ClusterHost {
                host,
                ..ClusterHost::default()
            });
            topology.hosts.len() - 1
        }
    };
    let Some(on) = topology.hosts.get_mut(known) else {
        return;
    };
    // A file that gives no port has the default one, as has the database.
    let is_it = |of: &&mut Component| of.kind == kind && of.port == port;
    if let Some(of) = on.components.iter_mut().find(is_it) {
        of.in_database = true;
        of.status_port = status_port.or(of.status_port);
        if !version.is_empty() {
            of.version = version;
        }
    } else if all < MOST_MEMBERS {
        on.components.push(Component {
            kind: kind.into(),
            port,
            status_port,
            version,
            in_file: false,
            in_database: true,
        });
    }
}

/// What `cluster_hardware` has of each member's machine.
fn hardware(rows: &RowSet, here: &str, topology: &mut Topology) {
    for row in 0..rows.len() {
        let [instance, device, name, value] = [0, 1, 2, 4].map(|at| rows.text(row, at));
        let host = instance.and_then(|instance| parts(&instance));
        let Some(host) = host.map(|(host, _)| reachable(host, here)) else {
            continue;
        };
        let Some(on) = topology.hosts.iter_mut().find(|known| known.host == host) else {
            continue;
        };
        let number = value.and_then(|value| value.parse::<u64>().ok());
        match device.as_deref() {
            Some("cpu") => on.cpus = number.and_then(|n| u32::try_from(n).ok()).or(on.cpus),
            Some("memory") => on.memory_bytes = number.or(on.memory_bytes),
            Some("disk") => {
                let device = name.unwrap_or_default();
                let known = on.disks.iter().any(|disk| disk.device == device);
                if !known && !device.is_empty() && on.disks.len() < MOST_DISKS {
                    on.disks.push(ClusterDisk {
                        device,
                        size_bytes: number,
                    });
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_drivers::Cell;

    /// Rows made by hand after the manual: the databases are not at hand.
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

    #[test]
    fn members_complete_the_files_hosts() {
        let file = "tidb_servers:\n  - host: 10.0.1.1\ntikv_servers:\n  - host: 10.0.1.2\n  - host: 10.0.1.9\n";
        let mut topology = super::super::file::read(file).unwrap();
        let rows = made(
            4,
            &[
                &["tidb", "10.0.1.1:4000", "10.0.1.1:10080", "8.5.3"],
                &["tikv", "10.0.1.2:20160", "10.0.1.2:20180", "8.5.3"],
                &["pd", "0.0.0.0:2379", "0.0.0.0:2379", "8.5.3"],
                &["NULL", "NULL", "NULL", "NULL"],
            ],
        );
        tidb(&rows, "db1", &mut topology);
        let of = |host: &str| topology.hosts.iter().find(|h| h.host == host).unwrap();
        let tikv = &of("10.0.1.2").components;
        assert_eq!(tikv.len(), 1);
        assert!(tikv[0].in_file && tikv[0].in_database && tikv[0].version == "8.5.3");
        assert!(!of("10.0.1.9").components[0].in_database && topology.listed);
        let pd = &of("db1").components[0];
        assert!(!pd.in_file && pd.port == Some(2379) && pd.status_port.is_none());
        let rows = made(
            5,
            &[
                &["10.0.1.2:20160", "cpu", "cpu", "cpu-logical-cores", "16"],
                &[
                    "10.0.1.2:20160",
                    "memory",
                    "memory",
                    "capacity",
                    "68719476736",
                ],
                &[
                    "10.0.1.2:20160",
                    "disk",
                    "nvme0n1",
                    "total",
                    "1000000000000",
                ],
                &[
                    "10.0.1.2:20160",
                    "disk",
                    "nvme0n1",
                    "total",
                    "1000000000000",
                ],
                &["10.0.7.7:20160", "cpu", "cpu", "cpu-logical-cores", "16"],
                &["10.0.1.1:4000", "cpu", "cpu", "cpu-logical-cores", "many"],
            ],
        );
        hardware(&rows, "db1", &mut topology);
        let of = |host: &str| topology.hosts.iter().find(|h| h.host == host).unwrap();
        let tikv = of("10.0.1.2");
        assert_eq!((tikv.cpus, tikv.memory_bytes), (Some(16), Some(64 << 30)));
        assert_eq!(tikv.disks.len(), 1);
        assert_eq!((of("10.0.1.1").cpus, topology.hosts.len()), (None, 4));
    }

    #[test]
    fn other_clusters_members_are_read() {
        let mut topology = Topology::default();
        let rows = made(2, &[&["10.0.0.1:26257", "24.3"], &["NULL", "NULL"]]);
        plain(&rows, "cockroach", "db1", &mut topology);
        let rows = made(
            2,
            &[&["10.0.0.2", "5433"], &["fd00::2", "5433"], &["", "1"]],
        );
        yugabyte(&rows, "db1", &mut topology);
        let hosts: Vec<_> = topology.hosts.iter().map(|h| h.host.as_str()).collect();
        assert_eq!(hosts, ["10.0.0.1", "10.0.0.2", "fd00::2"]);
        assert_eq!(topology.hosts[2].components[0].port, Some(5433));
    }
}
