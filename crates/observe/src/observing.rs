//! Which sources watch a run.

use crate::client::ClientHostSource;
use crate::network::Network;
use crate::own::Own;
use crate::server::{
    EndpointAccess, MysqlActivity, MysqlStatements, MysqlStatus, NodeExporter, Nodes,
    PostgresActivity, PostgresStatements, PostgresStatus, ServerProcess, SqliteStatus,
    ThroughPrometheus,
};
use crate::source::SeriesSource;
use tidemark_core::observe::{
    CLIENT_HOST, NETWORK, Observe, SERVER_ACTIVITY, SERVER_HOST, SERVER_NODES, SERVER_PROCESS,
    SERVER_STATEMENTS, SERVER_STATUS,
};
use tidemark_core::record::{Gap, GapKind, Observed};
use tidemark_core::{Engine, Protocol};
use tidemark_drivers::Connector;

/// What is known of a run that is to be observed.
#[derive(Debug)]
pub struct Observing<'a> {
    /// What is asked for.
    pub observe: &'a Observe,
    /// URL of the node_exporter on the database's host.
    pub host: Option<&'a str>,
    /// URLs of the cluster's nodes, separated by commas; without them the database names its nodes.
    pub nodes: Option<&'a str>,
    /// URL of a Prometheus that has the nodes' metrics; it is asked in their place.
    pub prometheus: Option<&'a str>,
    /// How the endpoints of these are reached.
    pub access: EndpointAccess,
    /// The target; sources open sessions of their own.
    pub connector: &'a Connector,
    /// What answered there.
    pub engine: Option<Engine>,
    /// Whether it runs on this host; `None` of an embedded database.
    pub on_client: Option<bool>,
    /// The server's process on this host, where its user names it.
    pub pid: Option<u32>,
    /// Whether this process makes load: what it reads and writes is then an embedded database's, and
    /// sessions of others are told apart.
    pub makes_load: bool,
    /// Whether several clients make the load, of which this process is none: the run's sessions come from
    /// whatever hosts.
    pub by_clients: bool,
}

/// The sources that a run has, and those that it can't have.
#[derive(Default)]
pub struct Sources {
    /// To be sampled.
    pub sources: Vec<Box<dyn SeriesSource>>,
    /// Asked for and not to be had.
    pub unseen: Vec<Observed>,
}

impl Sources {
    fn add(&mut self, source: impl SeriesSource + 'static) {
        self.sources.push(Box::new(source));
    }

    fn cannot(&mut self, source: &str, kind: GapKind, detail: &str) {
        self.unseen.push(Observed {
            source: source.into(),
            sampled: false,
            gaps: vec![Gap::new(kind, detail)],
        });
    }
}

/// The sources of a run. Nothing is opened yet. One that is asked for by its name and does not exist here
/// is told as well.
pub fn sources(of: &Observing<'_>) -> Sources {
    let mut all = possible(of);
    let Observe::Only(asked) = of.observe else {
        return all;
    };
    let engine = of
        .engine
        .map_or_else(String::new, |engine| engine.to_string());
    for name in asked {
        let is_told = all.sources.iter().any(|source| source.name() == name)
            || all.unseen.iter().any(|unseen| unseen.source == *name);
        match name.as_str() {
            _ if is_told => {}
            SERVER_PROCESS if of.on_client == Some(false) => {
                all.cannot(name, GapKind::RemoteHost, "");
            }
            SERVER_HOST if of.observe.wants(CLIENT_HOST) => {}
            SERVER_HOST => all.cannot(name, GapKind::LocalHost, ""),
            _ => all.cannot(name, GapKind::Engine, &engine),
        }
    }
    all
}

fn possible(of: &Observing<'_>) -> Sources {
    let mut all = Sources::default();
    let wants = |source| of.observe.wants(source);
    // Who names an exporter asks for it.
    let is_on = *of.observe != Observe::Off;
    if wants(CLIENT_HOST) {
        all.add(ClientHostSource::new());
    }
    if *of.observe == Observe::Off {
        return all;
    }
    let is_embedded = of.connector.target().protocol == Protocol::Sqlite;
    let is_here = is_embedded || of.on_client == Some(true);
    if let Some(url) = of.host.filter(|_| is_on) {
        all.add(NodeExporter::new(url, &of.access));
    } else if !is_here && wants(SERVER_HOST) {
        // Of one that is here the client's host tells.
        all.cannot(SERVER_HOST, GapKind::RemoteHost, "");
    }
    let cluster = of.engine.filter(|engine| engine.is_cluster());
    match (of.prometheus, of.nodes, cluster) {
        _ if !wants(SERVER_NODES) => {}
        (Some(url), ..) => {
            let from = ThroughPrometheus::new(url, &of.access);
            all.add(match cluster {
                Some(engine) => from.of(engine, of.connector),
                None => from,
            });
        }
        (None, Some(urls), _) => all.add(Nodes::at(urls).with(&of.access)),
        (None, None, Some(engine)) => all.add(Nodes::of(engine, of.connector).with(&of.access)),
        // Others have no nodes.
        (None, None, None) => {}
    }
    let own = Own::default();
    match is_embedded {
        _ if !wants(NETWORK) => {}
        true => all.cannot(NETWORK, GapKind::NoTcp, "SQLite"),
        false => all.add(Network::new(of.connector, &own)),
    }
    if let Some(pid) = of.pid.filter(|_| wants(SERVER_PROCESS)) {
        all.add(ServerProcess::named(of.connector.clone(), own.clone(), pid));
    }
    match of.engine {
        Some(Engine::Sqlite) => {
            let file = &of.connector.target().database;
            if wants(SERVER_STATUS) && !file.starts_with(":memory:") {
                all.add(SqliteStatus::new(file.into(), of.makes_load));
            }
            return all;
        }
        Some(Engine::Mariadb | Engine::Mysql) => {
            if wants(SERVER_STATUS) {
                all.add(MysqlStatus::new(of.connector, &own, of.by_clients));
            }
            if wants(SERVER_ACTIVITY) {
                let activity = MysqlActivity::new(of.connector, &own, of.makes_load);
                all.add(activity.by_clients(of.by_clients));
            }
            if wants(SERVER_STATEMENTS) {
                all.add(MysqlStatements::new(of.connector, &own));
            }
        }
        Some(Engine::Postgres) => {
            if wants(SERVER_STATUS) {
                all.add(PostgresStatus::new(of.connector, &own, of.makes_load));
            }
            if wants(SERVER_ACTIVITY) {
                all.add(PostgresActivity::new(of.connector, &own, of.makes_load));
            }
            if wants(SERVER_STATEMENTS) {
                all.add(PostgresStatements::new(of.connector, &own));
            }
        }
        other => {
            let name = other.map_or_else(String::new, |engine| engine.to_string());
            for source in [SERVER_STATUS, SERVER_ACTIVITY, SERVER_STATEMENTS] {
                // What a status has, nodes tell.
                let is_told = source == SERVER_STATUS && cluster.is_some() && wants(SERVER_NODES);
                if wants(source) && !is_told {
                    all.cannot(source, GapKind::Engine, &name);
                }
            }
            return all;
        }
    }
    if is_here && of.pid.is_none() && wants(SERVER_PROCESS) {
        all.add(ServerProcess::new(of.connector.clone(), own));
    }
    all
}
