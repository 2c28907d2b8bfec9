//! pgbench's own lines (PostgreSQL manual, "pgbench"; version 15): summary, progress, and the lines of
//! its logs.

mod log;
mod summary;
#[cfg(test)]
mod tests;

pub use log::{Aggregate, Ending, LogLine};
pub use summary::{CommandResult, Length, ScriptResult, Summary};

use std::fmt::{self, Write as _};
use tidemark_stats::Histogram;

/// Mean and standard deviation of times, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// Mean.
    pub mean_ms: f64,
    /// Standard deviation of the whole.
    pub stddev_ms: f64,
}

impl Moments {
    /// Of a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        let count = histogram.count() as f64;
        if count == 0.0 {
            return Self::default();
        }
        let mean = histogram.mean_ns();
        let squares = histogram.occupied().map(|(ns, n)| {
            let off = ns as f64 - mean;
            off * off * n as f64
        });
        let variance = squares.sum::<f64>() / count;
        Self {
            mean_ms: mean / 1e6,
            stddev_ms: variance.sqrt() / 1e6,
        }
    }
}

/// Failures and retries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Transactions that ended well.
    pub done: u64,
    /// Those that failed with a serialization failure.
    pub serialization: u64,
    /// Those that failed with a deadlock.
    pub deadlock: u64,
    /// Those that were tried again.
    pub retried: u64,
    /// How often, in all.
    pub retries: u64,
    /// Those that were not begun, because they were late.
    pub skipped: u64,
}

impl Counts {
    fn failed(&self) -> u64 {
        self.serialization + self.deadlock
    }

    /// All that were to be done.
    fn all(&self) -> u64 {
        self.done + self.failed() + self.skipped
    }
}

/// A line of `-P`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgressLine {
    /// Seconds since the start, or since 1970.
    pub at_s: f64,
    /// Whether it is a moment.
    pub is_timestamp: bool,
    /// Transactions a second since the last line.
    pub tps: f64,
    /// Their latencies.
    pub latency: Moments,
    /// Their failures, retries, and those that were skipped.
    pub counts: Counts,
    /// Their mean lateness in milliseconds, of a schedule.
    pub lag_ms: Option<f64>,
    /// Whether transactions may be skipped.
    pub may_skip: bool,
    /// Whether they may be tried again.
    pub may_retry: bool,
}

impl fmt::Display for ProgressLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = match self.is_timestamp {
            true => format!("{:.3}", self.at_s),
            false => format!("{:.1}", self.at_s),
        };
        write!(
            f,
            "progress: {at} s, {:.1} tps, lat {:.3} ms stddev {:.3}, {} failed",
            self.tps,
            self.latency.mean_ms,
            self.latency.stddev_ms,
            self.counts.failed()
        )?;
        if let Some(lag) = self.lag_ms {
            write!(f, ", lag {lag:.3} ms")?;
            if self.may_skip {
                write!(f, ", {} skipped", self.counts.skipped)?;
            }
        }
        if self.may_retry {
            write!(
                f,
                ", {} retried, {} retries",
                self.counts.retried, self.counts.retries
            )?;
        }
        f.write_char('\n')
    }
}
