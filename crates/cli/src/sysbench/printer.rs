//! Prints a run as sysbench does while it goes on, and keeps it in the store.

use crate::outputs::load_begins;
use crate::recording::Recording;
use crate::storing::Storing;
use indicatif::ProgressBar;
use std::io::Write;
use std::time::Duration;
use tidemark_core::record::{Interval, Phase, Step, Totals};
use tidemark_core::{OptionValues, RunSpec};
use tidemark_engine::{RunObserver, Started};
use tidemark_report::Merged;
use tidemark_report::sysbench::{IntervalLine, Summary, checkpoint, started, step, warming_up};

/// What is printed while a run goes on.
pub struct Printer<'a> {
    out: &'a mut dyn Write,
    recording: &'a mut Recording,
    storing: &'a mut Storing,
    percentiles: &'a [f64],
    /// Length between interval lines; `None` prints none.
    every: Option<Duration>,
    warmup_s: u64,
    open_loop: bool,
    /// Whether the rate is another from one interval to the next.
    rate_changes: bool,
    /// Intervals since the last line.
    since_line: Vec<Interval>,
    bar: Option<ProgressBar>,
}

impl<'a> Printer<'a> {
    /// A printer as the options ask for.
    pub fn new(
        options: &OptionValues,
        spec: &RunSpec,
        percentiles: &'a [f64],
        out: &'a mut dyn Write,
        recording: &'a mut Recording,
        storing: &'a mut Storing,
    ) -> Self {
        let every = Some(options.uint("report-interval")).filter(|s| *s > 0);
        Self {
            out,
            recording,
            storing,
            percentiles,
            every: every.map(Duration::from_secs),
            warmup_s: options.uint("warmup-time"),
            open_loop: spec.pacing.is_open_loop(),
            rate_changes: crate::pacing::sets_its_length(&spec.pacing),
            since_line: Vec::new(),
            bar: every.is_none().then(|| waiting_bar(spec)),
        }
    }

    fn say(&mut self, text: &str) {
        match self.bar.clone() {
            Some(bar) => bar.suspend(|| self.write(text)),
            None => self.write(text),
        }
    }

    fn write(&mut self, text: &str) {
        // Nobody reads any more: the run ends as by Ctrl-C, and what was measured is kept.
        let said = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
        if said.is_err_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
            crate::interrupt::handle().stop();
        }
    }

    /// Prints a line when enough intervals have come.
    fn line(&mut self, interval: &Interval) {
        let Some(every) = self.every else { return };
        let changed = self
            .since_line
            .last()
            .is_some_and(|last| last.phase != interval.phase);
        if changed {
            self.since_line.clear();
        }
        self.since_line.push(interval.clone());
        let length: f64 = self.since_line.iter().map(|i| i.length_ms).sum();
        // Intervals end within moments of the asked time.
        if length < every.as_secs_f64() * 950.0 {
            return;
        }
        // What the engine encoded a moment ago can be decoded.
        if let Ok(sum) = Merged::of(&self.since_line) {
            let mut line = IntervalLine::of(
                &sum,
                interval.phase,
                self.percentiles,
                self.open_loop,
                self.warmup_s as f64,
            );
            line.rate = sum.rate.filter(|_| self.rate_changes);
            self.say(&line.to_string());
        }
        self.since_line.clear();
    }
}

/// While no lines are printed, a terminal shows that something goes on.
fn waiting_bar(spec: &RunSpec) -> ProgressBar {
    let seconds = crate::pacing::length(spec).map_or(0, |t| (t + spec.warmup).as_secs());
    crate::progress::seconds(seconds)
}

impl RunObserver for Printer<'_> {
    fn started(&mut self, begun: &Started) {
        let fewer = load_begins(self.recording, self.storing, begun);
        self.say(&fewer);
        self.say(started());
        if self.warmup_s > 0 {
            self.say(&warming_up(self.warmup_s));
        }
    }

    fn interval(&mut self, interval: &Interval) {
        self.storing.interval(interval);
        self.line(interval);
        if let Some(bar) = &self.bar {
            bar.inc(interval.length_ms as u64);
            let count: u64 = interval.types.values().map(|t| t.count).sum();
            let rate = count as f64 / (interval.length_ms / 1000.0).max(1e-9);
            let phase = if interval.phase == Phase::Warmup {
                "warm-up, "
            } else {
                ""
            };
            let asked = interval.rate.map(|r| format!(" of {r:.0} asked"));
            bar.set_message(format!(
                "{phase}{rate:.0} transactions/s{}",
                asked.unwrap_or_default()
            ));
        }
    }

    fn step(&mut self, held: &Step) {
        // Between interval lines there is nothing of ours; they name the rate themselves.
        if self.every.is_none()
            && let Ok(line) = step(held)
        {
            self.say(&line);
        }
    }

    fn checkpoint(&mut self, seconds: f64, totals: &Totals) {
        if let Ok(mut summary) = Summary::of_totals(totals, self.percentiles) {
            summary.total_time_s = seconds;
            self.say(&checkpoint(&summary));
        }
    }
}

impl Drop for Printer<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
