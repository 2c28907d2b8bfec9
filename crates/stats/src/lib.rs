//! Mergeable latency histograms and small statistics. No I/O, no knowledge of databases.
//!
//! ```
//! use std::time::Duration;
//! use tidemark_stats::Histogram;
//! let (mut one, mut other) = (Histogram::new(), Histogram::new());
//! one.record(Duration::from_millis(2));
//! other.record(Duration::from_millis(40));
//! // Percentiles come from merged histograms; they are never averaged.
//! one.merge(&other);
//! assert_eq!((one.count(), one.sum_ns()), (2, 42_000_000));
//! assert!(one.percentile_ns(99.0) >= 39_000_000);
//! ```

mod buckets;
mod histogram;
mod log;
mod moments;
mod ratio;
mod series;
mod sparse;
mod usl;

pub use histogram::{Histogram, HistogramError};
pub use log::{LogInterval, interval_log, logged_histogram};
pub use moments::{half_interval, mean, population_stddev};
pub use ratio::{Estimate, Ratio, SHORTEST_SERIES, step_variance};
pub use series::{Trend, autocorrelation, chance, median, step, trend, variance_inflation};
pub use usl::{LoadPoint, Parameter, Usl, UslError};
