//! A rate that was asked for and not served: fewer transactions than arrivals, or a queue that grows.

use crate::run::Run;
use crate::texts::backlog::{INSTEAD, SAYS};
use crate::texts::rate_missed;
use crate::thresholds::{BACKLOG_S, CHANCE, RATE_MISSED, TREND_INTERVALS, TREND_SURE};
use crate::{AnalysisError, Figure, Finding, LoadKind, Severity};
use tidemark_stats::trend;

pub(super) const ID: &str = "backlog";
pub(super) const MISSED: &str = "rate-missed";

/// The least rate that chance (arrivals come as they like) lets a served one have.
pub(super) fn least_served(asked: f64, seconds: f64) -> f64 {
    let expected = asked * seconds;
    let chance = (expected - CHANCE * expected.sqrt()) / seconds;
    chance.min(asked * RATE_MISSED)
}

/// Whether what waits grows from interval to interval up to so much.
pub(super) fn grows(waiting: &[f64], most: f64) -> bool {
    let last = waiting.len().saturating_sub(waiting.len() / 3);
    let end = waiting.get(last..).unwrap_or_default();
    let mean = end.iter().sum::<f64>() / end.len().max(1) as f64;
    waiting.len() >= TREND_INTERVALS
        && mean >= most
        && trend(waiting).is_some_and(|t| t.change > 0.0 && t.sure >= TREND_SURE)
}

/// Arrivals that were not served in time.
pub(super) fn missed(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let LoadKind::Open(asked) = run.kind else {
        return Ok(None);
    };
    let made = run.per_second();
    let seconds = run.totals.elapsed_s;
    Ok((made < least_served(asked, seconds)).then(|| Finding {
        rule: MISSED,
        severity: Severity::Suspect,
        says: rate_missed::MEASURED,
        instead: rate_missed::INSTEAD,
        figures: vec![
            ("asked", Figure::Number(asked)),
            ("made", Figure::Number(made)),
            ("share", Figure::Number(made / asked * 100.0)),
        ],
    }))
}

/// A queue that grows though the rate is about the one asked for.
pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let LoadKind::Open(asked) = run.kind else {
        return Ok(None);
    };
    if missed(run)?.is_some() {
        return Ok(None);
    }
    let whole = run.whole();
    let waiting: Vec<f64> = whole.iter().map(|i| i.queue_length as f64).collect();
    let (first, last) = (
        waiting.first().copied().unwrap_or(0.0),
        waiting.last().copied().unwrap_or(0.0),
    );
    Ok(grows(&waiting, BACKLOG_S * asked).then(|| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("first", Figure::Number(first)),
            ("last", Figure::Number(last)),
            ("seconds", Figure::Number(last / asked)),
        ],
    }))
}
