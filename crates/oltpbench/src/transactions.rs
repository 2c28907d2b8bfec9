//! TPC-C's transaction types by the names that workload files have for them.

use tidemark_core::nearest;

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
    let hint = nearest(name, TPCC)
        .map(|n| format!("; did you mean {n}?"))
        .unwrap_or_default();
    format!("{}{hint}", TPCC.join(", "))
}
