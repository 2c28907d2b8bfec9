//! What a transaction of each repeat cost: a row a repeat.

use super::digest::RunDigest;
use super::document::Sources;
use super::matrix::Matrix;
use super::resources::{by_run, place};
use super::workload::MeasuredWorkload;
use crate::document::{Block, DocumentPart, Grid};
use crate::observed::said_of;
use crate::texts::{fill, observed};
use tidemark_analysis::costs::{Cost, CostKind, SESSIONS};
use tidemark_analysis::costs_of_repeats;

/// A repeat's place in the study, and its costs.
struct RepeatCosts {
    label: String,
    costs: Vec<Cost>,
    /// Whether its runs loaded a server together with others.
    is_of_several: bool,
    /// Whether the server's counters lag too much to tell what one of its runs cost.
    counters_lag: bool,
}

/// `None` where no source told of any run: the sessions' own round trips alone are no reason for a table.
pub(super) fn part(s: &Sources<'_>) -> Option<DocumentPart> {
    let o = observed::of(s.lang);
    let all = repeats(s);
    let mut each = all.iter().flat_map(|repeat| &repeat.costs);
    each.any(|cost| cost.source != SESSIONS).then_some(())?;
    let columns = columns(&all);
    let head: Vec<String> = columns
        .iter()
        .map(|(kind, source)| {
            let name = name(*kind, o);
            let sources = columns.iter().filter(|(other, _)| other == kind);
            match sources.count() {
                1 => name.to_string(),
                // What sources count is not quite the same.
                _ => format!("{name} ({source})"),
            }
        })
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut grid = Grid::of(&[s.common.workload], &head);
    for repeat in &all {
        let cells = columns.iter().map(|(kind, source)| {
            let mut costs = repeat.costs.iter();
            let told = costs.find(|cost| (cost.kind, cost.source) == (*kind, *source));
            told.map_or("–".into(), |cost| {
                said_of(*kind, cost.per_transaction, o).1
            })
        });
        let label = std::iter::once(repeat.label.clone());
        grid.rows.push(label.chain(cells).collect());
    }
    let is_shared = all.iter().any(|repeat| repeat.is_of_several);
    let mut says = vec![o.costs_say, o.costs_own];
    says.extend(is_shared.then_some(o.costs_shared));
    let are_late = all.iter().any(|repeat| repeat.counters_lag);
    says.extend(are_late.then_some(o.costs_late));
    let blocks = vec![by_run(grid, s), Block::Fine(says.join(s.common.gap))];
    Some(DocumentPart::new(o.costs_by_run, blocks))
}

/// Runs that are one repeat, and what its transactions cost.
pub(super) struct RepeatOfRuns<'d> {
    pub runs: Vec<&'d RunDigest>,
    pub costs: Vec<Cost>,
}

/// The repeats of all points. Whoever else loaded a server meanwhile is among their runs.
pub(super) fn repeats_of<'d>(matrix: &Matrix<'d>) -> Vec<RepeatOfRuns<'d>> {
    let points = matrix
        .workloads
        .iter()
        .flat_map(|workload| workload.points());
    let runs = points.enumerate().flat_map(|(group, (_, point))| {
        let measured = point.runs.iter().filter(|run| run.imported.is_none());
        measured.map(move |run| (*run, run.own_costs(group)))
    });
    let (runs, costs): (Vec<&RunDigest>, Vec<_>) = runs.unzip();
    let repeats = costs_of_repeats(&costs).into_iter();
    let repeats = repeats.map(|(numbers, costs)| RepeatOfRuns {
        runs: numbers
            .iter()
            .filter_map(|n| runs.get(*n).copied())
            .collect(),
        costs,
    });
    repeats.collect()
}

fn repeats(s: &Sources<'_>) -> Vec<RepeatCosts> {
    let of_runs = repeats_of(s.matrix);
    let mut all = Vec::new();
    for (workload, cells) in s.workloads() {
        let m = MeasuredWorkload { s, workload, cells };
        for (series, point, _) in m.points() {
            for repeat in &of_runs {
                let number = |run: &&RunDigest| point.runs.iter().position(|r| r.id() == run.id());
                let numbers: Option<Vec<usize>> = repeat.runs.iter().map(number).collect();
                let Some(numbers) = numbers else { continue };
                let own = repeat.runs.first().map_or(0, |run| run.costs.len());
                let number = match numbers.as_slice() {
                    [one] => m.repeat(point, *one),
                    several => {
                        let several = several.iter().map(|n| (n + 1).to_string());
                        let several: Vec<String> = several.collect();
                        let several = several.join(s.common.comma);
                        let said = fill(s.t.repeats_of_one_load, &[("numbers", &*several)]);
                        format!("{}{said}", s.common.comma)
                    }
                };
                all.push(RepeatCosts {
                    label: format!("{}{number}", place(&m, series, point)),
                    is_of_several: numbers.len() > 1 || repeat.costs.len() < own,
                    costs: repeat.costs.clone(),
                    counters_lag: repeat.runs.iter().any(|run| run.counters_lag),
                });
            }
        }
    }
    all
}

/// What any repeat has, with who told, in the order of kinds.
fn columns(all: &[RepeatCosts]) -> Vec<(CostKind, &'static str)> {
    let costs = || all.iter().flat_map(|repeat| &repeat.costs);
    let mut columns = Vec::new();
    for kind in CostKind::ALL {
        for cost in costs().filter(|cost| cost.kind == kind) {
            if !columns.contains(&(kind, cost.source)) {
                columns.push((kind, cost.source));
            }
        }
    }
    columns
}

/// A short name, for a narrow column.
fn name(kind: CostKind, o: &'static observed::Texts) -> &'static str {
    match kind {
        CostKind::ServerCpuUs => o.server_cpu_short,
        CostKind::ClientCpuUs => o.client_cpu_short,
        CostKind::RowsRead => o.rows_read_short,
        CostKind::PagesRequested => o.pages_requested_short,
        CostKind::PagesRead => o.pages_read_short,
        CostKind::BytesWritten => o.bytes_written_short,
        CostKind::LogBytes => o.log_bytes_short,
        CostKind::Syncs => o.syncs_short,
        CostKind::ContextSwitches => o.context_switches_short,
        CostKind::NetworkBytes => o.network,
        CostKind::RoundTrips => o.round_trips_short,
    }
}
