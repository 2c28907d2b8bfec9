//! Prints a phase while it goes on, and writes the lines for every so many seconds.

use super::windows::Windows;
use crate::live_output::LiveOutput;
use crate::measuring::{Voice, is_due};
use std::time::Duration;
use tidemark_core::record::{Interval, Phase};

/// What is printed and written while a phase goes on.
pub struct Printer<'a> {
    windows: &'a mut [Windows],
    every: Duration,
    /// Transactions since the last line.
    count: u64,
    /// Milliseconds since then.
    length_ms: f64,
}

impl<'a> Printer<'a> {
    /// BenchBase's lines every so long, zero for none, and files with lines for every so many
    /// seconds.
    pub fn new(every: Duration, windows: &'a mut [Windows]) -> Self {
        Self {
            windows,
            every,
            count: 0,
            length_ms: 0.0,
        }
    }
}

impl Voice for Printer<'_> {
    fn interval(&mut self, interval: &Interval, say: &mut LiveOutput<'_>) {
        self.count += interval.transactions();
        self.length_ms += interval.length_ms;
        if is_due(self.length_ms, self.every) {
            let rate = self.count as f64 / (self.length_ms / 1000.0);
            (self.count, self.length_ms) = (0, 0.0);
            say.say(&format!("Throughput: {rate:.2} txn/sec\n"));
        }
        if interval.phase == Phase::Measure {
            self.windows.iter_mut().for_each(|w| w.add(interval));
        }
    }

    fn ended(&mut self) {
        self.windows.iter_mut().for_each(Windows::end_phase);
    }
}
