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
    timer: rustix::fd::OwnedFd,
    /// When it is to ring; `None` when it has nothing to ring for.
    set_for: Cell<Option<Instant>>,
}

#[cfg(target_os = "linux")]
impl Alarm {
    pub fn new(registry: &mio::Registry, token: mio::Token) -> io::Result<Self> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        use std::os::fd::AsRawFd;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Edge-triggered: each expiry is an edge, so that the count of them need not be read.
        let mut source = mio::unix::SourceFd(&timer.as_raw_fd());
        mio::event::Source::register(&mut source, registry, token, mio::Interest::READABLE)?;
        Ok(Self {
            timer,
            set_for: Cell::new(None),
        })
    }

    /// Rings at `deadline` at the latest, and gives how long the poller may wait.
    pub fn set(&self, deadline: Instant) -> io::Result<Option<Duration>> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        let now = Instant::now();
        if deadline <= now {
            return Ok(Some(Duration::ZERO));
        }
        // What rings earlier wakes the poller for nothing, which is cheaper than setting it anew.
        if self.set_for.get().is_some_and(|s| s <= deadline && s > now) {
            return Ok(None);
        }
        let wait = deadline - now;
        let value = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(wait.subsec_nanos()),
        };
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let once = Itimerspec {
            it_interval: zero,
            it_value: value,
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
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
