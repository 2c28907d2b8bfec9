//! A rate that still moves during the measurement.

use crate::run::{Run, rate};
use crate::texts::drift::{INSTEAD, SAYS};
use crate::thresholds::{TREND_CHANCE, TREND_CHANGE, TREND_INTERVALS};
use crate::{AnalysisError, Figure, Finding, LoadKind, Severity};
use tidemark_stats::{step, trend};

pub(super) const ID: &str = "drift";

/// In an open loop the schedule says the rate.
pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let rates: Vec<f64> = run.whole().into_iter().map(rate).collect();
    if run.kind != LoadKind::Closed || rates.len() < TREND_INTERVALS {
        return Ok(None);
    }
    // Two levels are no drift.
    if super::two_regimes::regimes(&rates).is_some() {
        return Ok(None);
    }
    let moved = [trend(&rates), step(&rates)]
        .into_iter()
        .flatten()
        .filter(|t| t.change.abs() >= TREND_CHANGE && t.chance <= TREND_CHANCE)
        .max_by(|a, b| a.sure.abs().total_cmp(&b.sure.abs()));
    Ok(moved.map(|t| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("change", Figure::Number(t.change * 100.0)),
            ("sure", Figure::Number(t.sure.abs())),
        ],
    }))
}
