//! TPC-H: the time of each query is told, and no percentile of them.

use crate::family::Family;

/// The family's row of the registry.
pub(crate) const FAMILY: Family = Family {
    tells_percentiles: false,
    ..Family::new("tpch")
};
