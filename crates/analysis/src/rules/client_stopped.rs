//! Time in which the client itself did not run.

use crate::dead::{Dead, Says, finding};
use crate::run::Run;
use crate::texts::client_stopped::{ALL, INSTEAD, MANY, MANY_FIRST, ONE};
use crate::thresholds::CLIENT_DEAD_INVALID;
use crate::{AnalysisError, Finding};

pub(super) const ID: &str = "client-stopped";

const SAYS: Says = Says {
    one: ONE,
    many: MANY,
    many_first: MANY_FIRST,
    all: ALL,
    instead: INSTEAD,
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let found = Dead::of(run)
        .and_then(|dead| finding(run, &dead, &dead.client, (ID, CLIENT_DEAD_INVALID), &SAYS));
    Ok(found)
}
