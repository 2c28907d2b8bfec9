//! Mutexes: threads that run all at once, and lock one of many for a moment.

use crate::pthread::PthreadMutex;
use crate::random::Random;
use crate::{HostError, TestEvent, TestThread};
#[cfg(not(target_arch = "x86_64"))]
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

/// Counts to a number, a step for each turn of the loop, as sysbench was seen to take the time that a
/// processor takes for a turn. A compiler would leave the loop out or make several steps; Intel's newer
/// processors make two steps at a time where what is added is a constant.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn count_to(loops: u64) {
    if loops > 0 {
        // SAFETY: it changes one register, and ends at zero.
        unsafe {
            std::arch::asm!(
                ".p2align 5",
                "2:",
                "sub {left}, {one}",
                "jnz 2b",
                left = inout(reg) loops => _,
                one = in(reg) 1u64,
                options(nomem, nostack),
            );
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn count_to(loops: u64) {
    for step in 0..loops {
        black_box(step);
    }
}

impl TestThread for Mutexes {
    fn event(&mut self, cut_off: &AtomicBool) -> Result<Option<TestEvent>, HostError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let shared = &*self.shared;
        for _ in 0..shared.locks {
            if cut_off.load(Ordering::Relaxed) {
                return Ok(None);
            }
            count_to(shared.loops);
            let chosen = self.random.below(shared.mutexes.len() as u64) as usize;
            shared.mutexes[chosen].with(|| {
                let before = shared.value.load(Ordering::Relaxed);
                shared.value.store(before + 1, Ordering::Relaxed);
            });
        }
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
