//! What must be kept: `p99 < 20ms and errors < 0.1%`.

use crate::pacing::parse_duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What an objective limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// A percentile of response times, 0 to 100.
    Percentile(f64),
    /// The mean response time.
    Mean,
    /// The longest response time.
    Max,
    /// Errors a hundred transactions.
    ErrorPercent,
}

/// One limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What is limited.
    pub measure: Measure,
    /// Seconds, or errors a hundred transactions.
    pub below: f64,
    /// Whether the limit itself is still kept (`<=`).
    pub inclusive: bool,
}

impl Limit {
    /// Whether a value, in the limit's unit, keeps it.
    pub fn is_kept(&self, value: f64) -> bool {
        value < self.below || (self.inclusive && value <= self.below)
    }
}

/// Limits that must all be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Objective(Vec<Limit>);

impl Objective {
    /// The limits, in the order given.
    pub fn limits(&self) -> &[Limit] {
        &self.0
    }
}

/// Why a text is no objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given}: {reason}; use p50 to p100, avg, max with a time, and errors with a percentage, \
     after < or <=, joined by and; for example \"p99 < 20ms\" or \"p99.9 <= 1s and errors < \
     0.1%\""
)]
pub struct ObjectiveError {
    given: String,
    reason: String,
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split(" and ")
            .flat_map(|part| part.split(','))
            .map(|part| limit(part.trim()))
            .collect::<Result<Vec<_>, _>>()
            .map(Objective)
            .map_err(|reason| ObjectiveError {
                given: text.into(),
                reason,
            })
    }
}

fn limit(text: &str) -> Result<Limit, String> {
    let (name, rest) = text
        .split_once('<')
        .ok_or_else(|| format!("{text:?} has no <"))?;
    let (inclusive, value) = match rest.strip_prefix('=') {
        Some(value) => (true, value.trim()),
        None => (false, rest.trim()),
    };
    let name = name.trim();
    let measure = match name {
        "avg" | "mean" => Measure::Mean,
        "max" => Measure::Max,
        "errors" => Measure::ErrorPercent,
        _ => {
            let percentile = name.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
            match percentile {
                Some(p) if (1.0..=100.0).contains(&p) => Measure::Percentile(p),
                _ => return Err(format!("{name:?} is not known")),
            }
        }
    };
    let below = if measure == Measure::ErrorPercent {
        let number = value.strip_suffix('%').map(str::trim);
        match number.and_then(|n| n.parse::<f64>().ok()) {
            Some(n) if (0.0..=100.0).contains(&n) => n,
            _ => return Err(format!("{value:?} is not a percentage")),
        }
    } else {
        parse_duration(value)
            .map_err(|_| format!("{value:?} is not a time"))?
            .as_secs_f64()
    };
    if below == 0.0 && !inclusive {
        return Err(format!("nothing is below {value}"));
    }
    Ok(Limit {
        measure,
        below,
        inclusive,
    })
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.inclusive { "<=" } else { "<" };
        let time = || Duration::from_secs_f64(self.below);
        match self.measure {
            Measure::Percentile(p) => write!(f, "p{p} {sign} {:?}", time()),
            Measure::Mean => write!(f, "avg {sign} {:?}", time()),
            Measure::Max => write!(f, "max {sign} {:?}", time()),
            Measure::ErrorPercent => write!(f, "errors {sign} {}%", self.below),
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, limit) in self.0.iter().enumerate() {
            let joint = if number > 0 { " and " } else { "" };
            write!(f, "{joint}{limit}")?;
        }
        Ok(())
    }
}

impl From<Objective> for String {
    fn from(objective: Objective) -> Self {
        objective.to_string()
    }
}

impl TryFrom<String> for Objective {
    type Error = ObjectiveError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn objectives_are_read_and_shown() {
        for (text, shown) in [
            ("p99 < 20ms", "p99 < 20ms"),
            ("p99.9<=1s and errors<0.1%", "p99.9 <= 1s and errors < 0.1%"),
            ("avg < 5ms, max < 2s", "avg < 5ms and max < 2s"),
            ("errors <= 0%", "errors <= 0%"),
        ] {
            let objective: Objective = text.parse().unwrap();
            assert_eq!(objective.to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_objective_is_told() {
        for (text, reason) in [
            ("p99", "has no <"),
            ("p99 > 20ms", "has no <"),
            ("p0.5 < 20ms", "is not known"),
            ("p101 < 20ms", "is not known"),
            ("speed < 20ms", "is not known"),
            ("p99 < fast", "is not a time"),
            ("p99 < 0", "nothing is below"),
            ("errors < 5", "is not a percentage"),
            ("", "has no <"),
        ] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(
                error.contains(reason) && error.contains("for example"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_limit_is_kept_below_it_and_at_it_only_when_inclusive() {
        let limit = |text: &str| text.parse::<Objective>().unwrap().limits()[0];
        assert!(limit("p99 < 20ms").is_kept(0.0199));
        assert!(!limit("p99 < 20ms").is_kept(0.02));
        assert!(limit("p99 <= 20ms").is_kept(0.02));
        assert!(!limit("p99 <= 20ms").is_kept(f64::NAN));
    }

    proptest! {
        #[test]
        fn any_text_is_an_objective_or_an_error(text in ".{0,24}") {
            if let Ok(objective) = text.parse::<Objective>() {
                prop_assert_eq!(objective.to_string().parse(), Ok(objective));
            }
        }
    }
}
