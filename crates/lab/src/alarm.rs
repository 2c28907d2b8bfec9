//! Wakes a poller at a moment.
//!
//! A poller's own time-out counts in milliseconds (`epoll_wait`); Linux's timers in files
//! (`timerfd_create(2)`) wake it within microseconds, and without the slack that time-outs have.

use std::io;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
mod system {
    use super::{Duration, io};
    use mio::unix::SourceFd;
    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
    use std::os::fd::{AsFd, AsRawFd};

    #[derive(Debug)]
    pub struct Timer(TimerFd);

    impl Timer {
        pub fn new(registry: &mio::Registry, token: mio::Token) -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
            let fd = timer.as_fd().as_raw_fd();
            registry.register(&mut SourceFd(&fd), token, mio::Interest::READABLE)?;
            Ok(Self(timer))
        }

        /// Setting it anew also forgets that it rang: it is never read.
        pub fn set(&mut self, after: Duration) -> io::Result<Option<Duration>> {
            // Zero would switch it off.
            let after = TimeSpec::from_duration(after.max(Duration::from_nanos(1)));
            self.0
                .set(Expiration::OneShot(after), TimerSetTimeFlags::empty())?;
            Ok(None)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Duration, io};

    /// The poller's own time-out does.
    #[derive(Debug)]
    pub struct Timer;

    impl Timer {
        pub fn new(_: &mio::Registry, _: mio::Token) -> io::Result<Self> {
            Ok(Self)
        }

        pub fn set(&mut self, after: Duration) -> io::Result<Option<Duration>> {
            Ok(Some(after))
        }
    }
}

/// Wakes a poller at a moment.
#[derive(Debug)]
pub(crate) struct Alarm {
    timer: system::Timer,
    set: Option<Instant>,
}

impl Alarm {
    pub fn new(registry: &mio::Registry, token: mio::Token) -> io::Result<Self> {
        Ok(Self {
            timer: system::Timer::new(registry, token)?,
            set: None,
        })
    }

    /// Sees to it that the poller wakes at `due` or before, and gives the time-out to poll with.
    pub fn wake_at(&mut self, due: Option<Instant>, now: Instant) -> io::Result<Option<Duration>> {
        let Some(due) = due else {
            return Ok(None);
        };
        if due <= now {
            return Ok(Some(Duration::ZERO));
        }
        // It rings in time already.
        if cfg!(target_os = "linux") && self.set.is_some_and(|set| set > now && set <= due) {
            return Ok(None);
        }
        self.set = Some(due);
        self.timer.set(due - now)
    }
}
