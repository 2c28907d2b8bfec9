//! The zipfian distribution as YCSB draws it: the method of Gray et al., "Quickly Generating
//! Billion-Record Synthetic Databases" (SIGMOD 1994), with θ = 0.99.

use crate::random::Rng;
use std::sync::LazyLock;

/// θ of every zipfian choice in YCSB.
pub(super) const THETA: f64 = 0.99;

/// Terms of zeta that are added up one by one; the rest is a formula.
const EXACT_TERMS: u64 = 64;

/// The sum of the first [`EXACT_TERMS`] terms. `latest` wants zeta anew after every insert.
static EXACT_SUM: LazyLock<f64> = LazyLock::new(|| sum(EXACT_TERMS));

fn sum(n: u64) -> f64 {
    (1..=n).map(|i| (i as f64).powf(-THETA)).sum()
}

/// The sum of 1/i^θ for i from 1 to n. Beyond [`EXACT_TERMS`] the Euler–Maclaurin formula takes the
/// place of the sum, so that a billion records cost as much as a hundred; its error is below 1e-12.
pub(super) fn zeta(n: u64) -> f64 {
    if n <= EXACT_TERMS {
        return sum(n);
    }
    // From m = EXACT_TERMS, whose term is in the exact sum, to n.
    let (m, n) = (EXACT_TERMS as f64, n as f64);
    let integral = (n.powf(1.0 - THETA) - m.powf(1.0 - THETA)) / (1.0 - THETA);
    let ends = (n.powf(-THETA) - m.powf(-THETA)) / 2.0;
    let first = -THETA * (n.powf(-THETA - 1.0) - m.powf(-THETA - 1.0)) / 12.0;
    let third = THETA * (THETA + 1.0) * (THETA + 2.0);
    let second = third * (n.powf(-THETA - 3.0) - m.powf(-THETA - 3.0)) / 720.0;
    *EXACT_SUM + integral + ends + first + second
}

/// Draws ranks: 0 is the most frequent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Zipfian {
    ranks: u64,
    zeta: f64,
    /// Gray's η.
    eta: f64,
}

impl Zipfian {
    /// Over so many ranks; at least one.
    pub fn new(ranks: u64) -> Self {
        Self::with_zeta(ranks.max(1), zeta(ranks.max(1)))
    }

    fn with_zeta(ranks: u64, zeta: f64) -> Self {
        let share = (2.0 / ranks as f64).powf(1.0 - THETA);
        Self {
            ranks,
            zeta,
            eta: (1.0 - share) / (1.0 - zeta_of_two() / zeta),
        }
    }

    /// Over another number of ranks from now on.
    #[inline]
    pub fn resize(&mut self, ranks: u64) {
        if ranks != self.ranks {
            *self = Self::new(ranks);
        }
    }

    /// A rank.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        self.rank(rng.unit())
    }

    /// The rank of a number in [0, 1).
    #[inline]
    fn rank(&self, u: f64) -> u64 {
        let uz = u * self.zeta;
        if uz < 1.0 {
            return 0;
        }
        if uz < zeta_of_two() {
            return 1.min(self.ranks - 1);
        }
        let x = (self.eta * u - self.eta + 1.0).powf(1.0 / (1.0 - THETA));
        ((self.ranks as f64 * x) as u64).min(self.ranks - 1)
    }
}

/// 1 + 1/2^θ.
#[inline]
fn zeta_of_two() -> f64 {
    // powf is not const.
    1.503_477_775_028_359_4
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The analytic distribution of Gray's method over n ranks: the share of numbers in [0, 1) that
    /// fall on each.
    pub fn shares(n: u64) -> Vec<f64> {
        let zipfian = Zipfian::new(n);
        let (zeta, eta) = (zipfian.zeta, zipfian.eta);
        // Up to and including a rank beyond the first two.
        let up_to = |rank: u64| {
            let x = ((rank + 1) as f64 / n as f64).powf(1.0 - THETA);
            (1.0 - (1.0 - x) / eta).clamp(zeta_of_two() / zeta, 1.0)
        };
        let mut shares = vec![1.0 / zeta];
        if n > 1 {
            shares.push(2f64.powf(-THETA) / zeta);
        }
        let mut before: f64 = shares.iter().sum();
        for rank in 2..n {
            shares.push(up_to(rank) - before);
            before = up_to(rank);
        }
        shares
    }

    /// Pearson's statistic of counts against shares, bins of fewer than ten expected joined, and
    /// the degrees of freedom.
    pub fn chi_squared(counts: &[u64], shares: &[f64]) -> (f64, f64) {
        let all = counts.iter().sum::<u64>() as f64;
        let (mut statistic, mut bins) = (0.0, 0.0);
        let (mut count, mut expected) = (0.0, 0.0);
        let last = counts.len() - 1;
        for (at, (c, share)) in counts.iter().zip(shares).enumerate() {
            count += *c as f64;
            expected += share * all;
            if expected >= 10.0 || (at == last && expected > 0.0) {
                statistic += (count - expected) * (count - expected) / expected;
                bins += 1.0;
                (count, expected) = (0.0, 0.0);
            }
        }
        (statistic, bins - 1.0)
    }

    /// Fails when the statistic is one that comes less than once in ten thousand (Wilson and
    /// Hilferty's approximation of the quantile).
    pub fn fits(counts: &[u64], shares: &[f64], what: &str) {
        assert_eq!(counts.len(), shares.len(), "{what}");
        let sum: f64 = shares.iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "{what}: shares sum to {sum}");
        let (statistic, free) = chi_squared(counts, shares);
        let spread = 2.0 / (9.0 * free);
        let most = free * (1.0 - spread + 3.72 * spread.sqrt()).powi(3);
        assert!(
            statistic < most,
            "{what}: {statistic} with {free} free, at most {most}"
        );
    }

    #[test]
    fn zeta_is_its_sum() {
        for n in [1u64, 2, 63, 64, 65, 1000, 1_000_000] {
            let sum: f64 = (1..=n).rev().map(|i| (i as f64).powf(-THETA)).sum();
            assert!((zeta(n) - sum).abs() < 1e-9, "{n}: {} {sum}", zeta(n));
        }
        // The constant of YCSB for ten billion.
        assert!((zeta(10_000_000_000) - 26.469_028_201_783_02).abs() < 1e-6);
        assert!((zeta_of_two() - zeta(2)).abs() < 1e-12, "{:.16}", zeta(2));
    }

    #[test]
    fn ranks_come_as_often_as_the_method_says() {
        for n in [1u64, 2, 3, 10, 1000, 100_000] {
            let zipfian = Zipfian::new(n);
            let mut rng = Rng::of(&[5, n]);
            let mut counts = vec![0u64; n as usize];
            for _ in 0..1_000_000 {
                counts[zipfian.draw(&mut rng) as usize] += 1;
            }
            if n > 1 {
                fits(&counts, &shares(n), &format!("{n} ranks"));
            }
        }
    }

    #[test]
    fn the_method_is_near_the_true_zipfian() {
        for n in [10u64, 1000, 100_000] {
            let (mut method, mut truth) = (0.0, 0.0);
            for (i, share) in shares(n).iter().enumerate() {
                method += share;
                truth += ((i + 1) as f64).powf(-THETA) / zeta(n);
                assert!(
                    (method - truth).abs() < 0.03,
                    "{n}, rank {i}: {method} {truth}"
                );
            }
        }
    }

    #[test]
    fn a_test_of_frequencies_can_fail() {
        let shares = shares(1000);
        let mut counts: Vec<u64> = shares.iter().map(|s| (s * 1e6) as u64).collect();
        assert!(chi_squared(&counts, &shares).0 < 20.0);
        counts[0] -= 5000;
        counts[500] += 5000;
        let (statistic, free) = chi_squared(&counts, &shares);
        assert!(statistic > 2.0 * free);
    }

    #[test]
    fn another_size_is_as_if_it_had_always_been() {
        let mut grown = Zipfian::new(100);
        grown.resize(101);
        grown.resize(5000);
        assert_eq!(grown, Zipfian::new(5000));
    }
}
