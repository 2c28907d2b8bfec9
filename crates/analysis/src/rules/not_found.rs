//! Operations that found nothing and count as done: keys were requested that nobody loaded.

use crate::run::Run;
use crate::texts::not_found::{INSTEAD, MEASURED};
use crate::thresholds::{NOT_FOUND, NOT_FOUND_LEAST};
use crate::{AnalysisError, Figure, Finding, Severity};

pub(super) const ID: &str = "not-found";

/// Notes of workloads that count what found nothing, and the types of which each is a part. Updates that
/// hit nothing are no writes, of which `no-op-writes` speaks.
const NOTES: [(&str, &[&str]); 2] = [
    ("missing_record", &["READ", "READ_MODIFY_WRITE"]),
    ("empty_scan", &["SCAN"]),
];

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let totals = run.totals;
    let shares = NOTES.iter().filter_map(|(note, types)| {
        let nothing = *totals.notes.get(*note)?;
        let counts = types
            .iter()
            .filter_map(|t| Some(totals.types.get(*t)?.count));
        let all = counts.fold(0, u64::saturating_add);
        // Most of them are in the first type's words.
        let name = types.first()?;
        let share = nothing as f64 / all as f64;
        (all > 0 && nothing >= NOT_FOUND_LEAST && share >= NOT_FOUND)
            .then_some((*name, nothing, all, share))
    });
    let worst = shares.max_by(|a, b| a.3.total_cmp(&b.3));
    Ok(worst.map(|(name, nothing, all, share)| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: MEASURED,
        instead: INSTEAD,
        figures: vec![
            ("type", Figure::Text(name.into())),
            ("nothing", Figure::Count(nothing)),
            ("all", Figure::Count(all)),
            ("share", Figure::Number(share * 100.0)),
        ],
    }))
}
