//! Wakes the poller at a moment, to the microsecond.

use std::cell::Cell;
use std::io;
use std::time::{Duration, Instant};

/// Rings once, at the earliest moment set.
///
/// A poller's own time-out counts whole milliseconds (epoll_wait(2)), which is late for a schedule of
/// ten thousand arrivals a second: on Linux a timer descriptor (timerfd_create(2)) rings instead.
#[derive(Debug)]
pub(crate) struct Alarm {
    #[cfg(target_os = "linux")]
    timer: nix::sys::timerfd::TimerFd,
    /// When it is to ring; `None` when it has nothing to ring for.
    set_for: Cell<Option<Instant>>,
}

#[cfg(target_os = "linux")]
impl Alarm {
    pub fn new(registry: &mio::Registry, token: mio::Token) -> io::Result<Self> {
        use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};
        use std::os::fd::{AsFd, AsRawFd};
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        // Edge-triggered: each expiry is an edge, so that the count of them need not be read.
        let mut source = mio::unix::SourceFd(&timer.as_fd().as_raw_fd());
        mio::event::Source::register(&mut source, registry, token, mio::Interest::READABLE)?;
        Ok(Self {
            timer,
            set_for: Cell::new(None),
        })
    }

    /// Rings at `deadline` at the latest, and gives how long the poller may wait.
    pub fn set(&self, deadline: Instant) -> io::Result<Option<Duration>> {
        use nix::sys::timerfd::{Expiration, TimerSetTimeFlags};
        let now = Instant::now();
        if deadline <= now {
            return Ok(Some(Duration::ZERO));
        }
        // What rings earlier wakes the poller for nothing, which is cheaper than setting it anew.
        if self.set_for.get().is_some_and(|s| s <= deadline && s > now) {
            return Ok(None);
        }
        let once = Expiration::OneShot((deadline - now).into());
        self.timer.set(once, TimerSetTimeFlags::empty())?;
        self.set_for.set(Some(deadline));
        Ok(None)
    }
}

#[cfg(not(target_os = "linux"))]
impl Alarm {
    pub fn new(_: &mio::Registry, _: mio::Token) -> io::Result<Self> {
        Ok(Self {
            set_for: Cell::new(None),
        })
    }

    /// How long the poller may wait: its own time-out has to do.
    pub fn set(&self, deadline: Instant) -> io::Result<Option<Duration>> {
        self.set_for.set(Some(deadline));
        Ok(Some(deadline.saturating_duration_since(Instant::now())))
    }
}
