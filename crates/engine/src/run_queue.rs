//! How much of its time a thread of the load waits for a processor.

use std::cell::Cell;
use std::time::{Duration, Instant};
use tidemark_runtime::thread_run_delay;

/// A thread's account, from when the first of its sessions begins to work.
#[derive(Debug, Default)]
pub(crate) struct RunQueue {
    begun: Cell<Option<Look>>,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    waited: Duration,
}

impl Look {
    /// `None` where the system does not tell.
    fn now() -> Option<Self> {
        Some(Self {
            at: Instant::now(),
            waited: thread_run_delay()?,
        })
    }
}

impl RunQueue {
    /// A session of the calling thread begins to work.
    pub fn begin(&self) {
        if self.begun.get().is_none() {
            self.begun.set(Look::now());
        }
    }

    /// The share of the time since then in which the calling thread could run and had no processor.
    pub fn share(&self) -> Option<f64> {
        let (begun, now) = (self.begun.get()?, Look::now()?);
        let seconds = (now.at - begun.at).as_secs_f64();
        let waited = now.waited.saturating_sub(begun.waited);
        (seconds > 0.0).then(|| waited.as_secs_f64() / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_processors_wait_for_one() {
        let cores = std::thread::available_parallelism().unwrap().get();
        let until = Instant::now() + Duration::from_millis(600);
        let spin = move || {
            let queue = RunQueue::default();
            assert_eq!(queue.share(), None);
            queue.begin();
            while Instant::now() < until {
                std::hint::spin_loop();
            }
            queue.share()
        };
        let threads: Vec<_> = (0..3 * cores).map(|_| std::thread::spawn(spin)).collect();
        let shares = threads.into_iter().map(|thread| thread.join().unwrap());
        let shares: Vec<Option<f64>> = shares.collect();
        if thread_run_delay().is_none() {
            return assert!(shares.iter().all(Option::is_none));
        }
        // Two in three wait, or more on a busy machine; threads that begin late wait less.
        let waiting: f64 = shares.iter().flatten().sum();
        assert!(waiting > 0.5 * cores as f64, "{shares:?}");
        assert!(waiting <= 3.0 * cores as f64 + 0.1, "{shares:?}");
    }
}
