//! Random numbers that cost less than what they choose.

use std::cell::Cell;

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

/// Both words of a state. Apart, for one that is read as a pair has to wait for both to be written.
type State = (Cell<u64>, Cell<u64>);

thread_local! {
    /// Of this thread: at a fixed place, where processors see at once that what is read was just written.
    static STATE: State = const { (Cell::new(1), Cell::new(2)) };
}

/// Begins the numbers of [`next_of_thread`] anew.
pub(crate) fn seed_thread(seed: &mut Random) {
    STATE.with(|(a, b)| {
        a.set(seed.next());
        b.set(seed.next());
    });
}

/// The next number of this thread, of xoroshiro128+ (Blackman and Vigna, "Scrambled linear pseudorandom
/// number generators"), by a call that stays one: sysbench takes that generator and the time of a call.
#[inline(never)]
pub(crate) fn next_of_thread() -> u64 {
    STATE.with(|(a, b)| {
        let (first, second) = (a.get(), b.get());
        let mixed = first ^ second;
        a.set(first.rotate_left(24) ^ mixed ^ (mixed << 16));
        b.set(mixed.rotate_left(37));
        first.wrapping_add(second)
    })
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
    fn a_thread_has_the_numbers_of_its_seed() {
        // Worked out by hand from the paper's rule.
        STATE.with(|(a, b)| (a.set(1), b.set(2)));
        let second = (1_u64 << 24 ^ 3 ^ 3 << 16).wrapping_add(3 << 37);
        assert_eq!([next_of_thread(), next_of_thread()], [3, second]);
        let first = |stream| {
            seed_thread(&mut Random::new(7, stream));
            next_of_thread()
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn streams_of_one_seed_differ() {
        let first = |stream| Random::new(0, stream).next();
        assert_ne!(first(0), first(1));
        assert_eq!(first(3), first(3));
    }
}
