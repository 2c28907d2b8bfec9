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
            tells_percentiles: true,
        }
    }

    /// The family of a run; `None` for one that is judged as most are.
    pub fn of(record: &RunRecord) -> Option<&'static Self> {
        crate::FAMILIES
            .iter()
            .find(|f| f.workload == record.workload)
    }
}
