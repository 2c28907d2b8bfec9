//! Shuffling, the same for a seed for ever.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Shuffles by a seed.
pub(crate) struct Shuffler(Xoshiro256PlusPlus);

impl Shuffler {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Fisher and Yates, written out here because an order that is repeated must not change with a
    /// crate's version. The remainder's bias is below 2^-32 for any list that fits a file.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.0.next_u64() % (last as u64 + 1);
            items.swap(last, usize::try_from(chosen).unwrap_or(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_an_order_for_ever() {
        let mut items: Vec<u32> = (0..8).collect();
        Shuffler::new(1).shuffle(&mut items);
        let mut again: Vec<u32> = (0..8).collect();
        Shuffler::new(1).shuffle(&mut again);
        assert_eq!(items, again);
        let mut other: Vec<u32> = (0..8).collect();
        Shuffler::new(2).shuffle(&mut other);
        assert_ne!(items, other);
    }
}
