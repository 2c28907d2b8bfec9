//! Prints a run as go-ycsb does while it goes on, and keeps it in the store.

use crate::outputs::complain;
use crate::recording::Recording;
use crate::storing::Storing;
use indicatif::ProgressBar;
use std::io::Write;
use std::time::Duration;
use tidemark_core::record::{Interval, Phase, Step, Totals};
use tidemark_engine::{RunObserver, Started};
use tidemark_report::Merged;
use tidemark_report::sysbench::{fewer_sessions, step};
use tidemark_report::tpcc::OutputStyle;
use tidemark_report::ycsb;

/// What is printed while a run goes on.
pub(super) struct Printer<'a> {
    /// For go-ycsb's lines.
    pub out: &'a mut dyn Write,
    /// For the others.
    pub aside: &'a mut dyn Write,
    pub recording: &'a mut Recording,
    pub storing: &'a mut Storing,
    pub style: OutputStyle,
    /// Length between lines; zero prints none.
    pub every: Duration,
    /// The measurement so far: go-ycsb's lines are of the whole run.
    pub sum: Merged,
    /// Length of the measurement when lines were printed last.
    pub printed_ms: f64,
    pub bar: ProgressBar,
}

impl Printer<'_> {
    fn say(&mut self, text: &str, ours: bool) {
        let bar = self.bar.clone();
        let out = if ours {
            &mut *self.aside
        } else {
            &mut *self.out
        };
        bar.suspend(|| {
            let said = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            // Nobody reads any more: the run ends as by Ctrl-C, and what was measured is kept.
            if said.is_err_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
                crate::interrupt::handle().stop();
            }
        });
    }

    /// Prints lines when enough of the run is over.
    fn lines(&mut self, interval: &Interval) {
        if self.every.is_zero() || interval.phase != Phase::Measure {
            return;
        }
        // What the engine encoded a moment ago can be decoded.
        if self.sum.add(interval).is_err() {
            return;
        }
        // Intervals end within moments of the asked time.
        if self.sum.length_ms - self.printed_ms < self.every.as_secs_f64() * 950.0 {
            return;
        }
        self.printed_ms = self.sum.length_ms;
        let lines = ycsb::so_far(&self.sum, self.style);
        self.say(&lines, false);
    }
}

impl RunObserver for Printer<'_> {
    fn started(&mut self, begun: &Started) {
        self.recording.started(begun);
        self.storing.begin(&self.recording.record);
        complain(self.storing);
        let fewer = fewer_sessions(&self.recording.record);
        self.say(&fewer, true);
    }

    fn interval(&mut self, interval: &Interval) {
        self.storing.interval(interval);
        self.lines(interval);
        self.bar.inc(interval.length_ms as u64);
        let count: u64 = interval.types.values().map(|t| t.count).sum();
        let rate = count as f64 / (interval.length_ms / 1000.0).max(1e-9);
        let phase = match interval.phase {
            Phase::Warmup => "warm-up, ",
            Phase::Measure => "",
        };
        self.bar
            .set_message(format!("{phase}{rate:.0} operations/s"));
    }

    fn step(&mut self, held: &Step) {
        if let Ok(line) = step(held) {
            self.say(&line, true);
        }
    }

    fn checkpoint(&mut self, _seconds: f64, _totals: &Totals) {}
}

impl Drop for Printer<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
