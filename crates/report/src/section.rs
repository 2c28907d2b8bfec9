//! A part of a report that only some workloads have.

use crate::digest::Digest;
use crate::family::Family;
use crate::load_words::Table;
use crate::texts::Lang;

/// A workload's own results.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// What stands above it.
    pub title: &'static str,
    /// What must be known of the figures.
    pub sentences: Vec<String>,
    /// Names and what is to say of them.
    pub facts: Vec<(&'static str, String)>,
    /// A row for each transaction type, or query.
    pub types: Table,
    /// Longer texts with their titles, of many lines: plans of queries.
    pub texts: Vec<(String, String)>,
}

impl Section {
    /// `None` for a workload that has none.
    pub(crate) fn of(digest: &Digest<'_>, lang: Lang) -> Option<Self> {
        (Family::of(&digest.record.workload)?.section)(digest, lang)
    }
}
