//! What go-ycsb prints of a run, line for line, and what came of the operations.

mod lines;
mod section;

use crate::texts::ycsb as texts;

pub use lines::{loaded, so_far, summary};
pub use section::beyond;
pub(crate) use section::section;

/// The name of the workload in records.
const WORKLOAD: &str = "ycsb";
