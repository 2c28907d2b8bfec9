//! go-tpc's own lines: one for each transaction type while a run goes on and at its end, and
//! `tpmC: …`.
//!
//! Where go-tpc's percentiles are edges of buckets of its histogram, these are within 0.1 %.

use crate::output_style::{self as output, OutputStyle};
use std::collections::BTreeMap;
use tidemark_analysis::tpcc::{NEW_ORDER, TPMC_PER_WAREHOUSE, warehouses};
use tidemark_core::record::{Phase, RunRecord};
use tidemark_report::tpcc::is_interactive;
use tidemark_report::{Merged, ReportError, TypeLatency, per_second};

const HEAD: [&str; 13] = [
    "Prefix",
    "Operation",
    "Takes(s)",
    "Count",
    "TPM",
    "Sum(ms)",
    "Avg(ms)",
    "50th(ms)",
    "90th(ms)",
    "95th(ms)",
    "99th(ms)",
    "99.9th(ms)",
    "Max(ms)",
];

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
    let mut rows: Vec<Vec<String>> = types
        .iter()
        .filter(|(_, t)| t.count > 0)
        .map(|(name, t)| row(prefix, name, seconds, t))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by(|a, b| a.get(1).cmp(&b.get(1)));
    match style {
        OutputStyle::Plain => rows.iter().map(|row| plain(row)).collect(),
        OutputStyle::Table => output::table(&HEAD, &rows),
        OutputStyle::Json => output::json(&HEAD, &rows),
    }
}

fn row(prefix: &str, name: &str, seconds: f64, t: &TypeLatency) -> Vec<String> {
    let h = t.latency();
    let mut row = vec![
        prefix.to_string(),
        operation(name),
        format!("{seconds:.1}"),
        t.count.to_string(),
        format!("{:.1}", per_second(t.count, seconds) * 60.0),
    ];
    let percentiles = [50.0, 90.0, 95.0, 99.0, 99.9].map(|p| h.percentile_ns(p) as f64);
    let latencies = [h.sum_ns() as f64, h.mean_ns()]
        .into_iter()
        .chain(percentiles)
        .chain([h.max_ns() as f64]);
    row.extend(latencies.map(|ns| format!("{:.1}", ns / 1e6)));
    row
}

fn plain(row: &[String]) -> String {
    let (first, rest) = row.split_at(2.min(row.len()));
    let named: Vec<String> = HEAD
        .iter()
        .skip(2)
        .zip(rest)
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let (prefix, operation) = match first {
        [prefix, operation] => (prefix.as_str(), operation.as_str()),
        _ => ("", ""),
    };
    format!("{prefix}{operation:<6} - {}\n", named.join(", "))
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
