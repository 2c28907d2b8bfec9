//! Time in which sessions waited for the server to break a deadlock.

use crate::dead::{Dead, Says, finding};
use crate::run::Run;
use crate::texts::deadlock_wait::{ALL, INSTEAD, MANY, MANY_FIRST, ONE};
use crate::{AnalysisError, Finding, Severity};

pub(super) const ID: &str = "deadlock-wait";

const SAYS: Says = Says {
    one: ONE,
    many: MANY,
    many_first: MANY_FIRST,
    all: ALL,
    instead: INSTEAD,
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let dead = Dead::of(run);
    let found = dead.and_then(|dead| {
        let limit = (ID, f64::INFINITY);
        finding(run, &dead, &dead.deadlocked, limit, &SAYS)
    });
    // The load makes its own deadlocks: the figures are right, and that is what they are of.
    Ok(found.map(|found| Finding {
        severity: Severity::Note,
        ..found
    }))
}
