//! Mutexes: threads that run all at once, and lock one of many for a moment.

use crate::pthread::PthreadMutex;
use crate::random::Random;
use crate::{HostError, TestEvent, TestThread};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What its events are called.
pub const KINDS: &[&str] = &["event"];

struct Shared {
    mutexes: Vec<PthreadMutex>,
    /// What each lock is taken for.
    value: AtomicU64,
    locks: u64,
    loops: u64,
}

/// One thread of the test. It has one event: all its locks.
pub struct Mutexes {
    shared: Arc<Shared>,
    random: Random,
    done: bool,
}

/// The test's threads: each takes so many `locks`, one of `mutexes` at a time, after so many empty
/// `loops`.
pub fn mutexes(count: usize, mutexes: usize, locks: u64, loops: u64, seed: u64) -> Vec<Mutexes> {
    let shared = Arc::new(Shared {
        mutexes: (0..mutexes.max(1)).map(|_| PthreadMutex::new()).collect(),
        value: AtomicU64::new(0),
        locks,
        loops,
    });
    let one = |thread| Mutexes {
        shared: Arc::clone(&shared),
        random: Random::new(seed, thread as u64),
        done: false,
    };
    (0..count).map(one).collect()
}

/// One step of a counter in memory, which takes Intel's processors twice as long as a store, and nearly as long as
/// sysbench was seen to take for an empty loop.
#[allow(unsafe_code)]
#[inline(always)]
fn count(sum: &mut u64) {
    let sum: *mut u64 = sum;
    // SAFETY: it is a reference's.
    unsafe { sum.write_volatile(sum.read_volatile().wrapping_add(1)) };
}

impl TestThread for Mutexes {
    fn event(&mut self, cut_off: &AtomicBool) -> Result<Option<TestEvent>, HostError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let shared = &*self.shared;
        let mut sum = 0u64;
        for _ in 0..shared.locks {
            if cut_off.load(Ordering::Relaxed) {
                return Ok(None);
            }
            for _ in 0..shared.loops {
                count(&mut sum);
            }
            let chosen = self.random.below(shared.mutexes.len() as u64) as usize;
            shared.mutexes[chosen].with(|| {
                let before = shared.value.load(Ordering::Relaxed);
                shared.value.store(before + 1, Ordering::Relaxed);
            });
        }
        black_box(sum);
        Ok(Some(TestEvent::of(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_one_event() {
        let going = AtomicBool::new(false);
        let mut all = mutexes(2, 1, 100, 10, 7);
        for test in &mut all {
            assert_eq!(test.event(&going).unwrap(), Some(TestEvent::of(0)));
            assert_eq!(test.event(&going).unwrap(), None);
        }
        assert_eq!(all[0].shared.value.load(Ordering::Relaxed), 200);
    }
}
