//! What happened in one interval, and what was noticed over several.

use super::TypeStats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether an interval counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Load that does not count.
    Warmup,
    /// Load that counts.
    #[default]
    Measure,
}

/// Statement counts as sysbench groups them, and what they took in round trips.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementCounts {
    /// Statements that returned rows.
    pub read: u64,
    /// Statements that changed rows.
    pub write: u64,
    /// The others: transaction control, and writes that changed nothing.
    pub other: u64,
    /// Of the others: INSERT, UPDATE and DELETE statements that changed nothing.
    pub noop_writes: u64,
    /// Round trips that sessions waited for: statements that travel together are one, and failed ones
    /// count. Opening a session is none. 0, and absent, of embedded databases and in records of before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round_trips: u64,
}

impl StatementCounts {
    /// All statements.
    pub fn total(&self) -> u64 {
        self.read
            .saturating_add(self.write)
            .saturating_add(self.other)
    }
}

impl std::ops::AddAssign for StatementCounts {
    fn add_assign(&mut self, o: Self) {
        // A record from elsewhere may hold any numbers.
        self.read = self.read.saturating_add(o.read);
        self.write = self.write.saturating_add(o.write);
        self.other = self.other.saturating_add(o.other);
        self.noop_writes = self.noop_writes.saturating_add(o.noop_writes);
        self.round_trips = self.round_trips.saturating_add(o.round_trips);
    }
}

impl std::ops::Sub for StatementCounts {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self {
            read: self.read.saturating_sub(o.read),
            write: self.write.saturating_sub(o.write),
            other: self.other.saturating_sub(o.other),
            noop_writes: self.noop_writes.saturating_sub(o.noop_writes),
            round_trips: self.round_trips.saturating_sub(o.round_trips),
        }
    }
}

/// What a host of the target is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostRole {
    /// Reads and writes.
    #[default]
    Any,
    /// What only reads (`role=read`).
    Read,
}

/// What one host of the target was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostLoad {
    /// `host:port`, or the socket's path.
    pub host: String,
    /// What it is for.
    pub role: HostRole,
    /// Sessions connected to it at the end.
    pub sessions: u64,
    /// Statements sent to it.
    pub statements: u64,
}

/// A time in which a host could not be reached: from the first session lost to it that could not be
/// opened again at once, to the first that could.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// The host.
    pub host: String,
    /// Start, in milliseconds from the start of the measurement.
    pub start_ms: i64,
    /// Length in milliseconds; it may have lasted beyond the run's end.
    pub length_ms: f64,
    /// Whether it ended before the run did.
    pub ended: bool,
    /// What the first refused session was told.
    pub first_error: String,
}

/// Where a stretch without transactions arose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadSide {
    /// The client ran and heard nothing.
    #[default]
    Target,
    /// The client itself did not run.
    Client,
}

/// A stretch of the measurement in which no transaction ended, well or with an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeadTime {
    /// Start, in milliseconds from the start of the measurement.
    pub start_ms: i64,
    /// Length in milliseconds.
    pub length_ms: f64,
    /// Where it arose.
    pub side: DeadSide,
    /// Deadlocks that the server broke at its end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deadlocks: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What happened in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start, in milliseconds from the start of the measurement (negative in warm-up).
    pub start_ms: i64,
    /// Length in milliseconds.
    pub length_ms: f64,
    /// Whether it counts.
    pub phase: Phase,
    /// Sessions connected at its end.
    pub sessions: u64,
    /// Statements by group.
    pub statements: StatementCounts,
    /// Errors that were counted and retried.
    pub ignored_errors: u64,
    /// Sessions opened again.
    pub reconnects: u64,
    /// Arrivals waiting at its end (open loop).
    #[serde(default)]
    pub queue_length: u64,
    /// Transactions in progress at its end.
    #[serde(default)]
    pub concurrency: u64,
    /// Arrivals a second asked for at its end (open loop).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Arrivals that came when no session was free (open loop).
    #[serde(default)]
    pub delayed_arrivals: u64,
    /// Arrivals dropped because the backlog was full (open loop).
    #[serde(default)]
    pub dropped_arrivals: u64,
    /// Milliseconds of it in which a host could not be reached.
    #[serde(default)]
    pub outage_ms: f64,
    /// What each host was sent, in the order of the target's hosts; empty for embedded engines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostLoad>,
    /// Per transaction type, by name.
    pub types: BTreeMap<String, TypeStats>,
    /// Per type, by name, the transactions that were parts of larger ones, which are in `types` as a
    /// whole (the READs within READ_MODIFY_WRITEs): they are in no other sum.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, TypeStats>,
    /// Outcomes that the workload counts beside its types, by name (TPC-C's `rolled_back`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
}

impl Interval {
    /// Transactions that ended well in it, of all types.
    pub fn transactions(&self) -> u64 {
        self.types.values().map(|of| of.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_that_nobody_counted_are_absent() {
        let before = r#"{"read":1,"write":2,"other":3,"noop_writes":0}"#;
        let mut counts: StatementCounts = serde_json::from_str(before).unwrap();
        assert_eq!(counts.round_trips, 0);
        assert_eq!(serde_json::to_string(&counts).unwrap(), before);
        let counted = StatementCounts {
            round_trips: 4,
            ..StatementCounts::default()
        };
        counts += counted;
        counts += counted;
        assert_eq!(counts.total(), 6);
        assert_eq!((counts - counted).round_trips, 4);
        let text = serde_json::to_string(&counts).unwrap();
        assert!(
            text.ends_with(r#""noop_writes":0,"round_trips":8}"#),
            "{text}"
        );
    }
}
