//! Prints a run as go-ycsb does while it goes on.

use super::lines::so_far;
use crate::live_output::LiveOutput;
use crate::measuring::{Voice, is_due};
use std::time::Duration;
use tidemark_compat::OutputStyle;
use tidemark_core::record::{Interval, Phase, Step};
use tidemark_report::{Merged, step};

/// What is printed while a run goes on.
pub(super) struct Printer {
    style: OutputStyle,
    every: Duration,
    /// The measurement so far: go-ycsb's lines are of the whole run.
    sum: Merged,
    /// Length of the measurement when lines were printed last.
    printed_ms: f64,
}

impl Printer {
    /// Lines of this style, every so long; zero prints none.
    pub fn new(style: OutputStyle, every: Duration) -> Self {
        Self {
            style,
            every,
            sum: Merged::default(),
            printed_ms: 0.0,
        }
    }
}

impl Voice for Printer {
    fn interval(&mut self, interval: &Interval, say: &mut LiveOutput<'_>) {
        if self.every.is_zero() || interval.phase != Phase::Measure {
            return;
        }
        // What the engine encoded a moment ago can be decoded.
        if self.sum.add(interval).is_err() {
            return;
        }
        if is_due(self.sum.length_ms - self.printed_ms, self.every) {
            self.printed_ms = self.sum.length_ms;
            say.say(&so_far(&self.sum, self.style));
        }
    }

    fn step(&mut self, held: &Step, say: &mut LiveOutput<'_>) {
        if let Ok(line) = step(held) {
            say.say_aside(&line);
        }
    }

    fn unit(&self) -> &'static str {
        "operations"
    }
}
