//! What came of the operations.

mod section;
mod standard;

use crate::texts::ycsb as texts;

pub use section::{beyond, decoded, with_parts};

use crate::family::Family;

/// The family's row of the registry.
pub const FAMILY: Family = Family::new("ycsb", section::section).labelled(standard::label);
