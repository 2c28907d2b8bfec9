//! Zipf's law by rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to
//! generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996.

use super::Rng;

/// Draws ranks 1 to n in proportion to `rank^-exponent`, in constant time and memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zipf {
    n: f64,
    exponent: f64,
    /// H(3/2) - h(1): where the area of rank 1 starts.
    area_low: f64,
    /// H(n + 1/2): where the area of rank n ends.
    area_high: f64,
    /// Ranks this close above their point need no test (the paper's s).
    squeeze: f64,
}

impl Zipf {
    /// Ranks 1 to `n` (at least 1), exponent 0 (all alike) or more.
    pub fn new(n: u64, exponent: f64) -> Self {
        let n = n.max(1) as f64;
        Self {
            n,
            exponent,
            area_low: integral(1.5, exponent) - 1.0,
            area_high: integral(n + 0.5, exponent),
            squeeze: 2.0 - inverse(integral(2.5, exponent) - height(2.0, exponent), exponent),
        }
    }

    /// Draws one rank.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.area_high + rng.unit() * (self.area_low - self.area_high);
            let x = inverse(area, self.exponent);
            let rank = (x + 0.5).floor().clamp(1.0, self.n);
            if rank - x <= self.squeeze
                || area >= integral(rank + 0.5, self.exponent) - height(rank, self.exponent)
            {
                return rank as u64;
            }
        }
    }
}

/// h(x) = x^-e.
fn height(x: f64, e: f64) -> f64 {
    x.powf(-e)
}

/// H(x), the integral of h from 1 to x: (x^(1-e) - 1) / (1 - e), and ln x for e = 1. Written with
/// `exp_m1` it stays exact when e is close to 1.
fn integral(x: f64, e: f64) -> f64 {
    let log = x.ln();
    let t = (1.0 - e) * log;
    if t == 0.0 { log } else { t.exp_m1() / t * log }
}

/// H^-1(y) = (1 + (1 - e) y)^(1 / (1 - e)), and exp y for e = 1.
fn inverse(y: f64, e: f64) -> f64 {
    // Rounding may bring the argument a hair below the pole at -1.
    let t = ((1.0 - e) * y).max(-1.0);
    if t == 0.0 {
        y.exp()
    } else {
        (t.ln_1p() / t * y).exp()
    }
}
