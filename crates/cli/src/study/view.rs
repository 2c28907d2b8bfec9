//! What is seen of a study while it is executed: bars on a terminal, a line a step everywhere.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;
use tidemark_core::printable_lines;
use tidemark_report::significant;
use tidemark_store::RunProgress;
use tidemark_study::{Step, StepKind, time_text};

/// The view of a study.
pub struct View {
    bars: Option<Bars>,
    /// Steps in all.
    total: usize,
}

struct Bars {
    all: MultiProgress,
    whole: ProgressBar,
    step: ProgressBar,
}

impl View {
    /// Of so many steps, of which some are over.
    pub fn new(total: usize, over: usize) -> Self {
        let bars = std::io::stderr().is_terminal().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(5);
            let all = MultiProgress::with_draw_target(target);
            let whole = all.add(ProgressBar::new(total as u64));
            let step = all.add(ProgressBar::new(1));
            // Ours and constant; the default style is no loss. Lines fit into 80 columns, and what
            // a step is called, which may be long, ends where its line does.
            if let Ok(style) =
                ProgressStyle::with_template("study  [{bar:30}] {pos}/{len} steps  {prefix}")
            {
                whole.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
            }
            let step_lines = "step   {wide_msg}\n       [{bar:20}] {prefix}";
            if let Ok(style) = ProgressStyle::with_template(step_lines) {
                step.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
            }
            whole.set_position(over as u64);
            Bars { all, whole, step }
        });
        Self { bars, total }
    }

    /// Prints a line.
    pub fn say(&self, line: &str) {
        // What servers said is in it.
        let line = printable_lines(line);
        match &self.bars {
            Some(bars) => bars.all.suspend(|| say!("{line}")),
            None => say!("{line}"),
        }
    }

    /// A step begins.
    pub fn begins(&self, step: &Step) {
        if let Some(bars) = &self.bars {
            bars.step.set_message(name_of(step));
            bars.step.set_prefix("");
            bars.step.set_length(millis(step.expected));
            bars.step.set_position(0);
        }
    }

    /// A step goes on since so long; what its run measured last; the time left for all.
    pub fn goes_on(&self, since: Duration, seen: Option<RunProgress>, left: Duration) {
        let Some(bars) = &self.bars else { return };
        bars.whole.set_prefix(format!("{} left", time_text(left)));
        bars.step.set_position(millis(since));
        bars.step.set_prefix(match seen {
            None => time_text(since),
            Some(seen) => {
                let phase = if seen.at_s <= 0.0 { " (warm-up)" } else { "" };
                let p95 = seen
                    .p95_ms
                    .map_or(String::new(), |ms| format!("  p95 {} ms", significant(ms)));
                format!(
                    "{}{phase}  {:.0} tx/s{p95}",
                    time_text(since),
                    seen.transactions_per_s
                )
            }
        });
    }

    /// A step has ended, the `over`-th of all.
    pub fn ended(&self, over: usize, step: &Step, said: &str) {
        let width = self.total.to_string().len();
        self.say(&format!(
            "[{over:width$}/{}] {}: {said}",
            self.total,
            name_of(step)
        ));
        if let Some(bars) = &self.bars {
            bars.whole.set_position(over as u64);
        }
    }

    /// Takes the bars away.
    pub fn close(&self) {
        if let Some(bars) = &self.bars {
            bars.step.finish_and_clear();
            bars.whole.finish_and_clear();
        }
    }
}

/// A step as people call it.
pub fn name_of(step: &Step) -> String {
    match step.kind {
        StepKind::Load => format!("load {}", step.cell),
        StepKind::Run => format!("{} repeat {}", step.cell, step.repeat),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}
