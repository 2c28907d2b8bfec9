//! Why a report could not be made.

use tidemark_stats::HistogramError;

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A latency distribution of the record can't be read.
    #[error("latencies of {place}: {source}")]
    Histogram {
        /// Which: the totals or an interval, and the transaction type.
        place: String,
        /// Why.
        source: HistogramError,
    },
    /// It only observed, and has no figure of a run.
    #[error(
        "run {0} is a watch, with no load of its own: it has no transactions to report beside others"
    )]
    Watch(String),
    /// The record can't be judged.
    #[error(transparent)]
    Analysis(#[from] tidemark_analysis::AnalysisError),
    /// A chart could not be drawn.
    #[error("chart: {0}")]
    Chart(String),
    /// The page could not be put together.
    #[error("page: {0}")]
    Page(#[from] askama::Error),
    /// The author's own text can't be used.
    #[error(transparent)]
    Authored(#[from] crate::AuthoredError),
    /// The figures could not be written as JSON.
    #[error("JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// What was observed can't be read.
    #[error(transparent)]
    Series(#[from] tidemark_core::series::SeriesError),
    /// The figures could not be written as Parquet.
    #[error("Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}
