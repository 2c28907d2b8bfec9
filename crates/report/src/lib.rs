//! From run records to what people read: sysbench's output, text, Markdown, and an HTML page.
//!
//! Nothing here measures, asks the time or touches files.

mod charts;
mod columnar;
mod command_line;
mod compare;
mod csv;
mod digest;
mod document;
mod error;
mod findings;
mod intervals;
mod load;
mod load_words;
mod many;
mod merge;
pub mod number;
pub mod oltpbench;
mod section;
mod single;
pub mod sysbench;
mod texts;
pub mod tpcc;
pub mod tpch;
mod words;
pub mod ycsb;

pub use columnar::interval_parquet;
pub use compare::{Judged, comparison_markdown, comparison_text};
pub use error::ReportError;
pub use findings::finding_lines;
pub use intervals::{interval_log, interval_table};
pub use many::{
    DOCUMENT_VERSION, Many, RunDigest, StepState, StudyFactor, StudyFacts, StudyStep, Unreadable,
    workload_name,
};
pub use merge::{Merged, TypeLatency, totals};
pub use number::three as significant;
pub use single::{html, markdown, text};
pub use texts::Lang;
