//! Mergeable latency histograms and small statistics. No I/O, no knowledge of databases.

mod buckets;
mod histogram;
mod log;
mod moments;
mod ratio;
mod series;
mod sparse;
mod usl;

pub use histogram::{Histogram, HistogramError};
pub use log::{LogInterval, interval_log};
pub use moments::{half_interval, mean, population_stddev};
pub use ratio::{Estimate, Ratio};
pub use series::{Trend, autocorrelation, median, step, trend, variance_inflation};
pub use usl::{LoadPoint, Parameter, Usl, UslError};
