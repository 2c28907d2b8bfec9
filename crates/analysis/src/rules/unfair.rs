//! Some sessions got most of the work.

use crate::run::Run;
use crate::texts::unfair::{INSTEAD, SAYS};
use crate::thresholds::{UNEVEN, UNEVEN_EVENTS, UNEVEN_NOTED};
use crate::{AnalysisError, Figure, Finding, Severity};

pub(super) const ID: &str = "unfair";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let fairness = &run.totals.fairness;
    // On a schedule any free session takes the next arrival; terminals of a pool take any session.
    let is_own = !run.kind.is_open_loop() && run.totals.all.response.is_none();
    let share = fairness.events_stddev / fairness.events_avg;
    if !is_own || fairness.events_avg < UNEVEN_EVENTS || share.is_nan() || share < UNEVEN_NOTED {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: ID,
        severity: if share < UNEVEN {
            Severity::Note
        } else {
            Severity::Suspect
        },
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("mean", Figure::Number(fairness.events_avg)),
            ("deviation", Figure::Number(fairness.events_stddev)),
            ("share", Figure::Number(share * 100.0)),
        ],
    }))
}
