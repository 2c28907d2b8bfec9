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
    /// There is nothing to compare in a run.
    #[error("run {run}: no transaction was measured, or no end was written")]
    NothingMeasured {
        /// The run's id; empty where there is no run.
        run: String,
    },
}
