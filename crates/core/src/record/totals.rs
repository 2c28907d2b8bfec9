//! Totals of a measurement, and of the rates that followed each other in it.

use super::{EncodedHistogram, HostLoad, LatencyParts, StatementCounts, TypeStats};
use crate::{ErrorClass, ErrorKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why a rate was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepPurpose {
    /// It was asked for (`--rate 1000..20000:1000`).
    Asked,
    /// No schedule: how fast replies come, to know where a search starts.
    Probe,
    /// A search went up.
    Climb,
    /// A search halved the distance between a rate kept and one not kept.
    Bisect,
    /// The rate that a search found was held again.
    Confirm,
}

/// A rate that was held for a time, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Why it was held.
    pub purpose: StepPurpose,
    /// Arrivals a second asked for; absent for a probe.
    pub rate: Option<f64>,
    /// Start, in milliseconds from the start of the measurement.
    pub start_ms: i64,
    /// What was measured.
    pub totals: Totals,
    /// Whether the objective was kept, and why not; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<StepVerdict>,
    /// Whether the run ended before the rate had been held for its time: then nobody judges it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
}

/// Whether a step kept the objective.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepVerdict {
    /// Whether it did.
    pub kept: bool,
    /// The value that decided, for people: `p99 12.3 ms`, `only 812 of 1,000 a second were sent`.
    pub because: String,
}

/// How evenly sessions were served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Mean transactions per session.
    pub events_avg: f64,
    /// Their standard deviation.
    pub events_stddev: f64,
    /// Mean busy seconds per session.
    pub time_avg_s: f64,
    /// Their standard deviation.
    pub time_stddev_s: f64,
    /// Mean seconds per session between a transaction's end and the begin of the next: the client's
    /// own, and those of opening it again. Absent where something makes transactions due, and in
    /// records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_avg_s: Option<f64>,
}

/// Totals of the measurement phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Measured seconds.
    pub elapsed_s: f64,
    /// Statements by group.
    pub statements: StatementCounts,
    /// Errors that were counted and retried.
    pub ignored_errors: u64,
    /// Sessions opened again.
    pub reconnects: u64,
    /// Per transaction type, by name.
    pub types: BTreeMap<String, TypeStats>,
    /// Per type, by name, the transactions that were parts of larger ones, which are in `types` as a
    /// whole (the READs within READ_MODIFY_WRITEs): they are in no other sum.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, TypeStats>,
    /// Outcomes that the workload counts beside its types, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
    /// All types together.
    pub all: TypeStats,
    /// Where their mean service time passed; absent of embedded databases and in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_parts: Option<LatencyParts>,
    /// How evenly sessions were served.
    pub fairness: Fairness,
    /// Arrivals that came when no session was free (open loop).
    #[serde(default)]
    pub delayed_arrivals: u64,
    /// Arrivals dropped because the backlog was full (open loop).
    #[serde(default)]
    pub dropped_arrivals: u64,
    /// Arrivals that had come due and were not served when the time was over, those begun and not
    /// ended among them: they are in no latency (open loop).
    #[serde(default)]
    pub unserved_arrivals: u64,
    /// The generator's own lateness: from due to actual start, of transactions that a free session
    /// awaited (open loop, and terminals that think).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<EncodedHistogram>,
    /// Seconds in which a host could not be reached.
    #[serde(default)]
    pub outage_s: f64,
    /// What each host was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostLoad>,
}

/// One kind of error, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// The engine's code.
    pub code: String,
    /// The driver's class.
    pub class: ErrorClass,
    /// What happened; absent in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
    /// How often.
    pub count: u64,
    /// The first message.
    pub first_message: String,
}
