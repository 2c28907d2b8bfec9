//! TiUP's `topology.yaml` ("Topology Configuration File for TiDB Deployment Using TiUP").

use super::TopologyError;
use super::defaults::default_of;
use super::document::{At, Setting, parsed};
use std::path::Path;
use tidemark_core::record::{ClusterHost, Component, ComponentSetting, Topology};
use tidemark_core::{did_you_mean, is_password_name, redact_url};

/// No cluster's file is longer.
const LONGEST: u64 = 1 << 20;

/// A list of instances: its key, the component, the keys of its two ports, and their defaults.
struct List {
    key: &'static str,
    kind: &'static str,
    port: (&'static str, Option<u16>),
    status: (&'static str, Option<u16>),
}

const fn list(
    key: &'static str,
    kind: &'static str,
    port: (&'static str, Option<u16>),
    status: (&'static str, Option<u16>),
) -> List {
    List {
        key,
        kind,
        port,
        status,
    }
}

const NONE: (&str, Option<u16>) = ("", None);

#[rustfmt::skip] // a row each
const LISTS: [List; 17] = [
    list("pd_servers", "pd", ("client_port", Some(2379)), NONE),
    list("tidb_servers", "tidb", ("port", Some(4000)), ("status_port", Some(10080))),
    list("tikv_servers", "tikv", ("port", Some(20160)), ("status_port", Some(20180))),
    list("tiflash_servers", "tiflash", ("flash_service_port", Some(3930)), ("flash_proxy_status_port", Some(20292))),
    list("tiproxy_servers", "tiproxy", ("port", Some(6000)), ("status_port", Some(3080))),
    list("tso_servers", "tso", ("port", Some(3379)), NONE),
    list("scheduling_servers", "scheduling", ("port", Some(3379)), NONE),
    list("cdc_servers", "ticdc", ("port", Some(8300)), NONE),
    list("kvcdc_servers", "kvcdc", ("port", Some(8600)), NONE),
    list("pump_servers", "pump", ("port", Some(8250)), NONE),
    list("drainer_servers", "drainer", ("port", Some(8249)), NONE),
    list("tispark_masters", "tispark-master", ("port", Some(7077)), NONE),
    list("tispark_workers", "tispark-worker", ("port", Some(7078)), NONE),
    list("tidb_dashboard_servers", "tidb-dashboard", ("port", Some(12333)), NONE),
    list("monitoring_servers", "prometheus", ("port", Some(9090)), NONE),
    list("grafana_servers", "grafana", ("port", Some(3000)), NONE),
    list("alertmanager_servers", "alertmanager", ("web_port", Some(9093)), NONE),
];
/// Keys that are no lists.
const OTHERS: [&str; 4] = [
    "global",
    "monitored",
    "server_configs",
    "component_versions",
];
/// Words of names and values that no record holds.
const SECRETS: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "access-key",
    "access_key",
    "access-token",
    "credential",
    "private",
    "master-key",
];

/// Reads a file.
///
/// # Errors
/// [`TopologyError`].
pub fn read_topology(path: &Path) -> Result<Topology, TopologyError> {
    let text = tidemark_files::read_text(path, LONGEST)?;
    let mut topology = read(&text)?;
    let name = path.file_name().map(|name| name.to_string_lossy());
    topology.file = name.map(Into::into);
    Ok(topology)
}

/// Reads its text.
pub(super) fn read(text: &str) -> Result<Topology, TopologyError> {
    let document = parsed(text)?;
    let mut topology = Topology::default();
    let Some(document) = document.as_ref() else {
        return Err(TopologyError::Empty);
    };
    let top = At::top(document);
    let versions = top.entries()?;
    let versions = versions.iter().find(|at| at.key() == "component_versions");
    let versions = versions.map_or_else(Vec::new, At::settings);
    for at in top.entries()? {
        let key = at.key();
        match LISTS.iter().find(|list| list.key == key) {
            Some(list) => {
                for item in at.items()? {
                    instance(&item, list, &versions, &mut topology)?;
                }
            }
            None if key == "server_configs" => {
                for of in at.entries()? {
                    // A component's settings are keys, if there are any.
                    of.entries()?;
                    let component = of.key().to_string();
                    set(&of.settings(), &component, None, &mut topology);
                }
            }
            None if OTHERS.contains(&key) => {}
            None => {
                let known = LISTS.iter().map(|list| list.key).chain(OTHERS);
                let hint = did_you_mean(key, known);
                return Err(at.wrong(format!("TiUP's file has no such key{hint}")));
            }
        }
    }
    match topology.hosts.is_empty() {
        true => Err(TopologyError::Empty),
        false => Ok(topology),
    }
}

fn instance(
    item: &At<'_>,
    list: &List,
    versions: &[Setting],
    topology: &mut Topology,
) -> Result<(), TopologyError> {
    let entries = item.entries()?;
    let of = |key: &str| entries.iter().find(|at| at.key() == key);
    let host = match of("host") {
        Some(host) => host.text()?,
        None => return Err(item.wrong("host is missing, for example host: 10.0.1.1")),
    };
    let port = |(key, default): (&str, Option<u16>)| match of(key) {
        Some(at) => at.port().map(Some),
        None => Ok(default),
    };
    let version = versions.iter().find(|v| v.name == list.kind);
    let component = Component {
        kind: list.kind.into(),
        port: port(list.port)?,
        status_port: port(list.status)?,
        version: version.map(|v| v.value.clone()).unwrap_or_default(),
        in_file: true,
        in_database: false,
    };
    if let Some(config) = of("config") {
        config.entries()?;
        let instance = component.port.map(|port| super::joined(&host, port));
        let instance = instance.unwrap_or_else(|| host.clone());
        set(&config.settings(), list.kind, Some(&instance), topology);
    }
    match topology.hosts.iter_mut().find(|known| known.host == host) {
        Some(known) => known.components.push(component),
        None => topology.hosts.push(ClusterHost {
            host,
            components: vec![component],
            ..ClusterHost::default()
        }),
    }
    Ok(())
}

fn set(settings: &[Setting], component: &str, instance: Option<&str>, topology: &mut Topology) {
    for Setting { name, value } in settings {
        topology.settings.push(ComponentSetting {
            component: component.into(),
            instance: instance.map(Into::into),
            name: name.clone(),
            value: shown(name, value),
            default: default_of(component, name).map(Into::into),
        });
    }
}

/// A value without what nobody may see.
pub(super) fn shown(name: &str, value: &str) -> String {
    let is_secret = |text: &str| {
        let text = text.to_ascii_lowercase();
        SECRETS.iter().any(|word| text.contains(word)) || text.ends_with("-token")
    };
    match !value.is_empty() && (is_secret(name) || is_secret(value) || is_password_name(name)) {
        true => "***".into(),
        false => redact_url(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Built from the documentation, not from a cluster.
    const FILE: &str = "global:
  user: tidb
  deploy_dir: /tidb-deploy
server_configs:
  tidb:
    log.slow-threshold: 500
    token-limit: 2000
  tikv:
    raftstore:
      apply-pool-size: 3
    storage.block-cache.capacity: 16GB
    security.encryption.master-key.path: /k
    backup.hadoop.linux-password: geheim1
  pd:
    replication.location-labels: [zone, host]
component_versions:
  tikv: v8.5.1
pd_servers:
  - host: 10.0.1.1
tidb_servers:
  - host: 10.0.1.1
    port: 4001
    status_port: 10081
    config:
      performance.max-procs: 8
      telemetry.url: http://u:geheim2@h/
tikv_servers:
  - host: 10.0.1.2
  - host: 10.0.1.3
monitoring_servers:
  - host: 10.0.1.4
grafana_servers:
  - host: 10.0.1.4
    password: geheim3
";

    #[test]
    fn a_file_tells_hosts_and_settings_and_no_password() {
        let topology = read(FILE).unwrap();
        let hosts: Vec<(&str, usize)> = topology
            .hosts
            .iter()
            .map(|h| (h.host.as_str(), h.components.len()))
            .collect();
        assert_eq!(
            hosts,
            [
                ("10.0.1.1", 2),
                ("10.0.1.2", 1),
                ("10.0.1.3", 1),
                ("10.0.1.4", 2)
            ]
        );
        let tidb = &topology.hosts[0].components[1];
        assert_eq!(
            (tidb.kind.as_str(), tidb.port, tidb.status_port),
            ("tidb", Some(4001), Some(10081))
        );
        let tikv = &topology.hosts[1].components[0];
        assert_eq!(
            (tikv.version.as_str(), tikv.port, tikv.status_port),
            ("v8.5.1", Some(20160), Some(20180))
        );
        let of = |name: &str| topology.settings.iter().find(|s| s.name == name).unwrap();
        let pool = of("raftstore.apply-pool-size");
        assert_eq!(
            (pool.value.as_str(), pool.default.as_deref()),
            ("3", Some("2"))
        );
        assert_eq!(of("replication.location-labels").value, "[zone, host]");
        assert_eq!(of("token-limit").value, "2000");
        assert_eq!(
            of("performance.max-procs").instance.as_deref(),
            Some("10.0.1.1:4001")
        );
        let all = format!("{topology:?}");
        assert!(!all.contains("geheim") && all.contains("***"), "{all}");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, wanted) in [
            (
                "tikv_servers:\n  - port: 1\n",
                "tikv_servers[0] (line 2): host is missing",
            ),
            (
                "tidb_servers:\n  - host: a\n    port: 70000\n",
                "tidb_servers[0].port (line 3): must be a port from 1 to 65535",
            ),
            (
                "tikv_server:\n  - host: a\n",
                "tikv_server (line 1): TiUP's file has no such key; did you mean tikv_servers?",
            ),
            ("tikv_servers: 5\n", "tikv_servers (line 1): must be a list"),
            (
                "tikv_servers:\n  - a\n",
                "tikv_servers[0] (line 2): must hold keys",
            ),
            (
                "server_configs:\n  tikv: 5\n",
                "server_configs.tikv (line 2): must hold keys",
            ),
            ("pd_servers:\n  - host: [a\n", "line "),
            ("", "no hosts"),
            ("global:\n  user: a\n", "no hosts"),
        ] {
            let said = read(text).unwrap_err().to_string();
            assert!(said.contains(wanted), "{text}: {said}");
        }
    }

    #[test]
    fn a_file_that_nests_without_end_is_refused() {
        let compact = format!("tikv_servers:\n{}a\n", "- ".repeat(200_000));
        let flow = format!("tikv_servers: {}{}\n", "[".repeat(200), "]".repeat(200));
        let keys: String = (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        // Each list holds a copy of the one before.
        let mut copies = "a0: &a0 [x]\n".to_string();
        for n in 1..300 {
            copies += &format!("a{n}: &a{n} [*a{}]\n", n - 1);
        }
        for text in [compact, flow, keys, copies] {
            let said = read(&text).unwrap_err().to_string();
            let (start, _) = text.split_at(40);
            assert!(said.contains("more than 32 levels"), "{start}: {said}");
        }
        let deep: String = (0..30)
            .map(|n| format!("{}a:\n", " ".repeat(n + 3)))
            .collect();
        let text = format!("{FILE}monitored:\n{deep}");
        let said = read(&text).map(drop).map_err(|e| e.to_string());
        assert!(!said.is_err_and(|said| said.contains("levels")));
    }

    #[test]
    fn aliases_that_stand_for_much_are_refused() {
        // Each line is ten times the one before.
        let mut text = String::from("tidb_servers: [{host: h}]\nglobal:\n  a0: &a0 [1, 2, 3]\n");
        for n in 1..8 {
            let copies = vec![format!("*a{}", n - 1); 10].join(", ");
            text += &format!("  a{n}: &a{n} [{copies}]\n");
        }
        let told = read(&text).unwrap_err().to_string();
        assert!(told.contains("aliases"), "{told}");
        // A long text is as much as many values.
        let long = "x".repeat(100_000);
        let copies = vec!["*long"; 200].join(", ");
        let text =
            format!("tidb_servers: [{{host: h}}]\nglobal:\n  a: &long {long}\n  b: [{copies}]\n");
        let told = read(&text).unwrap_err().to_string();
        assert!(told.contains("aliases") && told.len() < 200, "{told}");
        // A few are what they are for.
        let few = "server_configs:\n  tidb: &c {a: 1}\n  tikv: *c\ntidb_servers: [{host: h}]\n";
        assert!(read(few).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z_:\\- \n\\[\\]{}&*\"'0-9.]{0,200}") {
            let _either = read(&text);
        }

        #[test]
        fn no_cut_file_panics(end in 0..FILE.len()) {
            let _either = read(&FILE[..end]);
        }
    }
}
