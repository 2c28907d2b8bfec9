//! The scheduler: threads that lock a mutex, yield the processor and unlock it.

use crate::pthread::PthreadMutex;
use crate::{HostError, TestEvent, TestThread};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What its events are called.
pub const KINDS: &[&str] = &["event"];

/// One thread of the test.
pub struct Threads {
    locks: Arc<[PthreadMutex]>,
    /// Events that began, of all threads.
    begun: Arc<AtomicUsize>,
    yields: u64,
}

/// The test's threads: each yields so often within an event, and holds a mutex while it does. Events
/// have the mutexes in turn, whatever their thread: as long as there are fewer threads than mutexes,
/// few wait for each other, as in sysbench (by its calls of futex(2)).
pub fn threads(count: usize, yields: u64, locks: usize) -> Vec<Threads> {
    let locks: Arc<[PthreadMutex]> = (0..locks.max(1)).map(|_| PthreadMutex::new()).collect();
    let begun = Arc::<AtomicUsize>::default();
    let one = |_| Threads {
        locks: Arc::clone(&locks),
        begun: Arc::clone(&begun),
        yields,
    };
    (0..count).map(one).collect()
}

impl TestThread for Threads {
    fn event(&mut self, cut_off: &AtomicBool) -> Result<Option<TestEvent>, HostError> {
        let turn = self.begun.fetch_add(1, Ordering::Relaxed);
        let lock = &self.locks[turn % self.locks.len()];
        for _ in 0..self.yields {
            if cut_off.load(Ordering::Relaxed) {
                return Ok(None);
            }
            lock.with(std::thread::yield_now);
        }
        Ok(Some(TestEvent::of(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_can_be_cut_off() {
        let mut test = threads(1, 10, 3).remove(0);
        assert_eq!(
            test.event(&AtomicBool::new(false)).unwrap(),
            Some(TestEvent::of(0))
        );
        assert_eq!(test.event(&AtomicBool::new(true)).unwrap(), None);
    }
}
