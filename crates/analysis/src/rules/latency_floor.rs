//! The network was measured, and not the database.

use crate::run::Run;
use crate::texts::latency_floor::{INSTEAD, SAYS};
use crate::thresholds::{FLOOR, FLOOR_MS, FLOOR_SAMPLES};
use crate::{AnalysisError, Figure, Finding, Severity};
use tidemark_core::Protocol;

pub(super) const ID: &str = "latency-floor";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    // What the script itself pauses is no distance; every transaction is taken to pause as long.
    let paused = run.totals.all.paused_ms / run.service.count().max(1) as f64;
    let (min, mean) = (
        run.service.min_ns() as f64 / 1e6,
        run.service.mean_ns() / 1e6,
    );
    let (least, usual) = ((min - paused).max(0.0), mean - paused);
    let server = run.record.server.as_ref();
    // No network lies before an embedded engine.
    let embedded = server.is_some_and(|s| s.engine.protocol() == Protocol::Sqlite);
    if embedded || run.service.count() < FLOOR_SAMPLES || least < FLOOR_MS || least < FLOOR * usual
    {
        return Ok(None);
    }
    let sessions = run.record.sessions as u64;
    Ok(Some(Finding {
        rule: ID,
        severity: if run.record.inject_rtt_ms > 0.0 {
            // The distance was asked for.
            Severity::Note
        } else {
            Severity::Suspect
        },
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("min", Figure::Number(min)),
            ("mean", Figure::Number(mean)),
            ("share", Figure::Number(min / mean * 100.0)),
            ("sessions", Figure::Count(sessions)),
            ("most", Figure::Number(sessions as f64 * 1000.0 / min)),
        ],
    }))
}
