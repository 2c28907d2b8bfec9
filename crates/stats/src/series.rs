//! Values that follow each other in time, and are not independent.

use crate::moments::mean;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The median; 0 for no values. Values that are no numbers sort last.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => 0.0,
        (n, half) if n % 2 == 1 => sorted[half],
        (_, half) => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

/// The correlation of values with their neighbours (lag 1); 0 for fewer than three or equal ones.
pub fn autocorrelation(values: &[f64]) -> f64 {
    let m = mean(values.iter().copied());
    let square = |v: f64| (v - m) * (v - m);
    let all: f64 = values.iter().map(|v| square(*v)).sum();
    if values.len() < 3 || all <= 0.0 {
        return 0.0;
    }
    let pairs: f64 = values.windows(2).map(|w| (w[0] - m) * (w[1] - m)).sum();
    pairs / all
}

/// How many times as wide as that of independent values the variance of a mean is: (1+ρ)/(1−ρ) of a
/// first-order autoregression, with ρ corrected for its bias in short series (Kendall 1954), and never
/// below 1.
pub fn variance_inflation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if values.len() < 4 {
        return 1.0;
    }
    let r = autocorrelation(values);
    let rho = (r + (1.0 + 3.0 * r) / n).clamp(0.0, 0.99);
    (1.0 + rho) / (1.0 - rho)
}

/// A straight line through values that follow each other at equal distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// From the line's first to its last value, as a share of the mean.
    pub change: f64,
    /// That change in its standard errors, which are widened for the residuals' autocorrelation.
    pub sure: f64,
    /// How probable so many standard errors are by chance, either way ([`chance`]).
    pub chance: f64,
}

/// How probable so many standard errors or more are by chance, either way, when the error is estimated
/// from residuals of so many degrees of freedom (Student's distribution). Four of ten values are one in
/// 250, not one in 16,000 as of very many.
pub fn chance(errors: f64, freedom: f64) -> f64 {
    if !errors.is_finite() || !freedom.is_finite() {
        // Values without any scatter; and no values.
        return if errors.is_infinite() { 0.0 } else { 1.0 };
    }
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(1.0, |t| 2.0 * t.sf(errors.abs()))
}

/// The least-squares line; `None` for fewer than four values, or a mean of 0.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    let m = mean(values.iter().copied());
    if n < 4 || m <= 0.0 || !m.is_finite() {
        return None;
    }
    let middle = (n - 1) as f64 / 2.0;
    let at = |i: usize| i as f64 - middle;
    let spread: f64 = (0..n).map(|i| at(i) * at(i)).sum();
    let slope = values
        .iter()
        .enumerate()
        .map(|(i, v)| at(i) * v)
        .sum::<f64>()
        / spread;
    let residuals: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(i, v)| v - m - slope * at(i))
        .collect();
    let variance = residuals.iter().map(|r| r * r).sum::<f64>() / (n - 2) as f64;
    let inflation = variance_inflation(&residuals);
    let sure = sureness(slope, (variance / spread * inflation).sqrt());
    Some(Trend {
        change: slope * (n - 1) as f64 / m,
        sure,
        chance: chance(sure, (n - 2) as f64 / inflation),
    })
}

/// The second half beside the first: a step shows here, while a line through it leaves residuals
/// that look like autocorrelation. `None` for fewer than eight values, or a mean of 0.
pub fn step(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    let all = mean(values.iter().copied());
    if n < 8 || all <= 0.0 || !all.is_finite() {
        return None;
    }
    let (first, second) = values.split_at(n / 2);
    let means = [first, second].map(|half| mean(half.iter().copied()));
    let of = |half: &[f64], m: f64| half.iter().map(|v| v - m).collect::<Vec<f64>>();
    let within = [of(first, means[0]), of(second, means[1])].concat();
    let variance = within.iter().map(|r| r * r).sum::<f64>() / (n - 2) as f64;
    let halves = 1.0 / first.len() as f64 + 1.0 / second.len() as f64;
    let inflation = variance_inflation(&within);
    let change = means[1] - means[0];
    let sure = sureness(change, (variance * halves * inflation).sqrt());
    Some(Trend {
        change: change / all,
        sure,
        chance: chance(sure, (n - 2) as f64 / inflation),
    })
}

fn sureness(change: f64, error: f64) -> f64 {
    if error > 0.0 {
        change / error
    } else if change == 0.0 {
        0.0
    } else {
        f64::INFINITY.copysign(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_make_many_standard_errors_by_chance() {
        // Tables of Student's distribution.
        assert!((chance(2.306, 8.0) - 0.05).abs() < 1e-4);
        assert!((chance(-7.120, 8.0) - 1e-4).abs() < 1e-6);
        assert!((chance(3.891, 1e6) - 1e-4).abs() < 1e-6);
        assert_eq!(chance(f64::INFINITY, 8.0), 0.0);
        assert_eq!(chance(f64::NAN, 8.0), 1.0);
        assert!(chance(1e9, 8.0) < 1e-12);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn neighbours_correlate_where_values_move_slowly() {
        let slow: Vec<f64> = (0..100).map(|i| f64::from(i / 10 % 2)).collect();
        assert!(autocorrelation(&slow) > 0.7);
        let fast: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert!(autocorrelation(&fast) < -0.9);
        assert_eq!(variance_inflation(&fast), 1.0);
        assert!(variance_inflation(&slow) > 5.0);
        assert_eq!(autocorrelation(&[1.0; 9]), 0.0);
    }

    #[test]
    fn a_step_is_found_where_there_is_one() {
        let fell: Vec<f64> = (0..16)
            .map(|i| if i < 8 { 400.0 } else { 100.0 } + f64::from(i * 7 % 5))
            .collect();
        let found = step(&fell).unwrap();
        assert!(found.change < -1.0 && found.sure < -20.0, "{found:?}");
        assert!(trend(&fell).unwrap().sure.abs() < 4.0, "no line");
        assert_eq!(step(&[5.0; 9]).unwrap().sure, 0.0);
        assert_eq!(step(&[5.0; 7]), None);
    }

    #[test]
    fn a_line_is_found_and_none_where_there_is_none() {
        let rising: Vec<f64> = (0..20)
            .map(|i| 100.0 + f64::from(i) + f64::from(i % 3))
            .collect();
        let found = trend(&rising).unwrap();
        assert!((found.change - 0.17).abs() < 0.02, "{found:?}");
        assert!(found.sure > 10.0);
        let level: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i * 7 % 5)).collect();
        assert!(trend(&level).unwrap().sure.abs() < 2.0);
        assert_eq!(trend(&[5.0; 9]).unwrap().sure, 0.0);
        assert_eq!(trend(&[0.0; 9]), None);
        assert_eq!(trend(&[1.0; 3]), None);
    }
}
