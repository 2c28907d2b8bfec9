//! What the rules must know of a family of workloads.

use crate::rules::Rule;
use tidemark_core::record::RunRecord;

/// A family of workloads whose runs are judged otherwise than most.
pub(crate) struct Family {
    /// The workload's name in records.
    pub workload: &'static str,
    /// Its own rules.
    pub rules: &'static [Rule],
    /// Whether its users give a transaction up after an error that others try again, or another in
    /// its place, as long as it takes.
    pub gives_up: bool,
    /// The note that counts how often transactions that ended well were tried again, of a family whose
    /// transactions fail with the errors after which others are tried again.
    pub tried_again: Option<&'static str>,
    /// Whether percentiles of its latencies are told.
    pub tells_percentiles: bool,
}

impl Family {
    /// One without rules of its own.
    pub const fn new(workload: &'static str) -> Self {
        Self {
            workload,
            rules: &[],
            gives_up: false,
            tried_again: None,
            tells_percentiles: true,
        }
    }

    /// pgbench's: a serialization failure is the end of a transaction, unless `--max-tries` allows more
    /// (manual, "Failures and Serialization/Deadlock Retries").
    pub const PGBENCH: Self = Self {
        gives_up: true,
        tried_again: Some("retries"),
        ..Self::new("pgbench")
    };

    /// The family of a run; `None` for one that is judged as most are.
    pub fn of(record: &RunRecord) -> Option<&'static Self> {
        crate::FAMILIES
            .iter()
            .find(|f| f.workload == record.workload)
    }
}
