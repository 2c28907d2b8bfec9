//! Queries of benchmarks that ask questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of a query of a benchmark that asks questions (TPC-H).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "why")]
pub enum QueryOutcome {
    /// It ended well.
    #[default]
    Done,
    /// It took longer than a query may (`--query-timeout`).
    TimedOut,
    /// It failed, and why.
    Failed(String),
}

/// What was found of a query's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "difference")]
pub enum AnswerVerdict {
    /// Nobody compared it, or nothing to compare it with was there.
    #[default]
    Unchecked,
    /// It is the right one.
    Right,
    /// It is not: the first row that differs.
    Wrong(String),
}

/// One query, or one change of the data, of one stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryRun {
    /// The stream's number.
    pub stream: u64,
    /// What it is called by: `Q1`, `RF1`.
    pub name: String,
    /// Start, in milliseconds from the start of the measurement.
    pub start_ms: f64,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
    /// Rows that it answered.
    pub rows: u64,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: QueryOutcome,
    /// What was found of its answer.
    #[serde(default)]
    pub answer: AnswerVerdict,
    /// The values that it was asked with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
}
