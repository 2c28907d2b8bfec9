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
