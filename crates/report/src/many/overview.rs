//! One table over all workloads and loads, as published reports have it.

use super::cell::{PointResults, Repeated};
use super::document::Sources;
use super::labels::{factor_name, load_text, users_label};
use super::marks::marked;
use super::matrix::{CurvePoint, Workload};
use super::workload::{MeasuredWorkload, findings};
use crate::document::{Block, DocumentPart, Grid};
use crate::number::three;
use tidemark_core::record::RateUnit;

/// `None` where one row would be all. What asks queries has a table of its own.
pub(super) fn part(s: &Sources<'_>) -> Option<DocumentPart> {
    let t = s.t;
    let heading = loads(s);
    let number = |name: &str| (name.to_string(), true);
    let text = |name: &str| (name.to_string(), false);
    let factors = factors(s);
    let columns = factors.iter().map(|name| text(factor_name(t, name)));
    let figures_of = [
        number(match heading.as_slice() {
            [one] => one,
            _ => t.load,
        }),
        number(t.clients_count),
        number(t.users_in_all),
        number(t.tpmc),
        number(t.efficiency_percent),
        number(t.throughput),
        number(t.statement_rate),
        number(t.mean),
        number(t.p95),
        number(t.p99),
        number(s.common.max_ms),
        number(t.error_rate),
        number(t.client_cpu_percent),
        number(t.tpm),
        text(t.finding),
    ];
    let mut cells = s.workloads().flat_map(|(w, cells)| {
        let points = w.points().map(|(_, point)| point);
        points.zip(cells.iter().flatten())
    });
    let several_clients = cells.any(|(point, cell)| clients(point, cell) > 1);
    let head = std::iter::once(text(s.common.workload)).chain(columns);
    let mut grid = Grid::new(head.chain(figures_of));
    for (workload, cells) in s.workloads() {
        let m = MeasuredWorkload { s, workload, cells };
        if m.asks_queries() {
            continue;
        }
        for (series, point, cell) in m.points() {
            let mut row = vec![workload.name.clone()];
            row.extend(factors.iter().map(|name| {
                let mut pairs = workload.factors.iter().zip(&series.values);
                let found = pairs.find(|(factor, _)| factor == name);
                found.map_or("–".into(), |(_, value)| value.clone())
            }));
            row.push(load(&m, point, heading.len() > 1));
            row.extend(match several_clients {
                true => [
                    clients(point, cell).to_string(),
                    match cell.users {
                        0 => "–".into(),
                        users => users.to_string(),
                    },
                ],
                false => ["–".into(), "–".into()],
            });
            row.extend(figures(s, cell).into_iter().map(|figure| match figure {
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

/// How many clients made a point's load together: of one record, or with a record each.
pub(super) fn clients(point: &CurvePoint<'_>, cell: &PointResults) -> usize {
    let of_records = point.figured().iter().map(|run| run.clients).max();
    of_records.unwrap_or(1).max(cell.clients())
}

/// Factors of any workload, each once: a column each.
fn factors<'m>(s: &Sources<'m>) -> Vec<&'m String> {
    let mut factors: Vec<&String> = Vec::new();
    for factor in s.workloads().flat_map(|(w, _)| &w.factors) {
        if !factors.contains(&factor) {
            factors.push(factor);
        }
    }
    factors
}

/// What the workloads vary as their load, or have as their only one.
fn loads<'m>(s: &Sources<'m>) -> Vec<&'m str> {
    let mut names: Vec<&str> = Vec::new();
    for (workload, cells) in s.workloads() {
        let m = MeasuredWorkload { s, workload, cells };
        if m.asks_queries() {
            continue;
        }
        let name = match &workload.axis {
            Some(axis) => factor_name(s.t, &axis.name),
            None => users_name(s, workload),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn users_name<'m>(s: &Sources<'m>, workload: &Workload<'_>) -> &'m str {
    let mut runs = workload.points().flat_map(|(_, point)| &point.runs);
    match runs.all(|run| run.terminals.is_some()) {
        true => s.t.terminals,
        false => s.t.threads,
    }
}

/// A point's load, with what it is of where workloads have loads of several kinds; where none varies,
/// its users.
fn load(m: &MeasuredWorkload<'_, '_>, point: &CurvePoint<'_>, several: bool) -> String {
    let axis = m.workload.axis.as_ref();
    if axis.is_some() {
        return match several {
            true => m.load(point),
            false => load_text(axis, point),
        };
    }
    let users = point.figured().first().map_or(0, |run| run.users());
    match (users, several) {
        (0, _) => "–".into(),
        (users, false) => users.to_string(),
        (users, true) => users_label(m.s.t, users_name(m.s, m.workload), &users.to_string()),
    }
}

/// In the order of the columns.
fn figures(s: &Sources<'_>, cell: &PointResults) -> [Option<String>; 11] {
    let mean = |of: Option<Repeated>| of.map(|of| three(of.value));
    // It stands in the column of the throughput.
    let is_throughput = cell.rate_unit == RateUnit::Statements;
    let statements = cell.statements_per_s;
    [
        mean(cell.tpmc),
        mean(cell.efficiency_percent),
        mean(cell.transactions_per_s).map(|figure| s.rate(figure, cell.rate_unit)),
        mean(statements.filter(|s| s.value > 0.0 && !is_throughput)),
        mean(cell.mean_ms),
        mean(cell.p95_ms),
        mean(cell.p99_ms),
        cell.max_ms.map(three),
        cell.errors_per_s.map(three),
        mean(cell.client_cpu_percent),
        mean(cell.tpm),
    ]
}
