//! What experiments around a run's job showed (`tidemark diagnose`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What experiments around a run's job showed. Each of their runs has a record of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiments {
    /// The diagnosis: the study of its runs.
    pub id: String,
    /// Sessions of the baseline, in closed loop.
    pub sessions: usize,
    /// Transactions a second of the baseline, the mean over its runs.
    pub transactions_per_s: f64,
    /// Milliseconds of a statement that does nothing; absent of embedded databases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping_ms: Option<f64>,
    /// By so many milliseconds replies came later, where that was a change.
    #[serde(default, skip_serializing_if = "super::client::is_zero")]
    pub later_ms: f64,
    /// Changes that were measured.
    pub measured: Vec<MeasuredChange>,
    /// Changes that were not made.
    pub skipped: Vec<SkippedChange>,
    /// The cause that they prove, as diagnoses of runs name it, or `not-enough-seen`.
    pub verdict: String,
    /// How sure that is: `high`, `medium` or `low`.
    pub confidence: String,
    /// It in a sentence, in English.
    pub sentence: String,
    /// The same in Chinese.
    pub sentence_zh: String,
    /// Causes that they rule out.
    pub rules_out: Vec<String>,
    /// Whether the user ended them before all were made.
    #[serde(default)]
    pub interrupted: bool,
}

/// A change, each of whose runs followed one of the baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredChange {
    /// Which: `sessions-x2`, `later-replies`, …
    pub experiment: String,
    /// Its throughput by the baseline's.
    pub ratio: f64,
    /// Begin of its 95 % confidence interval.
    pub low: f64,
    /// End of it; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Pairs of runs.
    pub pairs: usize,
}

/// A change that was not made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedChange {
    /// Which.
    pub experiment: String,
    /// Why, in English.
    pub reason: String,
    /// The same in Chinese.
    pub reason_zh: String,
}
