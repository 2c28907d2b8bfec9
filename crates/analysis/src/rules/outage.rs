//! Time in which a host was away.

use crate::run::Run;
use crate::texts::outage::{INSTEAD, SAYS};
use crate::thresholds::AWAY_INVALID;
use crate::{AnalysisError, Figure, Finding, Severity};

pub(super) const ID: &str = "outage";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let (away, measured) = (run.totals.outage_s, run.totals.elapsed_s);
    let during = |start_ms: i64, length_ms: f64| start_ms as f64 + length_ms > 0.0;
    let outages = run.record.outages.iter();
    let mut outages = outages.filter(|o| during(o.start_ms, o.length_ms));
    let Some(first) = outages.next().filter(|_| away > 0.0) else {
        return Ok(None);
    };
    let share = away / measured;
    Ok(Some(Finding {
        rule: ID,
        severity: Severity::invalid_if(share >= AWAY_INVALID),
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("seconds", Figure::Number(away)),
            ("measured", Figure::Number(measured)),
            ("host", Figure::Text(first.host.clone())),
            (
                "start",
                Figure::Number(first.start_ms.max(0) as f64 / 1000.0),
            ),
            ("share", Figure::Number(share * 100.0)),
        ],
    }))
}
