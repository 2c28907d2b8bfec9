//! The operating system's own mutex: Rust's spins a while before it sleeps, which is another test.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;

/// A mutex of POSIX threads, of the default kind.
pub(crate) struct PthreadMutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: a mutex is made to be used by several threads at once; it is boxed because it must not move.
unsafe impl Send for PthreadMutex {}
// SAFETY: as above.
unsafe impl Sync for PthreadMutex {}

impl PthreadMutex {
    pub fn new() -> Self {
        Self(Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)))
    }

    /// Does something while the mutex is held.
    #[inline]
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        // SAFETY: the mutex is initialised and lives as long as `self`; the default kind fails for no
        // thread that does not hold it.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
        let done = work();
        // SAFETY: this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
        done
    }
}

impl Drop for PthreadMutex {
    fn drop(&mut self) {
        // SAFETY: nobody else has it any more, and nobody holds it.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn one_thread_at_a_time_has_it() {
        let mutex = PthreadMutex::new();
        let sum = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        mutex.with(|| {
                            let before = sum.load(Ordering::Relaxed);
                            std::thread::yield_now();
                            sum.store(before + 1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 4000);
    }
}
