//! What run records say when they are looked at closely: findings about one run, and what a
//! comparison of several comes to.
//!
//! Pure functions over [`tidemark_core::record`]: nothing here measures, asks the time, touches
//! files or knows a database.

#[cfg(test)]
extern crate self as tidemark_analysis;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

pub mod compare;
pub mod concurrent_runs;
pub mod costs;
mod dead;
mod error;
pub mod experiments;
mod family;
mod finding;
mod kind;
mod notation;
pub mod observed;
mod repeat_costs;
mod resources;
mod rules;
mod run;
pub mod setup;
mod texts;
pub mod thresholds;
pub mod tpcc;
mod tpch;

pub use compare::{Comparison, compare, compare_measured};
pub use concurrent_runs::Presence;
pub use dead::stalls;
pub use error::AnalysisError;
pub use finding::{Both, Figure, Finding, Severity};
pub use kind::{LoadKind, option};
pub use notation::telling_settings;
pub use repeat_costs::{RunCosts, costs_of_repeats};
pub use resources::Resources;
pub use rules::overlap::{Present, overlaps};
pub use rules::{
    copied_output, findings, findings_of_repeats, missing_client, missing_output, rules,
};
pub use setup::Setup;

/// Whether percentiles are told of a run's latencies.
pub fn tells_percentiles(record: &tidemark_core::record::RunRecord) -> bool {
    family::Family::of(record).is_none_or(|f| f.tells_percentiles)
}

/// Families whose runs are judged otherwise than most.
const FAMILIES: &[family::Family] = &[tpcc::FAMILY, tpch::FAMILY, family::Family::PGBENCH];
