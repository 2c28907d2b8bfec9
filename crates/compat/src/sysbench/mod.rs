//! What sysbench 1.0.20 prints, line for line, so that the parsers people have go on working.
//!
//! Pure formatting: no clock, no output. Each part can be had from core types
//! ([`IntervalLine::of`], [`Summary::of_totals`]) or filled in directly.
//!
//! Beyond sysbench's own lines there are: the version line's program name, `Target:` and `Server:`
//! in the header, further percentiles at the end of an interval line and in the latency block, and
//! after the summary what sysbench has no words for, which is [`tidemark_report::beyond`].

mod header;
mod histogram;
pub mod host;
mod interval;
mod summary;

pub use header::{RunHeader, ending, initializing, started, version_line, warming_up};
pub use histogram::histogram;
pub use interval::IntervalLine;
pub use summary::{Latency, Summary, checkpoint, checkpoint_line};

/// The percentiles to show: `--percentile=0` means none.
fn shown(percentiles: &[f64]) -> impl Iterator<Item = f64> + '_ {
    percentiles.iter().copied().filter(|p| *p > 0.0)
}
