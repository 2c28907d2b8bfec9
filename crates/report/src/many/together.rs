//! What is found of runs only when they are seen together: repeats that disagree, runs that loaded one
//! server at the same time.

use super::digest::RunDigest;
use super::matrix::{Matrix, Order};
use tidemark_analysis::{Finding, Present, Severity, findings_of_repeats, overlaps};

/// The runs with these findings among their own. A run that must not be used for one of them is in no
/// figure, as for any other.
pub(super) fn judged_together(runs: &[RunDigest], order: Order<'_>) -> Vec<RunDigest> {
    let mut judged: Vec<RunDigest> = runs.to_vec();
    let points = points(runs, order);
    let mut job_of = vec![0; runs.len()];
    for (job, point) in points.iter().enumerate() {
        point.iter().for_each(|n| job_of[*n] = job);
    }
    let present = runs.iter().zip(&job_of).map(|(run, job)| Present {
        presence: run.presence.as_ref(),
        job: *job,
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

/// The runs of each point of the matrix, by their places.
fn points(runs: &[RunDigest], order: Order<'_>) -> Vec<Vec<usize>> {
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
