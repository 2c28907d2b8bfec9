//! How long load may go on without a word from the coordinator.

use std::time::{Duration, Instant};

/// A load is asked to end when this share of its time is over, so that what is in progress can end and be
/// told; at the deadline it is killed.
const STOP_SHARE: f64 = 0.6;

/// A deadline that is put off by each renewal, as long as it is not over.
#[derive(Debug, Clone)]
pub struct Deadline {
    length: Duration,
    renewed: Instant,
    is_stopping: bool,
    is_over: bool,
}

impl Deadline {
    /// Of a lease that was granted now.
    pub fn new(length: Duration, now: Instant) -> Self {
        Self {
            length,
            renewed: now,
            is_stopping: false,
            is_over: false,
        }
    }

    /// Puts it off; false when it is too late.
    pub fn renew(&mut self, now: Instant) -> bool {
        if self.is_over(now) {
            return false;
        }
        self.renewed = now;
        true
    }

    /// Time left.
    pub fn left(&self, now: Instant) -> Duration {
        self.length.saturating_sub(self.since(now))
    }

    /// Time since it was renewed.
    pub fn since(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.renewed)
    }

    /// Whether it is over; for ever then.
    pub fn is_over(&mut self, now: Instant) -> bool {
        self.is_over |= self.since(now) >= self.length;
        self.is_over
    }

    /// Whether the load is to end now; once.
    pub fn should_stop(&mut self, now: Instant) -> bool {
        let is_due = self.since(now) >= stop_after(self.length);
        is_due && !std::mem::replace(&mut self.is_stopping, true)
    }
}

/// When a load that has this time ends by itself.
pub fn stop_after(length: Duration) -> Duration {
    length.mul_f64(STOP_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_ends_before_its_deadline_and_no_renewal_comes_after_it() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut deadline = Deadline::new(Duration::from_secs(10), start);
        assert!(!deadline.should_stop(at(5)));
        assert!(deadline.renew(at(5)));
        assert_eq!(deadline.left(at(6)), Duration::from_secs(9));
        assert!(!deadline.should_stop(at(10)));
        assert!(deadline.should_stop(at(11)));
        assert!(!deadline.should_stop(at(12)), "it is told once");
        assert!(!deadline.is_over(at(14)));
        assert!(deadline.is_over(at(15)));
        assert!(!deadline.renew(at(15)));
        assert!(deadline.is_over(at(5)), "it does not come back");
    }
}
