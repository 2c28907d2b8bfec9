//! Distributions that delays are drawn from.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, LogNormal, Pareto};
use std::fmt;
use std::time::Duration;
use tidemark_core::parse_duration;

/// Longer draws of a distribution without end count as this.
const LONGEST: Duration = Duration::from_secs(3600);

/// How long an answer waits.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Delay {
    /// Not at all.
    #[default]
    None,
    /// Always so long: `constant:5ms`.
    Constant(Duration),
    /// Anything between, equally: `uniform:1ms..9ms`.
    Uniform(Duration, Duration),
    /// Exponential around this mean: `exp:5ms`.
    Exponential(Duration),
    /// Log-normal: `lognormal:median=2ms,sigma=1`.
    LogNormal {
        /// Half of the delays are shorter.
        median: Duration,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Pareto, with a heavy tail: `pareto:min=1ms,shape=1.5`.
    Pareto {
        /// The shortest.
        min: Duration,
        /// The smaller, the heavier the tail.
        shape: f64,
    },
    /// One of a few, each with its probability: `bimodal:1ms@0.99,50ms@0.01`.
    Modes(Vec<(Duration, f64)>),
}

/// Why a delay was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text}: {why}; use none, constant:5ms, uniform:1ms..9ms, exp:5ms, \
     lognormal:median=2ms,sigma=1, pareto:min=1ms,shape=1.5 and bimodal:1ms@0.99,50ms@0.01"
)]
pub struct DelayError {
    text: String,
    why: String,
}

impl Delay {
    /// One delay.
    pub fn draw<R: Rng + ?Sized>(&self, random: &mut R) -> Duration {
        let seconds = match self {
            Delay::None => return Duration::ZERO,
            Delay::Constant(delay) => return *delay,
            Delay::Modes(modes) => return mode(modes, random.random()),
            Delay::Uniform(low, high) => {
                low.as_secs_f64()
                    + (high.as_secs_f64() - low.as_secs_f64()) * random.random::<f64>()
            }
            Delay::Exponential(mean) => {
                let unit: f64 = Exp1.sample(random);
                mean.as_secs_f64() * unit
            }
            // Both were checked when they were read: the fallbacks never run.
            Delay::LogNormal { median, sigma } => LogNormal::new(median.as_secs_f64().ln(), *sigma)
                .map_or(median.as_secs_f64(), |d| d.sample(random)),
            Delay::Pareto { min, shape } => Pareto::new(min.as_secs_f64(), *shape)
                .map_or(min.as_secs_f64(), |d| d.sample(random)),
        };
        Duration::try_from_secs_f64(seconds).map_or(LONGEST, |d| d.min(LONGEST))
    }

    /// The delay that a fraction `p` (0 to 1) of all are at or below, from the distribution's
    /// formula. [`Delay::LogNormal`] knows only its median.
    pub fn quantile(&self, p: f64) -> Option<Duration> {
        let seconds = match self {
            Delay::None => 0.0,
            Delay::Constant(delay) => delay.as_secs_f64(),
            Delay::Modes(modes) => return Some(mode(modes, p)),
            Delay::Uniform(low, high) => {
                low.as_secs_f64() + (high.as_secs_f64() - low.as_secs_f64()) * p
            }
            Delay::Exponential(mean) => -(1.0 - p).ln() * mean.as_secs_f64(),
            Delay::LogNormal { median, .. } if p == 0.5 => median.as_secs_f64(),
            Delay::LogNormal { .. } => return None,
            Delay::Pareto { min, shape } => min.as_secs_f64() * (1.0 - p).powf(-1.0 / shape),
        };
        Some(Duration::try_from_secs_f64(seconds).map_or(LONGEST, |d| d.min(LONGEST)))
    }
}

fn mode(modes: &[(Duration, f64)], p: f64) -> Duration {
    let mut below = 0.0;
    let found = modes.iter().find(|(_, weight)| {
        below += weight;
        p < below
    });
    found.or(modes.last()).map_or(Duration::ZERO, |m| m.0)
}

impl std::str::FromStr for Delay {
    type Err = DelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map_err(|why| DelayError {
            text: text.into(),
            why,
        })
    }
}

fn parse(text: &str) -> Result<Delay, String> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    match kind {
        "none" if rest.is_empty() => Ok(Delay::None),
        "constant" => Ok(Delay::Constant(time(rest)?)),
        "uniform" => {
            let (low, high) = rest.split_once("..").ok_or("it has no ..")?;
            let (low, high) = (time(low)?, time(high)?);
            if low > high {
                return Err("the first time is the longer one".into());
            }
            Ok(Delay::Uniform(low, high))
        }
        "exp" => Ok(Delay::Exponential(positive_time(rest)?)),
        "lognormal" => {
            let [median, sigma] = named(rest, ["median", "sigma"])?;
            Ok(Delay::LogNormal {
                median: positive_time(median)?,
                sigma: positive(sigma)?,
            })
        }
        "pareto" => {
            let [min, shape] = named(rest, ["min", "shape"])?;
            Ok(Delay::Pareto {
                min: positive_time(min)?,
                shape: positive(shape)?,
            })
        }
        "bimodal" => modes(rest).map(Delay::Modes),
        _ => Err("no such distribution".into()),
    }
}

/// The values of `first=…,second=…`, in this order or the other.
fn named<'a>(text: &'a str, names: [&str; 2]) -> Result<[&'a str; 2], String> {
    let value = |name: &str| {
        let mut parts = text.split(',').filter_map(|part| part.split_once('='));
        let found = parts.find(|(n, _)| *n == name);
        found.map(|f| f.1).ok_or(format!("it has no {name}="))
    };
    if text.split(',').count() > names.len() {
        return Err(format!("it has more than {} and {}", names[0], names[1]));
    }
    Ok([value(names[0])?, value(names[1])?])
}

fn modes(text: &str) -> Result<Vec<(Duration, f64)>, String> {
    let mut modes = Vec::new();
    for part in text.split(',') {
        let (delay, weight) = part.split_once('@').ok_or("a part has no @")?;
        modes.push((time(delay)?, positive(weight)?));
    }
    let sum: f64 = modes.iter().map(|m| m.1).sum();
    if (sum - 1.0).abs() > 1e-6 {
        return Err(format!("the probabilities add up to {sum} and not to 1"));
    }
    modes.sort_unstable_by_key(|m| m.0);
    Ok(modes)
}

fn time(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(time) if time <= LONGEST => Ok(time),
        _ => Err(format!("{text} is not a time up to an hour")),
    }
}

fn positive_time(text: &str) -> Result<Duration, String> {
    let time = time(text)?;
    if time.is_zero() {
        return Err("the time must be larger than 0".into());
    }
    Ok(time)
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(n) if n.is_finite() && n > 0.0 => Ok(n),
        _ => Err(format!("{text} is no number above 0")),
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Delay::None => f.write_str("none"),
            Delay::Constant(delay) => write!(f, "constant:{delay:?}"),
            Delay::Uniform(low, high) => write!(f, "uniform:{low:?}..{high:?}"),
            Delay::Exponential(mean) => write!(f, "exp:{mean:?}"),
            Delay::LogNormal { median, sigma } => {
                write!(f, "lognormal:median={median:?},sigma={sigma}")
            }
            Delay::Pareto { min, shape } => write!(f, "pareto:min={min:?},shape={shape}"),
            Delay::Modes(modes) => {
                f.write_str("bimodal")?;
                for (i, (delay, weight)) in modes.iter().enumerate() {
                    let before = if i == 0 { ':' } else { ',' };
                    write!(f, "{before}{delay:?}@{weight}")?;
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
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const ALL: [&str; 7] = [
        "none",
        "constant:5ms",
        "uniform:1ms..9ms",
        "exp:5ms",
        "lognormal:median=2ms,sigma=1",
        "pareto:min=1ms,shape=1.5",
        "bimodal:1ms@0.99,50ms@0.01",
    ];

    #[test]
    fn delays_are_read_as_they_are_shown() {
        for text in ALL {
            let delay: Delay = text.parse().unwrap();
            assert_eq!(delay.to_string(), text);
        }
    }

    #[test]
    fn what_is_drawn_has_the_quantiles_of_its_formula() {
        for text in ALL {
            let delay: Delay = text.parse().unwrap();
            let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
            let mut drawn: Vec<_> = (0..100_000).map(|_| delay.draw(&mut random)).collect();
            drawn.sort_unstable();
            for p in [0.1, 0.5, 0.9] {
                let Some(asked) = delay.quantile(p) else {
                    continue;
                };
                let got = drawn[(p * drawn.len() as f64) as usize].as_secs_f64();
                let asked = asked.as_secs_f64();
                assert!((got - asked).abs() <= asked * 0.03, "{text} p{p}: {got}");
            }
        }
        let lognormal: Delay = ALL[4].parse().unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let logs = (0..100_000).map(|_| (lognormal.draw(&mut random).as_secs_f64() / 2e-3).ln());
        let squares = logs.map(|l| l * l).sum::<f64>() / 100_000.0;
        assert!((squares - 1.0).abs() < 0.03, "{squares}");
    }

    #[test]
    fn a_seed_draws_the_same_delays_again() {
        let delay: Delay = "exp:5ms".parse().unwrap();
        let draw = |seed| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            (0..10).map(|_| delay.draw(&mut random)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_wrong_delay_is_told_with_the_right_ones() {
        for text in [
            "",
            "gauss:1ms",
            "none:1ms",
            "constant:",
            "constant:5",
            "constant:2h",
            "uniform:1ms",
            "uniform:9ms..1ms",
            "exp:0ms",
            "lognormal:median=2ms",
            "lognormal:median=2ms,sigma=-1",
            "lognormal:median=2ms,sigma=1,sigma=2",
            "pareto:1ms",
            "bimodal:1ms@0.5,2ms@0.4",
            "bimodal:1ms",
        ] {
            if text == "constant:5" {
                // A bare number is seconds.
                assert_eq!(text.parse(), Ok(Delay::Constant(Duration::from_secs(5))));
                continue;
            }
            let error = text.parse::<Delay>().unwrap_err().to_string();
            assert!(error.starts_with(text), "{error}");
            assert!(error.contains("lognormal:median=2ms,sigma=1"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_shown_as_it_is_read(
            text in "(constant|exp|uniform|pareto|bimodal|lognormal):(min=|median=)?[0-9]{1,3}[mu]?s\
                     (,shape=2|,sigma=1|\\.\\.9s|@1)?",
        ) {
            if let Ok(delay) = text.parse::<Delay>() {
                let shown = delay.to_string();
                prop_assert_eq!(shown.parse::<Delay>().unwrap().to_string(), shown);
            }
        }
    }
}
