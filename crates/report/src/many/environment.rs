//! What it was measured with and on: client hosts, targets, settings.

use super::digest::RunDigest;
use super::document::Sources;
use crate::document::{Block, DocumentPart, Grid};
use crate::number::{bytes, whole};
use crate::texts::fill;
use std::collections::BTreeMap;
use tidemark_core::record::HostRole;

/// More of them stand between the reader and the results.
const MOST_SETTINGS: usize = 12;

pub(super) fn part(s: &Sources<'_>) -> DocumentPart {
    let t = s.t;
    let mut blocks = Vec::new();
    for (title, table) in [
        (t.clients, clients(s)),
        (t.targets, targets(s)),
        (t.sources, sources(s)),
    ] {
        if !table.rows.is_empty() {
            blocks.extend([Block::Heading(title.into()), Block::Table(table)]);
        }
    }
    let imported = s.many.runs.iter().any(|r| r.imported.is_some());
    blocks.extend(imported.then(|| Block::Fine(t.sources_say.into())));
    let settings = settings(s);
    let mut about = Vec::new();
    let rows: usize = settings.iter().map(|of| of.values.len()).sum();
    if rows == 0 && measured(s).next().is_some() {
        about.push(Block::Fine(t.no_settings.into()));
    }
    let told = settings.iter().filter(|of| !of.values.is_empty());
    about.extend(told.map(|of| Block::Table(of.grid(s))));
    let changed = settings.iter().any(Settings::changed);
    about.extend(changed.then(|| Block::Fine(t.several_values.into())));
    if rows > MOST_SETTINGS {
        let values = [("text", t.settings), ("aside", &*whole(rows as u64))];
        blocks.push(Block::Fold(fill(t.parenthesised, &values), about));
    } else if !about.is_empty() {
        blocks.push(Block::Heading(t.settings.into()));
        blocks.extend(about);
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

/// The servers of one engine, with what each was set to.
#[derive(Default)]
struct Settings {
    servers: Vec<String>,
    /// By setting and server.
    defaults: BTreeMap<(String, usize), String>,
    values: BTreeMap<String, BTreeMap<usize, Vec<String>>>,
}

impl Settings {
    fn add(&mut self, server: String, run: &RunDigest) {
        let known = self.servers.iter().position(|known| *known == server);
        let at = known.unwrap_or_else(|| {
            self.servers.push(server);
            self.servers.len() - 1
        });
        for setting in &run.settings {
            let of = self.values.entry(setting.name.clone()).or_default();
            let of = of.entry(at).or_default();
            if !of.contains(&setting.value) {
                of.push(setting.value.clone());
            }
            if let Some(default) = &setting.default {
                let of = (setting.name.clone(), at);
                self.defaults.insert(of, default.clone());
            }
        }
    }

    /// Whether a server had several values of one.
    fn changed(&self) -> bool {
        let mut all = self.values.values().flat_map(BTreeMap::values);
        all.any(|values| values.len() > 1)
    }

    /// A column for each server.
    fn grid(&self, s: &Sources<'_>) -> Grid {
        let mut grid = Grid::new(std::iter::once((s.t.setting.to_string(), false)));
        for server in &self.servers {
            grid.head.extend([server.clone(), s.t.default_value.into()]);
            grid.numbers.extend([false, false]);
        }
        for (name, of) in &self.values {
            let mut row = vec![name.clone()];
            for at in 0..self.servers.len() {
                row.push(match of.get(&at).map(Vec::as_slice).unwrap_or_default() {
                    [] => "–".into(),
                    values => values.join(" | "),
                });
                let default = self.defaults.get(&(name.clone(), at));
                row.push(default.cloned().unwrap_or("–".into()));
            }
            grid.rows.push(row);
        }
        grid.without_empty_columns()
    }
}

/// Of each engine, for engines have few settings in common.
fn settings(s: &Sources<'_>) -> Vec<Settings> {
    let mut engines: Vec<(String, Settings)> = Vec::new();
    for run in &s.many.runs {
        let (Some(name), Some(server)) = (run.server_name(), &run.server) else {
            continue;
        };
        let engine = server.engine.to_string();
        let at = match engines.iter().position(|(known, _)| *known == engine) {
            Some(at) => at,
            None => {
                engines.push((engine, Settings::default()));
                engines.len() - 1
            }
        };
        engines[at].1.add(name, run);
    }
    engines.into_iter().map(|(_, settings)| settings).collect()
}
