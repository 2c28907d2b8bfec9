//! Errors that were passed over, or after which transactions were tried again, and change the work.

use crate::family::Family;
use crate::run::Run;
use crate::texts::error_rate::{FAILED, INSTEAD, RETRIED, SAYS, SNAPSHOT, WITHOUT_SNAPSHOT};
use crate::thresholds::{ERRORS, ERRORS_INVALID};
use crate::{AnalysisError, Figure, Finding, Severity};
use tidemark_core::{ErrorClass, ErrorKind};

pub(super) const ID: &str = "error-rate";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let (errors, count) = (run.totals.ignored_errors, run.totals.all.count);
    let share = errors as f64 / (errors as f64 + count as f64);
    if share < ERRORS {
        return Ok(None);
    }
    let most = run.record.errors.iter().max_by_key(|e| e.count);
    let code = most.map_or("?", |e| e.code.as_str());
    let kind = most.and_then(|e| e.kind);
    let mut classes = run.record.errors.iter().map(|e| e.class);
    let were_retried = most.is_some() && classes.all(|c| c == ErrorClass::Retryable);
    let (says, instead) = match were_retried {
        true if kind == Some(ErrorKind::SerializationFailure) && isolates_snapshots(run) => {
            (SNAPSHOT, WITHOUT_SNAPSHOT)
        }
        true if Family::of(run.record).is_some_and(|f| f.tried_again.is_some()) => {
            (FAILED, INSTEAD)
        }
        true => (RETRIED, INSTEAD),
        false => (SAYS, INSTEAD),
    };
    Ok(Some(Finding {
        rule: ID,
        severity: Severity::invalid_if(share >= ERRORS_INVALID),
        says,
        instead,
        figures: vec![
            ("errors", Figure::Count(errors)),
            ("count", Figure::Count(count)),
            ("share", Figure::Number(share * 100.0)),
            ("code", Figure::Text(code.into())),
        ],
    }))
}

fn isolates_snapshots(run: &Run<'_>) -> bool {
    let mut settings = run.record.settings.iter();
    settings.any(|s| s.name == "innodb_snapshot_isolation" && s.value.eq_ignore_ascii_case("on"))
}
