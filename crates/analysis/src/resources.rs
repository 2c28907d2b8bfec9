//! What a run used of the main resources, as means of the measurement.

use crate::observed::{
    MeasuredWindow, SESSION_BYTES, SeriesSum, busiest_interface, is_of_all_sessions, seen, series,
    server_host,
};
use serde::Serialize;
use tidemark_core::observe::{CLIENT_HOST, NETWORK, SERVER_NODES, SERVER_PROCESS, SERVER_STATUS};
use tidemark_core::record::RunRecord;

/// Processors that the nodes of a cluster use.
const OF_NODES: [&str; 5] = [
    "tidb.cpu",
    "tikv.cpu",
    "pd.cpu",
    "cockroach.cpu",
    "yugabyte.cpu",
];

/// What a client's host tells of itself on Linux alone, where it reads disks, too.
const OF_LINUX: &str = "context-switches";

/// Means of the measurement, as far as sources told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Resources {
    /// Share of the processors of the database's host that was busy, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_host_busy: Option<f64>,
    /// Processors that the server's processes used; of a cluster those of all nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cores: Option<f64>,
    /// Writes a second to the busiest disk of the database's host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_writes_per_s: Option<f64>,
    /// Flushes to disk a second, as the server counts them, or those of its host's busiest disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes_per_s: Option<f64>,
    /// Bytes a second over the network, both ways, as the server counts them, or over the sessions' own
    /// sockets, or through the client's busiest interface to a database elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_bytes_per_s: Option<f64>,
}

impl Resources {
    /// Of a record; nothing of runs without transactions.
    pub fn of(record: &RunRecord) -> Self {
        let Some(window) = MeasuredWindow::of(record) else {
            return Self::default();
        };
        let host = server_host(record);
        let sum = |source: &str, names: &[&str]| -> Option<f64> {
            let each = names.iter().map(|name| all(record, &window, source, name));
            each.map(|seen| Some(seen?.mean())).sum()
        };
        let busiest = |name: &str| -> Option<f64> {
            let source = host?;
            if has_idle_disks(record, source) {
                return Some(0.0);
            }
            // A disk that was used late did nothing before.
            let always = all(record, &window, source, "cpu.busy");
            let each = series(record, source, name).filter_map(|one| {
                let seen = seen(record, &window, source, name, |s| s.key == one.key)?;
                Some(
                    always
                        .as_ref()
                        .map_or(seen.mean(), |always| seen.mean_since(always)),
                )
            });
            each.reduce(f64::max)
        };
        let busy = host.and_then(|source| {
            let count = series(record, source, "cpu.busy").count();
            let seen = all(record, &window, source, "cpu.busy")?;
            Some(seen.mean() / count as f64)
        });
        let of_nodes = OF_NODES
            .iter()
            .filter_map(|name| sum(SERVER_NODES, &[*name]));
        let of_nodes = of_nodes.reduce(|one, other| one + other);
        let flushes = ["log.syncs", "data.syncs"];
        let flushes = flushes.iter().find_map(|name| sum(SERVER_STATUS, &[*name]));
        let network = ["network.received", "network.sent"];
        let of_sessions = || {
            let is_whole = is_of_all_sessions(record, NETWORK);
            is_whole.then(|| sum(NETWORK, SESSION_BYTES)).flatten()
        };
        Self {
            server_host_busy: busy,
            server_cores: sum(SERVER_PROCESS, &["process.cpu-user", "process.cpu-system"])
                .or(of_nodes),
            disk_writes_per_s: busiest("disk.writes"),
            flushes_per_s: flushes.or_else(|| busiest("disk.flushes")),
            network_bytes_per_s: sum(SERVER_STATUS, &network)
                .or_else(of_sessions)
                .or_else(|| busiest_interface(record, &window, |seen| Some(seen.mean()))),
        }
    }

    /// Whether no source told anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A disk that nobody used has no series. Of a node_exporter there is no telling whether it reads disks, nor
/// of a system without `/proc`.
fn has_idle_disks(record: &RunRecord, source: &str) -> bool {
    let mut told = record.observed.iter().filter(|o| o.source == source);
    let mut disks = record.series.iter().filter(|s| s.key.source == source);
    source == CLIENT_HOST
        && told.any(|o| o.sampled && o.gaps.is_empty())
        && series(record, source, OF_LINUX).next().is_some()
        && disks.all(|s| !s.key.name.starts_with("disk."))
}

/// All series of a source and name.
fn all(record: &RunRecord, window: &MeasuredWindow, source: &str, name: &str) -> Option<SeriesSum> {
    seen(record, window, source, name, |_| true)
}
