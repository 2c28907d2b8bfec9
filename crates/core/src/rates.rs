//! Rates of arrivals as users write them: `1000`, `1000..20000:1000`, `1000,5000,2000`.

use std::fmt;
use std::str::FromStr;

/// Largest rate taken, in arrivals a second.
const HIGHEST: f64 = 1e6;
/// Smallest one: an arrival in nearly three hours.
const LOWEST: f64 = 1e-4;
/// More steps than this are a slip of the pen.
const MOST_STEPS: usize = 10_000;

/// Rates that a user asked for, in arrivals a second.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Rates {
    /// None: closed loop.
    #[default]
    Closed,
    /// One for the whole run.
    One(f64),
    /// Several, one after the other.
    Steps(Vec<f64>),
}

/// Why a text is no rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RatesError {
    /// Not a number, a range or a list of them.
    #[error("{0:?} is not a rate")]
    Malformed(String),
    /// Beyond what can be kept, and not 0.
    #[error("{0} is neither 0 nor from 0.0001 to 1000000")]
    Range(String),
    /// A step that holds no load.
    #[error("a step must be above 0")]
    Zero,
    /// A range that never ends, or nearly so.
    #[error("{0} is more than 10000 steps")]
    Many(String),
}

impl Rates {
    /// What is allowed, for messages.
    pub const ALLOWED: &str = "transactions per second from 0.0001 to 1000000 or 0, \
                               from..to:step, or several joined by commas";
}

impl FromStr for Rates {
    type Err = RatesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if !text.contains(',') && !text.contains("..") {
            return Ok(match number(text)? {
                0.0 => Rates::Closed,
                rate => Rates::One(rate),
            });
        }
        let mut steps = Vec::new();
        for part in text.split(',').map(str::trim) {
            match part.split_once("..") {
                None => steps.push(number(part)?),
                Some((from, rest)) => range(part, from, rest, &mut steps)?,
            }
            if steps.len() > MOST_STEPS {
                return Err(RatesError::Many(text.into()));
            }
        }
        // What is left of a fraction by rounding is none, either.
        if steps.iter().any(|rate| *rate < LOWEST) {
            return Err(RatesError::Zero);
        }
        Ok(Rates::Steps(steps))
    }
}

/// `from..to:step`, up or down; the last step is the last that does not pass `to`.
fn range(part: &str, from: &str, rest: &str, steps: &mut Vec<f64>) -> Result<(), RatesError> {
    let (to, step) = rest
        .split_once(':')
        .ok_or_else(|| RatesError::Malformed(part.into()))?;
    let (from, to, step) = (number(from)?, number(to)?, number(step)?);
    if step == 0.0 {
        return Err(RatesError::Zero);
    }
    // A step that is a decimal fraction may miss the end by a rounding.
    let distance = ((to - from).abs() / step + 1e-9).floor();
    if distance >= MOST_STEPS as f64 {
        return Err(RatesError::Many(part.into()));
    }
    let signed = if to < from { -step } else { step };
    // In range: at most MOST_STEPS.
    steps.extend((0..=distance as u32).map(|n| from + f64::from(n) * signed));
    Ok(())
}

fn number(text: &str) -> Result<f64, RatesError> {
    let text = text.trim();
    let number: f64 = text
        .parse()
        .map_err(|_| RatesError::Malformed(text.into()))?;
    if number == 0.0 || (LOWEST..=HIGHEST).contains(&number) {
        // No negative zero.
        Ok(number + 0.0)
    } else {
        Err(RatesError::Range(text.into()))
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rates::Closed => f.write_str("0"),
            Rates::One(rate) => write!(f, "{rate}"),
            // Alone it would be read as a rate for the whole run.
            Rates::Steps(steps) if steps.len() == 1 => write!(f, "{0}..{0}:1", steps[0]),
            Rates::Steps(steps) => {
                for (n, rate) in steps.iter().enumerate() {
                    write!(f, "{}{rate}", if n > 0 { "," } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steps(text: &str) -> Vec<f64> {
        match text.parse() {
            Ok(Rates::Steps(steps)) => steps,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn one_rate_or_none() {
        assert_eq!("0".parse(), Ok(Rates::Closed));
        assert_eq!("-0".parse(), Ok(Rates::Closed));
        assert_eq!("12.5".parse(), Ok(Rates::One(12.5)));
        assert_eq!("1e4".parse(), Ok(Rates::One(10_000.0)));
    }

    #[test]
    fn a_single_step_is_shown_as_a_step() {
        let rates: Rates = "5..5:1".parse().unwrap();
        assert_eq!(rates.to_string(), "5..5:1");
    }

    #[test]
    fn ranges_go_up_and_down_and_lists_join_them() {
        assert_eq!(steps("1000..3000:1000"), [1000.0, 2000.0, 3000.0]);
        assert_eq!(steps("3000..1000:1000"), [3000.0, 2000.0, 1000.0]);
        assert_eq!(steps("1000..2500:1000"), [1000.0, 2000.0]);
        assert_eq!(steps("1..2:0.1").len(), 11);
        assert_eq!(steps("5..5:1"), [5.0]);
        assert_eq!(steps("1000,5000,2000"), [1000.0, 5000.0, 2000.0]);
        assert_eq!(
            steps("100, 1000..2000:500 ,100"),
            [100.0, 1000.0, 1500.0, 2000.0, 100.0]
        );
        assert_eq!(steps("1000..20000:1000").len(), 20);
    }

    #[test]
    fn what_is_no_rate_is_told() {
        for (text, said) in [
            ("abc", "\"abc\" is not a rate"),
            ("", "\"\" is not a rate"),
            ("1000..2000", "\"1000..2000\" is not a rate"),
            ("1000,,2000", "\"\" is not a rate"),
            ("1..2:x", "\"x\" is not a rate"),
            ("NaN", "NaN is neither 0"),
            ("inf", "inf is neither 0"),
            ("-5", "-5 is neither 0"),
            ("2e6", "2e6 is neither 0"),
            ("1e-300", "1e-300 is neither 0 nor from 0.0001"),
            ("0.3..0:0.1", "above 0"),
            ("0,1000", "above 0"),
            ("1000..0:500", "above 0"),
            ("1..2:0", "above 0"),
            ("1..1000000:0.0001", "more than 10000 steps"),
        ] {
            let error = text.parse::<Rates>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_rates_or_an_error(text in "[0-9.,:e-]{0,16}") {
            if let Ok(rates) = text.parse::<Rates>() {
                prop_assert_eq!(rates.to_string().parse(), Ok(match rates {
                    // A list of one reads as one rate.
                    Rates::Steps(one) if one.len() == 1 => Rates::One(one[0]),
                    rates => rates,
                }));
            }
        }
    }
}
