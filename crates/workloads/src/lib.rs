//! Benchmark workloads: schema, loader, transactions and checks.
//!
//! A workload is one module and one line of its family's table, and a family is a row of
//! [`families()`]. A workload asks the dialect for what differs between engines and never for the
//! engine's name, and it draws every random choice from a seed, so that a run can be repeated and a
//! loaded row checked.
//!
//! - [`Family`], [`families()`]: what families there are, and what others must know of them.
//! - [`Definition`], [`registry()`], [`find`]: what workloads there are, and what their options are.
//! - [`Workload`]: one of them with its options set: tables, rows, what a run needs.
//! - [`Terminal`]: one emulated user, whose transactions the engine runs and times.
//! - [`Done`]: what came of one of them, and [`InnerOperation`]: one of those it was made of.
//! - [`Statements`]: what a session has prepared for them.
//! - [`Check`]: a condition that its tables meet, as a query for what breaks it.
//! - [`random`]: sysbench's distributions.
//!
//! ```
//! use tidemark_core::{Engine, Source};
//! use tidemark_drivers::Dialect;
//! let definition = tidemark_workloads::find("oltp_read_only")?;
//! let mut options = definition.defaults();
//! options.set("tables", "4", Source::CommandLine)?;
//! let workload = (definition.build)(&options)?;
//! let tables = workload.tables(&Dialect::new(Engine::Mariadb), 1)?;
//! assert_eq!(tables[3].name, "sbtest4");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
extern crate self as tidemark_workloads;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod check;
mod columns;
mod digits;
mod family;
pub mod oltp;
mod outcome;
pub mod pgbench;
pub mod random;
mod registry;
mod scripts;
mod terminal;
pub mod tpcc;
pub mod tpch;
mod workload;
pub mod ycsb;

pub use check::{Check, Sentence};
pub use family::{CommandLine, Family, Runs, Word};
pub use outcome::{Done, InnerOperation, MAX_NOTES, Notes};
pub use registry::{Definition, UnknownWorkload, find, registry};
pub use scripts::FAMILY as SCRIPTS;
pub use terminal::{CustomUser, Doing, PreparedStatements, SetUp, Waiting};
pub use workload::{Prewarm, TablePlan, Workload};

use terminal::{User, terminals};
use tidemark_core::{Registry, RegistryError};

static FAMILIES: Registry<Family> = Registry::new(&[
    oltp::FAMILY,
    scripts::FAMILY,
    tpcc::FAMILY,
    tpch::FAMILY,
    ycsb::FAMILY,
    pgbench::FAMILY,
]);

terminals! {
    /// The sysbench OLTP family.
    Oltp(oltp::Terminal, oltp::Statements),
    /// `bulk_insert`.
    OltpBulk(oltp::BulkTerminal, oltp::NoStatements),
    /// TPC-C.
    Tpcc(tpcc::Terminal, tpcc::Statements),
    /// YCSB.
    Ycsb(ycsb::Terminal, ycsb::Statements),
    /// pgbench.
    Pgbench(pgbench::Terminal, pgbench::Statements),
    /// A family of another crate.
    Custom(Box<dyn CustomUser>, PreparedStatements),
}

/// Every family, in the order that `help` lists them.
pub fn families() -> impl Iterator<Item = &'static Family> + Clone {
    FAMILIES.iter()
}

/// Adds families of other crates, before any workload is looked up.
///
/// # Errors
/// [`RegistryError`] when that was done.
pub fn add_families(families: &'static [Family]) -> Result<(), RegistryError> {
    FAMILIES.add(families)
}
