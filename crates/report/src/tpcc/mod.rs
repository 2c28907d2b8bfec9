//! What TPC-C's results are, and what go-tpc prints of a run, line for line.
//!
//! Clauses are of the TPC-C specification, revision 5.11. Pure formatting and arithmetic: no clock,
//! no output.

mod figures;
mod lines;
pub(crate) mod output;
mod section;

use crate::texts::tpcc as texts;

pub use figures::{
    Figures, Kept, NoEfficiency, Price, PriceError, SETTLE_S, TERMINALS_PER_WAREHOUSE, TypeFigures,
    is_specified_mix,
};
pub use lines::{current, summary};
pub use output::OutputStyle;
pub use section::results;
pub(crate) use section::section;
