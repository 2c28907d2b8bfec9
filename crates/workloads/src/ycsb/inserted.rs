//! Numbers of records that a run inserts: handed out to its terminals, and choosable once the
//! database has said that all before them are there.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use tidemark_core::Shard;

/// Hands out the numbers of new records, and knows up to where all are there (YCSB's
/// `AcknowledgedCounterGenerator`, without its bound on what may be outstanding).
///
/// Of clients that share a run each takes every so many-th number, and knows of its own alone when they
/// are there: it chooses none of the others'.
#[derive(Debug)]
pub(super) struct Inserted {
    loaded: u64,
    shard: OnceLock<Shard>,
    /// Own records handed out.
    next: AtomicU64,
    /// So many of them are there, with all before them.
    there: AtomicU64,
    /// Those beyond that are there already.
    early: Mutex<BTreeSet<u64>>,
}

impl Inserted {
    /// Numbers before `loaded` are there.
    pub fn new(loaded: u64) -> Self {
        Self {
            loaded,
            shard: OnceLock::new(),
            next: AtomicU64::new(0),
            there: AtomicU64::new(0),
            early: Mutex::default(),
        }
    }

    /// Hands out this client's numbers alone. A run that follows goes on with the same.
    pub fn deal(&self, shard: Shard) {
        // A process is one client only.
        let _ = self.shard.set(shard);
    }

    #[inline]
    fn shard(&self) -> Shard {
        self.shard.get().copied().unwrap_or_default()
    }

    /// Whether other clients insert, too.
    pub fn is_shared(&self) -> bool {
        !self.shard().is_whole()
    }

    /// The number of a record to insert.
    pub fn take(&self) -> u64 {
        let own = self.next.fetch_add(1, Ordering::Relaxed);
        self.loaded.saturating_add(self.shard().global(own))
    }

    /// The record is there, or will never be.
    pub fn acknowledge(&self, number: u64) {
        let own = number.saturating_sub(self.loaded) / u64::from(self.shard().of.max(1));
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        early.insert(own);
        let mut there = self.there.load(Ordering::Relaxed);
        while early.remove(&there) {
            there += 1;
        }
        self.there.store(there, Ordering::Release);
    }

    /// All numbers before this one may be chosen, by [`Inserted::own`]: the other clients are taken to
    /// have inserted as many.
    #[inline]
    pub fn end(&self) -> u64 {
        let of = u64::from(self.shard().of.max(1));
        self.loaded + self.there.load(Ordering::Acquire) * of
    }

    /// The record to choose for a number that was drawn: itself, or of those that the clients insert the
    /// own one beside it.
    #[inline]
    pub fn own(&self, number: u64) -> u64 {
        let shard = self.shard();
        if number < self.loaded || shard.is_whole() {
            return number;
        }
        let beyond = number - self.loaded;
        self.loaded + shard.global(beyond / u64::from(shard.of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_record_is_chosen_when_all_before_it_are_there() {
        let inserted = Inserted::new(10);
        let taken: Vec<u64> = (0..4).map(|_| inserted.take()).collect();
        assert_eq!(taken, [10, 11, 12, 13]);
        for (number, end) in [(12, 10), (11, 10), (10, 13), (13, 14)] {
            inserted.acknowledge(number);
            assert_eq!(inserted.end(), end, "after {number}");
        }
    }

    #[test]
    fn threads_take_each_number_once_and_all_are_there_at_the_end() {
        let inserted = Inserted::new(0);
        let taken = Mutex::new(BTreeSet::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5000 {
                        let number = inserted.take();
                        inserted.acknowledge(number);
                        assert!(taken.lock().unwrap().insert(number));
                    }
                });
            }
        });
        assert_eq!(inserted.end(), 20_000);
        assert_eq!(taken.lock().unwrap().len(), 20_000);
    }

    proptest! {
        /// Clients that insert as many as each other insert what one would, and each chooses among what
        /// was loaded and its own.
        #[test]
        fn clients_insert_each_number_once(of in 1u32..20, each in 0u64..50, loaded in 0u64..100) {
            let mut all = BTreeSet::new();
            for index in 0..of {
                let inserted = Inserted::new(loaded);
                inserted.deal(Shard { index, of });
                let own: BTreeSet<u64> = (0..each).map(|_| inserted.take()).collect();
                own.iter().rev().for_each(|number| inserted.acknowledge(*number));
                prop_assert_eq!(inserted.end(), loaded + each * u64::from(of));
                for drawn in 0..inserted.end() {
                    let chosen = inserted.own(drawn);
                    prop_assert!(chosen < loaded && chosen == drawn || own.contains(&chosen));
                }
                for number in own {
                    prop_assert!(all.insert(number));
                }
            }
            let whole = Inserted::new(loaded);
            let one: BTreeSet<u64> = (0..each * u64::from(of)).map(|_| whole.take()).collect();
            prop_assert_eq!(all, one);
        }
    }
}
