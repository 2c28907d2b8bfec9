//! Old row versions that are removed more slowly than they are made.

use super::{drift, long_transaction};
use crate::measured::SummedSeries;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::series_names::called;
use crate::texts::cleanup as texts;
use crate::thresholds::{DRIFT, HISTORY, REJECTIONS, STALLED_US, SUBLEVELS};
use crate::{Cause, Words};
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
    let Some(history) = seen.status("history.length") else {
        let needs = |lang| texts::needs(lang, percent(drift));
        return Outcome::Skipped(Words::of(needs));
    };
    let grown = history.last() - history.first();
    if grown < HISTORY || long_transaction::is_found(seen) {
        return Outcome::NotFound;
    }
    let (first, last) = (three(history.first()), three(history.last()));
    let says = |lang| texts::says(lang, &first, &last, percent(drift));
    Outcome::Found(FindingDetails {
        share: (drift / (1.0 + drift)).clamp(0.0, 1.0),
        confidence: Confidence::Medium,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: vec![history.evidence_of(history.last())],
        excludes: vec![Cause::LongTransaction],
    })
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
