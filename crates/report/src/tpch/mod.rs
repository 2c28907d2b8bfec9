//! What TPC-H's results are, and what go-tpc prints of a run.
//!
//! Clauses are of the TPC-H specification, revision 3.0.1. Pure formatting and arithmetic: no clock,
//! no output.

mod figures;
mod lines;
mod section;

use crate::texts::tpch as texts;

pub use figures::{Figures, NoMetric};
pub use lines::{current, summary};
pub use section::results;
pub(crate) use section::{headline, section};
