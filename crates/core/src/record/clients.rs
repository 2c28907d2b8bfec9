//! The clients that made a run together.

use super::{ClientHost, ClientUsage, TypeStats};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How one of several clients came to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "state", content = "reason")]
pub enum ClientState {
    /// With the run.
    #[default]
    Finished,
    /// It was asked to end before.
    Interrupted,
    /// Nothing more was heard of it, and why that was believed.
    Lost(String),
    /// By an error, which is given.
    Failed(String),
    /// It never began.
    Absent,
}

impl ClientState {
    /// Whether its sessions were missing for a part of the run.
    pub fn is_missing(&self) -> bool {
        !matches!(self, ClientState::Finished | ClientState::Interrupted)
    }
}

/// A time of which a client told nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissingSpan {
    /// Start, in milliseconds from the start of the measurement.
    pub start_ms: i64,
    /// Length in milliseconds.
    pub length_ms: f64,
    /// Sessions that the client had, or was to have.
    pub sessions: u64,
}

/// One of several clients that made a run together: its part of the figures, which the rest of the
/// record has merged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientPart {
    /// What it is called by.
    pub name: String,
    /// Its number, from 0.
    pub index: u32,
    /// Its machine.
    pub host: ClientHost,
    /// Sessions asked for.
    pub sessions: usize,
    /// Sessions that could be had, where they were fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions_opened: Option<usize>,
    /// Emulated users that shared the sessions; absent where each had its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminals: Option<usize>,
    /// Executor threads used.
    pub executors: usize,
    /// How it ended.
    #[serde(flatten)]
    pub state: ClientState,
    /// What it used.
    pub usage: ClientUsage,
    /// Seconds that it measured.
    pub elapsed_s: f64,
    /// All its transactions.
    pub all: TypeStats,
    /// Errors that were counted and retried.
    pub ignored_errors: u64,
    /// Sessions opened again.
    pub reconnects: u64,
    /// How long after the common start its sessions were let go, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_late_ms: Option<f64>,
    /// How far its clock was ahead of the coordinator's, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_ms: Option<f64>,
    /// How far that may be from the truth, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ms: Option<f64>,
    /// By how much its longest interval was too long, in milliseconds: it did not run meanwhile.
    pub longest_lag_ms: f64,
    /// Times of which it told nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingSpan>,
}

impl ClientPart {
    /// Its transactions a second; 0 where it measured nothing.
    pub fn throughput(&self) -> f64 {
        match self.elapsed_s > 0.0 {
            true => self.all.count as f64 / self.elapsed_s,
            false => 0.0,
        }
    }

    /// Milliseconds of which it told nothing.
    pub fn missing_ms(&self) -> f64 {
        // The sum of nothing is −0 in Rust.
        let lengths = self.missing.iter().map(|span| span.length_ms);
        lengths.fold(0.0, |sum, ms| sum + ms)
    }
}
