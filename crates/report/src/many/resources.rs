//! What each run used of processors, disks and the network: a row a run.

use super::digest::RunDigest;
use super::document::Sources;
use super::matrix::{CurvePoint, LoadCurve};
use super::workload::MeasuredWorkload;
use crate::document::{Block, DocumentPart, Grid};
use crate::number::{bytes, three, whole};
use crate::texts::{fill, observed};

/// So many rows are read; more are there to be looked up.
const MOST: usize = 40;
const COLUMNS: usize = 6;

/// Of these an embedded database has none: it works in the client's process.
const NONE_EMBEDDED: [usize; 2] = [2, 5];

/// `None` without runs of our own.
pub(super) fn part(s: &Sources<'_>) -> Option<DocumentPart> {
    let (t, o) = (s.t, observed::of(s.lang));
    let names: [&str; COLUMNS] = [
        t.client_cpu_percent,
        o.host_cpu_percent,
        o.server_cores,
        o.disk_writes,
        o.flushes,
        o.network,
    ];
    let mut grid = Grid::of(&[s.common.workload], &names);
    let mut missing = [0usize; COLUMNS];
    let (mut any, mut any_embedded) = (false, false);
    for (label, run) in runs(s) {
        any |= !run.resources.is_empty();
        let server = run.server.as_ref();
        let is_embedded = server.is_some_and(|server| server.engine.is_embedded());
        any_embedded |= is_embedded;
        let figures = figures(run);
        for (column, figure) in figures.iter().enumerate() {
            let can_be = !(is_embedded && NONE_EMBEDDED.contains(&column));
            missing[column] += usize::from(can_be && figure.is_none());
        }
        let cells = figures.map(|figure| figure.unwrap_or("–".into()));
        grid.rows.push([label].into_iter().chain(cells).collect());
    }
    let all = grid.rows.len();
    if all == 0 {
        return None;
    }
    if !any {
        let says = Block::Fine(o.resources_none.into());
        return Some(DocumentPart::new(o.resources, vec![says]));
    }
    let lacking = names.iter().zip(missing).filter(|(_, count)| *count > 0);
    let lacking: Vec<String> = lacking
        .map(|(name, count)| match count == all {
            true => (*name).to_string(),
            false => {
                let (count, all) = (count.to_string(), all.to_string());
                let values = [("name", *name), ("count", &*count), ("all", &*all)];
                fill(o.resources_some, &values)
            }
        })
        .collect();
    let table = by_run(grid, s);
    let mut blocks = vec![table, Block::Fine(o.resources_say.into())];
    if any_embedded {
        blocks.push(Block::Fine(o.resources_embedded.into()));
    }
    if !lacking.is_empty() {
        let what = lacking.join(s.common.comma);
        blocks.push(Block::Fine(fill(o.resources_missing, &[("what", &what)])));
    }
    Some(DocumentPart::new(o.resources, blocks))
}

/// A table with a row a run, folded where there are many.
pub(super) fn by_run(mut grid: Grid, s: &Sources<'_>) -> Block {
    grid.sortable = true;
    let rows = whole(grid.rows.len() as u64);
    match grid.rows.len() > MOST {
        true => Block::Fold(
            fill(s.t.run_many, &[("count", &*rows)]),
            vec![Block::Table(grid)],
        ),
        false => Block::Table(grid),
    }
}

/// A point's place in the study.
pub(super) fn place(
    m: &MeasuredWorkload<'_, '_>,
    series: &LoadCurve<'_>,
    point: &CurvePoint<'_>,
) -> String {
    let label = m.label(series, point);
    match m.s.matrix.workloads.len() > 1 && label != m.workload.name {
        true => format!("{}{}{label}", m.workload.name, m.s.common.colon),
        false => label,
    }
}

/// Runs that have a result of their own, each with its place in the study.
fn runs<'m>(s: &Sources<'m>) -> Vec<(String, &'m RunDigest)> {
    let mut all = Vec::new();
    for (workload, cells) in s.workloads() {
        let m = MeasuredWorkload { s, workload, cells };
        for (series, point, _) in m.points() {
            let label = place(&m, series, point);
            let runs = point.runs.iter().enumerate();
            for (n, run) in runs.filter(|(_, run)| run.counts() && run.imported.is_none()) {
                all.push((format!("{label}{}", m.repeat(point, n)), *run));
            }
        }
    }
    all
}

/// In the order of the columns.
fn figures(run: &RunDigest) -> [Option<String>; COLUMNS] {
    let of = &run.resources;
    let percent = of.server_host_busy.map(|share| share * 100.0);
    // Out of bounds is the nearest bound.
    let network = of.network_bytes_per_s.map(|rate| rate as u64);
    [
        run.client_cpu_percent.map(three),
        percent.map(three),
        of.server_cores.map(three),
        of.disk_writes_per_s.map(three),
        of.flushes_per_s.map(three),
        network.map(|rate| format!("{}/s", bytes(rate))),
    ]
}
