//! The rules, one file each. A rule looks at one decoded run (or at the runs of a comparison) and
//! says what it saw, in figures, or nothing.

mod carried_state;
mod client_bound;
mod client_stopped;
mod drift;
mod error_rate;
mod heavy_tail;
mod latency_floor;
mod littles_law;
mod no_op_writes;
mod no_repeat;
mod not_judged;
mod offered_load;
mod order_effect;
mod outage;
pub(crate) mod overlap;
mod repeats_disagree;
mod row_count;
mod stall;
mod summary_mismatch;
mod too_short;
mod tpcc_cap;
mod tpcc_response;
mod unfair;
mod unlike_latencies;
mod unlike_repeats;

use crate::compare::{Measured, repeats};
use crate::run::Run;
use crate::{AnalysisError, Finding, Job};
use tidemark_core::record::RunRecord;

/// What looks at one run, with its id.
type OfOneRun = (
    &'static str,
    fn(&Run<'_>) -> Result<Option<Finding>, AnalysisError>,
);

/// Every rule's id, in the order in which findings of equal severity are told; those of comparisons
/// last.
pub const RULES: &[&str] = &[
    summary_mismatch::ID,
    littles_law::ID,
    offered_load::ID,
    client_bound::ID,
    row_count::ID,
    carried_state::ID,
    outage::ID,
    client_stopped::ID,
    error_rate::ID,
    no_op_writes::ID,
    stall::ID,
    heavy_tail::ID,
    unfair::ID,
    drift::ID,
    too_short::ID,
    latency_floor::ID,
    tpcc_cap::ID,
    tpcc_response::ID,
    overlap::ID,
    unlike_latencies::ID,
    unlike_repeats::ID,
    repeats_disagree::ID,
    order_effect::ID,
    no_repeat::ID,
    not_judged::ID,
];

const OF_ONE_RUN: &[OfOneRun] = &[
    (summary_mismatch::ID, summary_mismatch::check),
    (littles_law::ID, littles_law::check),
    (offered_load::ID, offered_load::check),
    (client_bound::ID, client_bound::check),
    (row_count::ID, row_count::check),
    (carried_state::ID, carried_state::check),
    (outage::ID, outage::check),
    (client_stopped::ID, client_stopped::check),
    (error_rate::ID, error_rate::check),
    (no_op_writes::ID, no_op_writes::check),
    (stall::ID, stall::check),
    (heavy_tail::ID, heavy_tail::check),
    (unfair::ID, unfair::check),
    (drift::ID, drift::check),
    (too_short::ID, too_short::check),
    (latency_floor::ID, latency_floor::check),
    (tpcc_cap::ID, tpcc_cap::check),
    (tpcc_response::ID, tpcc_response::check),
];

/// What also holds for streams of queries. An interval of theirs is one query, none like the other,
/// so that rates, tails and users say nothing of the run.
const OF_QUERIES: &[OfOneRun] = &[
    (summary_mismatch::ID, summary_mismatch::check),
    (row_count::ID, row_count::check),
    (carried_state::ID, carried_state::check),
    (outage::ID, outage::check),
    (client_stopped::ID, client_stopped::check),
    (error_rate::ID, error_rate::check),
];

/// What every rule has to say of a run, the severest first; nothing where no end was written or no
/// transaction ended well: reports say that themselves.
///
/// # Errors
/// [`AnalysisError::Histogram`] when a latency distribution of the record can't be read.
pub fn findings(record: &RunRecord) -> Result<Vec<Finding>, AnalysisError> {
    let Some(run) = Run::of(record)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let checks: &[OfOneRun] = match record.queries.is_empty() {
        true => OF_ONE_RUN,
        false => OF_QUERIES,
    };
    for (id, check) in checks {
        if !not_judged::lacks(&run, id) {
            found.extend(check(&run)?);
        }
    }
    let ids: Vec<&str> = checks.iter().map(|(id, _)| *id).collect();
    found.extend(not_judged::check(&run, &ids));
    sort(&mut found);
    Ok(found)
}

/// What the rules of comparisons have to say of two groups of runs, each in the order of time.
pub(crate) fn findings_of_groups(a: &[&Measured], b: &[&Measured]) -> Vec<Finding> {
    let mut found: Vec<Finding> = carried_state::between(a, b)
        .into_iter()
        .chain(overlap::of_groups(a, b))
        .chain(unlike_latencies::check(a, b))
        .chain(unlike_repeats::check(a, b))
        .chain([a, b].into_iter().flat_map(of_repeats))
        .chain(no_repeat::check(a.len(), b.len()))
        .collect();
    sort(&mut found);
    found
}

/// What the rules have to say of all runs of one job, in the order of time: of those that may be used
/// as repeats of each other.
pub fn findings_of_repeats(runs: &[&Measured]) -> Vec<Finding> {
    let repeats = repeats(runs);
    of_repeats(
        &repeats
            .iter()
            .map(std::borrow::Cow::as_ref)
            .collect::<Vec<_>>(),
    )
}

fn of_repeats(repeats: &[&Measured]) -> Vec<Finding> {
    // Of several jobs (`unlike-repeats`) neither their spread nor their order says anything.
    if !Job::differing(repeats.iter().map(|run| run.job())).is_empty() {
        return Vec::new();
    }
    let found = repeats_disagree::check(repeats);
    let found = found.or_else(|| order_effect::check(repeats));
    found.into_iter().collect()
}

fn sort(found: &mut [Finding]) {
    found.sort_by_key(|f| std::cmp::Reverse(f.severity));
}
