//! What other tools print of a run, line for line, so that the parsers people have go on working: a
//! module for the lines of each.
//!
//! Pure formatting: no clock, no output. Nothing else of Tidemark knows a foreign tool's words; its
//! command lines are understood by `tidemark`'s own `compat` modules.
//!
//! ```
//! let line = tidemark_compat::sysbench::version_line("1.2.3");
//! assert_eq!(line, "tidemark 1.2.3 (sysbench 1.0.20 output)\n\n");
//! ```

#[cfg(test)]
extern crate self as tidemark_compat;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

pub mod oltpbench;
mod operations;
mod output_style;
pub mod pgbench;
pub mod sysbench;
pub mod tpcc;
pub mod tpch;

pub use operations::{Column, LatencyUnit, OperationLines};
pub use output_style::OutputStyle;
