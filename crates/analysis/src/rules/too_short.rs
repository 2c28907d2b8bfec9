//! Too few samples for the percentiles that are told, or too little time.

use crate::run::Run;
use crate::texts::too_short::{INSTEAD, SAMPLES, TIME};
use crate::thresholds::{PERCENTILE_NEEDED, PERCENTILE_SHOWN, SHORTEST_S, samples_needed};
use crate::{AnalysisError, Figure, Finding, Severity, option, tells_percentiles};

pub(super) const ID: &str = "too-short";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    if !tells_percentiles(run.record) {
        return Ok(None);
    }
    let count = run.latency.count();
    let enough_for = |percent: f64| (count as f64) >= samples_needed(percent);
    let told = highest_told(run);
    let severity = if enough_for(PERCENTILE_NEEDED) {
        Severity::Note
    } else {
        Severity::Suspect
    };
    let (says, figures) = if !enough_for(told) {
        let figures = vec![
            ("count", Figure::Count(count)),
            // It is a name: the 99th, and not the 99.0th.
            ("percentile", Figure::Text(told.to_string())),
            ("needed", Figure::Count(samples_needed(told) as u64)),
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

/// The highest percentile that is told: what reports show, or what was asked for.
fn highest_told(run: &Run<'_>) -> f64 {
    let asked = option(run.record, "percentile").unwrap_or("");
    asked
        .split(',')
        .filter_map(|p| p.trim().parse::<f64>().ok())
        .filter(|p| *p < 100.0)
        .fold(PERCENTILE_SHOWN, f64::max)
}
