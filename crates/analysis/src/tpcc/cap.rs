//! A tpmC that the specification forbids, or that think times cap.

use super::{
    NEW_ORDER, SETTLE_S, TERMINALS_PER_WAREHOUSE, TPMC_PER_WAREHOUSE, has_settled, waits,
    waits_for_one, warehouses,
};
use crate::finding::finding;
use crate::run::Run;
use crate::texts::tpcc_cap::{
    ABOVE, ABOVE_INSTEAD, FEW, FEW_INSTEAD, NO_WAITS, NO_WAITS_INSTEAD, UNSETTLED,
    UNSETTLED_INSTEAD,
};
use crate::thresholds::TPMC_ABOVE_CAP;
use crate::{AnalysisError, Figure, Finding, LoadKind, Severity};

pub(super) const ID: &str = "tpcc-cap";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let record = run.record;
    let warehouses = warehouses(record);
    if run.kind != LoadKind::Closed || warehouses == 0 {
        return Ok(None);
    }
    let new_orders = run.totals.types.get(NEW_ORDER).map_or(0, |t| t.count);
    let each = new_orders as f64 / run.totals.elapsed_s * 60.0 / warehouses as f64;
    let specified = warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE);
    let terminals = run.users() as u64;
    let rate = vec![
        ("each", Figure::Number(each)),
        ("cap", Figure::Number(TPMC_PER_WAREHOUSE)),
    ];
    let waits = waits(record);
    let as_specified = waits == 1.0 && !waits_for_one(record);
    let is_above = as_specified && terminals <= specified && is_above(new_orders, each);
    Ok(if waits == 0.0 {
        (each > TPMC_PER_WAREHOUSE)
            .then(|| finding(ID, Severity::Note, NO_WAITS, NO_WAITS_INSTEAD, rate))
    } else if is_above && !has_settled(record) {
        let warmup = record.warmup_s.unwrap_or_default();
        let more = [
            ("warmup", Figure::Number(warmup)),
            ("settle", Figure::Number(SETTLE_S)),
        ];
        let figures = rate.into_iter().chain(more).collect();
        let (says, instead) = (UNSETTLED, UNSETTLED_INSTEAD);
        Some(finding(ID, Severity::Suspect, says, instead, figures))
    } else if is_above {
        Some(finding(ID, Severity::Invalid, ABOVE, ABOVE_INSTEAD, rate))
    } else if as_specified && terminals < specified {
        let figures = vec![
            ("terminals", Figure::Count(terminals)),
            ("warehouses", Figure::Count(warehouses)),
            (
                "most",
                Figure::Number(terminals as f64 / specified as f64 * 100.0),
            ),
        ];
        Some(finding(ID, Severity::Note, FEW, FEW_INSTEAD, figures))
    } else {
        None
    })
}

/// Whether chance (four standard errors of the number of New-Orders) does not explain it.
fn is_above(new_orders: u64, each: f64) -> bool {
    let chance = 1.0 + crate::thresholds::CHANCE / (new_orders.max(1) as f64).sqrt();
    each > TPMC_PER_WAREHOUSE * TPMC_ABOVE_CAP.max(chance)
}
