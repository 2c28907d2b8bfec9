//! Why a record could not be analysed.

use tidemark_stats::HistogramError;

/// Why a record could not be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A latency distribution can't be read.
    #[error("run {run}: {source}")]
    Histogram {
        /// The run's id.
        run: String,
        /// Why.
        source: HistogramError,
    },
    /// A run ended by an error: what it measured until then is no result.
    #[error("run {run} failed and can't be compared: {why}")]
    Failed {
        /// The run's id.
        run: String,
        /// What ended it.
        why: String,
    },
    /// It only observed.
    #[error(
        "run {run} is a watch: it had no load of its own, so it has no throughput and no latency to compare"
    )]
    Watch {
        /// The run's id.
        run: String,
    },
    /// There is nothing to compare in a run.
    #[error("run {run}: no transaction was measured, or it has no end record")]
    NothingMeasured {
        /// The run's id; empty where there is no run.
        run: String,
    },
}
