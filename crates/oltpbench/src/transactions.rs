//! TPC-C's transaction types by the names that workload files have for them.

use tidemark_core::did_you_mean;

/// The five transaction types of TPC-C, in the order in which the family's weights name them.
pub const TPCC: [&str; 5] = [
    "NewOrder",
    "Payment",
    "OrderStatus",
    "Delivery",
    "StockLevel",
];

/// The index in [`TPCC`] of a name, whatever its case.
pub(crate) fn index_of(name: &str) -> Option<usize> {
    TPCC.iter()
        .position(|known| known.eq_ignore_ascii_case(name))
}

/// What is allowed for a name, with the nearest first.
pub(crate) fn allowed(name: &str) -> String {
    let hint = did_you_mean(name, TPCC);
    format!("{}{hint}", TPCC.join(", "))
}
