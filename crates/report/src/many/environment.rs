//! What it was measured with and on: client hosts, targets, settings.

use super::block::{Block, Grid, Part};
use super::digest::RunDigest;
use super::document::Sources;
use crate::number::{bytes, whole};
use crate::texts::fill;
use std::collections::BTreeMap;
use tidemark_core::record::HostRole;

/// More of them stand between the reader and the results.
const MOST_SETTINGS: usize = 12;

pub(super) fn part(s: &Sources<'_>) -> Part {
    let t = s.t;
    let mut blocks = vec![
        Block::Heading(t.clients.into()),
        Block::Table(clients(s)),
        Block::Heading(t.targets.into()),
        Block::Table(targets(s)),
    ];
    let (settings, changed) = settings(s);
    let mut about = Vec::new();
    let rows = settings.rows.len();
    match rows {
        0 => about.push(Block::Fine(t.no_settings.into())),
        _ => about.push(Block::Table(settings)),
    }
    about.extend(changed.then(|| Block::Fine(t.several_values.into())));
    if rows > MOST_SETTINGS {
        let values = [("text", t.settings), ("aside", &*whole(rows as u64))];
        blocks.push(Block::Fold(fill(t.parenthesised, &values), about));
    } else {
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
    Part::new(t.environment, blocks)
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
    for run in &s.many.runs {
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
    for run in &s.many.runs {
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

/// A column for each server; and whether a server had several values of one.
fn settings(s: &Sources<'_>) -> (Grid, bool) {
    let mut servers: Vec<String> = Vec::new();
    let mut defaults: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut values: BTreeMap<String, BTreeMap<usize, Vec<String>>> = BTreeMap::new();
    for run in &s.many.runs {
        let Some(server) = run.server_name() else {
            continue;
        };
        let at = match servers.iter().position(|known| *known == server) {
            Some(at) => at,
            None => {
                servers.push(server.clone());
                servers.len() - 1
            }
        };
        for setting in &run.settings {
            let of = values.entry(setting.name.clone()).or_default();
            let of = of.entry(at).or_default();
            if !of.contains(&setting.value) {
                of.push(setting.value.clone());
            }
            if let Some(default) = &setting.default {
                defaults.insert((setting.name.clone(), server.clone()), default.clone());
            }
        }
    }
    let mut grid = Grid::new(std::iter::once((s.t.setting.to_string(), false)));
    for server in &servers {
        grid.head.extend([server.clone(), s.t.default_value.into()]);
        grid.numbers.extend([false, false]);
    }
    let mut changed = false;
    for (name, of) in values {
        let mut row = vec![name.clone()];
        for (at, server) in servers.iter().enumerate() {
            let values = of.get(&at).map(Vec::as_slice).unwrap_or_default();
            changed |= values.len() > 1;
            row.push(match values {
                [] => "–".into(),
                values => values.join(" | "),
            });
            let default = defaults.get(&(name.clone(), server.clone()));
            row.push(default.cloned().unwrap_or("–".into()));
        }
        grid.rows.push(row);
    }
    (grid.without_empty_columns(), changed)
}
