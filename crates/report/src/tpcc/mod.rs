//! What TPC-C's results are.
//!
//! Clauses are of the TPC-C specification, revision 5.11. Pure formatting and arithmetic: no clock,
//! no output.

mod figures;
mod section;

use crate::texts::tpcc as texts;

pub use figures::{
    LimitVerdict, NoEfficiency, Price, PriceError, SETTLE_S, TERMINALS_PER_WAREHOUSE, TpccResults,
    TypeFigures, is_interactive, is_specified_mix,
};
pub use section::results;

use crate::digest::Digest;
use crate::family::Family;
use crate::many::{Metrics, PriceDigest};

/// The family's row of the registry.
pub const FAMILY: Family = Family {
    metrics,
    ..Family::new("tpcc", section::section)
};

fn metrics(digest: &Digest<'_>) -> Metrics {
    let Some(figures) = TpccResults::of_digest(digest) else {
        return Metrics::NONE;
    };
    let price = figures.price.map(|(price, per_tpmc)| PriceDigest {
        amount: price.amount,
        currency: price.currency,
        per_tpmc,
    });
    Metrics {
        tpmc: Some(figures.tpmc),
        // Of terminals that began together it is too high: the run's own page says so.
        efficiency_percent: figures.efficiency.ok().filter(|_| figures.has_settled),
        price,
        ..Metrics::NONE
    }
}
