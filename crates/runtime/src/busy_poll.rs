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

/// How an executor waits for a moment that is near: it asks its poller again and again ("busy
/// polling") instead of sleeping until a timer rings. A thread that sleeps wakes some tens of
/// microseconds late, and on a guest, whose processor has to be given back to it first, some
/// hundreds. Timers of other tasks are slept for.
pub struct BusyPoll {
    /// A moment that is so near is awaited awake.
    pub ahead: Duration,
    /// The next moment that may be, if there is one.
    pub next: Box<dyn Fn() -> Option<Instant>>,
    /// Asked all the time then: whether it has found something for a task, and woken it.
    pub find_work: Box<dyn Fn(Instant) -> bool>,
}

impl fmt::Debug for BusyPoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = &mut f.debug_struct("BusyPoll");
        fields.field("ahead", &self.ahead).finish_non_exhaustive()
    }
}

impl BusyPoll {
    /// When the executor has to be awake for the next moment.
    pub(crate) fn awake_at(&self) -> Option<Instant> {
        let next = (self.next)()?;
        Some(next.checked_sub(self.ahead).unwrap_or(next))
    }

    /// Waits until the next moment or `timer`, until `poll` says that something is ready, or until
    /// there is something for a task; false, without a poll, when no moment is near or one has come.
    /// `poll` must not wait.
    pub(crate) fn wait(
        &self,
        timer: Option<Instant>,
        mut poll: impl FnMut() -> io::Result<bool>,
    ) -> io::Result<bool> {
        let mut now = Instant::now();
        let Some(next) = (self.next)() else {
            return Ok(false);
        };
        let until = timer.map_or(next, |timer| timer.min(next));
        if until <= now || next > now + self.ahead {
            return Ok(false);
        }
        let begun = thread_time();
        while now < until && !poll()? && !(self.find_work)(now) {
            // Others that are runnable on this processor go first, be it the server.
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
    const MINUTE: Duration = Duration::from_secs(60);

    /// Stays awake for a minute before `next`.
    fn busy_poll(next: Option<Instant>, find_work: impl Fn(Instant) -> bool + 'static) -> BusyPoll {
        BusyPoll {
            ahead: MINUTE,
            next: Box::new(move || next),
            find_work: Box::new(find_work),
        }
    }

    /// How often `poll` was asked.
    fn polls(busy_poll: &BusyPoll, timer: Option<Instant>, ready: bool) -> (bool, u32) {
        let mut polls = 0;
        let waited = busy_poll.wait(timer, || {
            polls += 1;
            Ok(ready)
        });
        (waited.unwrap(), polls)
    }

    #[test]
    fn a_near_moment_is_awaited_awake_and_no_other() {
        let now = Instant::now();
        let at = |after| busy_poll(Some(now + after), |_| false);
        let before = busy_polled();
        let (waited, asked) = polls(&at(10_000 * MS), Some(now + 20 * MS), false);
        // Whoever was held up for the twenty milliseconds has not waited.
        assert_eq!(waited, asked > 0);
        assert!(!waited || busy_polled() > before);
        assert_eq!(polls(&at(MINUTE / 2), None, true), (true, 1));
        assert_eq!(polls(&at(2 * MINUTE), None, true), (false, 0));
        assert_eq!(polls(&at(Duration::ZERO), None, true), (false, 0));
        assert_eq!(polls(&at(MINUTE / 2), Some(now), true), (false, 0));
        // Timers alone keep nobody awake.
        let none = busy_poll(None, |_| false);
        assert_eq!(polls(&none, Some(now + MINUTE / 2), true), (false, 0));
    }

    #[test]
    fn what_is_found_or_fails_ends_it() {
        let soon = Some(Instant::now() + MINUTE / 2);
        assert_eq!(polls(&busy_poll(soon, |_| true), None, false), (true, 1));
        let poll = || Err(io::Error::other("no poller"));
        assert!(busy_poll(soon, |_| false).wait(None, poll).is_err());
    }

    #[test]
    fn an_executor_wakes_before_its_moment_and_stays_awake() {
        let start = Instant::now();
        let first = Rc::new(Cell::new(None));
        let mut executor = Executor::new().unwrap();
        let (sleepers, asked) = (Rc::new(Sleepers::default()), Rc::clone(&first));
        let idle = Rc::clone(&sleepers);
        executor.busy_poll(BusyPoll {
            ahead: 200 * MS,
            next: Box::new(move || idle.first()),
            find_work: Box::new(move |now| {
                asked.set(asked.get().or(Some(now)));
                false
            }),
        });
        // Another timer before it is slept for.
        executor.spawn(sleep(100 * MS));
        executor.spawn(async move {
            let woken = sleepers.sleep_until(start + 500 * MS, || false).await;
            assert_eq!(woken, Woken::Due);
        });
        executor.run().unwrap();
        assert!(start.elapsed() >= 500 * MS);
        // A machine that stands still for those 200 ms sees none of them.
        assert!(first.get().is_none_or(|at| at >= start + 300 * MS));
    }

    #[test]
    fn who_stays_awake_hears_signals_sockets_other_timers_and_an_abort() {
        let soon = Some(Instant::now() + MINUTE);
        let mut executor = Executor::new().unwrap();
        executor.busy_poll(busy_poll(soon, |_| false));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            use std::io::Write;
            let (mut peer, _) = listener.accept().unwrap();
            std::thread::sleep(5 * MS);
            peer.write_all(b"x").unwrap();
        });
        let remote = executor.remote();
        let heard = Rc::new(Cell::new(0));
        let hears = Rc::clone(&heard);
        executor.spawn(async move {
            remote.signal().unwrap();
            crate::remote_signal().await;
            hears.set(hears.get() + 1);
            sleep(5 * MS).await;
            hears.set(hears.get() + 1);
            let mut stream = crate::Stream::connect_tcp(address).await.unwrap();
            let got = stream.receive(|bytes| bytes.first().copied()).await;
            assert_eq!(got.unwrap(), b'x');
            hears.set(hears.get() + 1);
            remote.abort().unwrap();
            sleep(MINUTE).await;
            hears.set(hears.get() + 1);
        });
        executor.run().unwrap();
        server.join().unwrap();
        assert_eq!(heard.get(), 3);
    }
}
