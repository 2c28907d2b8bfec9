//! What let transactions start, from a record alone.

use tidemark_core::record::{RunRecord, StepPurpose};

/// What let transactions start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadKind {
    /// Replies, and terminals' thinking.
    Closed,
    /// A schedule of so many arrivals a second.
    Open(f64),
    /// A schedule with rates that followed each other.
    Steps,
    /// A search for the highest rate that keeps an objective.
    Search,
}

impl LoadKind {
    /// A record's.
    pub fn of(record: &RunRecord) -> Self {
        if option(record, "find-max").is_some()
            || record.steps.iter().any(|s| s.purpose != StepPurpose::Asked)
        {
            LoadKind::Search
        } else if !record.steps.is_empty() {
            LoadKind::Steps
        } else if let Some(rate) = record.rate {
            LoadKind::Open(rate)
        } else if record.intervals.iter().any(|i| i.rate.is_some()) {
            // Its end was never written, so neither were its steps.
            LoadKind::Steps
        } else {
            LoadKind::Closed
        }
    }

    /// Whether transactions started on a schedule, whatever the replies did.
    pub fn is_open_loop(self) -> bool {
        self != LoadKind::Closed
    }
}

/// An option's value, unless it is empty or says "none".
pub fn option<'r>(record: &'r RunRecord, name: &str) -> Option<&'r str> {
    let value = record.options.get(name)?.value.as_str();
    Some(value).filter(|v| !matches!(*v, "" | "0"))
}
