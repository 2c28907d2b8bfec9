//! Prints a run as go-tpc does while it goes on, and keeps it in the store.

use crate::outputs::load_begins;
use crate::recording::Recording;
use crate::storing::Storing;
use indicatif::ProgressBar;
use std::io::Write;
use std::time::Duration;
use tidemark_core::RunSpec;
use tidemark_core::record::{Interval, Phase, Step, Totals};
use tidemark_engine::{RunObserver, Started};
use tidemark_report::Merged;
use tidemark_report::sysbench::step;
use tidemark_report::tpcc::{OutputStyle, current};

/// What is printed while a run goes on.
pub(super) struct Printer<'a> {
    /// For go-tpc's lines.
    pub out: &'a mut dyn Write,
    /// For the others.
    pub aside: &'a mut dyn Write,
    pub recording: &'a mut Recording,
    pub storing: &'a mut Storing,
    pub style: OutputStyle,
    /// Length between lines; zero prints none.
    pub every: Duration,
    /// Intervals since the last lines.
    pub since: Vec<Interval>,
    pub bar: ProgressBar,
}

/// A bar over the whole run, for people who wait for lines.
pub(super) fn bar(spec: &RunSpec) -> ProgressBar {
    let seconds = crate::pacing::length(spec).map_or(0, |t| (t + spec.warmup).as_secs());
    crate::progress::seconds(seconds)
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

    /// Prints lines when enough intervals have come.
    fn lines(&mut self, interval: &Interval) {
        if self.every.is_zero() {
            return;
        }
        let changed = self.since.last().is_some_and(|l| l.phase != interval.phase);
        if changed {
            self.since.clear();
        }
        self.since.push(interval.clone());
        let length: f64 = self.since.iter().map(|i| i.length_ms).sum();
        // Intervals end within moments of the asked time.
        if length < self.every.as_secs_f64() * 950.0 {
            return;
        }
        // What the engine encoded a moment ago can be decoded.
        if let Ok(sum) = Merged::of(&self.since) {
            let lines = current(&sum, interval.phase, self.style);
            self.say(&lines, false);
        }
        self.since.clear();
    }
}

impl RunObserver for Printer<'_> {
    fn started(&mut self, begun: &Started) {
        let fewer = load_begins(self.recording, self.storing, begun);
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
            .set_message(format!("{phase}{rate:.0} transactions/s"));
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
