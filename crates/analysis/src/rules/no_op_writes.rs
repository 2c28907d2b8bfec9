//! Deletes and updates that hit nothing: a workload that gets faster the longer it runs.

use crate::run::Run;
use crate::texts::no_op_writes::{INSTEAD, SAYS};
use crate::thresholds::{NO_OP_SAMPLES, NO_OP_WRITES, NO_OP_WRITES_INVALID};
use crate::{AnalysisError, Figure, Finding, Severity};

pub(super) const ID: &str = "no-op-writes";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let statements = &run.totals.statements;
    let noop = statements.noop_writes;
    let writes = statements.write.saturating_add(noop);
    let share = noop as f64 / writes as f64;
    if writes < NO_OP_SAMPLES || share < NO_OP_WRITES {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: ID,
        severity: Severity::invalid_if(share >= NO_OP_WRITES_INVALID),
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("noop", Figure::Count(noop)),
            ("writes", Figure::Count(writes)),
            ("share", Figure::Number(share * 100.0)),
        ],
    }))
}
