//! Where in a run the controller is.

use std::time::{Duration, Instant};

/// The moments that intervals are counted from.
pub(crate) struct Clock {
    run_start: Instant,
    pub measure_start: Instant,
    pub interval_start: Instant,
}

impl Clock {
    pub fn new(measure_start: Instant, interval_start: Instant) -> Self {
        Self {
            run_start: interval_start,
            measure_start,
            interval_start,
        }
    }

    /// The next interval's end: a whole number of intervals from the start of the phase, so that
    /// lateness does not add up.
    pub fn next_due(&self, interval: Duration) -> Instant {
        let base = if self.interval_start < self.measure_start {
            self.run_start
        } else {
            self.measure_start
        };
        let passed = (self.interval_start - base).as_secs_f64() / interval.as_secs_f64();
        // What began a moment late belongs to the interval that it is nearly all of.
        base + interval.mul_f64((passed + 0.05).floor() + 1.0)
    }

    pub fn signed_ms(&self, moment: Instant) -> i64 {
        let ms = |d: Duration| i64::try_from(d.as_millis()).unwrap_or(i64::MAX);
        match moment.checked_duration_since(self.measure_start) {
            Some(after) => ms(after),
            None => -ms(self.measure_start - moment),
        }
    }
}
