//! Tasks of one executor that sleep until moments of their own, unless another calls them.

use crate::reactor::{Reactor, TaskId};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Instant;

/// Tasks that sleep, each until its own moment, and of which another task of the executor may call
/// the one that would sleep longest.
#[derive(Debug, Default)]
pub struct Sleepers(RefCell<BTreeSet<Asleep>>);

/// Ordered by the moment.
type Asleep = (Instant, TaskId);

/// What ended a sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Its moment has come.
    Due,
    /// Another task called it.
    Called,
    /// What it was not to sleep through came true.
    Ended,
}

impl Sleepers {
    /// Sleeps until `deadline`, until it is called, or until `ended` is true, which is asked whenever
    /// the task is polled, so at every [`crate::Remote::signal`].
    pub async fn sleep_until(&self, deadline: Instant, mut ended: impl FnMut() -> bool) -> Woken {
        let mut place = None;
        poll_fn(|_| {
            if ended() {
                return Poll::Ready(Woken::Ended);
            }
            match &place {
                None => place = self.lie_down(deadline),
                Some(place) if !place.is_kept() => return Poll::Ready(Woken::Called),
                Some(_) => {}
            }
            if Instant::now() >= deadline {
                return Poll::Ready(Woken::Due);
            }
            Poll::Pending
        })
        .await
    }

    fn lie_down(&self, deadline: Instant) -> Option<SleeperSlot<'_>> {
        let reactor = Reactor::current().ok()?;
        let asleep = (deadline, reactor.current.get());
        reactor.wake_at(deadline);
        self.0.borrow_mut().insert(asleep);
        Some(SleeperSlot(self, asleep))
    }

    /// The moment of the task that sleeps shortest.
    pub fn first(&self) -> Option<Instant> {
        self.0.borrow().first().map(|(moment, _)| *moment)
    }

    /// Wakes the task that would sleep longest; false when none sleeps.
    pub fn call_last(&self) -> bool {
        let Some((_, task)) = self.0.borrow_mut().pop_last() else {
            return false;
        };
        if let Ok(reactor) = Reactor::current() {
            reactor.wake(task);
        }
        true
    }
}

/// A sleeper's place, left when it wakes.
struct SleeperSlot<'a>(&'a Sleepers, Asleep);

impl SleeperSlot<'_> {
    /// Whether nobody called.
    fn is_kept(&self) -> bool {
        self.0.0.borrow().contains(&self.1)
    }
}

impl Drop for SleeperSlot<'_> {
    fn drop(&mut self) {
        self.0.0.borrow_mut().remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Executor, sleep};
    use std::rc::Rc;
    use std::time::Duration;

    #[test]
    fn who_would_sleep_longest_is_called_and_the_others_sleep_on() {
        let sleepers = Rc::new(Sleepers::default());
        let woken = Rc::new(RefCell::new(Vec::new()));
        let mut executor = Executor::new().unwrap();
        let start = Instant::now();
        for ms in [600u64, 3_600_000, 900, 300] {
            let (sleepers, woken) = (Rc::clone(&sleepers), Rc::clone(&woken));
            executor.spawn(async move {
                let until = start + Duration::from_millis(ms);
                let why = sleepers.sleep_until(until, || false).await;
                assert!(why == Woken::Called || Instant::now() >= until);
                woken.borrow_mut().push((ms, why));
            });
        }
        let caller = Rc::clone(&sleepers);
        executor.spawn(async move {
            sleep(Duration::from_millis(1)).await;
            assert!(caller.call_last() && caller.call_last());
        });
        executor.run().unwrap();
        assert_eq!(
            *woken.borrow(),
            [
                (3_600_000, Woken::Called),
                (900, Woken::Called),
                (300, Woken::Due),
                (600, Woken::Due)
            ]
        );
        assert!(!sleepers.call_last());
    }

    #[test]
    fn a_signal_asks_whether_the_sleep_has_ended() {
        let mut executor = Executor::new().unwrap();
        let remote = executor.remote();
        let sleepers = Rc::new(Sleepers::default());
        let asleep = Rc::clone(&sleepers);
        executor.spawn(async move {
            let mut polls = 0;
            let ended = || {
                polls += 1;
                polls > 1
            };
            let far = Instant::now() + Duration::from_secs(3600);
            assert_eq!(asleep.sleep_until(far, ended).await, Woken::Ended);
        });
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            remote.signal().unwrap();
        });
        executor.run().unwrap();
        other.join().unwrap();
        assert!(!sleepers.call_last(), "a woken task is nobody to call");
    }
}
