//! The newest of what is observed beside a run: a line for the database's host, one for the database, and
//! one for a cluster's nodes.

use crate::texts::observed as texts;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tidemark_core::observe::{
    CLIENT_HOST, NETWORK, SERVER_ACTIVITY, SERVER_HOST, SERVER_NODES, SERVER_PROCESS, SERVER_STATUS,
};
use tidemark_core::series::{Series, SeriesChunk};
use tidemark_report::Lang;
use tidemark_report::number::{bytes, three};

/// What is kept, by source and name.
const KEPT: [(&str, &str); 18] = [
    (CLIENT_HOST, "cpu.busy"),
    (CLIENT_HOST, "disk.busy"),
    (CLIENT_HOST, "disk.written"),
    (SERVER_HOST, "cpu.busy"),
    (SERVER_HOST, "disk.busy"),
    (SERVER_HOST, "disk.written"),
    (SERVER_PROCESS, "process.cpu-user"),
    (SERVER_PROCESS, "process.cpu-system"),
    (SERVER_STATUS, "queries"),
    (SERVER_STATUS, "commits"),
    (SERVER_STATUS, "locks.blocked"),
    (SERVER_ACTIVITY, "sessions"),
    (NETWORK, "ping.latency"),
    (SERVER_NODES, NODES[0].0),
    (SERVER_NODES, NODES[1].0),
    (SERVER_NODES, NODES[2].0),
    (SERVER_NODES, NODES[3].0),
    (SERVER_NODES, NODES[4].0),
];
/// Processors of a cluster's nodes, with what the nodes are called.
const NODES: [(&str, &str); 5] = [
    ("tidb.cpu", "TiDB"),
    ("tikv.cpu", "TiKV"),
    ("pd.cpu", "PD"),
    ("cockroach.cpu", "CockroachDB"),
    ("yugabyte.cpu", "YugabyteDB"),
];
/// What sessions wait for: so many are named.
const MOST_WAITS: usize = 2;
/// Waits of fewer sessions than this are not told.
const LEAST_SESSIONS: f64 = 0.05;
/// What a session does that waits for nothing.
const AT_WORK: [&str; 2] = ["CPU", "executing"];

/// One series' newest value, with its labels.
type Value = (BTreeMap<String, String>, f64);

/// By source and name of the series.
type Values = BTreeMap<(&'static str, &'static str), Vec<Value>>;

/// The newest values of a run. Shared: sources put them here, and the view reads them as it draws.
#[derive(Debug, Clone, Default)]
pub struct Newest(Arc<Mutex<Values>>);

impl Newest {
    /// What a source has handed over.
    pub fn take(&self, chunk: &SeriesChunk) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for key in KEPT.iter().filter(|(source, _)| chunk.source == *source) {
            let of = chunk.series.iter().filter(|s| s.key.name == key.1);
            let last = |series: &Series| {
                let point = series.points().ok()?.last()?.ok()?;
                Some((point.at_ms, series.key.labels.clone(), point.value))
            };
            let values: Vec<_> = of.filter_map(last).collect();
            // One that has ended is no news.
            let newest = values.iter().map(|(at, ..)| *at).max();
            let values = values.into_iter().filter(|(at, ..)| Some(*at) == newest);
            let values: Vec<Value> = values.map(|(_, labels, value)| (labels, value)).collect();
            if !values.is_empty() {
                kept.insert(*key, values);
            }
        }
    }

    fn values(&self, source: &'static str, name: &'static str) -> Vec<Value> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&(source, name)).cloned().unwrap_or_default()
    }

    fn sum(&self, source: &'static str, name: &'static str) -> Option<f64> {
        let values = self.values(source, name);
        let sum = values.iter().map(|(_, value)| value).sum();
        (!values.is_empty()).then_some(sum)
    }

    fn most(&self, source: &'static str, name: &'static str) -> Option<f64> {
        let values = self.values(source, name).into_iter();
        values.map(|(_, value)| value).reduce(f64::max)
    }

    fn mean(&self, source: &'static str, name: &'static str) -> Option<f64> {
        let count = self.values(source, name).len();
        self.sum(source, name).map(|sum| sum / count as f64)
    }

    /// The lines, as far as anything is known.
    pub(crate) fn lines(&self, lang: Lang) -> Vec<String> {
        [self.host(lang), self.database(lang), self.nodes(lang)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Of the database's host: of one that is the client's its processors stand with the client.
    fn host(&self, lang: Lang) -> Option<String> {
        let is_here = self.sum(SERVER_PROCESS, "process.cpu-user").is_some();
        let source = match self.mean(SERVER_HOST, "cpu.busy") {
            Some(_) => SERVER_HOST,
            None if is_here => CLIENT_HOST,
            None => return None,
        };
        let share = |value: f64| format!("{:.0}", value * 100.0);
        let cpu = self.mean(source, "cpu.busy").map(share);
        let disks = self.most(source, "disk.busy").map(share);
        let written = self.sum(source, "disk.written");
        let parts = [
            cpu.map(|busy| texts::cpu(lang, busy)),
            disks.map(|busy| texts::disks(lang, busy)),
            written.map(|rate| texts::written(lang, bytes(rate.max(0.0) as u64))),
        ];
        joined(lang, parts.into_iter().flatten()).map(|said| texts::host(lang, said))
    }

    fn database(&self, lang: Lang) -> Option<String> {
        let statements = self.sum(SERVER_STATUS, "queries");
        let commits = self.sum(SERVER_STATUS, "commits");
        let user = self.sum(SERVER_PROCESS, "process.cpu-user");
        let cores = user.zip(self.sum(SERVER_PROCESS, "process.cpu-system"));
        let blocked = self.sum(SERVER_STATUS, "locks.blocked");
        let blocked = blocked.filter(|sessions| *sessions >= LEAST_SESSIONS);
        let ping = self.sum(NETWORK, "ping.latency");
        let (running, waits) = self.sessions();
        let parts = [
            statements.map(|rate| texts::statements(lang, three(rate))),
            commits
                .filter(|_| statements.is_none())
                .map(|rate| texts::commits(lang, three(rate))),
            cores.map(|(user, system)| texts::cores(lang, three(user + system))),
            running.map(|sessions| texts::running(lang, three(sessions))),
            (!waits.is_empty()).then(|| texts::waiting(lang, waits.join(texts::comma(lang)))),
            blocked.map(|sessions| texts::blocked(lang, three(sessions))),
            ping.map(|ms| texts::ping(lang, three(ms))),
        ];
        joined(lang, parts.into_iter().flatten()).map(|said| texts::database(lang, said))
    }

    /// Processors that nodes of each kind use, and the busiest of several.
    fn nodes(&self, lang: Lang) -> Option<String> {
        let of_kind = |(name, kind): (&'static str, &str)| {
            // Some tell of user and system apart.
            let mut nodes = BTreeMap::<String, f64>::new();
            for (labels, cores) in self.values(SERVER_NODES, name) {
                let instance = labels.get("instance").cloned().unwrap_or_default();
                *nodes.entry(instance).or_default() += cores;
            }
            let all = texts::kind(lang, kind, three(nodes.values().sum()));
            let busiest = nodes.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
            Some(match nodes.len() {
                1 => all,
                _ => all + &texts::busiest(lang, busiest.0, three(*busiest.1)),
            })
        };
        let parts = NODES.into_iter().filter_map(of_kind);
        joined(lang, parts).map(|said| texts::nodes(lang, said))
    }

    /// Sessions that run a statement, and what most of them wait for.
    fn sessions(&self) -> (Option<f64>, Vec<String>) {
        let all = self.values(SERVER_ACTIVITY, "sessions");
        let is_active = |(labels, _): &&Value| labels.get("state").is_some_and(|s| s == "active");
        let running: f64 = all.iter().filter(is_active).map(|(_, n)| n).sum();
        let mut waits: Vec<(&str, f64)> = all
            .iter()
            .filter(is_active)
            .filter_map(|(labels, n)| Some((labels.get("wait")?.as_str(), *n)))
            .filter(|(wait, n)| !AT_WORK.contains(wait) && *n >= LEAST_SESSIONS)
            .collect();
        waits.sort_by(|a, b| b.1.total_cmp(&a.1));
        waits.truncate(MOST_WAITS);
        let waits = waits
            .into_iter()
            .map(|(wait, n)| format!("{wait} {}", three(n)));
        ((!all.is_empty()).then_some(running), waits.collect())
    }
}

fn joined(lang: Lang, parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(texts::between(lang)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::series::{Measures, SeriesBuilder, SeriesKey};

    fn series(key: SeriesKey, points: &[(i64, f64)]) -> Series {
        let mut builder = SeriesBuilder::new(key, 3, 1000);
        for (at, value) in points {
            builder.push(*at, *value);
        }
        builder.series().unwrap()
    }

    fn chunk(source: &str, all: Vec<Series>) -> SeriesChunk {
        SeriesChunk {
            source: source.into(),
            number: 0,
            series: all,
        }
    }

    fn one(source: &str, name: &str, value: f64) -> SeriesChunk {
        let key = SeriesKey::new(source, name, "", Measures::Gauge);
        chunk(source, vec![series(key, &[(0, 1.0), (1000, value)])])
    }

    #[test]
    fn the_database_and_its_host_have_a_line_each() {
        let newest = Newest::default();
        assert!(newest.lines(Lang::En).is_empty());
        newest.take(&one(CLIENT_HOST, "cpu.busy", 0.5));
        newest.take(&one(CLIENT_HOST, "disk.busy", 0.25));
        // Nobody knows yet whether the database is here.
        assert!(newest.lines(Lang::En).is_empty());
        newest.take(&one(SERVER_PROCESS, "process.cpu-user", 1.0));
        newest.take(&one(SERVER_PROCESS, "process.cpu-system", 0.5));
        newest.take(&one(SERVER_STATUS, "queries", 1234.0));
        newest.take(&one(NETWORK, "ping.latency", 0.25));
        let of = |wait: &str, points: &[(i64, f64)]| {
            let key = SeriesKey::new(SERVER_ACTIVITY, "sessions", "sessions", Measures::Gauge);
            series(key.with("state", "active").with("wait", wait), points)
        };
        let all = vec![
            of("CPU", &[(1000, 2.0)]),
            of("Lock:tuple", &[(1000, 3.0)]),
            of("IO:WalSync", &[(1000, 0.5)]),
            // It was seen before, and no more.
            of("LWLock:WALWrite", &[(0, 9.0)]),
        ];
        newest.take(&chunk(SERVER_ACTIVITY, all));
        assert_eq!(
            newest.lines(Lang::En),
            [
                "Database host: CPU 50 % · disks 25 % busy",
                "Database: 1,234 statements/s · CPU 1.50 cores · running 5.50 · waiting for Lock:tuple 3.00, \
                 IO:WalSync 0.5 · ping 0.25 ms"
            ]
        );
        assert!(newest.lines(Lang::Zh)[1].starts_with("数据库："));
    }

    #[test]
    fn nodes_of_a_cluster_have_a_line() {
        let newest = Newest::default();
        let of = |name: &str, instance: &str, mode: &str, cores: f64| {
            let key = SeriesKey::new(SERVER_NODES, name, "cores", Measures::Rate);
            let key = key.with("instance", instance).with("mode", mode);
            series(key, &[(5000, cores)])
        };
        let all = vec![
            of("tikv.cpu", "kv1:20180", "", 1.5),
            of("tikv.cpu", "kv2:20180", "", 4.0),
            of("tidb.cpu", "db1:10080", "", 2.25),
        ];
        newest.take(&chunk(SERVER_NODES, all));
        assert_eq!(
            newest.lines(Lang::En),
            ["Nodes: TiDB 2.25 cores · TiKV 5.50 cores, kv2:20180 4.00"]
        );
        let newest = Newest::default();
        let all = ["user", "system"].map(|mode| of("cockroach.cpu", "c1:8080", mode, 0.5));
        newest.take(&chunk(SERVER_NODES, all.to_vec()));
        assert_eq!(newest.lines(Lang::Zh), ["节点：CockroachDB 1.00 核"]);
    }

    #[test]
    fn a_remote_host_is_its_own() {
        let newest = Newest::default();
        newest.take(&one(CLIENT_HOST, "cpu.busy", 0.9));
        newest.take(&one(SERVER_HOST, "cpu.busy", 0.1));
        newest.take(&one(SERVER_STATUS, "commits", 7.0));
        let lines = newest.lines(Lang::En);
        assert_eq!(
            lines,
            ["Database host: CPU 10 %", "Database: 7.00 commits/s"]
        );
    }
}
