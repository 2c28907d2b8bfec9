//! The non-uniform random numbers of clause 2.1.6.

use crate::random::Rng;

/// C for the last names of the population: fixed, so that every run knows it (2.1.6.1).
pub const C_LOAD: u64 = 157;

/// `NURand(A, x, y)`: uniform numbers of `[0..a]` and `[x..y]` joined by a bitwise or, moved by `c`
/// and brought back into `[x..y]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NuRand {
    a: u64,
    x: u64,
    y: u64,
    c: u64,
}

impl NuRand {
    /// Numbers of last names, 0 to 999 (A is 255), with the given C.
    pub const fn last_name(c: u64) -> Self {
        Self {
            a: 255,
            x: 0,
            y: 999,
            c,
        }
    }

    /// Customer numbers, 1 to 3000 (A is 1023), with the given C.
    pub const fn customer(c: u64) -> Self {
        Self {
            a: 1_023,
            x: 1,
            y: 3_000,
            c,
        }
    }

    /// Item numbers, 1 to 100,000 (A is 8191), with the given C.
    pub const fn item(c: u64) -> Self {
        Self {
            a: 8_191,
            x: 1,
            y: 100_000,
            c,
        }
    }

    /// One number.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let span = self.y - self.x + 1;
        let either = rng.below(self.a + 1) | (self.x + rng.below(span));
        (either + self.c) % span + self.x
    }

    /// Its C.
    pub fn c(&self) -> u64 {
        self.c
    }
}

/// A run's three fields of non-uniform numbers, the same for all its terminals (2.1.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunNumbers {
    /// Last names that are looked for.
    pub last_name: NuRand,
    /// Customers that are named by number.
    pub customer: NuRand,
    /// Items that are ordered.
    pub item: NuRand,
}

/// Sets the stream of a run's constants apart from all others of its seed.
const STREAM: u64 = 0x6e75_7261_6e64;

impl RunNumbers {
    /// The numbers of a run's seed. C-run for last names is one of those that 2.1.6.1 allows:
    /// its distance from [`C_LOAD`] is 65 to 119, but neither 96 nor 112.
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::of(&[seed, STREAM]);
        let allowed: Vec<u64> = (0..=255).filter(|c| is_allowed(*c)).collect();
        let chosen = rng.below(allowed.len() as u64) as usize;
        Self {
            last_name: NuRand::last_name(allowed.get(chosen).copied().unwrap_or(C_LOAD + 65)),
            customer: NuRand::customer(rng.below(1_024)),
            item: NuRand::item(rng.below(8_192)),
        }
    }
}

/// Whether a run may use this C for last names, after a population with [`C_LOAD`].
fn is_allowed(c_run: u64) -> bool {
    let delta = c_run.abs_diff(C_LOAD);
    (65..=119).contains(&delta) && delta != 96 && delta != 112
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chance of each number: how many pairs of the two uniform numbers give it, of all.
    ///
    /// Of a block of numbers with the same bits above A's, `3^ones` pairs give one with so many
    /// ones: each of its ones was in either or both. Where a block is not whole, the pairs of the
    /// numbers that are there are counted, or those of the missing ones taken away.
    fn chances(n: NuRand) -> Vec<f64> {
        let (span, size) = (n.y - n.x + 1, n.a + 1);
        let mut pairs = vec![0i64; span as usize];
        let mut add = |either: u64, count: i64| {
            pairs[((either + n.c) % span) as usize] += count;
        };
        for block in n.x / size..=n.y / size {
            let numbers = block * size..(block + 1) * size;
            let (there, missing): (Vec<u64>, Vec<u64>) =
                numbers.clone().partition(|r| (n.x..=n.y).contains(r));
            let (counted, sign) = if there.len() < missing.len() {
                (there, 1)
            } else {
                numbers.for_each(|v| add(v, 3i64.pow((v % size).count_ones())));
                (missing, -1)
            };
            for right in counted {
                (0..size).for_each(|left| add(left | right, sign));
            }
        }
        let all = (size * span) as f64;
        assert_eq!(pairs.iter().sum::<i64>(), (size * span) as i64);
        pairs.iter().map(|p| *p as f64 / all).collect()
    }

    /// Pearson's statistic, in standard deviations from its mean (chi-squared of k-1 degrees has
    /// mean k-1 and variance 2(k-1)).
    fn deviation(n: NuRand, draws: u64) -> f64 {
        let expected = chances(n);
        let mut counts = vec![0u64; expected.len()];
        let mut rng = Rng::of(&[2_024, n.a]);
        for _ in 0..draws {
            let drawn = n.draw(&mut rng);
            assert!((n.x..=n.y).contains(&drawn));
            counts[(drawn - n.x) as usize] += 1;
        }
        // Numbers that are too rare to be counted alone are counted together.
        let (mut statistic, mut cells, mut rare) = (0.0, 0.0, (0.0, 0.0));
        for (chance, count) in expected.iter().zip(&counts) {
            let (mean, count) = (chance * draws as f64, *count as f64);
            if mean < 5.0 {
                rare = (rare.0 + mean, rare.1 + count);
            } else {
                statistic += (count - mean).powi(2) / mean;
                cells += 1.0;
            }
        }
        if rare.0 >= 5.0 {
            statistic += (rare.1 - rare.0).powi(2) / rare.0;
            cells += 1.0;
        } else {
            assert!(
                rare.1 < 30.0,
                "{} draws of nearly impossible numbers",
                rare.1
            );
        }
        let freedom: f64 = cells - 1.0;
        (statistic - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn numbers_are_spread_as_the_formula_says() {
        for n in [
            NuRand::last_name(C_LOAD),
            NuRand::customer(259),
            NuRand::item(7_911),
        ] {
            let d = deviation(n, 1_000_000);
            assert!(d.abs() < 4.0, "{n:?}: {d} standard deviations");
        }
    }

    #[test]
    fn a_runs_constants_keep_to_the_rule() {
        const { assert!(C_LOAD <= 255) };
        let mut seen = std::collections::HashSet::new();
        for seed in 0..2_000 {
            let run = RunNumbers::of(seed);
            let delta = run.last_name.c.abs_diff(C_LOAD);
            assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);
            assert!(run.last_name.c <= 255 && run.customer.c <= 1_023 && run.item.c <= 8_191);
            assert_eq!(run, RunNumbers::of(seed));
            seen.insert(run.last_name.c);
        }
        // 38 to 92 without 45 and 61, and 222 to 255 without 253.
        let allowed = (0..=255).filter(|c| is_allowed(*c)).count();
        assert_eq!(seen.len(), allowed);
        assert_eq!(allowed, 86);
    }
}
