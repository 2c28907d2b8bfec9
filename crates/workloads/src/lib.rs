//! Benchmark workloads: schema, loader, transactions and checks.
//!
//! A workload is one module and one line of the [`registry()`]. It asks the dialect for what differs
//! between engines and never for the engine's name, and it draws every random choice from a seed,
//! so that a run can be repeated and a loaded row checked.
//!
//! - [`Definition`], [`registry()`], [`find`]: what there is, and what its options are.
//! - [`Workload`]: one of them with its options set: tables, rows, what a run needs.
//! - [`Terminal`]: one emulated user, whose transactions the engine runs and times.
//! - [`Done`]: what came of one of them, and [`Part`]: one of those it was made of.
//! - [`Statements`]: what a session has prepared for them.
//! - [`Check`]: a condition that its tables meet, as a query for what breaks it.
//! - [`random`]: sysbench's distributions.

mod check;
mod columns;
mod digits;
mod done;
pub mod oltp;
pub mod random;
mod registry;
pub mod tpcc;
pub mod tpch;
mod workload;
pub mod ycsb;

pub use check::{Check, Sentence};
pub use done::{Done, MAX_NOTES, Notes, Part};
pub use registry::{Definition, UnknownWorkload, find, registry};
pub use workload::{Prewarm, Statements, TablePlan, Terminal, Workload};
