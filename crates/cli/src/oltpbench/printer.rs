//! Prints a phase while it goes on, writes the lines for every so many seconds, and keeps it in the
//! store.

use super::windows::Windows;
use crate::outputs::load_begins;
use crate::recording::Recording;
use crate::storing::Storing;
use indicatif::ProgressBar;
use std::io::Write;
use std::time::Duration;
use tidemark_core::record::{Interval, Phase, Totals};
use tidemark_engine::{RunObserver, Started};

/// What is printed and kept while a phase goes on.
pub struct Printer<'a> {
    pub out: &'a mut dyn Write,
    pub recording: &'a mut Recording,
    pub storing: &'a mut Storing,
    /// Files with lines for every so many seconds.
    pub windows: &'a mut [Windows],
    /// Length between lines; zero prints none.
    pub every: Duration,
    /// Transactions since the last line.
    pub count: u64,
    /// Milliseconds since then.
    pub length_ms: f64,
    pub bar: ProgressBar,
}

impl Printer<'_> {
    fn say(&mut self, text: &str) {
        let bar = self.bar.clone();
        bar.suspend(|| {
            let said = self.out.write_all(text.as_bytes());
            let said = said.and_then(|()| self.out.flush());
            // Nobody reads any more: the run ends as by Ctrl-C, and what was measured is kept.
            if said.is_err_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
                crate::interrupt::handle().stop();
            }
        });
    }

    /// BenchBase's line, when it is time.
    fn monitor(&mut self, interval: &Interval, count: u64) {
        self.count += count;
        self.length_ms += interval.length_ms;
        // Intervals end within moments of the asked time.
        if self.every.is_zero() || self.length_ms < self.every.as_secs_f64() * 950.0 {
            return;
        }
        let rate = self.count as f64 / (self.length_ms / 1000.0);
        (self.count, self.length_ms) = (0, 0.0);
        self.say(&format!("Throughput: {rate:.2} txn/sec\n"));
    }
}

impl RunObserver for Printer<'_> {
    fn started(&mut self, begun: &Started) {
        let fewer = load_begins(self.recording, self.storing, begun);
        self.say(&fewer);
    }

    fn interval(&mut self, interval: &Interval) {
        self.storing.interval(interval);
        let count = interval.types.values().map(|t| t.count).sum();
        self.monitor(interval, count);
        if interval.phase == Phase::Measure {
            self.windows.iter_mut().for_each(|w| w.add(interval));
        }
        self.bar.inc(interval.length_ms as u64);
        let rate = count as f64 / (interval.length_ms / 1000.0).max(1e-9);
        self.bar.set_message(format!("{rate:.0} transactions/s"));
    }

    fn checkpoint(&mut self, _seconds: f64, _totals: &Totals) {}
}

impl Drop for Printer<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
