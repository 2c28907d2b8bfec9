//! From run records to what people read: sysbench's output, text, Markdown, and an HTML page.
//!
//! Nothing here measures, asks the time or touches files.

mod by_hand;
mod charts;
mod columnar;
mod compare;
mod csv;
mod digest;
mod error;
mod findings;
mod html;
mod intervals;
mod load;
mod load_words;
mod many;
mod markdown;
mod merge;
pub mod number;
pub mod oltpbench;
mod section;
mod series;
pub mod sysbench;
mod text;
mod texts;
pub mod tpcc;
pub mod tpch;
mod words;
pub mod ycsb;

pub use by_hand::{ByHand, Data, Load, OneRun, PrivateServer};
pub use columnar::interval_parquet;
pub use compare::{Judged, comparison_markdown, comparison_text};
pub use error::ReportError;
pub use findings::finding_lines;
pub use html::html;
pub use intervals::{interval_log, interval_table};
pub use many::{
    DOCUMENT_VERSION, Many, RunDigest, StepState, StudyFactor, StudyFacts, StudyStep, Unreadable,
    workload_name,
};
pub use markdown::markdown;
pub use merge::{Merged, TypeLatency, totals};
pub use number::three as significant;
pub use text::text;
pub use texts::Lang;
