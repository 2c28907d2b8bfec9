//! A part of a report that only some workloads have.

use crate::digest::Digest;
use crate::load_words::Table;
use crate::texts::Lang;
use crate::{tpcc, tpch, ycsb};

/// A workload's own results.
pub(crate) struct Section {
    pub title: &'static str,
    /// What must be known of the figures.
    pub sentences: Vec<String>,
    pub facts: Vec<(&'static str, String)>,
    pub types: Table,
    /// Longer texts with their titles, of many lines: plans of queries.
    pub texts: Vec<(String, String)>,
}

impl Section {
    /// `None` for a workload that has none.
    pub fn of(digest: &Digest<'_>, lang: Lang) -> Option<Self> {
        tpcc::section(digest, lang)
            .or_else(|| tpch::section(digest.record, lang))
            .or_else(|| ycsb::section(digest, lang))
    }
}
