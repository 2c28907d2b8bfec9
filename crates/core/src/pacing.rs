//! When transactions start: as replies come, after thinking, or on a schedule of arrivals.

use crate::Objective;
use crate::duration_text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How arrivals of a schedule are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At exponential distances, as many independent users make them; sysbench's `--rate`.
    #[default]
    Poisson,
    /// At equal distances.
    Constant,
}

/// A time for which a rate is held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Arrivals a second in all.
    pub per_second: f64,
    /// How long it is held.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub hold: Duration,
}

/// A search for the highest rate that keeps an objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindMax {
    /// What must be kept.
    #[schemars(with = "String")]
    pub objective: Objective,
    /// The first rate tried; `None` measures without a schedule first, and starts from that.
    #[serde(default)]
    pub first_rate: Option<f64>,
    /// How long each rate is held before it is judged.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub hold: Duration,
    /// How long the rate found is confirmed.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub confirm: Duration,
    /// The search ends when the rates kept and not kept are this close (0.05 is 5 %).
    pub precision: f64,
}

/// What lets a transaction start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Closed loop: the reply before it, and the terminal's thinking.
    #[default]
    Closed,
    /// Open loop: its place in a schedule of so many arrivals a second.
    Rate(f64),
    /// Open loop, with rates that follow each other.
    Steps(Vec<RateStep>),
    /// Open loop, with rates that a search chooses.
    FindMax(FindMax),
}

impl Pacing {
    /// Whether transactions start on a schedule, whatever the replies do.
    pub fn is_open_loop(&self) -> bool {
        !matches!(self, Pacing::Closed)
    }
}

/// A terminal's pause between two transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub enum ThinkTime {
    /// None.
    #[default]
    None,
    /// Always this long.
    Constant(Duration),
    /// Exponentially distributed around this mean, cut off at ten times of it (TPC-C 5.2.5.4).
    Exponential(Duration),
}

/// Why a think time was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}: must be a time, alone or after exp:; for example 100ms, 10s, exp:12s")]
pub struct ThinkTimeError(String);

impl std::str::FromStr for ThinkTime {
    type Err = ThinkTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || ThinkTimeError(text.into());
        let (wrap, time): (fn(Duration) -> ThinkTime, _) = match text.strip_prefix("exp:") {
            Some(mean) => (ThinkTime::Exponential, mean),
            None => (ThinkTime::Constant, text),
        };
        let time = parse_duration(time).map_err(|_| fail())?;
        Ok(if time.is_zero() {
            ThinkTime::None
        } else {
            wrap(time)
        })
    }
}

impl From<ThinkTime> for String {
    fn from(think: ThinkTime) -> Self {
        think.to_string()
    }
}

impl TryFrom<String> for ThinkTime {
    type Error = ThinkTimeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThinkTime::None => f.write_str("0"),
            ThinkTime::Constant(t) => write!(f, "{t:?}"),
            ThinkTime::Exponential(t) => write!(f, "exp:{t:?}"),
        }
    }
}

/// Why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}: must be a number with us, ms, s, m or h (a bare number is seconds); for example 20ms"
)]
pub struct DurationError(String);

/// Reads a time: `250us`, `20ms`, `1.5s`, `10m`, `1h30m`; a bare number is seconds.
///
/// # Errors
/// [`DurationError`] when it is no such text, negative, or longer than a year.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    const LONGEST_NS: f64 = 365.0 * 86_400.0 * 1e9;
    let fail = || DurationError(text.into());
    let mut rest = text.trim();
    // Whole numbers are exact to the nanosecond, for a year is more than a float holds.
    let (mut whole_ns, mut fractions_ns) = (0u64, 0.0);
    let mut parts = 0;
    loop {
        let split = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(split);
        let after = after.trim_start();
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let unit_ns: u64 = match unit.trim_end() {
            "ns" => 1,
            "us" | "µs" | "μs" => 1000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            // Of several parts each has its unit.
            "" if parts == 0 && next.is_empty() => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return Err(fail()),
        };
        match number.parse::<u64>() {
            Ok(number) => {
                let ns = number.checked_mul(unit_ns);
                let sum = ns.and_then(|ns| whole_ns.checked_add(ns));
                whole_ns = sum.ok_or_else(fail)?;
            }
            Err(_) => fractions_ns += number.parse::<f64>().map_err(|_| fail())? * unit_ns as f64,
        }
        parts += 1;
        rest = next;
        if rest.is_empty() {
            break;
        }
    }
    if whole_ns as f64 + fractions_ns > LONGEST_NS {
        return Err(fail());
    }
    Ok(Duration::from_nanos(whole_ns) + Duration::from_nanos(fractions_ns.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_have_units() {
        for (text, micros) in [
            ("250us", 250),
            ("20ms", 20_000),
            ("1.5s", 1_500_000),
            ("2", 2_000_000),
            ("10m", 600_000_000),
            ("1h", 3_600_000_000),
            ("1h30m", 5_400_000_000),
            ("1m 2.5s", 62_500_000),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_micros(micros)));
        }
        for text in [
            "",
            "ms",
            "20 parsecs",
            "-1s",
            "1e400s",
            "99999h",
            "1..2s",
            "NaN",
            "1h30",
            "1hm",
            "5 5s",
        ] {
            let error = parse_duration(text).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{text}: must be")));
        }
    }

    #[test]
    fn think_times_are_constant_or_exponential() {
        let s = Duration::from_secs;
        assert_eq!("10s".parse(), Ok(ThinkTime::Constant(s(10))));
        assert_eq!("exp:12s".parse(), Ok(ThinkTime::Exponential(s(12))));
        assert_eq!("0".parse(), Ok(ThinkTime::None));
        let error = "gauss:1s".parse::<ThinkTime>().unwrap_err();
        assert!(error.to_string().contains("exp:12s"), "{error}");
    }

    proptest! {
        #[test]
        fn think_times_are_read_as_they_are_shown(millis in 0u64..10_000_000, exp in any::<bool>()) {
            let time = Duration::from_millis(millis);
            let think = match (millis, exp) {
                (0, _) => ThinkTime::None,
                (_, true) => ThinkTime::Exponential(time),
                (_, false) => ThinkTime::Constant(time),
            };
            prop_assert_eq!(think.to_string().parse(), Ok(think));
        }
    }
}
