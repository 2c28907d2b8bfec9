//! Fewer sessions ran than were asked for.

use crate::run::Run;
use crate::{AnalysisError, Both, Figure, Finding, Severity};

pub(super) const ID: &str = "offered-load";

const SAYS: Both = Both {
    en: "{asked} sessions were asked for and {opened} ran: the figures are those of {opened} sessions.",
    zh: "要求 {asked} 个会话，实际只有 {opened} 个：数据对应的是 {opened} 个会话。",
};
const BECAUSE: Both = Both {
    en: "{asked} sessions were asked for and {opened} ran ({why}): the figures are those of {opened} sessions.",
    zh: "要求 {asked} 个会话，实际只有 {opened} 个（{why}）：数据对应的是 {opened} 个会话。",
};
const INSTEAD: Both = Both {
    en: "Name the load that ran, or raise the limit that refused the others and run again.",
    zh: "报告中写明实际的会话数，或调高限制后重新压测。",
};

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
