//! What reports say of a family's runs beside what they say of every run.

use crate::digest::Digest;
use crate::many::Metrics;
use crate::section::WorkloadSection;
use crate::texts::{Lang, Texts};
use tidemark_core::record::RunRecord;

/// A family of workloads, as reports know it: a row of their registry.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The workload's name in records.
    pub(crate) workload: &'static str,
    /// Its part of a run's report.
    pub(crate) section: SectionOf,
    /// What it came to, in one sentence, where that is not a rate and a latency.
    pub(crate) headline: fn(&RunRecord, &'static Texts) -> Option<Headline>,
    /// Its own metrics, for documents of many runs.
    pub(crate) metrics: fn(&Digest<'_>) -> Metrics,
    /// What people call a run of it, by its options.
    pub(crate) label: Option<Label>,
}

/// Makes a family's part of a run's report.
pub type SectionOf = fn(&Digest<'_>, Lang) -> Option<WorkloadSection>;
/// Finds a run's name by its options, given as a look-up of their values.
pub type Label = fn(&dyn Fn(&str) -> Option<String>) -> Option<String>;
/// A sentence's template, and the values in it.
pub(crate) type Headline = (&'static str, Vec<(&'static str, String)>);

impl Family {
    /// A family whose runs have a part of their own in a report; records have it by this workload's
    /// name.
    pub const fn new(workload: &'static str, section: SectionOf) -> Self {
        Self {
            workload,
            section,
            headline: |_, _| None,
            metrics: |_| Metrics::NONE,
            label: None,
        }
    }

    /// Whose runs people call by a name that their options tell.
    #[must_use]
    pub const fn labelled(mut self, label: Label) -> Self {
        self.label = Some(label);
        self
    }

    pub(crate) fn of(workload: &str) -> Option<&'static Self> {
        crate::FAMILIES.iter().find(|f| f.workload == workload)
    }
}

/// A workload's name as people say it: what its family calls a run with such options, else
/// as it is recorded.
pub fn workload_name(workload: &str, option: &dyn Fn(&str) -> Option<String>) -> String {
    let label = Family::of(workload).and_then(|family| family.label?(option));
    label.unwrap_or_else(|| workload.into())
}

/// Workloads whose options must be known for [`workload_name`].
pub fn told_by_options() -> impl Iterator<Item = &'static str> {
    let labelled = crate::FAMILIES.iter().filter(|f| f.label.is_some());
    labelled.map(|f| f.workload)
}
