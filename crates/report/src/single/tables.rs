//! The tables of a run's document.

use crate::TypeLatency;
use crate::document::{Block, DocumentPart, Grid, Width};
use crate::number::{percent, three, whole};
use crate::settings::{is_telling, readable};
use crate::texts::fill;
use crate::words::{Words, rows_differ};
use tidemark_analysis::telling_settings;
use tidemark_core::Source;
use tidemark_core::record::{EffectiveOption, Setting};

fn none() -> String {
    "–".into()
}

/// Where there are several transaction types.
pub(super) fn types(w: &Words<'_>) -> Option<DocumentPart> {
    let (d, t) = (w.d, w.t);
    if d.types.len() < 2 {
        return None;
    }
    let figures = [
        t.count,
        t.share,
        t.per_second,
        t.mean_ms,
        t.p50_ms,
        t.p95_ms,
        t.p99_ms,
        t.max_ms,
    ];
    let all: (&str, &TypeLatency) = (t.total, &d.all);
    let types = d.types.iter().map(|(name, latency)| (*name, latency));
    let row = |(name, latency): (&str, &TypeLatency)| {
        let ms = |p| latency.percentile_ms(p).map_or_else(none, three);
        let mean = latency.mean_ms().map(three);
        vec![
            name.into(),
            whole(latency.count),
            percent(latency.count as f64, d.all.count as f64),
            three(d.per_second(latency.count)),
            mean.unwrap_or_else(none),
            ms(50.0),
            ms(95.0),
            ms(99.0),
            ms(100.0),
        ]
    };
    let grid = Grid {
        rows: types.chain([all]).map(row).collect(),
        totals: true,
        ..Grid::of(&[t.transaction_type], &figures)
    };
    Some(DocumentPart::new(t.types, vec![Block::Table(grid)]))
}

/// Statements by kind, and how evenly the sessions had them.
pub(super) fn statements(w: &Words<'_>) -> DocumentPart {
    let (d, t) = (w.d, w.t);
    let s = &d.totals.statements;
    let kinds = [
        (t.reads, s.read),
        (t.writes, s.write),
        (t.others, s.other),
        (t.noop_writes, s.noop_writes),
        (t.total, s.total()),
    ];
    let row = |(name, count): (&str, u64)| {
        let rate = three(d.per_second(count));
        vec![name.into(), whole(count), rate]
    };
    let grid = Grid {
        rows: kinds.map(row).to_vec(),
        totals: true,
        ..Grid::of(&[""], &[t.count, t.per_second])
    };
    let fairness = (d.totals.fairness.events_avg > 0.0).then(|| Block::Fine(w.fairness()));
    let blocks = std::iter::once(Block::Table(grid)).chain(fairness);
    DocumentPart::new(t.statements, blocks.collect())
}

pub(super) fn errors(w: &Words<'_>) -> Option<DocumentPart> {
    let (errors, t) = (&w.d.record.errors, w.t);
    let heads = [
        (t.error_code, false),
        (t.error_class, false),
        (t.count, true),
        (t.first_message, false),
    ];
    let rows = errors.iter().map(|e| {
        let class = w.error_class(e.class).into();
        vec![
            e.code.clone(),
            class,
            whole(e.count),
            e.first_message.clone(),
        ]
    });
    let grid = Grid {
        rows: rows.collect(),
        code: 1,
        ..Grid::new(heads.map(|(head, number)| (head.to_string(), number)))
    };
    (!errors.is_empty()).then(|| DocumentPart::new(t.errors, vec![Block::Table(grid)]))
}

/// Settings of the server: those that are not its defaults before those that matter always; a page says
/// that there are none.
pub(super) fn settings(w: &Words<'_>, page: bool) -> Option<DocumentPart> {
    let t = w.t;
    let told = telling_settings(w.d.record).filter(|s| is_telling(&s.name));
    let (at_default, set): (Vec<&Setting>, Vec<&Setting>) =
        told.partition(|s| s.default.as_ref() == Some(&s.value));
    let row = |s: &&Setting| {
        let default = s.default.as_ref().map(|default| readable(&s.name, default));
        let value = readable(&s.name, &s.value);
        vec![s.name.clone(), value, default.unwrap_or_else(none)]
    };
    let grid = Grid {
        rows: set.iter().map(row).collect(),
        code: 3,
        ..Grid::of(&[t.setting, t.value, t.default_value], &[])
    };
    let mut blocks = Vec::new();
    if !set.is_empty() || at_default.is_empty() {
        blocks.push(table_or(grid, t.no_settings, page)?);
    }
    if !at_default.is_empty() {
        let count = whole(at_default.len() as u64);
        let row = |s: &&Setting| vec![s.name.clone(), readable(&s.name, &s.value)];
        let grid = Grid {
            rows: at_default.iter().map(row).collect(),
            code: 2,
            ..Grid::of(&[t.setting, t.value], &[])
        };
        let title = fill(t.settings_default, &[("count", &count)]);
        blocks.push(Block::Fold(title, vec![Block::Table(grid)]));
    }
    Some(DocumentPart::new(t.settings, blocks).width(Width::Half))
}

/// Options that were given; a page has those that were not, too.
pub(super) fn options(w: &Words<'_>, page: bool) -> Option<DocumentPart> {
    let t = w.t;
    let options = w.d.record.options.iter();
    let (default, given): (Vec<_>, Vec<_>) =
        options.partition(|(_, o)| o.source == Source::Default);
    let row = |(name, o): &(&String, &EffectiveOption)| {
        vec![(*name).clone(), o.value.clone(), w.source(o.source).into()]
    };
    let grid = Grid {
        rows: given.iter().map(row).collect(),
        code: 2,
        ..Grid::of(&[t.option, t.value, t.source], &[])
    };
    let mut blocks = vec![table_or(grid, t.options_none, page)?];
    if page && !default.is_empty() {
        let count = whole(default.len() as u64);
        let rows = default.into_iter();
        let grid = Grid {
            rows: rows
                .map(|(name, o)| vec![name.clone(), o.value.clone()])
                .collect(),
            code: 2,
            ..Grid::of(&[t.option, t.value], &[])
        };
        let title = fill(t.options_default, &[("count", &count)]);
        blocks.push(Block::Fold(title, vec![Block::Table(grid)]));
    }
    Some(DocumentPart::new(t.options, blocks).width(Width::Half))
}

fn table_or(grid: Grid, without: &str, page: bool) -> Option<Block> {
    match grid.rows.is_empty() {
        false => Some(Block::Table(grid)),
        true => page.then(|| Block::Fine(without.into())),
    }
}

/// What the tables held before and after.
pub(super) fn tables(w: &Words<'_>) -> Option<DocumentPart> {
    let (record, t) = (w.d.record, w.t);
    let states = || record.tables_before.iter().chain(&record.tables_after);
    let mut names: Vec<&str> = Vec::new();
    for state in states() {
        if !names.contains(&state.table.as_str()) {
            names.push(&state.table);
        }
    }
    let row = |name: &&str| {
        let before = record.tables_before.iter().find(|s| s.table == *name);
        let after = record.tables_after.iter().find(|s| s.table == *name);
        let expected = after.or(before).and_then(|s| s.expected_rows);
        let differs = after.is_some_and(rows_differ);
        let rows = after.map(|s| match differs {
            true => format!("{} ≠ {}", whole(s.rows), t.rows_differ),
            false => whole(s.rows),
        });
        let keys = after.and_then(|s| s.min_key.zip(s.max_key));
        vec![
            name.to_string(),
            before.map_or_else(none, |s| whole(s.rows)),
            rows.unwrap_or_else(none),
            expected.map_or_else(none, whole),
            keys.map_or_else(none, |(min, max)| format!("{min} … {max}")),
        ]
    };
    let heads = [t.rows_before, t.rows_after, t.rows_expected, t.key_range];
    let grid = Grid {
        rows: names.iter().map(row).collect(),
        code: 1,
        ..Grid::of(&[t.table], &heads)
    };
    (!names.is_empty()).then(|| DocumentPart::new(t.tables, vec![Block::Table(grid)]))
}

/// Only what is wrong; the sentences above say when all is well.
pub(super) fn wrong_tables(w: &Words<'_>) -> Option<DocumentPart> {
    let t = w.t;
    let after = w.d.record.tables_after.iter();
    let wrong = after.filter(|table| rows_differ(table)).map(|table| {
        let values = [
            ("rows", &*whole(table.rows)),
            ("expected", &*table.expected_rows.map_or_else(none, whole)),
        ];
        format!("{}: {}", table.table, fill(t.rows_otherwise, &values))
    });
    super::part_of(t.tables, wrong.collect(), Block::List)
}
