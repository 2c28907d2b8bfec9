//! Random numbers that cost less than what they choose.

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The same seed gives the same numbers; `stream` parts those of threads.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // One step of SplitMix64: near seeds must not give near numbers, and zero gives none.
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Below `bound`, by the high half of a product (Lemire, "Fast random integer generation in an
    /// interval"); the bias is below 2^-32 for what is chosen here.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_below_their_bound_and_reach_all_of_it() {
        let mut random = Random::new(7, 0);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
        }
        // A share of a tenth: standard deviation 30.
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
    }

    #[test]
    fn streams_of_one_seed_differ() {
        let first = |stream| Random::new(0, stream).next();
        assert_ne!(first(0), first(1));
        assert_eq!(first(3), first(3));
    }
}
