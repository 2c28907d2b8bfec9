//! Statements that end when their time is over, though the engine blocks its thread.

use super::BUSY_TIMEOUT;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Instructions of SQLite's virtual machine between two looks at the clock: some 50 µs of work
/// (sqlite.org/c3ref/progress_handler.html).
const INSTRUCTIONS: i32 = 5_000;
/// No statement goes on.
const NONE: u64 = u64::MAX;

/// A statement time-out of one connection.
#[derive(Debug)]
pub(super) struct ConnectionTimeout {
    timeout: Duration,
    since: Instant,
    /// Nanoseconds after `since` at which the statement must be over.
    deadline: Arc<AtomicU64>,
}

impl ConnectionTimeout {
    /// Sets a connection up; waiting for another session's lock is limited as well.
    pub fn set(connection: &mut Connection, timeout: Duration) -> Result<Self, rusqlite::Error> {
        let limit = Self {
            timeout,
            since: Instant::now(),
            deadline: Arc::new(AtomicU64::new(NONE)),
        };
        let (since, deadline) = (limit.since, Arc::clone(&limit.deadline));
        let is_over = move || nanos(since.elapsed()) >= deadline.load(Ordering::Relaxed);
        connection.progress_handler(INSTRUCTIONS, Some(is_over))?;
        connection.busy_timeout(limit.longest_wait())?;
        Ok(limit)
    }

    /// How long to wait for another session's lock: in whole milliseconds, and at least one, for 0 would
    /// mean no waiting at all.
    pub fn longest_wait(&self) -> Duration {
        self.timeout.clamp(Duration::from_millis(1), BUSY_TIMEOUT)
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    pub fn begin(&self) {
        let deadline = nanos(self.since.elapsed() + self.timeout);
        self.deadline.store(deadline, Ordering::Relaxed);
    }

    /// Whether the time had run out.
    pub fn end(&self) -> bool {
        let deadline = self.deadline.swap(NONE, Ordering::Relaxed);
        nanos(self.since.elapsed()) >= deadline
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(NONE - 1)
}
