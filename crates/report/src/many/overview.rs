//! One table over all workloads and loads, as published reports have it.

use super::cell::{Cell, Repeated};
use super::document::Sources;
use super::marks::marked;
use super::matrix::Point;
use super::summary::{factor_name, series_label};
use super::workload::{Measured, findings};
use crate::document::{Block, DocumentPart, Grid};
use crate::number::three;

/// `None` where one row would be all. What asks queries has a table of its own.
pub(super) fn part(s: &Sources<'_>) -> Option<DocumentPart> {
    let t = s.t;
    let number = |name: &str| (name.to_string(), true);
    let text = |name: &str| (name.to_string(), false);
    let mut grid = Grid::new([
        text(s.common.workload),
        text(t.series),
        number(&load_name(s)),
        number(t.throughput),
        number(t.statement_rate),
        number(t.mean),
        number(t.p95),
        number(t.p99),
        number(s.common.max_ms),
        number(t.error_rate),
        number(t.client_cpu_percent),
        number(t.tpmc),
        number(t.efficiency_percent),
        text(t.finding),
    ]);
    for (workload, cells) in s.workloads() {
        let m = Measured { s, workload, cells };
        if m.asks_queries() {
            continue;
        }
        for (series, point, cell) in m.points() {
            let mut row = vec![workload.name.clone(), series_label(t, workload, series)];
            row.push(load(&m, point));
            row.extend(figures(cell).into_iter().map(|figure| match figure {
                Some(figure) => marked(t, cell, figure),
                None => "–".into(),
            }));
            row.push(findings(s, cell, point));
            grid.rows.push(row);
        }
    }
    grid.sortable = true;
    let grid = grid.without_empty_columns();
    (grid.rows.len() > 1).then(|| DocumentPart::new(t.overview, vec![Block::Table(grid)]))
}

/// The heading of the loads: what all workloads vary, or the word for any load.
fn load_name(s: &Sources<'_>) -> String {
    let axes = s.workloads().filter_map(|(w, _)| w.axis.as_ref());
    let mut names: Vec<&str> = axes.map(|axis| factor_name(s.t, &axis.name)).collect();
    names.dedup();
    match names.as_slice() {
        [] => s.t.threads.into(),
        [one] => (*one).into(),
        _ => s.t.load.into(),
    }
}

/// A point's load; where none varies, its users.
fn load(m: &Measured<'_, '_>, point: &Point<'_>) -> String {
    if let Some((_, text)) = &point.load {
        return text.clone();
    }
    let users = point.figured().first().map_or(0, |run| run.users());
    match users {
        // Of one workload alone, any other load is named.
        n if n > 0 && m.workload.axis.is_none() => n.to_string(),
        _ => "–".into(),
    }
}

/// In the order of the columns.
fn figures(cell: &Cell) -> [Option<String>; 10] {
    let mean = |of: Option<Repeated>| of.map(|of| three(of.value));
    [
        mean(cell.transactions_per_s),
        mean(cell.statements_per_s.filter(|s| s.value > 0.0)),
        mean(cell.mean_ms),
        mean(cell.p95_ms),
        mean(cell.p99_ms),
        cell.max_ms.map(three),
        cell.errors_per_s.map(three),
        mean(cell.client_cpu_percent),
        mean(cell.tpmc),
        mean(cell.efficiency_percent),
    ]
}
