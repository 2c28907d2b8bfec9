//! What TPC-H's results are.
//!
//! Clauses are of the TPC-H specification, revision 3.0.1. Pure formatting and arithmetic: no clock,
//! no output.

mod figures;
mod section;

use crate::texts::tpch as texts;

pub use figures::{NoMetric, TpchResults};
pub use section::results;

use crate::family::Family;
use crate::many::Metrics;

/// The family's row of the registry.
pub const FAMILY: Family = Family {
    headline: section::headline,
    metrics: |digest| Metrics {
        qphh: TpchResults::of(digest.record).and_then(|f| f.composite().ok()),
        ..Metrics::NONE
    },
    ..Family::new("tpch", |digest, lang| section::section(digest.record, lang))
};
