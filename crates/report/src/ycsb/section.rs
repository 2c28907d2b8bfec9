//! YCSB's operations in words, the same in every form of report and after a run.

use super::texts::{self, Texts};
use crate::digest::Digest;
use crate::load::option;
use crate::number::{three, whole};
use crate::report_table::ReportTable;
use crate::section::WorkloadSection;
use crate::texts::{Lang, fill};
use crate::{ReportError, TypeLatency};
use std::collections::BTreeMap;
use tidemark_core::record::{RunRecord, TypeStats};

/// What go-ycsb has no words for, after the lines of a run: outcomes that were noted, and what every
/// run tells.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn beyond(record: &RunRecord, lang: Lang) -> Result<String, ReportError> {
    let t = texts::of(lang);
    let lines: String = noted(record, t)
        .into_iter()
        .map(|(name, said)| format!("{name}: {said}\n"))
        .collect();
    let mut text = if lines.is_empty() {
        lines
    } else {
        format!("\n{lines}")
    };
    text += &crate::beyond(record)?;
    text += &crate::errors(&record.errors);
    Ok(text)
}

/// The part of a report.
pub(super) fn section(digest: &Digest<'_>, lang: Lang) -> Option<WorkloadSection> {
    let record = digest.record;
    let t = texts::of(lang);
    let parts = decoded(&digest.totals.parts).unwrap_or_default();
    let types = digest.types.iter();
    let types: BTreeMap<String, TypeLatency> =
        types.map(|(name, t)| ((*name).into(), t.clone())).collect();
    Some(WorkloadSection {
        title: t.title,
        sentences: match parts.is_empty() {
            true => Vec::new(),
            false => vec![t.parts.into()],
        },
        facts: facts(record, t),
        types: table(&with_parts(&types, &parts), t),
        texts: Vec::new(),
    })
}

fn facts(record: &RunRecord, t: &'static Texts) -> Vec<(&'static str, String)> {
    let asked = |name| option(record, name).unwrap_or("0");
    let records: u64 = asked("recordcount").parse().unwrap_or(0);
    let values = [
        ("count", &*whole(records)),
        ("distribution", asked("requestdistribution")),
    ];
    let integrity = match asked("dataintegrity") {
        "on" => t.integrity_on,
        _ => t.integrity_off,
    };
    let mut facts = vec![
        (t.records, fill(t.records_says, &values)),
        (t.integrity, integrity.into()),
    ];
    facts.extend(noted(record, t));
    facts
}

/// Outcomes that were noted, those that never came left out.
fn noted(record: &RunRecord, t: &'static Texts) -> Vec<(&'static str, String)> {
    let says = [
        ("missing_record", t.missing, t.missing_says),
        ("noop_update", t.noop, t.noop_says),
        ("duplicate_insert", t.duplicate, t.duplicate_says),
        ("empty_scan", t.empty, t.empty_says),
    ];
    says.into_iter()
        .filter_map(|(note, name, says)| {
            let count = *record.totals.notes.get(note).filter(|n| **n > 0)?;
            Some((name, fill(says, &[("count", &whole(count))])))
        })
        .collect()
}

fn table(types: &BTreeMap<String, TypeLatency>, t: &'static Texts) -> ReportTable {
    let row = |(name, of): (&String, &TypeLatency)| {
        let h = of.latency();
        let percentiles = [50.0, 95.0, 99.0, 99.9].map(|p| h.percentile_ns(p) as f64);
        let mut row = vec![name.clone(), whole(of.count)];
        let times = std::iter::once(h.mean_ns())
            .chain(percentiles)
            .chain([h.max_ns() as f64]);
        row.extend(times.map(|ns| three(ns / 1e6)));
        row
    };
    ReportTable {
        title: t.types,
        says: String::new(),
        head: vec![
            t.operation,
            t.count,
            t.mean,
            t.p50,
            t.p95,
            t.p99,
            t.p999,
            t.max,
        ],
        rows: types.iter().map(row).collect(),
        numbers: 7,
    }
}

/// The latencies of each operation.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn decoded(
    types: &BTreeMap<String, TypeStats>,
) -> Result<BTreeMap<String, TypeLatency>, ReportError> {
    let decode = |(name, stats): (&String, &TypeStats)| {
        let latency = TypeLatency::decode(stats, &format!("type {name}"))?;
        Ok((name.clone(), latency))
    };
    types.iter().map(decode).collect()
}

/// Each operation, with those that were parts of larger ones.
pub fn with_parts(
    types: &BTreeMap<String, TypeLatency>,
    parts: &BTreeMap<String, TypeLatency>,
) -> BTreeMap<String, TypeLatency> {
    let mut sum = types.clone();
    for (name, part) in parts {
        sum.entry(name.clone()).or_default().add(part);
    }
    sum
}
