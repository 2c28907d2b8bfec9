//! Intervals put together into lines that come less often.

use std::time::Duration;
use tidemark_core::record::Interval;
use tidemark_report::Merged;

/// Whether enough milliseconds are over for a line every so long: intervals end within moments of
/// the asked time.
pub fn is_due(length_ms: f64, every: Duration) -> bool {
    !every.is_zero() && length_ms >= every.as_secs_f64() * 950.0
}

/// Intervals until there are enough of one phase for a line.
pub struct IntervalWindow {
    every: Duration,
    since: Vec<Interval>,
}

impl IntervalWindow {
    /// For lines every so long; zero is for none.
    pub fn new(every: Duration) -> Self {
        Self {
            every,
            since: Vec::new(),
        }
    }

    /// Adds one; gives the sum when it is time for a line.
    pub fn add(&mut self, interval: &Interval) -> Option<Merged> {
        if self.every.is_zero() {
            return None;
        }
        let changed = self.since.last().is_some_and(|l| l.phase != interval.phase);
        if changed {
            self.since.clear();
        }
        self.since.push(interval.clone());
        let length: f64 = self.since.iter().map(|i| i.length_ms).sum();
        if !is_due(length, self.every) {
            return None;
        }
        // What the engine encoded a moment ago can be decoded.
        Merged::of(&std::mem::take(&mut self.since)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::Phase;

    fn interval(start_ms: i64, phase: Phase) -> Interval {
        Interval {
            start_ms,
            length_ms: 998.0,
            phase,
            ..Interval::default()
        }
    }

    #[test]
    fn a_line_is_of_one_phase_and_as_long_as_asked() {
        let mut window = IntervalWindow::new(Duration::from_secs(2));
        assert!(window.add(&interval(-1000, Phase::Warmup)).is_none());
        assert!(window.add(&interval(0, Phase::Measure)).is_none());
        let sum = window.add(&interval(998, Phase::Measure)).unwrap();
        assert_eq!((sum.start_ms, sum.length_ms), (0.0, 1996.0));
        assert!(window.add(&interval(1996, Phase::Measure)).is_none());
        let mut none = IntervalWindow::new(Duration::ZERO);
        assert!(none.add(&interval(0, Phase::Measure)).is_none());
    }
}
