//! Prints a run as sysbench does while it goes on.

use super::stat::{CUMULATIVE, INTERMEDIATE, stat_of_interval, stat_of_totals};
use crate::live_output::LiveOutput;
use crate::measuring::{IntervalWindow, Voice};
use crate::progress;
use crate::render::language;
use indicatif::ProgressBar;
use std::time::Duration;
use tidemark_compat::sysbench::{
    IntervalLine, Summary, checkpoint, checkpoint_line, started, warming_up,
};
use tidemark_core::record::{Interval, Step, Totals};
use tidemark_core::{OptionValues, RunSpec};
use tidemark_lua::{Commands, Stat};
use tidemark_report::step;

/// What is printed while a run goes on.
pub struct Printer<'a> {
    percentiles: &'a [f64],
    /// Whether there are interval lines.
    has_lines: bool,
    window: IntervalWindow,
    warmup_s: u64,
    open_loop: bool,
    /// Whether the rate is another from one interval to the next.
    rate_changes: bool,
    /// The script whose hooks print instead.
    script: Option<&'a mut Commands>,
    /// Hooks of it that failed: they would again.
    failed_hooks: Vec<&'static str>,
}

/// Seconds between interval lines; 0 for none.
fn every(options: &OptionValues) -> u64 {
    options.uint("report-interval")
}

/// While no lines are printed, a terminal shows that something goes on.
pub fn bar(options: &OptionValues, spec: &RunSpec) -> ProgressBar {
    match every(options) {
        0 => progress::of_run(spec, language(options.text("lang"))),
        _ => ProgressBar::hidden(),
    }
}

impl<'a> Printer<'a> {
    /// A printer as the options ask for.
    pub fn new(
        options: &OptionValues,
        spec: &RunSpec,
        percentiles: &'a [f64],
        script: Option<&'a mut Commands>,
    ) -> Self {
        Self {
            script,
            failed_hooks: Vec::new(),
            percentiles,
            has_lines: every(options) > 0,
            window: IntervalWindow::new(Duration::from_secs(every(options))),
            warmup_s: options.uint("warmup-time"),
            open_loop: spec.pacing.is_open_loop(),
            rate_changes: crate::pacing::sets_its_length(&spec.pacing),
        }
    }
}

impl Printer<'_> {
    /// Whether the script has a hook that has not failed.
    fn has_hook(&self, hook: &'static str) -> bool {
        let has = self.script.as_ref().is_some_and(|s| s.has_hook(hook));
        has && !self.failed_hooks.contains(&hook)
    }

    /// Calls a hook; one that fails is told, and not called again.
    fn is_told(&mut self, hook: &'static str, stat: &Stat, say: &mut LiveOutput<'_>) -> bool {
        let Some(script) = &mut self.script else {
            return false;
        };
        let told = script.report(hook, stat);
        if let Err(error) = &told {
            say.say(&format!("WARNING: {hook}: {error}\n"));
            self.failed_hooks.push(hook);
        }
        told.is_ok()
    }
}

impl Voice for Printer<'_> {
    fn started(&mut self, say: &mut LiveOutput<'_>) {
        say.say(started());
        if self.warmup_s > 0 {
            say.say(&warming_up(self.warmup_s));
        }
    }

    fn interval(&mut self, interval: &Interval, say: &mut LiveOutput<'_>) {
        if let Some(sum) = self.window.add(interval) {
            if self.has_hook(INTERMEDIATE) {
                let stat = stat_of_interval(&sum, self.percentiles);
                if self.is_told(INTERMEDIATE, &stat, say) {
                    return;
                }
            }
            let mut line = IntervalLine::of(
                &sum,
                interval.phase,
                self.percentiles,
                self.open_loop,
                self.warmup_s as f64,
            );
            line.rate = sum.rate.filter(|_| self.rate_changes);
            say.say(&line.to_string());
        }
    }

    fn step(&mut self, held: &Step, say: &mut LiveOutput<'_>) {
        // Between interval lines there is nothing of ours; they name the rate themselves.
        if !self.has_lines
            && let Ok(line) = step(held)
        {
            say.say(&line);
        }
    }

    fn checkpoint(&mut self, seconds: f64, totals: &Totals, say: &mut LiveOutput<'_>) {
        if self.has_hook(CUMULATIVE)
            && let Ok(mut stat) = stat_of_totals(totals, self.percentiles)
        {
            stat.time_total = seconds;
            say.say(&checkpoint_line(seconds));
            if self.is_told(CUMULATIVE, &stat, say) {
                return;
            }
        }
        if let Ok(mut summary) = Summary::of_totals(totals, self.percentiles) {
            summary.total_time_s = seconds;
            say.say(&checkpoint(&summary));
        }
    }
}
