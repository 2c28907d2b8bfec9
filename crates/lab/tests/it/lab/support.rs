//! What these tests share.

use std::future::Future;
use std::time::{Duration, Instant};

/// Runs a test's future to its end.
pub fn run<T: 'static>(future: impl Future<Output = T> + 'static) -> T {
    tidemark_runtime::block_on(future).unwrap()
}

/// Waits until `done`, for ten seconds at most.
pub fn wait_until(mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !done() {
        assert!(Instant::now() < end, "it did not come about in ten seconds");
        std::thread::sleep(Duration::from_millis(1));
    }
}
