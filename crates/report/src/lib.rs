//! From run records to what people read: sysbench's output, text, Markdown, and an HTML page.
//!
//! Nothing here measures, asks the time or touches files.

mod error;
mod merge;
pub mod sysbench;

pub use error::ReportError;
pub use merge::{Merged, TypeLatency, totals};
