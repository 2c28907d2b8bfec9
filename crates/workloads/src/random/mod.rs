//! Random choices: sysbench's distributions over a generator that is cheap and stays the same
//! between platforms and releases, because rows loaded today are checked by later versions.

mod distribution;
mod key_share;
mod options;
mod permutation;
mod text;
mod zipf;

pub use distribution::Distribution;
pub use key_share::KeyShare;
pub use options::{RAND_OPTIONS, RandOptions};
pub use permutation::Permutation;
pub use text::RowText;
pub use zipf::Zipf;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A terminal's or a row's own generator: xoshiro256++ (Blackman & Vigna, "Scrambled linear
/// pseudorandom number generators", 2021).
#[derive(Debug, Clone)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The generator of a path of numbers: a seed and a terminal, or a seed, a table and a row.
    /// Paths that differ give streams that have nothing in common.
    pub fn of(path: &[u64]) -> Self {
        let hash = path.iter().fold(0, |hash, part| mix(hash ^ part));
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n; 0 when `n` is 0. Lemire's multiplication without its rejection step: the
    /// bias is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }
}

/// One step of SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number
/// generators", 2014).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_gives_its_stream_and_no_other() {
        let draws = |path: &[u64]| {
            let mut rng = Rng::of(path);
            [rng.bits(), rng.bits()]
        };
        assert_eq!(draws(&[1, 2, 3]), draws(&[1, 2, 3]));
        let mut seen = std::collections::HashSet::new();
        for seed in 0..30 {
            for table in 0..30 {
                for row in 0..30 {
                    assert!(seen.insert(draws(&[seed, table, row])));
                }
            }
        }
    }

    /// Loaded rows are checked against this generator by whatever version comes later.
    #[test]
    fn the_stream_never_changes() {
        let mut rng = Rng::of(&[42, 1, 1]);
        let drawn: Vec<u64> = (0..3).map(|_| rng.below(1_000_000)).collect();
        assert_eq!(drawn, [637_170, 973_772, 733_701]);
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::of(&[7]);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        assert!(
            counts.iter().all(|c| (9_600..10_400).contains(c)),
            "{counts:?}"
        );
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }
}
