//! What makes TPC-C and is not there: the mix (clause 5.2.3).

use super::{NEW_ORDER, TYPE_REQUIREMENTS};
use crate::run::Run;
use crate::texts::not_tpcc_like::{INSTEAD, SAYS};
use crate::thresholds::{CHANCE, MIX_APART, MIX_SAMPLES};
use crate::{AnalysisError, Figure, Finding, Severity};

pub(crate) const ID: &str = "not-tpcc-like";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let of = |name: &str| run.totals.types.get(name).map_or(0, |t| t.count);
    Ok(of_counts(|name| of(name) as f64))
}

/// What the numbers of transactions of each type say. With few of them only what chance does not
/// explain is told.
pub(crate) fn of_counts(of: impl Fn(&str) -> f64) -> Option<Finding> {
    let asked = TYPE_REQUIREMENTS.iter();
    let least: Vec<(&str, f64)> = asked
        .filter_map(|t| Some((t.name, t.least_share?)))
        .collect();
    let all: f64 = of(NEW_ORDER) + least.iter().map(|(name, _)| of(name)).sum::<f64>();
    if all < MIX_SAMPLES {
        return None;
    }
    let below = least.iter().filter(|(name, percent)| {
        let expected = all * percent / 100.0;
        let chance = CHANCE * (expected * (1.0 - percent / 100.0)).sqrt();
        of(name) < expected - chance && of(name) < expected * MIX_APART
    });
    let (name, percent) = below.max_by(|a, b| {
        let short = |(name, percent): &(&str, f64)| percent - of(name) / all * 100.0;
        short(a).total_cmp(&short(b))
    })?;
    Some(Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("type", Figure::Text((*name).into())),
            ("share", Figure::Number(of(name) / all * 100.0)),
            ("least", Figure::Number(*percent)),
            ("neworder", Figure::Number(of(NEW_ORDER) / all * 100.0)),
        ],
    })
}
