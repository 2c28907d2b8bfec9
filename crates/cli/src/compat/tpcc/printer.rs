//! Prints a run as go-tpc does while it goes on.

use crate::live_output::LiveOutput;
use crate::measuring::{IntervalWindow, Voice};
use std::time::Duration;
use tidemark_compat::OutputStyle;
use tidemark_compat::tpcc::current;
use tidemark_core::record::{Interval, Step};
use tidemark_report::step;

/// What is printed while a run goes on.
pub(super) struct Printer {
    style: OutputStyle,
    window: IntervalWindow,
}

impl Printer {
    /// Lines of this style, every so long; zero prints none.
    pub fn new(style: OutputStyle, every: Duration) -> Self {
        Self {
            style,
            window: IntervalWindow::new(every),
        }
    }
}

impl Voice for Printer {
    fn interval(&mut self, interval: &Interval, say: &mut LiveOutput<'_>) {
        if let Some(sum) = self.window.add(interval) {
            say.say(&current(&sum, interval.phase, self.style));
        }
    }

    fn step(&mut self, held: &Step, say: &mut LiveOutput<'_>) {
        if let Ok(line) = step(held) {
            say.say_aside(&line);
        }
    }
}
