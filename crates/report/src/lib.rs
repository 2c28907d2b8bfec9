//! From run records to what people read: text, Markdown, and an HTML page.
//!
//! Nothing here measures, asks the time or touches files.
//!
//! ```
//! use tidemark_core::record::RunRecord;
//! use tidemark_report::{Lang, text};
//! let record = RunRecord { workload: "oltp_read_only".into(), ..RunRecord::default() };
//! assert!(text(&record, Lang::En)?.contains("oltp_read_only"));
//! # Ok::<(), tidemark_report::ReportError>(())
//! ```

#[cfg(test)]
extern crate self as tidemark_report;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod authored;
mod charts;
mod clients;
mod columnar;
mod command_line;
mod compare;
mod csv;
mod diagnosis;
mod digest;
mod document;
mod error;
mod experiments;
mod extra_lines;
mod family;
mod findings;
mod intervals;
mod load;
mod load_tables;
mod load_words;
mod machine;
mod many;
mod merge;
pub mod number;
mod observed;
mod report_table;
mod section;
mod series;
mod settings;
mod single;
mod texts;
mod topology;
pub mod tpcc;
pub mod tpch;
mod watch;
mod words;
pub mod ycsb;

pub use authored::{Authored, AuthoredError, AuthoredSection, Picture};
pub use clients::client_table;
pub use columnar::{interval_parquet, series_parquet};
pub use compare::{Judged, comparison_json, comparison_markdown, comparison_text, judgement_lines};
pub use digest::Digest;
pub use document::{
    CHART_MARK, ChartFile, Illustrated, is_unchanged_chart, links_chart, marked_chart,
};
pub use error::ReportError;
pub use experiments::{experiment_name, percent_change, sentence_and_confidence};
pub use extra_lines::{beyond, errors, fewer_sessions, not_found, step};
pub use family::{Family, Label, SectionOf, told_by_options, workload_name};
pub use findings::{finding_lines, findings_with_advice};
pub use intervals::{interval_log, interval_table};
pub use many::{
    DOCUMENT_VERSION, Many, RunDigest, StepState, StudyFactor, StudyFacts, StudyStep, Unreadable,
};
pub use merge::{Merged, TypeLatency, per_second, totals};
pub use number::three as significant;
pub use observed::{json, unseen};
pub use report_table::ReportTable;
pub use section::WorkloadSection;
pub use series::exported::series_table;
pub use single::{html, html_with, markdown, markdown_illustrated, markdown_with, text};
pub use texts::Lang;

use tidemark_core::{Registry, RegistryError};

static FAMILIES: Registry<Family> = Registry::new(&[
    tpcc::FAMILY,
    tpch::FAMILY,
    ycsb::FAMILY,
    machine::MEMORY,
    machine::FILES,
]);

/// Adds families of other crates, before anything is reported.
///
/// # Errors
/// [`RegistryError`] when that was done.
pub fn add_families(families: &'static [Family]) -> Result<(), RegistryError> {
    FAMILIES.add(families)
}
