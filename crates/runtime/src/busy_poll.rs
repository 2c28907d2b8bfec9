//! Staying awake for a timer that is near.

use nix::time::{ClockId, clock_gettime};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Of all executors of this process.
static BUSY_NS: AtomicU64 = AtomicU64::new(0);

/// Processor time that the executors of this process have taken so far to stay awake.
pub fn busy_polled() -> Duration {
    Duration::from_nanos(BUSY_NS.load(Ordering::Relaxed))
}

/// How an executor waits for a timer that is near: it asks its poller again and again ("busy
/// polling") instead of sleeping until the timer rings. A thread that sleeps wakes some tens of
/// microseconds late, and on a guest, whose processor has to be given back to it first, some
/// hundreds.
pub struct BusyPoll {
    /// A timer that is due so soon is awaited awake.
    pub ahead: Duration,
    /// Asked all the time then: whether it has found something for a task, and woken it.
    pub look: Box<dyn Fn(Instant) -> bool>,
}

impl fmt::Debug for BusyPoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = &mut f.debug_struct("BusyPoll");
        fields.field("ahead", &self.ahead).finish_non_exhaustive()
    }
}

impl BusyPoll {
    /// Waits until `deadline`, until `poll` says that something is ready, or until there is something
    /// for a task; false when the deadline is not near. `poll` must not wait.
    pub fn wait(
        &self,
        deadline: Instant,
        mut poll: impl FnMut() -> io::Result<bool>,
    ) -> io::Result<bool> {
        let mut now = Instant::now();
        if deadline > now + self.ahead {
            return Ok(false);
        }
        let begun = thread_time();
        while now < deadline && !poll()? && !(self.look)(now) {
            // Whoever else wants this processor has it first, be it the server.
            std::thread::yield_now();
            now = Instant::now();
        }
        let spent = thread_time().saturating_sub(begun).as_nanos();
        BUSY_NS.fetch_add(spent.try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(true)
    }
}

/// Processor time of this thread; zero where the system doesn't tell.
fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Executor, Sleepers, Woken, sleep};
    use std::cell::Cell;
    use std::rc::Rc;

    const MS: Duration = Duration::from_millis(1);

    fn nothing() -> Box<dyn Fn(Instant) -> bool> {
        Box::new(|_| false)
    }

    #[test]
    fn a_near_timer_is_awaited_awake_and_a_far_one_asleep() {
        let times_polled = |ahead, timer| {
            let (polls, before) = (Cell::new(0), busy_polled());
            let look = nothing();
            let deadline = Instant::now() + timer;
            let waited = BusyPoll { ahead, look }.wait(deadline, || {
                polls.set(polls.get() + 1);
                Ok(false)
            });
            let waited = waited.unwrap();
            assert_eq!(waited, Instant::now() >= deadline);
            (waited, polls.get(), busy_polled() - before)
        };
        let (waited, polls, took) = times_polled(200 * MS, 100 * MS);
        assert!(waited && polls > 0 && !took.is_zero());
        let (waited, polls, _) = times_polled(MS, 3_600_000 * MS);
        assert!(!waited && polls == 0);
    }

    #[test]
    fn what_is_ready_or_found_ends_it() {
        let hour = Instant::now() + 3_600_000 * MS;
        let busy = |look| BusyPoll {
            ahead: 7_200_000 * MS,
            look,
        };
        let mut left = 3;
        let ready = busy(nothing()).wait(hour, || {
            left -= 1;
            Ok(left == 0)
        });
        assert!(ready.unwrap() && left == 0);
        let found = busy(Box::new(|_| true)).wait(hour, || Ok(false));
        assert!(found.unwrap());
        let failed = busy(nothing()).wait(hour, || Err(io::Error::other("no poller")));
        assert!(failed.is_err());
    }

    #[test]
    fn an_executor_wakes_before_its_timer_and_stays_awake() {
        let first_look = Rc::new(Cell::new(None));
        let mut executor = Executor::new().unwrap();
        let looked = Rc::clone(&first_look);
        executor.busy_poll(BusyPoll {
            ahead: 1000 * MS,
            look: Box::new(move |now| {
                looked.set(looked.get().or(Some(now)));
                false
            }),
        });
        let start = Instant::now();
        executor.spawn(sleep(1500 * MS));
        executor.run().unwrap();
        assert!(start.elapsed() >= 1500 * MS);
        assert!(first_look.get().unwrap() >= start + 500 * MS);
    }

    #[test]
    fn an_executor_that_stays_awake_hears_its_timers_signals_and_looks() {
        let sleepers = Rc::new(Sleepers::default());
        let (woken, looks) = (Rc::new(Cell::new(None)), Rc::new(Cell::new(0)));
        let mut executor = Executor::new().unwrap();
        let (idle, counted) = (Rc::clone(&sleepers), Rc::clone(&looks));
        executor.busy_poll(BusyPoll {
            ahead: 7_200_000 * MS,
            look: Box::new(move |_| {
                counted.set(counted.get() + 1);
                counted.get() == 50 && idle.call_last()
            }),
        });
        let why = Rc::clone(&woken);
        executor.spawn(async move {
            let late = Instant::now() + 60_000 * MS;
            why.set(Some(sleepers.sleep_until(late, || false).await));
        });
        executor.spawn(async {
            let start = Instant::now();
            sleep(5 * MS).await;
            assert!(start.elapsed() >= 5 * MS);
        });
        let remote = executor.remote();
        executor.spawn(async move {
            remote.signal().unwrap();
            crate::remote_signal().await;
        });
        executor.run().unwrap();
        assert_eq!(woken.get(), Some(Woken::Called));
        assert!(looks.get() >= 50);
    }
}
