//! Timers.

use crate::reactor::Reactor;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Ends at a moment; see [`sleep_until`].
#[derive(Debug)]
pub struct Sleep {
    deadline: Instant,
    armed: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.deadline {
            return Poll::Ready(());
        }
        if !self.armed {
            self.armed = true;
            if let Ok(reactor) = Reactor::current() {
                reactor.wake_at(self.deadline);
            }
        }
        Poll::Pending
    }
}

/// Waits until `deadline`.
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep {
        deadline,
        armed: false,
    }
}

/// Waits for `duration`.
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(Instant::now() + duration)
}

/// Waits until `deadline`; false when `ended` became true first. It is asked whenever the task is
/// polled, so at every [`crate::Remote::signal`].
pub async fn sleep_unless(deadline: Instant, mut ended: impl FnMut() -> bool) -> bool {
    let mut sleep = sleep_until(deadline);
    std::future::poll_fn(|cx| {
        if ended() {
            return Poll::Ready(false);
        }
        Pin::new(&mut sleep).poll(cx).map(|()| true)
    })
    .await
}

/// Runs `future` unless `ended` becomes true first, which is asked whenever the task is polled;
/// `None` then, and the future is dropped unfinished.
pub async fn unless<T>(
    mut ended: impl FnMut() -> bool,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        if ended() {
            return Poll::Ready(None);
        }
        future.as_mut().poll(cx).map(Some)
    })
    .await
}

/// The time given to [`timeout`] ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed;

/// Runs `future` for at most `duration`; dropped unfinished after that.
///
/// # Errors
/// [`Elapsed`] when the time ran out.
pub async fn timeout<T>(duration: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut future = pin!(future);
    let mut sleep = sleep(duration);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(value) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(value));
        }
        Pin::new(&mut sleep).poll(cx).map(|()| Err(Elapsed))
    })
    .await
}
