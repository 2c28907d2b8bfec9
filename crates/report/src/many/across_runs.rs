//! What is found of runs only when they are seen together: repeats that disagree, runs that loaded one
//! server at the same time.

use super::digest::RunDigest;
use super::factors::all_of_one_study;
use super::matrix::{FactorOrder, Matrix};
use tidemark_analysis::concurrent_runs::{are_one_load, together};
use tidemark_analysis::{Finding, Present, Setup, Severity, findings_of_repeats, overlaps};

/// The runs with these findings among their own. A run that must not be used for one of them is in no
/// figure, as for any other.
pub(super) fn judged_together(runs: &[RunDigest], order: FactorOrder<'_>) -> Vec<RunDigest> {
    let mut judged: Vec<RunDigest> = runs.to_vec();
    let load_of = loads(runs);
    join_clients(&mut judged, &load_of);
    let points = points(&judged, order);
    let present = runs.iter().zip(&load_of).map(|(run, load)| Present {
        presence: run.presence.as_ref(),
        setup: *load,
        usable: run.usable,
    });
    let present: Vec<Present<'_>> = present.collect();
    for (run, found) in judged.iter_mut().zip(overlaps(&present)) {
        add(run, &found);
    }
    for point in points {
        let usable = |n: &&usize| judged[**n].usable;
        let at: Vec<usize> = point.iter().filter(usable).copied().collect();
        let measured: Vec<_> = at
            .iter()
            .filter_map(|n| judged[*n].measured.as_ref())
            .collect();
        let found = findings_of_repeats(&measured);
        at.iter().for_each(|n| add(&mut judged[*n], &found));
    }
    judged
}

/// Runs that would be clients of one load if they ran at one time have the same number.
fn loads(runs: &[RunDigest]) -> Vec<usize> {
    // A study's cells may differ in what no record holds.
    let in_cells = all_of_one_study(runs.iter());
    let mut known = Vec::new();
    let each = runs.iter().map(|run| {
        let cell = run.study.as_ref().filter(|_| in_cells);
        let load = (run.setup.of_load(), cell.map(|place| &place.factors));
        known.iter().position(|k| *k == load).unwrap_or_else(|| {
            known.push(load);
            known.len() - 1
        })
    });
    each.collect()
}

/// Gives all clients of one load the load's setup, so that they stand in one row whatever machines they
/// ran on and whichever part of the data was theirs.
fn join_clients(runs: &mut [RunDigest], load_of: &[usize]) {
    let count = load_of.iter().max().map_or(0, |most| most + 1);
    for load in 0..count {
        let of_load = runs.iter().zip(load_of);
        let presences: Vec<_> = of_load
            .map(|(run, of)| run.presence.as_ref().filter(|_| *of == load))
            .collect();
        let groups = together(&presences).into_iter();
        let are_clients = |group: &Vec<usize>| {
            let presences = group.iter().filter_map(|n| presences[*n]);
            group.len() > 1 && are_one_load(&presences.collect::<Vec<_>>())
        };
        let clients: Vec<Vec<usize>> = groups.filter(are_clients).collect();
        for group in clients {
            let setup = Setup::of_clients(group.iter().map(|n| &runs[*n].setup));
            group.iter().for_each(|n| runs[*n].setup = setup.clone());
        }
    }
}

/// The runs of each point of the matrix, by their places.
fn points(runs: &[RunDigest], order: FactorOrder<'_>) -> Vec<Vec<usize>> {
    let place = |id: &str| runs.iter().position(|run| run.id == id);
    let matrix = Matrix::of(runs, order);
    let points = matrix.workloads.iter().flat_map(|w| w.points());
    points
        .map(|(_, point)| point.runs.iter().filter_map(|run| place(&run.id)).collect())
        .collect()
}

fn add(run: &mut RunDigest, found: &[Finding]) {
    run.usable &= found.iter().all(|f| f.severity != Severity::Invalid);
    run.findings.extend(found.iter().cloned());
    run.findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
}
