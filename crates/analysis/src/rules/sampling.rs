//! Monitoring that stopped while the load ran, or that does not cover the run: a note, because what was
//! measured of the load stands.

use crate::run::Run;
use crate::texts::{evidence_outside_run, sampler_gaps};
use crate::thresholds::{EVIDENCE_COVERS, GAP_STEPS, SAMPLES_MISSING};
use crate::{AnalysisError, Figure, Finding, Severity};
use std::collections::BTreeMap;
use tidemark_stats::median;

pub(super) const GAPS: &str = "sampler-gaps";
pub(super) const OUTSIDE: &str = "evidence-outside-run";

/// When a source looked, in seconds from the begin of the measurement.
struct Looked {
    at: Vec<f64>,
    /// Seconds from one look to the next.
    step: f64,
}

/// The times of each source: of its series with the most points, and all that begins or ends outside.
fn sources<'r>(run: &Run<'r>) -> BTreeMap<&'r str, Looked> {
    let mut all: BTreeMap<&str, Looked> = BTreeMap::new();
    for series in &run.record.series {
        let Ok(points) = series.points() else {
            continue;
        };
        let at: Vec<f64> = points
            .filter_map(Result::ok)
            .map(|p| p.at_ms as f64 / 1000.0)
            .collect();
        let steps: Vec<f64> = at.windows(2).map(|w| w[1] - w[0]).collect();
        let step = median(&steps).max(f64::from(series.step_ms) / 1000.0);
        let known = all.get(series.key.source.as_str());
        if at.len() > 1 && known.is_none_or(|k| k.at.len() < at.len()) {
            all.insert(&series.key.source, Looked { at, step });
        }
    }
    all
}

/// The measurement's end in seconds.
fn end_s(run: &Run<'_>) -> f64 {
    let last = run.measured().last();
    last.map_or(run.totals.elapsed_s, |i| {
        (i.start_ms as f64 + i.length_ms) / 1000.0
    })
}

/// Seconds that are missing between two looks.
pub(super) fn gaps(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let end = end_s(run);
    let mut worst: Option<(f64, Finding)> = None;
    for (source, looked) in sources(run) {
        let between = looked.at.windows(2).map(|w| (w[0] + looked.step, w[1]));
        let within = between
            .map(|(from, to)| (from.max(0.0), to.min(end)))
            .filter(|(from, to)| to - from >= (GAP_STEPS - 1.0) * looked.step);
        let (mut missing, mut longest) = (0.0, (0.0, 0.0));
        for (from, to) in within {
            missing += to - from;
            if to - from > longest.1 {
                longest = (from, to - from);
            }
        }
        let share = missing / end;
        if share.is_nan()
            || share < SAMPLES_MISSING
            || worst.as_ref().is_some_and(|(s, _)| *s >= share)
        {
            continue;
        }
        let figures = vec![
            ("source", Figure::Text(source.into())),
            ("missing", Figure::Number(missing)),
            ("share", Figure::Number(share * 100.0)),
            ("start", Figure::Number(longest.0)),
            ("longest", Figure::Number(longest.1)),
        ];
        let (says, instead) = (sampler_gaps::SAYS, sampler_gaps::INSTEAD);
        worst = Some((
            share,
            Finding {
                rule: GAPS,
                severity: Severity::Note,
                says,
                instead,
                figures,
            },
        ));
    }
    Ok(worst.map(|(_, finding)| finding))
}

/// A source that began to look too late, or stopped too early.
pub(super) fn outside(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let end = end_s(run);
    let mut worst: Option<(f64, Finding)> = None;
    for (source, looked) in sources(run) {
        let (Some(first), Some(last)) = (looked.at.first(), looked.at.last()) else {
            continue;
        };
        let (from, to) = (first.max(0.0), (last + looked.step).min(end));
        let share = ((to - from) / end).max(0.0);
        let lost = (end - (to - from)).min(end);
        if share.is_nan()
            || share >= EVIDENCE_COVERS
            || lost < GAP_STEPS * looked.step
            || worst.as_ref().is_some_and(|(s, _)| *s <= share)
        {
            continue;
        }
        let figures = vec![
            ("source", Figure::Text(source.into())),
            ("from", Figure::Number(*first)),
            ("to", Figure::Number(last + looked.step)),
            ("measured", Figure::Number(end)),
            ("share", Figure::Number(share * 100.0)),
        ];
        let (says, instead) = (evidence_outside_run::SAYS, evidence_outside_run::INSTEAD);
        worst = Some((
            share,
            Finding {
                rule: OUTSIDE,
                severity: Severity::Note,
                says,
                instead,
                figures,
            },
        ));
    }
    Ok(worst.map(|(_, finding)| finding))
}
