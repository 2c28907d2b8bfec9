//! The rules, one file each. A rule looks at one decoded run (or at the runs of a comparison) and
//! says what it saw, in figures, or nothing.

mod backlog;
mod carried_state;
mod client_bound;
mod client_lagged;
mod client_stopped;
mod clients_missing;
mod clients_unequal;
mod deadlock_wait;
mod degenerate_option;
mod drift;
mod error_rate;
mod heavy_tail;
mod latency_floor;
mod littles_law;
mod no_op_writes;
mod no_repeat;
mod not_found;
mod not_judged;
mod offered_load;
mod one_client_bound;
mod order_effect;
mod outage;
pub(crate) mod overlap;
mod quick_build;
mod repeats_disagree;
mod row_count;
mod sampling;
mod setting_contradicts;
mod stall;
mod stated;
mod summary_mismatch;
mod too_short;
mod two_regimes;
mod unequal_conditions;
mod unfair;
mod unlike_latencies;
mod unlike_repeats;

pub use stated::{copied_output, missing_client, missing_output};

use crate::compare::{ComparedRun, repeats};
use crate::family::Family;
use crate::run::Run;
use crate::{AnalysisError, Finding, Setup};
use tidemark_core::record::RunRecord;

/// A rule that looks at one run.
pub(crate) struct Rule {
    pub id: &'static str,
    pub check: fn(&Run<'_>) -> Result<Option<Finding>, AnalysisError>,
    /// Whether it also holds for streams of queries. An interval of theirs is one query, none like the
    /// other, so that rates, tails and users say nothing of the run.
    pub of_queries: bool,
    /// What it needs of a record beside its totals.
    pub needs: &'static [Need],
}

/// What records of other tools may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// The latencies' distribution.
    Histogram,
    /// What happened in each interval.
    Intervals,
}

/// Its row: a module with `ID` and `check`, `of_queries` where it also holds for streams of queries, and
/// what it needs.
macro_rules! rule {
    ($module:ident $(, needs $($need:ident),+)?) => {
        $crate::rules::rule!(@ $module, false $(, $($need),+)?)
    };
    ($module:ident, of_queries $(, needs $($need:ident),+)?) => {
        $crate::rules::rule!(@ $module, true $(, $($need),+)?)
    };
    (@ $module:ident, $of_queries:literal $(, $($need:ident),+)?) => {
        $crate::rules::Rule {
            id: $module::ID,
            check: $module::check,
            of_queries: $of_queries,
            needs: &[$($($crate::rules::Need::$need),+)?],
        }
    };
}
pub(crate) use rule;

/// The rules of one run, in the order in which findings of equal severity are told. Those of its family
/// come last.
const OF_ONE_RUN: &[Rule] = &[
    rule!(summary_mismatch, of_queries),
    rule!(littles_law, needs Histogram),
    rule!(offered_load),
    rule!(clients_missing, of_queries),
    rule!(client_bound, needs Histogram),
    rule!(one_client_bound, of_queries),
    rule!(client_lagged, of_queries),
    rule!(clients_unequal, needs Histogram),
    rule!(row_count, of_queries),
    rule!(carried_state, of_queries),
    rule!(outage, of_queries),
    rule!(client_stopped, of_queries, needs Histogram),
    rule!(error_rate, of_queries),
    rule!(no_op_writes),
    rule!(not_found),
    rule!(stall, needs Histogram, Intervals),
    rule!(deadlock_wait, needs Histogram),
    rule!(heavy_tail, needs Histogram, Intervals),
    rule!(unfair),
    rule!(two_regimes, needs Intervals),
    rule!(drift, needs Intervals),
    Rule {
        id: backlog::MISSED,
        check: backlog::missed,
        of_queries: false,
        needs: &[],
    },
    rule!(backlog, needs Intervals),
    Rule {
        id: sampling::GAPS,
        check: sampling::gaps,
        of_queries: true,
        needs: &[],
    },
    Rule {
        id: sampling::OUTSIDE,
        check: sampling::outside,
        of_queries: true,
        needs: &[],
    },
    rule!(too_short, needs Histogram),
    rule!(latency_floor, needs Histogram),
    rule!(setting_contradicts, of_queries),
    rule!(degenerate_option),
    rule!(quick_build, of_queries),
];

/// Those that also hold for tests of the machine, where the client is what is measured, and events of one
/// run may take a microsecond or a minute.
const OF_THE_MACHINE: &[&str] = &[
    summary_mismatch::ID,
    offered_load::ID,
    client_stopped::ID,
    stall::ID,
    drift::ID,
    backlog::MISSED,
    backlog::ID,
];

/// The ids of the rules of comparisons.
const OF_COMPARISONS: &[&str] = &[
    overlap::ID,
    unlike_latencies::ID,
    unlike_repeats::ID,
    repeats_disagree::ID,
    order_effect::ID,
    no_repeat::ID,
    unequal_conditions::ID,
    not_judged::ID,
];

/// Every rule's id, in the order in which findings of equal severity are told; those of comparisons
/// last.
pub fn rules() -> impl Iterator<Item = &'static str> {
    let of_families = crate::FAMILIES.iter().flat_map(|f| f.rules);
    let of_one_run = OF_ONE_RUN.iter().chain(of_families).map(|r| r.id);
    let mut measured: Vec<&str> = of_one_run.collect();
    // One may have several checks, which follow each other.
    measured.dedup();
    let known = measured.clone();
    let of_imported = stated::ids().filter(move |id| !known.contains(id));
    let all = measured.into_iter().chain(of_imported);
    all.chain(OF_COMPARISONS.iter().copied())
}

/// What every rule has to say of a run, the severest first; nothing where no end was written or no
/// transaction ended well: reports say that themselves.
///
/// # Errors
/// [`AnalysisError::Histogram`] when a latency distribution of the record can't be read.
pub fn findings(record: &RunRecord) -> Result<Vec<Finding>, AnalysisError> {
    if let Some(imported) = &record.imported {
        let mut found = stated::findings(record, imported)?;
        sort(&mut found);
        return Ok(found);
    }
    let Some(run) = Run::of(record)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let of_family = Family::of(record).map_or(&[][..], |f| f.rules);
    let all = OF_ONE_RUN.iter().chain(of_family);
    let apply = all.filter(|rule| {
        let of_load = rule.of_queries || record.queries.is_empty();
        of_load && (!record.is_of_machine() || OF_THE_MACHINE.contains(&rule.id))
    });
    let (judge, left_out): (Vec<&Rule>, Vec<&Rule>) =
        apply.partition(|rule| !not_judged::lacks(&run, rule.needs));
    for rule in judge {
        found.extend((rule.check)(&run)?);
    }
    found.extend(not_judged::check(&run, &left_out));
    sort(&mut found);
    Ok(found)
}

/// What the rules of comparisons have to say of two groups of runs, each in the order of time.
pub(crate) fn findings_of_groups(a: &[&ComparedRun], b: &[&ComparedRun]) -> Vec<Finding> {
    let mut found: Vec<Finding> = carried_state::between(a, b)
        .into_iter()
        .chain(overlap::of_groups(a, b))
        .chain(unlike_latencies::check(a, b))
        .chain(unlike_repeats::check(a, b))
        .chain([a, b].into_iter().flat_map(of_repeats))
        .chain(no_repeat::check(a.len(), b.len()))
        .chain(unequal_conditions::check(a, b))
        .collect();
    sort(&mut found);
    found
}

/// What the rules have to say of all runs of one setup, in the order of time: of those that may be used
/// as repeats of each other.
pub fn findings_of_repeats(runs: &[&ComparedRun]) -> Vec<Finding> {
    let repeats = repeats(runs);
    of_repeats(
        &repeats
            .iter()
            .map(std::borrow::Cow::as_ref)
            .collect::<Vec<_>>(),
    )
}

fn of_repeats(repeats: &[&ComparedRun]) -> Vec<Finding> {
    // Of several setups (`unlike-repeats`) neither their spread nor their order says anything.
    if !Setup::differing(repeats.iter().map(|run| run.setup())).is_empty() {
        return Vec::new();
    }
    let found = repeats_disagree::check(repeats);
    let found = found.or_else(|| order_effect::check(repeats));
    found.into_iter().collect()
}

fn sort(found: &mut [Finding]) {
    found.sort_by_key(|f| std::cmp::Reverse(f.severity));
}
