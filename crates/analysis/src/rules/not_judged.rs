//! What a record from another tool does not let be judged.
//!
//! A tool that gives a mean and percentiles has no distribution, and often no intervals. Rules that
//! need one of them are left out, and said to be.

use super::{Need, Rule};
use crate::run::Run;
use crate::texts::not_judged::{INSTEAD, NEITHER, NO_HISTOGRAM};
use crate::{Figure, Finding, Severity};

pub(super) const ID: &str = "not-judged";

/// Whether a run lacks what a rule needs. Only of records that say themselves that they are no
/// measurement of Tidemark's: whatever else lacks something was never going to have it.
pub(super) fn lacks(run: &Run<'_>, needs: &[Need]) -> bool {
    needs.iter().any(|need| match need {
        Need::Histogram => lacks_histogram(run),
        Need::Intervals => lacks_intervals(run),
    })
}

fn lacks_histogram(run: &Run<'_>) -> bool {
    run.totals.all.quantiles.is_some() && run.service.is_empty()
}

fn lacks_intervals(run: &Run<'_>) -> bool {
    lacks_histogram(run) && run.record.intervals.is_empty()
}

/// Rules that were left out, if any was.
pub(super) fn check(run: &Run<'_>, left_out: &[&Rule]) -> Option<Finding> {
    let ids: Vec<&str> = left_out.iter().map(|rule| rule.id).collect();
    (!ids.is_empty()).then(|| Finding {
        rule: ID,
        severity: Severity::Note,
        says: match lacks_intervals(run) {
            true => NEITHER,
            false => NO_HISTOGRAM,
        },
        instead: INSTEAD,
        figures: vec![("rules", Figure::Text(ids.join(", ")))],
    })
}
