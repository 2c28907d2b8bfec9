//! What really happened.

use std::time::Duration;
use tidemark_stats::Histogram;

/// What one protocol's sessions did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProtocolTruth {
    /// Statements prepared.
    pub prepared: u64,
    /// Prepared statements executed.
    pub executed: u64,
    /// Statements sent as text.
    pub queries: u64,
    /// Sessions let in so far.
    pub opened: u64,
    /// Sessions connected now.
    pub open: u64,
    /// Sessions refused.
    pub refused: u64,
    /// Sessions ended because of what they sent.
    pub broken: u64,
}

impl ProtocolTruth {
    fn add(&mut self, other: &Self) {
        self.prepared += other.prepared;
        self.executed += other.executed;
        self.queries += other.queries;
        self.opened += other.opened;
        self.open += other.open;
        self.refused += other.refused;
        self.broken += other.broken;
    }
}

/// What a laboratory did since its start.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Truth {
    /// How long each delayed answer took: from the moment its request came (as the kernel
    /// stamped it) to the moment before it was written. Executions of prepared statements, and with
    /// [`LabConfig::delay_queries`](crate::LabConfig::delay_queries) statements sent as text.
    pub delays: Histogram,
    /// Of those with a delay or in a stall: how much later than asked they were written.
    pub lateness: Histogram,
    /// Of the MySQL protocol.
    pub mysql: ProtocolTruth,
    /// Of the PostgreSQL protocol.
    pub postgres: ProtocolTruth,
}

impl Truth {
    /// Adds another thread's.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.delays.merge(&other.delays);
        self.lateness.merge(&other.lateness);
        self.mysql.add(&other.mysql);
        self.postgres.add(&other.postgres);
    }

    /// The sessions connected now.
    pub fn open(&self) -> u64 {
        self.mysql.open + self.postgres.open
    }

    /// As JSON: counts, percentiles in microseconds, and the histogram as
    /// [`Histogram::encode`] writes it.
    pub fn to_json(&self, elapsed: Duration) -> serde_json::Value {
        let protocol = |p: &ProtocolTruth| {
            serde_json::json!({
                "prepared": p.prepared, "executed": p.executed, "queries": p.queries,
                "opened": p.opened, "open": p.open, "refused": p.refused, "broken": p.broken,
            })
        };
        let histogram = |h: &Histogram| {
            let at = |percent| h.percentile_ns(percent) as f64 / 1000.0;
            serde_json::json!({
                "count": h.count(), "mean_us": h.mean_ns() / 1000.0,
                "min_us": h.min_ns() as f64 / 1000.0,
                "p50_us": at(50.0), "p90_us": at(90.0), "p99_us": at(99.0), "p99_9_us": at(99.9),
                "max_us": h.max_ns() as f64 / 1000.0,
                "histogram": h.encode(),
            })
        };
        serde_json::json!({
            "elapsed_s": elapsed.as_secs_f64(),
            "delays": histogram(&self.delays),
            "lateness": histogram(&self.lateness),
            "mysql": protocol(&self.mysql),
            "postgres": protocol(&self.postgres),
        })
    }
}
