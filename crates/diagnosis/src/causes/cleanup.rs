//! Old row versions that are removed more slowly than they are made.

use super::{drift, long_transaction};
use crate::measured::SummedSeries;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::series_names::called;
use crate::texts::cleanup as texts;
use crate::thresholds::{
    DEAD_ROWS, DRIFT, HISTORY, REJECTIONS, STALLED_US, SUBLEVELS, VERSIONS_A_ROW,
};
use crate::{Cause, Lang, Words};
use std::iter::once;
use tidemark_core::observe::SERVER_NODES;

/// What stores of clusters tell where compaction does not keep up with writes, and from where on.
const BEHIND: [(&str, f64); 3] = [
    ("tikv.write-stall", STALLED_US),
    ("cockroach.level0-sublevels", SUBLEVELS),
    ("yugabyte.rejections", REJECTIONS),
];

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if let Some(found) = of_stores(seen) {
        return found;
    }
    let drift = drift::of_cpu(seen).filter(|drift| *drift >= DRIFT);
    let Some(drift) = drift.filter(|_| seen.load.writes > 0.0 && !seen.is_embedded) else {
        return Outcome::NotFound;
    };
    let Some((old, least, says)) = old_versions(seen) else {
        let needs = |lang| texts::needs(lang, percent(drift));
        return Outcome::Skipped(Words::of(needs));
    };
    let grown = old.last() - old.first();
    if grown < least || long_transaction::is_found(seen) {
        return Outcome::NotFound;
    }
    let (first, last) = (three(old.first()), three(old.last()));
    let says = |lang| says(lang, &first, &last, percent(drift));
    Outcome::Found(FindingDetails {
        share: (drift / (1.0 + drift)).clamp(0.0, 1.0),
        confidence: Confidence::Medium,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: vec![old.evidence_of(old.last())],
        excludes: vec![Cause::LongTransaction],
    })
}

type Says = fn(Lang, &str, &str, String) -> String;

/// Old row versions that nobody has removed yet, how many more of them are many, and how they are told.
/// Dead rows of a table are removed by vacuum (PostgreSQL's manual, "Routine Vacuuming"): as many as there
/// are rows make it twice as long.
fn old_versions(seen: &Observations<'_>) -> Option<(SummedSeries, f64, Says)> {
    let history: Says = |lang, first, last, drift| texts::says(lang, first, last, drift);
    let dead: Says = |lang, first, last, drift| texts::dead(lang, first, last, drift);
    if let Some(length) = seen.status("history.length") {
        return Some((length, HISTORY, history));
    }
    let rows: u64 = seen.record.tables_before.iter().map(|t| t.rows).sum();
    let counted = seen.status("rows.dead").filter(|_| rows > 0)?;
    Some((counted, DEAD_ROWS.max(VERSIONS_A_ROW * rows as f64), dead))
}

/// The store of a cluster that is furthest behind: a note, because nothing tells who waits for it.
fn of_stores(seen: &Observations<'_>) -> Option<Outcome> {
    let (name, limit) = BEHIND.iter().find(|(name, _)| {
        let instances = seen.series.labels(SERVER_NODES, name, "instance");
        !instances.is_empty()
    })?;
    let metric = format!("{SERVER_NODES} {name}");
    let all = seen.record.series.iter();
    let all = all.filter(|s| s.key.source == SERVER_NODES && s.key.name == *name);
    let stores = all.filter_map(|s| {
        let node = s.key.labels.get("instance")?;
        Some((
            node,
            SummedSeries::of(once(s), seen.series.window, &metric)?,
        ))
    });
    let (node, store) = stores.max_by(|a, b| a.1.mean().total_cmp(&b.1.mean()))?;
    let value = store.mean();
    let says = |lang| texts::stores(lang, node, called(name, lang), three(value));
    (value >= *limit).then(|| {
        Outcome::Found(FindingDetails {
            share: 0.0,
            confidence: Confidence::Low,
            says: Words::of(says),
            next: Words::of(texts::next),
            evidence: vec![store.evidence()],
            excludes: Vec::new(),
        })
    })
}
