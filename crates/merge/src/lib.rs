//! One record of the records of several clients that made a run together, exact to the sample.
//!
//! Histograms are added, and percentiles taken from the sum: they are what one client with all samples
//! would have, in whatever order and grouping they came. Times are on the clock that the clients have in
//! common, from the start of the measurement.
//!
//! [`Live`] merges intervals while the run goes on, [`record()`] the whole at its end.

#[cfg(test)]
extern crate self as tidemark_merge;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod interval;
mod live;
mod overlaps;
mod progress;
mod record;
mod stats;
mod totals;

pub use interval::interval;
pub use live::{Delivery, Live, Merged, Taken};
pub use progress::ClientProgress;
pub use record::{ClientClock, ClientRun, record};
pub use stats::type_stats;
pub use totals::{ClientTotals, errors, step, totals};

use tidemark_stats::HistogramError;

/// Why records can't be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A histogram can't be read.
    #[error("{place}: {source}")]
    Histogram {
        /// Where it stands.
        place: String,
        /// What is wrong with it.
        source: HistogramError,
    },
    /// Two clients say that they are the same one.
    #[error("client {0} is there twice")]
    Twice(u32),
    /// There is nothing to merge.
    #[error("no client told anything")]
    Nothing,
}
