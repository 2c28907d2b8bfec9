//! Numbers of records that a run inserts: handed out to its terminals, and choosable once the
//! database has said that all before them are there.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Hands out the numbers of new records, and knows up to where all are there (YCSB's
/// `AcknowledgedCounterGenerator`, without its bound on what may be outstanding).
#[derive(Debug)]
pub(super) struct Inserted {
    next: AtomicU64,
    /// All numbers before it are there.
    end: AtomicU64,
    /// Those beyond it that are there already.
    early: Mutex<BTreeSet<u64>>,
}

impl Inserted {
    /// Numbers before `loaded` are there.
    pub fn new(loaded: u64) -> Self {
        Self {
            next: AtomicU64::new(loaded),
            end: AtomicU64::new(loaded),
            early: Mutex::default(),
        }
    }

    /// The number of a record to insert.
    pub fn take(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The record is there, or will never be.
    pub fn acknowledge(&self, number: u64) {
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        early.insert(number);
        let mut end = self.end.load(Ordering::Relaxed);
        while early.remove(&end) {
            end += 1;
        }
        self.end.store(end, Ordering::Release);
    }

    /// All numbers before this one may be chosen.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
