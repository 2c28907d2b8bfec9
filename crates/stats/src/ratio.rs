//! How much larger one value is than another, and how sure that is.

use crate::series::variance_inflation;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Of fewer values in a series the autocorrelation is too uncertain: of ten with one of 0.8, equal
/// runs were told apart in 8 of 100 simulated comparisons.
pub const SHORTEST_SERIES: usize = 20;

/// A value on the logarithmic scale, with the uncertainty of it. Ratios of rates and latencies are
/// compared there: twice and half are as far apart, and latencies are less skewed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    log: f64,
    /// Of the estimate, not of the values.
    variance: f64,
    /// Degrees of freedom of the variance.
    freedom: f64,
}

/// How many times as large one value is as another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// The lower end of its confidence interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let usable = |v: &&f64| v.is_finite() && **v > 0.0;
    let logs: Vec<f64> = values.iter().filter(usable).map(|v| v.ln()).collect();
    (logs.len() == values.len()).then_some(logs)
}

/// Mean, and variance of a value.
fn spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, squares / (n - 1.0))
}

/// The variance of a value that may be anywhere in a step: a twelfth of the step's square (Sheppard).
pub fn step_variance(step: f64) -> f64 {
    step * step / 12.0
}

impl Estimate {
    /// Of independent repeats; `None` for fewer than two, or one that is not above 0. `step` is how finely they
    /// are told, as a part of them: values of one step are equal, and their mean may be anywhere in it
    /// ([`step_variance`]), however many they are.
    pub fn of_repeats(values: &[f64], step: f64) -> Option<Self> {
        let logs = logs(values)?;
        if logs.len() < 2 {
            return None;
        }
        let n = logs.len() as f64;
        let (log, variance) = spread(&logs);
        Some(Self {
            log,
            variance: (variance / n).max(step_variance(step)),
            freedom: n - 1.0,
        })
    }

    /// Of a whole whose parts, in the order of time, vary as `parts` do and depend on their
    /// neighbours: the variance of their mean is widened by their autocorrelation, and its degrees of
    /// freedom are those of the independent values that they are worth. `None` for fewer than twenty
    /// parts, or one that is not above 0.
    pub fn of_series(whole: f64, parts: &[f64]) -> Option<Self> {
        let logs = logs(parts)?;
        if logs.len() < SHORTEST_SERIES {
            return None;
        }
        let log = self::logs(&[whole])?[0];
        let n = logs.len() as f64;
        // Fewer than two independent values have no variance.
        let inflation = variance_inflation(&logs).min(n / 2.0);
        // The sample's variance is too small by what its values share.
        let variance = spread(&logs).1 * (n - 1.0) / (n - inflation);
        Some(Self {
            log,
            variance: variance * inflation / n,
            freedom: n / inflation - 1.0,
        })
    }

    /// The mean of several, each as sure as it is; `None` of none.
    pub fn mean_of(estimates: &[Self]) -> Option<Self> {
        let n = estimates.len() as f64;
        let log = estimates.iter().map(|e| e.log).sum::<f64>() / n;
        let (variance, freedom) = sum(estimates.iter());
        (!estimates.is_empty()).then_some(Self {
            log,
            variance: variance / (n * n),
            freedom,
        })
    }

    /// How many times as large `to` is, with a confidence interval of the level (0.95), by Welch's
    /// approximation of the degrees of freedom.
    pub fn ratio_to(&self, to: &Self, level: f64) -> Ratio {
        let (variance, freedom) = sum([self, to].into_iter());
        let log = to.log - self.log;
        let half = quantile(0.5 + level / 2.0, freedom) * variance.sqrt();
        Ratio {
            ratio: log.exp(),
            low: (log - half).exp(),
            high: (log + half).exp(),
        }
    }
}

impl Ratio {
    /// Of pairs that were measured next to each other, `(before, after)`: how many times as large the
    /// second is, with a confidence interval of the level (0.95), by Student's distribution of the pairs'
    /// logarithms. What drifts slowly is the same in both of a pair. `None` for fewer than two pairs, or a
    /// value that is not above 0.
    pub fn of_pairs(pairs: &[(f64, f64)], level: f64) -> Option<Self> {
        let (before, after): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let (before, after) = (logs(&before)?, logs(&after)?);
        if before.len() < 2 {
            return None;
        }
        let each: Vec<f64> = before.iter().zip(&after).map(|(b, a)| a - b).collect();
        let (log, variance) = spread(&each);
        let n = each.len() as f64;
        let half = quantile(0.5 + level / 2.0, n - 1.0) * (variance / n).sqrt();
        Some(Self {
            ratio: log.exp(),
            low: (log - half).exp(),
            high: (log + half).exp(),
        })
    }
}

/// The variance of a sum, and its degrees of freedom (Welch and Satterthwaite).
fn sum<'e>(estimates: impl Iterator<Item = &'e Estimate> + Clone) -> (f64, f64) {
    let variance: f64 = estimates.clone().map(|e| e.variance).sum();
    let each: f64 = estimates
        .clone()
        .map(|e| e.variance * e.variance / e.freedom)
        .sum();
    let least = estimates.map(|e| e.freedom).fold(f64::INFINITY, f64::min);
    let freedom = variance * variance / each;
    (variance, if freedom.is_finite() { freedom } else { least })
}

/// Of Student's distribution.
pub(crate) fn quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn normal(rng: &mut SmallRng) -> f64 {
        let (u, v): (f64, f64) = (rng.random(), rng.random());
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// Rates around `level` that vary by a tenth, each so much like the one before it.
    fn run(rng: &mut SmallRng, level: f64, n: usize, phi: f64) -> Vec<f64> {
        let mut x = normal(rng);
        (0..n)
            .map(|_| {
                x = phi * x + (1.0 - phi * phi).sqrt() * normal(rng);
                level * (1.0 + 0.1 * x).max(0.01)
            })
            .collect()
    }

    fn of(values: &[f64]) -> Estimate {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Estimate::of_series(mean, values).unwrap()
    }

    /// The share of pairs whose second is `times` the first, and is shown to differ.
    fn shown(times: f64, n: usize, phi: f64) -> f64 {
        const PAIRS: usize = 1000;
        let mut rng = SmallRng::seed_from_u64(n as u64 * 100 + (phi * 10.0) as u64);
        let pairs = (0..PAIRS).filter(|_| {
            let a = of(&run(&mut rng, 100.0, n, phi));
            let b = of(&run(&mut rng, 100.0 * times, n, phi));
            let r = a.ratio_to(&b, 0.95);
            r.low > 1.0 || r.high < 1.0
        });
        pairs.count() as f64 / PAIRS as f64
    }

    #[test]
    fn equal_runs_are_told_apart_in_at_most_one_of_twenty() {
        let mut all = Vec::new();
        for phi in [0.0, 0.3, 0.5, 0.8] {
            for n in [20, 30, 60, 300] {
                all.push((phi, n, shown(1.0, n, phi)));
            }
        }
        // A share of 5 % comes out as 6.4 % of a thousand pairs by chance (two standard errors).
        let alarms = all.iter().map(|(_, _, share)| share);
        assert!(alarms.clone().all(|share| *share <= 0.064), "{all:?}");
        let mean = alarms.sum::<f64>() / all.len() as f64;
        assert!(mean <= 0.05, "{mean} of {all:?}");
        eprintln!("false alarms (phi, intervals, share): {all:?}; {mean}");
    }

    #[test]
    fn what_differs_is_shown_to_differ() {
        for (times, n, phi) in [
            (1.1, 60, 0.0),
            (0.9, 60, 0.3),
            (1.2, 60, 0.5),
            (1.1, 300, 0.5),
        ] {
            let power = shown(times, n, phi);
            assert!(
                power > 0.9,
                "{times} times, phi {phi}, {n} intervals: {power}"
            );
        }
    }

    #[test]
    fn pairs_leave_out_what_both_of_a_pair_share() {
        // Worked through by hand: the logarithms differ by 1, 2 and 3.
        let e = f64::exp;
        let pairs = [(e(5.0), e(6.0)), (e(1.0), e(3.0)), (e(9.0), e(12.0))];
        let r = Ratio::of_pairs(&pairs, 0.95).unwrap();
        let half = 4.302_653 * (1.0f64 / 3.0).sqrt();
        assert!((r.ratio.ln() - 2.0).abs() < 1e-9);
        assert!((r.low.ln() - (2.0 - half)).abs() < 1e-4);
        assert!((r.high.ln() - (2.0 + half)).abs() < 1e-4);
        assert_eq!(Ratio::of_pairs(&pairs[..1], 0.95), None);
        assert_eq!(Ratio::of_pairs(&[(1.0, 1.0), (0.0, 1.0)], 0.95), None);
    }

    #[test]
    fn repeats_make_welchs_interval() {
        // Worked through by hand: logs of powers of e.
        let e = |values: [f64; 3]| Estimate::of_repeats(&values.map(f64::exp), 0.0).unwrap();
        let r = e([1.0, 2.0, 3.0]).ratio_to(&e([2.0, 3.0, 4.0]), 0.95);
        let half = 2.776_445 * (2.0f64 / 3.0).sqrt();
        assert!((r.ratio.ln() - 1.0).abs() < 1e-9);
        assert!((r.low.ln() - (1.0 - half)).abs() < 1e-4);
        assert!((r.high.ln() - (1.0 + half)).abs() < 1e-4);
        let same = Estimate::of_repeats(&[5.0, 5.0], 0.0).unwrap();
        assert_eq!(same.ratio_to(&same, 0.95).low, 1.0);
        assert_eq!(Estimate::of_repeats(&[5.0], 0.0), None);
        assert_eq!(Estimate::of_repeats(&[5.0, 0.0], 0.0), None);
        assert_eq!(Estimate::of_series(5.0, &[5.0; 9]), None);
        let one = Estimate::mean_of(&[same, same]).unwrap();
        assert_eq!((one.log, one.variance), (same.log, 0.0));
        assert_eq!(Estimate::mean_of(&[]), None);
    }
}
