//! What a run was told to do, and on what. Runs are repeats of each other only where all of it is
//! equal; whoever merges, compares or judges several runs asks here.

use crate::notation::canonical;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_core::record::{LatencyEnd, RunRecord};
use tidemark_core::{Engine, Pacing, Protocol, Target};

/// Options that can't change what is measured: where results go, how they are shown, who watches, how
/// long a run may take to be set up or waits to begin, what the system costs, and what other tools have
/// and nothing here needs. A seed is among them, for where none is given each run has another. Every
/// option that is not here makes another setup of a run, so a new one is told apart until it is put here.
const ASIDE: &[&str] = &[
    "acThreads",
    "aggregate-interval",
    "base-id",
    "check-all",
    "config-file",
    "create-sql-procedures",
    "db-debug",
    "debug",
    "directory",
    "failures-detailed",
    "help",
    "histogram",
    "histograms",
    "initial-delay-secs",
    "interval",
    "interval-monitor",
    "lang",
    "log",
    "log-prefix",
    "metrics",
    "metrics-addr",
    "metrics-linger",
    "mysql-debug",
    "nats",
    "nats-ca",
    "nats-creds",
    "no-check",
    "note",
    "observe",
    "observe-ca",
    "observe-host",
    "observe-nodes",
    "observe-prometheus",
    "on-client-loss",
    "out",
    "output",
    "output-dir",
    "output-raw",
    "output-samples",
    "output-type",
    "overwrite",
    "percentile",
    "pprof",
    "price",
    "print-job",
    "progress",
    "progress-timestamp",
    "quiet",
    "rand-seed",
    "report",
    "report-checkpoints",
    "report-interval",
    "sample",
    "sampling-rate",
    "seed",
    "setup-timeout",
    "silence",
    "start-times",
    "statusPort",
    "store",
    "strict",
    "tag",
    "thread-init-timeout",
    "thread-stack-size",
    "timestamp",
    "topology",
    "transaction-ids",
    "verbose",
    "verbosity",
    "version",
    "view",
    "vv",
];
/// Options that say where the database is, and as whom and how it is spoken to: the target's URL tells
/// all of it, whatever it was made of.
const PLACE: [&str; 12] = [
    "conn-params",
    "db",
    "db-driver",
    "dbname",
    "driver",
    "host",
    "nodes",
    "port",
    "target",
    "targets",
    "user",
    "username",
];
/// Endings of their names by protocol: `mysql-host`, `pg.port`.
const PLACE_ENDS: [&str; 10] = [
    "db",
    "host",
    "instances",
    "port",
    "socket",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];
/// The same of encryption: `mysql-ssl-ca`.
const MYSQL_TLS: &str = "mysql-ssl";

/// What clients of one load may have of their own: their machines, and which part of the data each of
/// them works on.
const OF_A_CLIENT: [&str; 13] = [
    "client CPU",
    "client cores",
    "executor threads",
    "option busy-poll",
    "option executors",
    "option first-warehouse",
    "option insertcount",
    "option insertstart",
    "option last-warehouse",
    "option max-procs",
    "option scheduling",
    "option start-warehouse-id",
    "shard",
];

/// Whether an option's value can make one run another than a second one.
pub fn matters(option: &str) -> bool {
    let last = option.rsplit(['-', '.']).next().unwrap_or(option);
    let is_place = last != option && PLACE_ENDS.contains(&last) || option.starts_with(MYSQL_TLS);
    !ASIDE.contains(&option) && !PLACE.contains(&option) && !is_place && last != "password"
}

/// Everything that makes a run another than a second one, by name: `workload`, `option threads`,
/// `setting innodb_buffer_pool_size`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    facts: BTreeMap<String, String>,
}

impl Setup {
    /// Of a record.
    pub fn of(run: &RunRecord) -> Self {
        let mut facts = BTreeMap::new();
        let mut add = |name: &str, value: String| {
            facts.insert(name.to_string(), value);
        };
        add("workload", run.workload.clone());
        // A study names its targets itself; a private server's port is another at each start.
        if run.study.is_none() {
            add("target", place(&run.target));
        }
        if let Ok(target) = Target::parse(&run.target) {
            add("account", target.user);
            add("encryption", target.tls.to_string());
        }
        // Clients that did their shares one by one were asked for the same whole.
        let load = run.job.as_ref().map(|job| &job.load);
        let whole = load.filter(|load| !load.shard.is_whole() && run.clients.is_empty());
        if let Some(load) = whole {
            add("shard", load.shard.to_string());
        }
        if !run.clients.is_empty() {
            add("clients", run.clients.len().to_string());
        }
        let sessions = whole.map_or(run.sessions, |load| load.sessions);
        add("sessions", sessions.to_string());
        if let Some(opened) = run.sessions_opened.filter(|n| *n != run.sessions) {
            add("sessions opened", opened.to_string());
        }
        add("executor threads", run.executors.to_string());
        add("client CPU", run.client.cpu_model.clone());
        add("client cores", run.client.cores.to_string());
        add(
            "injected network latency (ms)",
            run.inject_rtt_ms.to_string(),
        );
        // Latencies with two ends have no common mean.
        if run.latency_end == LatencyEnd::Arrival {
            add("latency end", "arrival".into());
        }
        let rate = match whole.map(|load| &load.pacing) {
            Some(Pacing::Rate(rate)) => Some(*rate),
            _ => run.rate,
        };
        for (name, value) in [
            (
                "terminals",
                run.terminals
                    .map(|n| whole.map_or(n, |load| load.terminals).to_string()),
            ),
            ("rate", rate.map(|r| r.to_string())),
            ("isolation", run.isolation.map(|i| i.name().to_string())),
        ] {
            if let Some(value) = value {
                add(name, value);
            }
        }
        if let Some(server) = &run.server {
            add("server", server.engine.to_string());
            add(
                "server version",
                version(server.engine, &server.version).into(),
            );
        }
        for (name, option) in run.options.iter().filter(|(name, _)| matters(name)) {
            add(&format!("option {name}"), option.value.clone());
        }
        let engine = run.server.as_ref().map(|server| server.engine);
        for setting in &run.settings {
            let value = match engine {
                Some(engine) => canonical(engine, &setting.name, &setting.value),
                None => setting.value.clone(),
            };
            add(&format!("setting {}", setting.name), value);
        }
        Self { facts }
    }

    /// What clients of one load have in common: everything but their machines and their shares of the
    /// data. Runs that differ in those are clients of one load, and no repeats of each other.
    pub fn of_load(&self) -> Self {
        let facts = self.facts.iter();
        let of_load = facts.filter(|(name, _)| !OF_A_CLIENT.contains(&name.as_str()));
        Self {
            facts: of_load.map(|(n, v)| (n.clone(), v.clone())).collect(),
        }
    }

    /// The setup of all clients of one load, in whatever order they are given: what each has of its own
    /// is listed.
    pub fn of_clients<'j>(setups: impl Iterator<Item = &'j Setup> + Clone) -> Self {
        let mut all = setups.clone().next().cloned().unwrap_or_default();
        for name in OF_A_CLIENT {
            let mut own: Vec<&str> = setups.clone().filter_map(|setup| setup.get(name)).collect();
            // Numbers as numbers.
            own.sort_by_key(|value| (value.parse::<u64>().unwrap_or(u64::MAX), *value));
            own.dedup();
            if !own.is_empty() {
                all.facts.insert(name.into(), own.join(", "));
            }
        }
        all
    }

    /// A fact by its name; `None` where the record has none, as of a setting at its default.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }

    /// The names of what is not the same in all of these; none where they are repeats of each other.
    pub fn differing<'j>(setups: impl Iterator<Item = &'j Setup> + Clone) -> Vec<String> {
        let names: BTreeSet<&String> = setups.clone().flat_map(|j| j.facts.keys()).collect();
        let differs = |name: &&String| {
            let mut values = setups.clone().map(|j| j.facts.get(*name));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        names.into_iter().filter(differs).cloned().collect()
    }
}

/// A server's version. MySQL and MariaDB put `-log` behind it where a log is on (MySQL manual, 7.1.8:
/// `version_suffix`), which the settings tell by themselves.
pub fn version(engine: Engine, version: &str) -> &str {
    match engine.protocol() {
        Protocol::Mysql => version.strip_suffix("-log").unwrap_or(version),
        _ => version,
    }
}

/// A URL without its account.
fn place(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
    match scheme {
        "" => rest.into(),
        scheme => format!("{scheme}://{rest}"),
    }
}

/// Where sessions went, so that two runs can be seen to have loaded one server. A name that means
/// another machine on each client holds the client's.
pub(crate) fn hosts(run: &RunRecord) -> Vec<String> {
    let of_client = |place: String| format!("{} {place}", run.client.hostname);
    let Ok(target) = Target::parse(&run.target) else {
        return vec![of_client(place(&run.target))];
    };
    let hosts = target.hosts.iter().chain(&target.readers);
    let hosts = hosts.map(|host| match host {
        tidemark_core::Host::Tcp { host, port } if is_loopback(host) => {
            of_client(format!("127.0.0.1:{port}"))
        }
        tidemark_core::Host::Unix(_) => of_client(host.to_string()),
        host => host.to_string(),
    });
    let hosts: Vec<String> = hosts.collect();
    match hosts.is_empty() {
        true => vec![of_client(place(&run.target))],
        false => hosts,
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Source;
    use tidemark_core::record::{EffectiveOption, Setting};

    fn with_option(name: &str, value: &str) -> RunRecord {
        let option = EffectiveOption {
            value: value.into(),
            source: Source::CommandLine,
        };
        RunRecord {
            options: BTreeMap::from([(name.to_string(), option)]),
            ..RunRecord::default()
        }
    }

    fn differing(a: &RunRecord, b: &RunRecord) -> Vec<String> {
        let setups = [Setup::of(a), Setup::of(b)];
        Setup::differing(setups.iter())
    }

    #[test]
    fn an_option_that_nobody_knows_makes_another_job() {
        for name in [
            "order-ranges",
            "readproportion",
            "an-option-of-tomorrow",
            "connections",
            "set-session",
            "time",
            "db-ps-mode",
        ] {
            let (a, b) = (with_option(name, "1"), with_option(name, "2"));
            assert_eq!(differing(&a, &b), [format!("option {name}")]);
            assert_eq!(differing(&a, &RunRecord::default()).len(), 1, "{name}");
        }
        for name in [
            "out",
            "directory",
            "db-debug",
            "rand-seed",
            "view",
            "mysql-host",
            "pg.port",
            "sqlite.db",
            "pgsql-password",
            "mysql-user",
            "db-driver",
            "mysql-ssl-ca",
        ] {
            let (a, b) = (with_option(name, "1"), with_option(name, "2"));
            assert_eq!(differing(&a, &b), [""; 0], "{name}");
        }
    }

    #[test]
    fn settings_in_two_notations_are_one_and_a_logs_suffix_is_none() {
        let run = |version: &str, setting: &str| RunRecord {
            server: Some(tidemark_core::ServerInfo {
                engine: Engine::Mariadb,
                version: version.into(),
            }),
            settings: vec![Setting {
                name: "log_bin".into(),
                value: setting.into(),
                default: None,
            }],
            ..RunRecord::default()
        };
        let (a, b) = (
            run("10.11.6-MariaDB", "ON"),
            run("10.11.6-MariaDB-log", "1"),
        );
        assert_eq!(differing(&a, &b), [""; 0]);
        let b = run("10.11.6-MariaDB-log", "OFF");
        assert_eq!(differing(&a, &b), ["setting log_bin"]);
    }

    #[test]
    fn a_place_is_another_job_but_in_a_study() {
        let run = |target: &str| RunRecord {
            target: target.into(),
            ..RunRecord::default()
        };
        let (mut a, mut b) = (
            run("mysql://u:***@h:3306/db"),
            run("mysql://u:***@h:3307/db"),
        );
        assert_eq!(differing(&a, &b), ["target"]);
        let same = run("mysql://u@h:3306/db");
        assert_eq!(differing(&a, &same), [""; 0]);
        let other = run("mysql://w@h:3306/db?tls=no-verify");
        assert_eq!(differing(&a, &other), ["account", "encryption", "target"]);
        a.study = Some(Default::default());
        b.study = a.study.clone();
        assert_eq!(differing(&a, &b), [""; 0]);
    }

    #[test]
    fn clients_of_one_load_differ_in_their_machines_and_shares_alone() {
        let client = |cores: usize, first: &str| {
            let mut run = with_option("first-warehouse", first);
            run.client.cores = cores;
            run.executors = cores;
            Setup::of(&run)
        };
        let (a, b) = (client(16, "1"), client(8, "101"));
        assert_eq!(a.of_load(), b.of_load());
        assert_ne!(a, b);
        let both = Setup::of_clients([&a, &b].into_iter());
        assert_eq!(both, Setup::of_clients([&b, &a].into_iter()));
        assert_eq!(both.get("client cores"), Some("8, 16"));
        assert_eq!(both.get("option first-warehouse"), Some("1, 101"));
        assert_eq!(Setup::of_clients([&a, &a].into_iter()), a);
        let other = Setup::of(&with_option("warehouses", "2"));
        assert_ne!(a.of_load(), other.of_load());
    }

    #[test]
    fn loopback_is_another_host_on_each_client() {
        let run = |target: &str, client: &str| {
            let mut run = RunRecord {
                target: target.into(),
                ..RunRecord::default()
            };
            run.client.hostname = client.into();
            hosts(&run)
        };
        let mine = run("mysql://u@127.0.0.1:3306/db", "a");
        assert_eq!(run("mysql://v:***@localhost/other", "a"), mine);
        assert_ne!(run("mysql://u@127.0.0.1:3306/db", "b"), mine);
        let far = run("mysql://u@db1,db2:4000/db", "a");
        assert_eq!(far, run("mysql://u@db1,db2:4000/db", "b"));
        assert_eq!(far.len(), 2);
    }
}
