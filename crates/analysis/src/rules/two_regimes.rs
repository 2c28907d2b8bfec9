//! One mean over two different states: before and after a cache filled, a checkpoint, a throttle.

use crate::run::{Run, rate};
use crate::texts::two_regimes::{INSTEAD, SAYS};
use crate::thresholds::{
    REGIME_SHORTEST, REGIMES_BETTER, REGIMES_SURE, TREND_CHANCE, TREND_CHANGE, TREND_INTERVALS,
};
use crate::{AnalysisError, Figure, Finding, LoadKind, Severity};
use tidemark_stats::{chance, variance_inflation};

pub(super) const ID: &str = "two-regimes";

/// Two levels, and the first value of the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Regimes {
    pub at: usize,
    pub before: f64,
    pub after: f64,
}

/// In an open loop the schedule says the rate.
pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let whole = run.whole();
    let rates: Vec<f64> = whole.iter().map(|i| rate(i)).collect();
    if run.kind != LoadKind::Closed || rates.len() < TREND_INTERVALS {
        return Ok(None);
    }
    let Some(regimes) = regimes(&rates) else {
        return Ok(None);
    };
    let start_ms = whole.get(regimes.at).map_or(0, |i| i.start_ms);
    Ok(Some(Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("at", Figure::Number(start_ms as f64 / 1000.0)),
            ("before", Figure::Number(regimes.before)),
            ("after", Figure::Number(regimes.after)),
            ("mean", Figure::Number(mean(&rates))),
        ],
    }))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The point that parts values best, where both sides are level and far apart; `None` where a line
/// or one level describes them as well.
pub(super) fn regimes(values: &[f64]) -> Option<Regimes> {
    let n = values.len();
    let all = mean(values);
    if n < 2 * REGIME_SHORTEST || all <= 0.0 || !all.is_finite() {
        return None;
    }
    // Between the sums of squares within both sides is the least where this is the greatest.
    let total: f64 = values.iter().sum();
    let mut sum: f64 = values.iter().take(REGIME_SHORTEST).sum();
    let mut best = (0.0, 0, 0.0);
    for at in REGIME_SHORTEST..=n - REGIME_SHORTEST {
        let (left, right) = (at as f64, (n - at) as f64);
        let apart = sum / left - (total - sum) / right;
        let gain = apart * apart * left * right / n as f64;
        if gain > best.0 {
            best = (gain, at, apart);
        }
        sum += values.get(at).copied().unwrap_or(0.0);
    }
    let (gain, at, apart) = best;
    let (first, second) = values.split_at_checked(at)?;
    let of = |half: &[f64]| {
        let m = mean(half);
        half.iter().map(|v| v - m).collect::<Vec<f64>>()
    };
    let within = [of(first), of(second)].concat();
    let squares: f64 = within.iter().map(|r| r * r).sum();
    let variance = squares / (n - 2) as f64;
    let sides = 1.0 / first.len() as f64 + 1.0 / second.len() as f64;
    let inflation = variance_inflation(&within);
    let error = (variance * sides * inflation).sqrt();
    let points = (n - 2 * REGIME_SHORTEST + 1) as f64;
    let by_chance = points * chance(apart / error, (n - 2) as f64 / inflation);
    let sure = apart.abs() > REGIMES_SURE * error
        && by_chance <= TREND_CHANCE
        && apart.abs() > TREND_CHANGE * all;
    // What a line leaves.
    let middle = (n - 1) as f64 / 2.0;
    let spread: f64 = (0..n).map(|i| (i as f64 - middle).powi(2)).sum();
    let with_time = (0..n).zip(values).map(|(i, v)| (i as f64 - middle) * v);
    let by_line = with_time.sum::<f64>().powi(2) / spread;
    let left_by_line = squares + gain - by_line;
    (sure && squares < REGIMES_BETTER * left_by_line).then(|| Regimes {
        at,
        before: mean(first),
        after: mean(second),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(i: usize) -> f64 {
        (i * 7 % 5) as f64 * 4.0
    }

    #[test]
    fn a_change_point_is_found_wherever_it_is_and_none_where_there_is_none() {
        for at in [5, 17, 34] {
            let values: Vec<f64> = (0..40)
                .map(|i| if i < at { 1000.0 } else { 600.0 } + noise(i))
                .collect();
            assert_eq!(regimes(&values).map(|r| r.at), Some(at));
        }
        let level: Vec<f64> = (0..40).map(|i| 1000.0 + noise(i)).collect();
        assert_eq!(regimes(&level), None);
        let rising: Vec<f64> = (0..40)
            .map(|i| 500.0 + 20.0 * i as f64 + noise(i))
            .collect();
        assert_eq!(regimes(&rising), None, "a line: drift tells of it");
        let small: Vec<f64> = (0..40)
            .map(|i| if i < 20 { 1000.0 } else { 850.0 } + noise(i))
            .collect();
        assert_eq!(regimes(&small), None, "less than a fifth");
    }
}
