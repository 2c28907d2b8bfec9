//! Monitoring that stopped while the load ran, or that does not cover the run: a note, because what was
//! measured of the load stands.

use crate::run::Run;
use crate::texts::{evidence_outside_run, sampler_gaps};
use crate::thresholds::{COMES_BACK_S, EVIDENCE_COVERS, GAP_STEPS, SAMPLES_MISSING};
use crate::{AnalysisError, Both, Figure, Finding, Severity};
use std::collections::BTreeMap;
use tidemark_core::observe::{CLIENT_HOST, SERVER_HOST, SOURCES};
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

type Figures = Vec<(&'static str, Figure)>;

/// The finding of the source of which the largest share is missing.
fn worst(
    run: &Run<'_>,
    rule: &'static str,
    (says, instead): (Both, Both),
    missing: impl Fn(&str, &Looked, f64) -> Option<(f64, Figures)>,
) -> Option<Finding> {
    let end = end_s(run);
    let of_source = |(source, looked): (&str, Looked)| {
        let (share, mut figures) = missing(source, &looked, end)?;
        figures.push(("source", Figure::Text(source.into())));
        (!share.is_nan()).then_some((share, figures))
    };
    let found = sources(run).into_iter().filter_map(of_source);
    let (_, figures) = found.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
    Some(Finding {
        rule,
        severity: Severity::Note,
        says,
        instead,
        figures,
    })
}

/// Seconds of a gap in which a server was gone, or its sampler had not come back: `outage` speaks of that.
fn of_outages(run: &Run<'_>, source: &str, from: f64, to: f64) -> f64 {
    if !SOURCES.contains(&source) || [CLIENT_HOST, SERVER_HOST].contains(&source) {
        return 0.0;
    }
    let outages = run.record.outages.iter().map(|outage| {
        let begin = outage.start_ms as f64 / 1000.0;
        (begin, begin + outage.length_ms / 1000.0 + COMES_BACK_S)
    });
    let mut outages: Vec<(f64, f64)> = outages.collect();
    outages.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Of two hosts that were gone at one time it counts once.
    let (mut common, mut told) = (0.0, from);
    for (begin, end) in outages {
        let (begin, end) = (begin.max(told), end.min(to));
        common += (end - begin).max(0.0);
        told = told.max(end);
    }
    common
}

/// Seconds that are missing between two looks.
pub(super) fn gaps(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let texts = (sampler_gaps::SAYS, sampler_gaps::INSTEAD);
    Ok(worst(run, GAPS, texts, |source, looked, end| {
        let between = looked.at.windows(2).map(|w| (w[0] + looked.step, w[1]));
        let within = between
            .map(|(from, to)| (from.max(0.0), to.min(end)))
            .map(|(from, to)| (from, to - from - of_outages(run, source, from, to)))
            .filter(|(_, length)| *length >= (GAP_STEPS - 1.0) * looked.step);
        let (mut missing, mut longest) = (0.0, (0.0, 0.0));
        for (from, length) in within {
            missing += length;
            if length > longest.1 {
                longest = (from, length);
            }
        }
        let share = missing / end;
        let figures = vec![
            ("missing", Figure::Number(missing)),
            ("share", Figure::Number(share * 100.0)),
            ("start", Figure::Number(longest.0)),
            ("longest", Figure::Number(longest.1)),
        ];
        (share >= SAMPLES_MISSING).then_some((share, figures))
    }))
}

/// A source that began to look too late, or stopped too early.
pub(super) fn outside(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let texts = (evidence_outside_run::SAYS, evidence_outside_run::INSTEAD);
    Ok(worst(run, OUTSIDE, texts, |_, looked, end| {
        let (first, last) = (*looked.at.first()?, *looked.at.last()?);
        let (from, to) = (first.max(0.0), (last + looked.step).min(end));
        let share = ((to - from) / end).max(0.0);
        let lost = (end - (to - from)).min(end);
        let figures = vec![
            ("from", Figure::Number(first)),
            ("to", Figure::Number(last + looked.step)),
            ("measured", Figure::Number(end)),
            ("share", Figure::Number(share * 100.0)),
        ];
        let is_told = share < EVIDENCE_COVERS && lost >= GAP_STEPS * looked.step;
        is_told.then_some((1.0 - share, figures))
    }))
}
