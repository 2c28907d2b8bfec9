//! A random order of 0..n without memory for it.

use super::mix;

/// Rounds of the Feistel network; four make it pseudo-random (Luby & Rackoff, 1988).
const ROUNDS: u64 = 4;

/// A pseudo-random permutation of 0..n by a seed: a Feistel network over the next power of four,
/// walked until it lands inside (Black & Rogaway, "Ciphers with arbitrary finite domains", 2002).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    seed: u64,
}

impl Permutation {
    /// The permutation of 0..n that belongs to the seed.
    pub fn new(n: u64, seed: u64) -> Self {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        Self {
            n,
            half_bits: bits.div_ceil(2),
            seed,
        }
    }

    /// Where `index` goes; `index` itself when it is not below n.
    pub fn of(&self, index: u64) -> u64 {
        if index >= self.n {
            return index;
        }
        let mut value = self.encrypt(index);
        // The network's domain is less than four times n, so a few steps suffice.
        while value >= self.n {
            value = self.encrypt(value);
        }
        value
    }

    fn encrypt(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            let f = mix(self.seed ^ mix(right ^ (round << 56))) & mask;
            (left, right) = (right, left ^ f);
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_index_is_reached_once(n in 1u64..5_000, seed: u64) {
            let p = Permutation::new(n, seed);
            let mut seen = vec![false; n as usize];
            for i in 0..n {
                let to = p.of(i) as usize;
                prop_assert!(!std::mem::replace(&mut seen[to], true));
            }
        }
    }

    #[test]
    fn neighbours_are_torn_apart() {
        let p = Permutation::new(1_000_000, 5);
        let near = (0..10_000u64)
            .filter(|&i| p.of(i).abs_diff(p.of(i + 1)) < 1_000)
            .count();
        // Two independent draws are within 1,000 of each other with a chance of 0.2 %.
        assert!(near < 60, "{near}");
    }
}
