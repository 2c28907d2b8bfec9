//! What go-ycsb prints of a run, line for line, and what came of the operations.

mod lines;
mod section;
mod standard;

use crate::texts::ycsb as texts;

pub use lines::{loaded, so_far, summary};
pub use section::beyond;

use crate::family::Family;

/// The family's row of the registry.
pub const FAMILY: Family = Family::new("ycsb", section::section).labelled(standard::label);
