//! sysbench's distributions of keys, from its documentation and the observed frequencies of
//! sysbench 1.0.20 (`tests/data/sysbench-rand`).

use super::{Rng, Zipf};

/// How keys are drawn from a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    low: i64,
    /// Number of keys.
    n: u64,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Uniform,
    Gaussian {
        iterations: u32,
    },
    Special {
        iterations: u32,
        cold: f64,
        start: f64,
        width: f64,
    },
    Pareto {
        power: f64,
    },
    Zipfian(Zipf),
}

impl Distribution {
    fn new(low: i64, high: i64, shape: impl FnOnce(u64) -> Shape) -> Self {
        let n = u64::try_from(i128::from(high) - i128::from(low) + 1)
            .unwrap_or(1)
            .max(1);
        Self {
            low,
            n,
            shape: shape(n),
        }
    }

    /// Every key of `low..=high` alike.
    pub fn uniform(low: i64, high: i64) -> Self {
        Self::new(low, high, |_| Shape::Uniform)
    }

    /// A bell around the middle: the mean of `iterations` uniform numbers, its standard deviation
    /// `n / sqrt(12 * iterations)`.
    pub fn gaussian(low: i64, high: i64, iterations: u32) -> Self {
        Self::new(low, high, |_| Shape::Gaussian { iterations })
    }

    /// Hot keys in the middle: `res` of the draws fall evenly on the upper `res` part of a window
    /// `n * pct + 1` wide that stands in the middle of the range; the rest is gaussian, over one
    /// key less than [`Distribution::gaussian`].
    pub fn special(low: i64, high: i64, iterations: u32, pct: f64, res: f64) -> Self {
        Self::new(low, high, |n| {
            let width = n as f64 * pct + 1.0;
            Shape::Special {
                iterations,
                cold: 1.0 - res,
                start: n as f64 / 2.0 - width / 2.0,
                width,
            }
        })
    }

    /// Self-similar: the first `h` of the keys gets `1 - h` of the draws, and so within that part
    /// (Gray et al., "Quickly generating billion-record synthetic databases", 1994, section 3.2).
    pub fn pareto(low: i64, high: i64, h: f64) -> Self {
        let power = h.ln() / (1.0 - h).ln();
        Self::new(low, high, |_| Shape::Pareto { power })
    }

    /// Zipf's law: the r-th key is drawn in proportion to `r^-exponent`.
    pub fn zipfian(low: i64, high: i64, exponent: f64) -> Self {
        Self::new(low, high, |n| Shape::Zipfian(Zipf::new(n, exponent)))
    }

    /// Draws one key.
    pub fn draw(&self, rng: &mut Rng) -> i64 {
        // Only some shapes need it as a float.
        let n = || self.n as f64;
        let offset = match self.shape {
            Shape::Uniform => rng.below(self.n),
            Shape::Gaussian { iterations } => (n() * mean(rng, iterations)) as u64,
            Shape::Special {
                iterations,
                cold,
                start,
                width,
            } => {
                let u = rng.unit();
                if u < cold {
                    ((n() - 1.0) * mean(rng, iterations)) as u64
                } else {
                    (start + width * u) as u64
                }
            }
            Shape::Pareto { power } => (n() * rng.unit().powf(power)) as u64,
            Shape::Zipfian(zipf) => zipf.draw(rng) - 1,
        };
        // Rounding may reach n itself.
        self.low.wrapping_add_unsigned(offset.min(self.n - 1))
    }
}

fn mean(rng: &mut Rng, iterations: u32) -> f64 {
    (0..iterations).map(|_| rng.unit()).sum::<f64>() / f64::from(iterations)
}
