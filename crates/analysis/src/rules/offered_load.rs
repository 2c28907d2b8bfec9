//! Fewer sessions ran than were asked for.

use crate::run::Run;
use crate::texts::offered_load::{BECAUSE, INSTEAD, SAYS};
use crate::{AnalysisError, Figure, Finding, Severity};

pub(super) const ID: &str = "offered-load";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let asked = run.record.sessions;
    let fewer = run.record.sessions_opened.filter(|opened| *opened < asked);
    let Some(opened) = fewer else {
        return Ok(None);
    };
    let mut figures = vec![
        ("asked", Figure::Count(asked as u64)),
        ("opened", Figure::Count(opened as u64)),
    ];
    let why = &run.record.fewer_sessions_because;
    figures.extend(why.clone().map(|why| ("why", Figure::Text(why))));
    Ok(Some(Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: if why.is_some() { BECAUSE } else { SAYS },
        instead: INSTEAD,
        figures,
    }))
}
