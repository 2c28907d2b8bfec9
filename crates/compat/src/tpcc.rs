//! go-tpc's own lines: one for each transaction type while a run goes on and at its end, and
//! `tpmC: …`.
//!
//! Where go-tpc's percentiles are edges of buckets of its histogram, these are within 0.1 %.

use crate::operations::{Column, LatencyUnit, OperationLines};
use crate::output_style::{self as output, OutputStyle};
use std::collections::BTreeMap;
use tidemark_analysis::tpcc::{NEW_ORDER, TPMC_PER_WAREHOUSE, warehouses};
use tidemark_core::record::{Phase, RunRecord};
use tidemark_report::tpcc::is_interactive;
use tidemark_report::{Merged, ReportError, TypeLatency, per_second};

const LINES: OperationLines = OperationLines {
    columns: &[
        Column::Seconds,
        Column::Count,
        Column::PerMinute,
        Column::Sum,
        Column::Mean,
        Column::Percentile(50.0),
        Column::Percentile(90.0),
        Column::Percentile(95.0),
        Column::Percentile(99.0),
        Column::Percentile(99.9),
        Column::Most,
    ],
    unit: LatencyUnit::Milliseconds,
};

/// The lines of the intervals since the last ones, added up. Those of a warm-up begin with
/// `[Warmup]`, which no parser takes for a result.
pub fn current(sum: &Merged, phase: Phase, style: OutputStyle) -> String {
    let prefix = match phase {
        Phase::Warmup => "[Warmup] ",
        Phase::Measure => "[Current] ",
    };
    operations(prefix, sum.length_ms / 1000.0, &sum.types, style)
}

/// The lines of the whole run, and the one that begins `tpmC:`. As go-tpc's, its efficiency is of
/// every run, think times or not; [`tidemark_report::tpcc::TpccResults`] knows better.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn summary(record: &RunRecord, style: OutputStyle) -> Result<String, ReportError> {
    let totals = &record.totals;
    let mut types = BTreeMap::new();
    for (name, stats) in &totals.types {
        let latency = TypeLatency::decode(stats, &format!("type {name}"))?;
        types.insert(name.clone(), latency);
    }
    let mut text = operations("[Summary] ", totals.elapsed_s, &types, style);
    let count = |wanted: fn(&str) -> bool| -> u64 {
        let types = types.iter().filter(|(name, _)| wanted(name));
        types.map(|(_, t)| t.count).sum()
    };
    let tpm = |count| per_second(count, totals.elapsed_s) * 60.0;
    let new_orders = count(|name| name == NEW_ORDER);
    if new_orders > 0 {
        let tpmc = tpm(new_orders);
        let most = TPMC_PER_WAREHOUSE * warehouses(record).max(1) as f64;
        let values = [
            format!("{tpmc:.1}"),
            format!("{:.1}", tpm(count(is_interactive))),
            format!("{:.1}%", 100.0 * tpmc / most),
        ];
        let head = ["tpmC", "tpmTotal", "efficiency"];
        text += &match style {
            OutputStyle::Plain => {
                let [tpmc, total, efficiency] = values;
                format!("tpmC: {tpmc}, tpmTotal: {total}, efficiency: {efficiency}\n")
            }
            OutputStyle::Table => output::table(&head, &[values.to_vec()]),
            OutputStyle::Json => output::json(&head, &[values.to_vec()]),
        };
    }
    Ok(text)
}

fn operations(
    prefix: &str,
    seconds: f64,
    types: &BTreeMap<String, TypeLatency>,
    style: OutputStyle,
) -> String {
    let named = types.iter().map(|(name, t)| (operation(name), t));
    let sorted: BTreeMap<String, &TypeLatency> = named.collect();
    LINES.print(Some(prefix), seconds, sorted, style)
}

/// `NewOrder` as go-tpc has it: `NEW_ORDER`.
fn operation(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_uppercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_named_as_go_tpc_names_them() {
        for (ours, theirs) in [
            ("NewOrder", "NEW_ORDER"),
            ("Payment", "PAYMENT"),
            ("DeferredDelivery", "DEFERRED_DELIVERY"),
        ] {
            assert_eq!(operation(ours), theirs);
        }
    }
}
