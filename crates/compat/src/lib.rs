//! What other tools print of a run, line for line, so that the parsers people have go on working:
//! sysbench 1.0.20, go-tpc, go-ycsb, pgbench and the OLTPBench family.
//!
//! Pure formatting: no clock, no output. Nothing else of Tidemark knows a foreign tool's words; its
//! command lines are understood by `tidemark`'s own `compat` modules.
//!
//! ```
//! let line = tidemark_compat::ycsb::loaded(100_000, 2.0);
//! assert_eq!(line, "INSERT - Takes(s): 2.0, Count: 100000, OPS: 50000.0\n");
//! ```

#[cfg(test)]
extern crate self as tidemark_compat;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

pub mod oltpbench;
mod output_style;
pub mod pgbench;
pub mod sysbench;
pub mod tpcc;
pub mod tpch;
pub mod ycsb;

pub use output_style::OutputStyle;
