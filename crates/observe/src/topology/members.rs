//! What a database says of its members.

use super::configuration::{set, tuned};
use crate::server::{EndpointAccess, FlagServer, host_of, reachable, set_flags};
use std::time::Duration;
use tidemark_core::record::{ClusterDisk, ClusterHost, Component, Topology};
use tidemark_core::{Engine, Observe};
use tidemark_drivers::cluster::{Cluster, ClusterMember, parts};
use tidemark_drivers::{Connector, RowSet, Session};
use tidemark_runtime::timeout;

/// All questions together may take so long: a member that is away answers nobody.
const LONGEST: Duration = Duration::from_secs(2);
/// The web servers' ports (yb-tserver's and yb-master's flag `webserver_port`).
const WEB_PORTS: [(&str, u16); 2] = [("YB-TServer", 9000), ("YB-Master", 7000)];
/// So many members are told of, and disks of a host.
const MOST_MEMBERS: usize = 256;
const MOST_DISKS: usize = 16;

/// Adds what the database says of its members to a file's topology, or makes one of it. The session may
/// be of no more use afterwards. What is refused or late is left out: the file stands. YugabyteDB's servers
/// are asked by HTTP for the flags that somebody set, with TLS as `access` has it.
pub async fn with_members(
    session: &mut Session,
    connector: &Connector,
    observe: &Observe,
    access: &EndpointAccess,
    file: Option<Topology>,
) -> Option<Topology> {
    let mut topology = file.unwrap_or_default();
    if *observe != Observe::Off && !session.is_pooled() {
        let here = host_of(connector);
        // What came before the time was over counts.
        let _late = timeout(LONGEST, ask(session, here, &mut topology)).await;
        if session.server().engine == Engine::Yugabyte {
            let servers = flag_servers(&topology);
            let told = set_flags(&servers, access);
            // Each member has a tablet server; which have a master, nobody says.
            let (members, [(tablet_server, _), _]) = (topology.hosts.len(), WEB_PORTS);
            let known = |component: &str| (component == tablet_server).then_some(members);
            topology.settings.extend(set(&told, known));
        }
    }
    (!topology.hosts.is_empty()).then_some(topology)
}

/// Each member's web servers, where it has them.
fn flag_servers(topology: &Topology) -> Vec<FlagServer> {
    let of = |on: &ClusterHost| {
        let host = on.host.clone();
        WEB_PORTS.map(|(component, port)| FlagServer {
            component,
            host: host.clone(),
            port,
        })
    };
    topology.hosts.iter().flat_map(of).collect()
}

async fn ask(session: &mut Session, here: &str, topology: &mut Topology) {
    let Some(cluster) = session.dialect().cluster() else {
        return;
    };
    if let Some(opening) = cluster.opening {
        let _unknown = session.simple(opening).await;
    }
    if let Ok(rows) = session.query(cluster.members).await {
        members(cluster, &rows, here, topology);
    }
    if let Some(machines) = cluster.machines
        && let Ok(rows) = session.query(machines).await
    {
        hardware(&rows, here, topology);
    }
    if let Some(configuration) = cluster.configuration
        && let Ok(rows) = session.query(configuration).await
    {
        let tuned = tuned(&rows, &topology.settings);
        topology.settings.extend(tuned);
    }
}

fn members(cluster: &Cluster, rows: &RowSet, here: &str, topology: &mut Topology) {
    let listed = (0..rows.len()).filter_map(|row| (cluster.read_member)(rows, row));
    listed.for_each(|listed| member(listed, here, topology));
}

/// A member that the database lists: one of the file's, or another.
fn member(listed: ClusterMember, here: &str, topology: &mut Topology) {
    let ClusterMember {
        kind,
        host,
        port,
        status_port,
        version,
    } = listed;
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
            kind,
            port,
            status_port,
            version,
            in_file: false,
            in_database: true,
        });
    }
}

/// What the database has of each member's machine.
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
    use tidemark_drivers::{Cell, Dialect};

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

    fn listed(engine: Engine, rows: &RowSet, topology: &mut Topology) {
        let cluster = Dialect::new(engine).cluster().unwrap();
        members(cluster, rows, "db1", topology);
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
        listed(Engine::Tidb, &rows, &mut topology);
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
        listed(Engine::Cockroach, &rows, &mut topology);
        let rows = made(
            2,
            &[&["10.0.0.2", "5433"], &["fd00::2", "5433"], &["", "1"]],
        );
        listed(Engine::Yugabyte, &rows, &mut topology);
        let servers = flag_servers(&topology);
        assert_eq!(servers.len(), 6);
        assert_eq!((servers[5].component, servers[5].port), ("YB-Master", 7000));
        let hosts: Vec<_> = topology.hosts.iter().map(|h| h.host.as_str()).collect();
        assert_eq!(hosts, ["10.0.0.1", "10.0.0.2", "fd00::2"]);
        assert_eq!(topology.hosts[2].components[0].port, Some(5433));
    }
}
