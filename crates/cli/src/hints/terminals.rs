//! TPC-C's terminals against its warehouses.

use super::Hint;
use tidemark_analysis::tpcc::{TERMINALS_PER_WAREHOUSE, is_tpcc, waits, warehouses};
use tidemark_core::record::RunRecord;
use tidemark_core::{Pacing, RunSpec};

pub(super) fn of(record: &RunRecord, load: &RunSpec) -> Option<Hint> {
    let warehouses = warehouses(record);
    if !is_tpcc(record) || load.pacing != Pacing::Closed || warehouses == 0 {
        return None;
    }
    let (terminals, specified) = (load.terminals as u64, specified(warehouses));
    if waits(record) > 0.0 {
        return (terminals != specified).then_some(Hint::Terminals {
            terminals,
            warehouses,
        });
    }
    (terminals > specified).then_some(Hint::NoWaits {
        terminals,
        warehouses,
    })
}

/// How many the specification has (clause 4.2.2).
pub(super) fn specified(warehouses: u64) -> u64 {
    warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE)
}
