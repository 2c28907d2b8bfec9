//! What it was measured with and on: client hosts, targets, settings.

use super::digest::RunDigest;
use super::document::Sources;
use crate::document::{Block, DocumentPart, Grid};
use crate::number::{bytes, whole};
use crate::settings::{is_telling, readable};
use crate::texts::fill;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_core::ReportPlace;
use tidemark_core::job::MACHINE;
use tidemark_core::record::HostRole;

/// More of them stand between the reader and the results.
const MOST_SETTINGS: usize = 12;

pub(super) fn part(s: &Sources<'_>) -> DocumentPart {
    let t = s.t;
    let mut blocks = Vec::new();
    for (title, table) in [
        (t.clients, clients(s)),
        (crate::texts::machine::of(s.lang).title, machines(s)),
        (t.targets, targets(s)),
        (t.sources, sources(s)),
        (s.common.not_understood, not_understood(s)),
    ] {
        if !table.rows.is_empty() {
            blocks.extend([Block::Heading(title.into()), Block::Table(table)]);
        }
    }
    blocks.extend(server_hardware(s).map(Block::Fine));
    let imported = s.many.runs.iter().any(|r| r.imported.is_some());
    blocks.extend(imported.then(|| Block::Fine(t.sources_say.into())));
    let settings = settings(s);
    // What differs is what the reader asks after; the others are there to be looked up, and of those what
    // the engine would do by itself last.
    let tables = |kind: Kind| -> (Vec<Block>, usize) {
        let tables = settings.iter().filter_map(|of| of.grid(s, kind)).collect();
        (tables, settings.iter().map(|of| of.count(kind)).sum())
    };
    let (differing, differ) = tables(Kind::Differs);
    if !differing.is_empty() {
        blocks.push(Block::Heading(t.settings_differ.into()));
        blocks.extend(differing);
        let changed = settings.iter().any(ServerSettings::changed);
        blocks.extend(changed.then(|| Block::Fine(t.several_values.into())));
    }
    let folded = |title: &str, count: usize, tables: Vec<Block>| {
        let values = [("text", title), ("aside", &*whole(count as u64))];
        Block::Fold(fill(t.parenthesised, &values), tables)
    };
    let (mut set, rows) = tables(Kind::Set);
    let (at_default, defaults) = tables(Kind::Default);
    if differ + rows + defaults == 0 && measured(s).next().is_some() {
        set.push(Block::Fine(t.no_settings.into()));
    }
    if rows > MOST_SETTINGS {
        blocks.push(folded(t.settings, rows, set));
    } else if !set.is_empty() {
        blocks.push(Block::Heading(t.settings.into()));
        blocks.extend(set);
    }
    if !at_default.is_empty() {
        blocks.push(folded(t.settings_default, defaults, at_default));
    }
    let left_out: BTreeSet<&str> = measured(s)
        .flat_map(|run| &run.settings)
        .map(|setting| setting.name.as_str())
        .filter(|name| !is_telling(name))
        .collect();
    if !left_out.is_empty() {
        let count = whole(left_out.len() as u64);
        blocks.push(Block::Fine(fill(
            t.settings_left_out,
            &[("count", &*count)],
        )));
    }
    let mut notes: Vec<String> = Vec::new();
    for note in s.many.runs.iter().flat_map(|r| &r.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    if !notes.is_empty() {
        blocks.push(Block::Heading(t.unread.into()));
        blocks.push(Block::List(notes));
    }
    DocumentPart::new(t.environment, blocks)
}

/// Runs that Tidemark measured; of others it knows neither hosts nor settings.
fn measured<'m>(s: &Sources<'m>) -> impl Iterator<Item = &'m RunDigest> + use<'m> {
    s.many.runs.iter().filter(|r| r.imported.is_none())
}

/// What is known of the machines that the servers ran on.
fn server_hardware(s: &Sources<'_>) -> Option<String> {
    let t = s.t;
    measured(s).next()?;
    if measured(s).all(|run| is_local(&run.target)) {
        return Some(t.server_here.into());
    }
    let mut sections = s.many.authored.sections.iter();
    let told = sections.any(|section| section.place == ReportPlace::Machines);
    (!told).then(|| fill(t.server_elsewhere, &[("place", "{place=machines}")]))
}

/// Whether a target is on the client's own host: a file, a Unix socket, or a loopback address.
fn is_local(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.starts_with("sqlite:") || url == MACHINE;
    };
    if scheme == "sqlite" {
        return true;
    }
    let (place, words) = rest.split_once('?').unwrap_or((rest, ""));
    let place = place.split('/').next().unwrap_or_default();
    let hosts = place.rsplit_once('@').map_or(place, |(_, hosts)| hosts);
    let socket = ["socket=/", "host=/", "host=%2F"];
    let of = |host: &str| {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        let empty = name.is_empty() && socket.iter().any(|word| words.contains(word));
        empty || name == "localhost" || name == "::1" || name.starts_with("127.")
    };
    hosts.split(',').all(of)
}

/// Documents that runs were imported from.
fn sources(s: &Sources<'_>) -> Grid {
    let t = s.t;
    let mut grid = Grid::new([
        (t.file.to_string(), false),
        (t.tool.into(), false),
        (s.common.version.into(), false),
        (t.runs_of.into(), true),
    ]);
    let mut counts = Vec::new();
    for source in s.many.runs.iter().filter_map(|r| r.imported.as_ref()) {
        let version = source.tool_version.clone().unwrap_or("–".into());
        count(
            &mut counts,
            vec![source.file.clone(), source.tool.clone(), version],
        );
    }
    grid.rows = counted(counts);
    grid.without_empty_columns()
}

/// More of them stand between the reader and the results.
const MOST_LEFT: usize = 50;

/// What stands in the documents and was not understood.
fn not_understood(s: &Sources<'_>) -> Grid {
    let (t, c) = (s.t, s.common);
    let mut grid = Grid::new([
        (t.file.to_string(), false),
        (c.lines.into(), false),
        (c.first_line_says.into(), false),
    ]);
    for source in s.many.runs.iter().filter_map(|r| r.imported.as_ref()) {
        for left in &source.not_understood {
            let lines = match left.first == left.last {
                true => left.first.to_string(),
                false => format!("{}–{}", left.first, left.last),
            };
            let row = vec![source.file.clone(), lines, left.text.clone()];
            if !grid.rows.contains(&row) && grid.rows.len() < MOST_LEFT {
                grid.rows.push(row);
            }
        }
    }
    grid
}

fn clients(s: &Sources<'_>) -> Grid {
    let c = s.common;
    let mut grid = Grid::new([
        (c.host.to_string(), false),
        (c.os.into(), false),
        (c.kernel.into(), false),
        (c.cpu.into(), false),
        (c.cores.into(), true),
        (c.memory.into(), true),
        (s.t.runs_of.into(), true),
    ]);
    let mut counts: Vec<(Vec<String>, u64)> = Vec::new();
    for run in measured(s) {
        let h = &run.client;
        let row = vec![
            h.hostname.clone(),
            h.os.clone(),
            h.kernel.clone(),
            h.cpu_model.clone(),
            whole(h.cores as u64),
            bytes(h.memory_bytes),
        ];
        count(&mut counts, row);
    }
    grid.rows = counted(counts);
    grid
}

/// What tests of the client hosts showed.
fn machines(s: &Sources<'_>) -> Grid {
    let c = s.common;
    let mut grid = Grid::new([
        (c.host.to_string(), false),
        (c.machine_cpu.into(), false),
        (c.machine_memory.into(), false),
        (c.machine_fsync.into(), false),
        (s.t.runs_of.into(), true),
    ]);
    let mut counts = Vec::new();
    for run in measured(s) {
        let Some(figures) = &run.machine else {
            continue;
        };
        let facts = crate::machine::facts(figures, c).map(|(_, said)| said);
        let row = [vec![run.client.hostname.clone()], facts.to_vec()].concat();
        count(&mut counts, row);
    }
    grid.rows = counted(counts);
    grid
}

fn targets(s: &Sources<'_>) -> Grid {
    let (t, c) = (s.t, s.common);
    let mut grid = Grid::new([
        (c.engine.to_string(), false),
        (c.version.into(), false),
        (t.target_url.into(), false),
        (t.hosts.into(), false),
        (t.runs_of.into(), true),
    ]);
    let mut counts = Vec::new();
    for run in measured(s) {
        let (engine, version) = match &run.server {
            Some(server) => (server.engine.to_string(), server.version.clone()),
            None if run.target == MACHINE => (c.this_machine.into(), "–".into()),
            None => (c.unknown_server.into(), "–".into()),
        };
        count(
            &mut counts,
            vec![engine, version, run.target.clone(), hosts(s, run)],
        );
    }
    grid.rows = counted(counts);
    grid.without_empty_columns()
}

/// The hosts that sessions went to, with what each is for; a run's own number of sessions varies.
fn hosts(s: &Sources<'_>, run: &RunDigest) -> String {
    let role = |role| match role {
        HostRole::Any => s.common.role_any,
        HostRole::Read => s.common.role_read,
    };
    let hosts = run.hosts.iter().map(|h| {
        let values = [("text", h.host.as_str()), ("aside", role(h.role))];
        fill(s.t.parenthesised, &values)
    });
    let hosts: Vec<String> = hosts.collect();
    match hosts.as_slice() {
        [] => "–".into(),
        hosts => hosts.join(s.common.comma),
    }
}

fn count(counts: &mut Vec<(Vec<String>, u64)>, row: Vec<String>) {
    match counts.iter_mut().find(|(known, _)| *known == row) {
        Some((_, n)) => *n += 1,
        None => counts.push((row, 1)),
    }
}

fn counted(counts: Vec<(Vec<String>, u64)>) -> Vec<Vec<String>> {
    let rows = counts.into_iter().map(|(mut row, n)| {
        row.push(whole(n));
        row
    });
    rows.collect()
}

/// What there is to say of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The servers have not all the same value, or one has several.
    Differs,
    /// All have the same, and it is not the default of all, or that is not known.
    Set,
    /// All have the engine's default.
    Default,
}

/// The servers of one engine, with what each was set to.
#[derive(Default)]
struct ServerSettings {
    servers: Vec<String>,
    /// By setting and server.
    defaults: BTreeMap<(String, usize), String>,
    values: BTreeMap<String, BTreeMap<usize, Vec<String>>>,
}

impl ServerSettings {
    fn add(&mut self, server: String, run: &RunDigest) {
        let known = self.servers.iter().position(|known| *known == server);
        let at = known.unwrap_or_else(|| {
            self.servers.push(server);
            self.servers.len() - 1
        });
        let told = run.settings.iter().filter(|s| is_telling(&s.name));
        for setting in told {
            let of = self.values.entry(setting.name.clone()).or_default();
            let of = of.entry(at).or_default();
            let value = readable(&setting.name, &setting.value);
            if !of.contains(&value) {
                of.push(value);
            }
            if let Some(default) = &setting.default {
                let of = (setting.name.clone(), at);
                self.defaults.insert(of, readable(&setting.name, default));
            }
        }
    }

    /// Whether a server had several values of one.
    fn changed(&self) -> bool {
        let mut all = self.values.values().flat_map(BTreeMap::values);
        all.any(|values| values.len() > 1)
    }

    fn kind(&self, name: &str, of: &BTreeMap<usize, Vec<String>>) -> Kind {
        let all: BTreeSet<&String> = of.values().flatten().collect();
        if all.len() > 1 || of.len() < self.servers.len() {
            return Kind::Differs;
        }
        let is_default = |(at, values): (&usize, &Vec<String>)| {
            let default = self.defaults.get(&(name.to_string(), *at));
            default.is_some_and(|default| values.iter().all(|value| value == default))
        };
        match of.iter().all(is_default) {
            true => Kind::Default,
            false => Kind::Set,
        }
    }

    fn of_kind(
        &self,
        kind: Kind,
    ) -> impl Iterator<Item = (&String, &BTreeMap<usize, Vec<String>>)> {
        let all = self.values.iter();
        all.filter(move |(name, of)| self.kind(name, of) == kind)
    }

    /// How many settings are of that kind.
    fn count(&self, kind: Kind) -> usize {
        self.of_kind(kind).count()
    }

    /// A column for each server. `None` without any setting of that kind.
    fn grid(&self, s: &Sources<'_>, kind: Kind) -> Option<Block> {
        let mut grid = Grid::new(std::iter::once((s.t.setting.to_string(), false)));
        // Where every value is the default, a column says it.
        let has_defaults = kind != Kind::Default;
        for server in &self.servers {
            grid.head.push(server.clone());
            grid.head
                .extend(has_defaults.then(|| s.t.default_value.into()));
        }
        grid.numbers = vec![false; grid.head.len()];
        for (name, of) in self.of_kind(kind) {
            let mut row = vec![name.clone()];
            for at in 0..self.servers.len() {
                row.push(match of.get(&at).map(Vec::as_slice).unwrap_or_default() {
                    [] => "–".into(),
                    values => values.join(" | "),
                });
                let default = self.defaults.get(&(name.clone(), at));
                row.extend(has_defaults.then(|| default.cloned().unwrap_or("–".into())));
            }
            grid.rows.push(row);
        }
        let grid = grid.without_empty_columns();
        (!grid.rows.is_empty()).then_some(Block::Table(grid))
    }
}

/// Of each engine, for engines have few settings in common.
fn settings(s: &Sources<'_>) -> Vec<ServerSettings> {
    let mut engines: Vec<(String, ServerSettings)> = Vec::new();
    for run in &s.many.runs {
        let (Some(name), Some(server)) = (run.server_name(), &run.server) else {
            continue;
        };
        let engine = server.engine.to_string();
        let at = match engines.iter().position(|(known, _)| *known == engine) {
            Some(at) => at,
            None => {
                engines.push((engine, ServerSettings::default()));
                engines.len() - 1
            }
        };
        engines[at].1.add(name, run);
    }
    engines.into_iter().map(|(_, settings)| settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_the_same_host_is_seen_by_its_address() {
        for url in [
            "sqlite:a.db",
            "sqlite:///tmp/a.db",
            "mysql://u:***@127.0.0.1:3306/db",
            "postgres://u@[::1]:5432/db",
            "mysql://u@localhost/db",
            "postgres:///db?host=/run/postgresql",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in ["mysql://u@10.0.3.12:3306/db", "postgres://127.0.0.1,db2/x"] {
            assert!(!is_local(url), "{url}");
        }
    }
}
