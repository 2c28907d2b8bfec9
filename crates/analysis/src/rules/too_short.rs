//! Too few samples for the percentiles that are told, or too little time.

use crate::family::Family;
use crate::run::Run;
use crate::texts::too_short::{INSTEAD, SAMPLES, TIME};
use crate::thresholds::{PERCENTILE_NEEDED, PERCENTILE_SHOWN, SAMPLES_BEYOND, SHORTEST_S};
use crate::{AnalysisError, Figure, Finding, Severity, option};

pub(super) const ID: &str = "too-short";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    if Family::of(run.record).is_some_and(|f| !f.tells_percentiles) {
        return Ok(None);
    }
    let count = run.latency.count();
    let enough_for = |percent: f64| (count as f64) >= needed(percent);
    let told = highest_told(run);
    let severity = if enough_for(PERCENTILE_NEEDED) {
        Severity::Note
    } else {
        Severity::Suspect
    };
    let (says, figures) = if !enough_for(told) {
        let figures = vec![
            ("count", Figure::Count(count)),
            ("percentile", Figure::Number(told)),
            ("needed", Figure::Count(needed(told).round() as u64)),
        ];
        (SAMPLES, figures)
    } else if run.totals.elapsed_s < SHORTEST_S {
        (
            TIME,
            vec![("seconds", Figure::Number(run.totals.elapsed_s))],
        )
    } else {
        return Ok(None);
    };
    Ok(Some(Finding {
        rule: ID,
        severity,
        says,
        instead: INSTEAD,
        figures,
    }))
}

fn needed(percent: f64) -> f64 {
    SAMPLES_BEYOND / (1.0 - percent / 100.0)
}

/// The highest percentile that is told: what reports show, or what was asked for.
fn highest_told(run: &Run<'_>) -> f64 {
    let asked = option(run.record, "percentile").unwrap_or("");
    asked
        .split(',')
        .filter_map(|p| p.trim().parse::<f64>().ok())
        .filter(|p| *p < 100.0)
        .fold(PERCENTILE_SHOWN, f64::max)
}
