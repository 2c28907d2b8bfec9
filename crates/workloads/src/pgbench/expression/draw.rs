//! pgbench's random distributions (PostgreSQL manual, "Built-In Functions").

use super::{EvalError, ExprValue};
use crate::random::Rng;
use std::f64::consts::TAU;

/// Draws numbers of a client's generator.
pub struct Draws<'r>(pub &'r mut Rng);

/// The bounds of a draw: the least, and how many there are.
fn bounds(arguments: &[ExprValue]) -> Result<(i64, u64), EvalError> {
    let (low, high) = (arguments[0].int()?, arguments[1].int()?);
    if low > high {
        return Err(EvalError::Parameter(format!(
            "empty range given to random: {low} to {high}"
        )));
    }
    let wide = high.checked_sub(low).and_then(|w| w.checked_add(1));
    match wide {
        Some(wide) => Ok((low, wide as u64)),
        None => Err(EvalError::Parameter("random range is too large".into())),
    }
}

impl Draws<'_> {
    /// `random(lb, ub)`.
    pub fn uniform(&mut self, arguments: &[ExprValue]) -> Result<ExprValue, EvalError> {
        let (low, count) = bounds(arguments)?;
        Ok(ExprValue::Int(low + self.0.below(count) as i64))
    }

    /// Uniform in (0, 1].
    fn unit(&mut self) -> f64 {
        1.0 - self.0.unit()
    }

    /// A share of the range, in [0, 1).
    fn at(low: i64, count: u64, share: f64) -> ExprValue {
        let offset = (count as f64 * share) as u64;
        ExprValue::Int(low + offset.min(count - 1) as i64)
    }

    /// `random_exponential(lb, ub, parameter)`: the exponential distribution cut off at the parameter.
    pub fn exponential(&mut self, arguments: &[ExprValue]) -> Result<ExprValue, EvalError> {
        let (low, count) = bounds(arguments)?;
        let parameter = arguments[2].double()?;
        if parameter.is_nan() || parameter <= 0.0 {
            return Err(EvalError::Parameter(format!(
                "exponential parameter must be greater than zero (not {parameter})"
            )));
        }
        let cut = (-parameter).exp();
        let share = -(cut + (1.0 - cut) * self.unit()).ln() / parameter;
        Ok(Self::at(low, count, share))
    }

    /// `random_gaussian(lb, ub, parameter)`: the normal distribution (Box & Muller, "A note on the
    /// generation of random normal deviates", 1958) cut off at so many standard deviations.
    pub fn gaussian(&mut self, arguments: &[ExprValue]) -> Result<ExprValue, EvalError> {
        let (low, count) = bounds(arguments)?;
        let parameter = arguments[2].double()?;
        if parameter.is_nan() || parameter < 2.0 {
            return Err(EvalError::Parameter(format!(
                "gaussian parameter must be at least 2.0 (not {parameter})"
            )));
        }
        loop {
            let deviation = (-2.0 * self.unit().ln()).sqrt() * (TAU * self.unit()).sin();
            if deviation >= -parameter && deviation < parameter {
                let share = (deviation + parameter) / (2.0 * parameter);
                return Ok(Self::at(low, count, share));
            }
        }
    }

    /// `random_zipfian(lb, ub, parameter)`: Devroye, "Non-Uniform Random Variate Generation", 1986,
    /// pages 550 and 551.
    pub fn zipfian(&mut self, arguments: &[ExprValue]) -> Result<ExprValue, EvalError> {
        let (low, count) = bounds(arguments)?;
        let parameter = arguments[2].double()?;
        if !(1.001..=1000.0).contains(&parameter) {
            return Err(EvalError::Parameter(format!(
                "zipfian parameter must be in range [1.001, 1000] (not {parameter})"
            )));
        }
        if count == 1 {
            return Ok(ExprValue::Int(low));
        }
        let most = count as f64;
        let power = parameter - 1.0;
        let b = 2f64.powf(power);
        loop {
            let (u, v) = (self.unit(), self.unit());
            let x = u.powf(-1.0 / power).floor();
            let t = (1.0 + 1.0 / x).powf(power);
            if x <= most && v * x * (t - 1.0) / (b - 1.0) <= t / b {
                return Ok(ExprValue::Int(low + (x as u64 - 1) as i64));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(mut draw: impl FnMut(&mut Draws<'_>) -> Result<ExprValue, EvalError>) -> [f64; 10] {
        let mut rng = Rng::of(&[3]);
        let mut counts = [0.0; 10];
        for _ in 0..100_000 {
            let ExprValue::Int(n) = draw(&mut Draws(&mut rng)).unwrap() else {
                panic!("no integer");
            };
            counts[usize::try_from(n - 1).unwrap()] += 1e-5;
        }
        counts
    }

    fn given(parameter: f64) -> [ExprValue; 3] {
        [
            ExprValue::Int(1),
            ExprValue::Int(10),
            ExprValue::Double(parameter),
        ]
    }

    #[test]
    fn shares_are_those_of_the_manuals_formulas() {
        let exponential = shares(|d| d.exponential(&given(3.0)));
        let f = |x: f64| (-3.0 * x / 10.0).exp() / (1.0 - (-3.0f64).exp());
        for (at, share) in exponential.iter().enumerate() {
            let expected = f(at as f64) - f(at as f64 + 1.0);
            assert!((share - expected).abs() < 0.006, "{at} {share} {expected}");
        }
        let zipfian = shares(|d| d.zipfian(&given(2.5)));
        assert!((zipfian[0] / zipfian[1] - 2f64.powf(2.5)).abs() < 0.4);
        let gaussian = shares(|d| d.gaussian(&given(2.5)));
        let middle: f64 = gaussian[3..7].iter().sum();
        // Within 0.4 x 2.5 deviations of the mean: 68.3 % of the 98.8 % that are not cut off.
        assert!((middle - 0.691).abs() < 0.01, "{middle}");
        let uniform = shares(|d| d.uniform(&given(0.0)));
        assert!(uniform.iter().all(|s| (s - 0.1).abs() < 0.006));
    }

    #[test]
    fn what_is_no_range_or_parameter_is_said() {
        let mut rng = Rng::of(&[3]);
        let mut draws = Draws(&mut rng);
        let said = |e: Result<ExprValue, EvalError>| e.unwrap_err().to_string();
        assert!(
            said(draws.uniform(&[ExprValue::Int(2), ExprValue::Int(1)])).contains("empty range")
        );
        let all = [ExprValue::Int(i64::MIN), ExprValue::Int(i64::MAX)];
        assert!(said(draws.uniform(&all)).contains("too large"));
        assert!(said(draws.exponential(&given(0.0))).contains("greater than zero"));
        assert!(said(draws.gaussian(&given(1.9))).contains("at least 2.0"));
        assert!(said(draws.zipfian(&given(1.0))).contains("1.001"));
    }
}
