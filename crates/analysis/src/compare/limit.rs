//! A change that is too much: `p99 > +5%`.

use super::{Comparison, Metric, Verdict};
use std::fmt;

/// A change of a metric that fails a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegressionLimit {
    metric: Metric,
    /// Whether a change above the limit fails, or one below.
    above: bool,
    /// The change in percent, as it was given.
    percent: f64,
}

/// Why a limit was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?}: {why}; for example 'p99 > +5%' or 'throughput < -3%', of throughput, mean, p50, p95, p99"
)]
pub struct LimitError {
    text: String,
    why: String,
}

impl std::str::FromStr for RegressionLimit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let fail = |why: String| LimitError {
            text: text.into(),
            why,
        };
        let (name, above, change) = match (text.split_once('>'), text.split_once('<')) {
            (Some((name, change)), None) => (name, true, change),
            (None, Some((name, change))) => (name, false, change),
            _ => {
                return Err(fail(
                    "must be a metric, > or <, and a change in percent".into(),
                ));
            }
        };
        let name = name.trim().to_ascii_lowercase();
        let Some(metric) = Metric::ALL.into_iter().find(|m| m.name() == name) else {
            let names = Metric::ALL.map(Metric::name);
            let near = tidemark_core::nearest(&name, names);
            let meant = near
                .map(|n| format!(", did you mean {n}?"))
                .unwrap_or_default();
            return Err(fail(format!("there is no metric {name:?}{meant}")));
        };
        let percent = change.trim().strip_suffix('%').map(str::trim_end);
        // The minus of a report, copied.
        let number = percent.and_then(|p| p.replace('−', "-").parse::<f64>().ok());
        let Some(percent) = number.filter(|p| p.is_finite() && *p > -100.0) else {
            return Err(fail("the change is a number with a sign and %".into()));
        };
        Ok(Self {
            metric,
            above,
            percent,
        })
    }
}

impl fmt::Display for RegressionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.above { '>' } else { '<' };
        write!(f, "{} {sign} {:+}%", self.metric.name(), self.percent)
    }
}

impl RegressionLimit {
    /// What it is a limit of.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Whether a comparison tells enough to judge by it: not where a run lacks the metric, a side has no
    /// run that may be used, nothing tells how sure the ratio is, or its interval says nothing.
    pub fn can_judge(&self, comparison: &Comparison) -> bool {
        let mut metrics = comparison.metrics.iter();
        let of = metrics.find(|m| m.metric == self.metric);
        of.is_some_and(|of| match of.verdict {
            Verdict::Faster | Verdict::Slower => true,
            Verdict::NoDifferenceShown => !of.is_too_wide(),
            Verdict::NotEnough | Verdict::Invalid => false,
        })
    }

    /// Whether a comparison is beyond it: the metric changed by more, and that it changed is shown. What
    /// can't be judged does not pass.
    pub fn is_broken_by(&self, comparison: &Comparison) -> bool {
        let mut metrics = comparison.metrics.iter();
        let Some(of) = metrics.find(|m| m.metric == self.metric) else {
            return true;
        };
        if !self.can_judge(comparison) {
            return true;
        }
        let (change, limit) = (of.ratio - 1.0, self.percent / 100.0);
        let beyond = if self.above {
            change > limit
        } else {
            change < limit
        };
        beyond && of.verdict != Verdict::NoDifferenceShown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_are_shown() {
        for (text, shown) in [
            ("p99 > +5%", "p99 > +5%"),
            ("P99>5 %", "p99 > +5%"),
            ("throughput < -3%", "throughput < -3%"),
            ("mean>+0.5%", "mean > +0.5%"),
            // A hundredth of it, a hundred times, is another number.
            ("p95 > +7%", "p95 > +7%"),
            ("throughput < −3%", "throughput < -3%"),
        ] {
            let limit: RegressionLimit = text.parse().unwrap();
            assert_eq!(limit.to_string(), shown);
            assert_eq!(shown.parse(), Ok(limit));
        }
    }

    #[test]
    fn what_is_no_limit_says_what_is() {
        for (text, part) in [
            ("", "a metric, > or <"),
            ("p99 +5%", "a metric, > or <"),
            ("p98 > +5%", "did you mean p9"),
            ("p99 > 5", "a sign and %"),
            ("p99 > x%", "a sign and %"),
            ("p99 > inf%", "a sign and %"),
            ("throughput < -150%", "a sign and %"),
        ] {
            let error = text.parse::<RegressionLimit>().unwrap_err().to_string();
            assert!(
                error.contains(part) && error.contains("'p99 > +5%'"),
                "{error}"
            );
        }
    }
}
