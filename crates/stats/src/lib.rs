//! Mergeable latency histograms and small statistics. No I/O, no knowledge of databases.

mod histogram;
mod moments;

pub use histogram::{Histogram, HistogramError};
pub use moments::{mean, population_stddev};
