//! The hosts of the target's cluster: a drawing, a table, and what its file sets.

use crate::charts::{HostBox, HostsDrawing};
use crate::document::{Block, DocumentPart, Grid, Role};
use crate::number::bytes;
use crate::texts::{Lang, fill, topology};
use tidemark_core::record::{ClusterDisk, ClusterHost, Component, ComponentSetting, Topology};

/// So many hosts are drawn and listed; the record has all.
const MOST_HOSTS: usize = 64;
/// Components by the names that their makers give them; of others the kind says what they are.
const PRODUCTS: &[(&str, &str)] = &[
    ("pd", "PD"),
    ("tidb", "TiDB"),
    ("tikv", "TiKV"),
    ("tiflash", "TiFlash"),
    ("tiproxy", "TiProxy"),
    ("ticdc", "TiCDC"),
    ("tidb-dashboard", "TiDB Dashboard"),
    ("prometheus", "Prometheus"),
    ("grafana", "Grafana"),
    ("alertmanager", "Alertmanager"),
    ("cockroach", "CockroachDB"),
    ("yugabyte", "YugabyteDB"),
];

/// What there is to tell of the target's cluster; the drawing is for pages.
pub(crate) fn part(topology: &Topology, lang: Lang, page: bool) -> DocumentPart {
    let t = topology::of(lang);
    let mut blocks = vec![Block::Say(fill(
        t.says,
        &[("sources", &sources(topology, t))],
    ))];
    if page {
        let boxes = topology.hosts.iter().take(MOST_HOSTS);
        let drawing = HostsDrawing {
            title: t.hosts.into(),
            says: t.drawing_says.into(),
            boxes: boxes.map(|host| host_box(host, topology, t)).collect(),
            head: [t.host, t.component, t.port, t.status_port, t.version]
                .map(Into::into)
                .into(),
            rows: topology.hosts.iter().flat_map(components).collect(),
        };
        blocks.push(Block::Figures(vec![drawing.figure()]));
    }
    blocks.push(Block::Table(Grid {
        code: 1,
        ..hosts(topology, t)
    }));
    if topology.hosts.len() > MOST_HOSTS {
        let others = (topology.hosts.len() - MOST_HOSTS).to_string();
        blocks.push(Block::Fine(fill(t.more, &[("n", &others)])));
    }
    if !topology.settings.is_empty() {
        let grid = Grid {
            rows: topology.settings.iter().map(|s| setting(s, t)).collect(),
            code: 2,
            ..Grid::of(&[t.component, t.setting, t.value, t.default], &[])
        };
        blocks.push(Block::Heading(t.settings.into()));
        blocks.push(Block::Table(grid.without_empty_columns()));
        blocks.push(Block::Fine(t.settings_say.into()));
    }
    DocumentPart::new(t.title, blocks).role(Role::Environment)
}

/// Where it is from.
fn sources(topology: &Topology, t: &topology::Texts) -> String {
    let by = match (&topology.file, topology.listed) {
        (Some(_), true) => t.by_both,
        (Some(_), false) => t.by_file,
        (None, _) => t.by_database,
    };
    fill(
        by,
        &[("file", topology.file.as_deref().unwrap_or_default())],
    )
}

/// A row for each of a host's components.
fn components(host: &ClusterHost) -> Vec<Vec<String>> {
    let port = |port: Option<u16>| port.map(|port| port.to_string()).unwrap_or_default();
    let row = |of: &Component| {
        vec![
            host.host.clone(),
            product(&of.kind).into(),
            port(of.port),
            port(of.status_port),
            of.version.clone(),
        ]
    };
    host.components.iter().map(row).collect()
}

fn hosts(topology: &Topology, t: &topology::Texts) -> Grid {
    let row = |host: &ClusterHost| {
        let components = host.components.iter().map(|of| {
            let said = component(of);
            match doubted(of, topology, t) {
                Some(words) => fill(words, &[("component", &said)]),
                None => said,
            }
        });
        vec![
            host.host.clone(),
            components.collect::<Vec<_>>().join(t.between),
            host.cpus.map(|n| n.to_string()).unwrap_or_default(),
            host.memory_bytes.map(bytes).unwrap_or_default(),
            disks(host, t),
        ]
    };
    let rows = topology.hosts.iter().take(MOST_HOSTS).map(row).collect();
    let grid = Grid {
        rows,
        ..Grid::of(&[t.host, t.components, t.cpus, t.memory, t.disks], &[])
    };
    grid.without_empty_columns()
}

/// What is said of a component that only one of file and database has.
fn doubted(of: &Component, topology: &Topology, t: &topology::Texts) -> Option<&'static str> {
    // A database lists only what takes part in storing and asking.
    const LISTED: [&str; 4] = ["tidb", "tikv", "pd", "tiflash"];
    let has_both = topology.file.is_some() && topology.listed;
    match (of.in_file, of.in_database) {
        (true, false) if has_both && LISTED.contains(&of.kind.as_str()) => Some(t.not_listed),
        (false, true) if has_both => Some(t.not_in_file),
        _ => None,
    }
}

/// What people call a kind of component.
fn product(kind: &str) -> &str {
    let known = PRODUCTS.iter().find(|(known, _)| *known == kind);
    known.map_or(kind, |(_, product)| product)
}

/// `TiKV:20160 v8.5.3`.
fn component(of: &Component) -> String {
    let port = of.port.map(|port| format!(":{port}")).unwrap_or_default();
    let version = match of.version.as_str() {
        "" => String::new(),
        version => format!(" {version}"),
    };
    format!("{}{port}{version}", product(&of.kind))
}

fn disks(host: &ClusterHost, t: &topology::Texts) -> String {
    let disk = |disk: &ClusterDisk| match disk.size_bytes {
        Some(size) => format!("{} {}", disk.device, bytes(size)),
        None => disk.device.clone(),
    };
    let all: Vec<String> = host.disks.iter().map(disk).collect();
    all.join(t.between)
}

fn host_box(host: &ClusterHost, topology: &Topology, t: &topology::Texts) -> HostBox {
    let cpus = host.cpus.map(|n| format!("{n} CPU"));
    let machine: Vec<String> = cpus
        .into_iter()
        .chain(host.memory_bytes.map(bytes))
        .collect();
    let components = host.components.iter();
    HostBox {
        name: host.host.clone(),
        machine: machine.join(t.between),
        components: components
            .map(|of| (component(of), doubted(of, topology, t).is_some()))
            .collect(),
    }
}

fn setting(of: &ComponentSetting, t: &topology::Texts) -> Vec<String> {
    let product = product(&of.component);
    let component = match &of.instance {
        Some(instance) => format!("{product} {instance}"),
        None => fill(t.all, &[("component", product)]),
    };
    vec![
        component,
        of.name.clone(),
        of.value.clone(),
        of.default.clone().unwrap_or_else(|| "–".into()),
    ]
}
