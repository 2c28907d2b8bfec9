//! How much memory something takes.

use peak_alloc::PeakAlloc;
use std::sync::{Mutex, PoisonError};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Taken whatever comes: receive buffers, tables of names, an executor.
const AT_ALL: usize = 2 << 20;

/// Runs `work` on `len` bytes from outside.
///
/// # Panics
/// When it held more than `a_byte` bytes of memory for each byte, and [`AT_ALL`], at any moment.
pub(crate) fn bounded<T>(len: usize, a_byte: usize, work: impl FnOnce() -> T) -> T {
    // Tests run side by side, and the counters are the process's.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let done = work();
    let taken = ALLOCATOR.peak_usage().saturating_sub(before);
    let most = AT_ALL + a_byte * len;
    assert!(
        taken <= most,
        "{len} bytes took {taken} bytes of memory; {most} are allowed"
    );
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_proportion_is_taken() {
        let taken = bounded(1 << 20, 4, || vec![1u8; 3 << 20].len());
        assert_eq!(taken, 3 << 20);
    }

    #[test]
    #[should_panic(expected = "bytes of memory")]
    fn what_is_out_of_proportion_is_seen_even_when_it_was_given_back() {
        bounded(10, 4, || drop(vec![1u8; 3 << 20]));
    }
}
