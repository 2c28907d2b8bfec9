//! One node of a cluster works while the others idle.

use crate::measured::SummedSeries;
use crate::number::three;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::store_imbalance as texts;
use crate::thresholds::{AT_WORK, SHARE, UNEVEN};
use crate::{Evidence, Words};
use tidemark_core::Engine;
use tidemark_core::observe::SERVER_NODES;

/// CPU of the processes that hold rows.
const STORES: [&str; 3] = ["tikv.cpu", "cockroach.cpu", "yugabyte.cpu"];

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let engine = seen.record.server.as_ref().map(|s| s.engine);
    if !engine.is_some_and(Engine::is_cluster) {
        return Outcome::NotFound;
    }
    let mut nodes = Vec::new();
    for name in STORES {
        for instance in seen.series.labels(SERVER_NODES, name, "instance") {
            let column = seen.series.column_of(SERVER_NODES, name, |s| {
                s.key.labels.get("instance").is_some_and(|i| i == instance)
            });
            nodes.extend(column.map(|column| (instance, column)));
        }
    }
    nodes.sort_by(|(_, a), (_, b)| b.mean().total_cmp(&a.mean()));
    let [(node, most), others @ ..] = nodes.as_slice() else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    if others.is_empty() {
        return Outcome::NotFound;
    }
    let rest = tidemark_stats::mean(others.iter().map(|(_, c)| c.mean()));
    let all = most.mean() + rest * others.len() as f64;
    let share = (most.mean() - rest) / all.max(1e-9);
    if most.mean() < UNEVEN * rest || most.mean() < AT_WORK || share < SHARE {
        return Outcome::NotFound;
    }
    let says = |lang| texts::says(lang, node, three(most.mean()), three(rest));
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::Medium,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: nodes.iter().map(of_node).collect(),
        excludes: Vec::new(),
    })
}

/// A node's processors, with its name: all of them have the same metric.
fn of_node((instance, column): &(&str, SummedSeries)) -> Evidence {
    let mut evidence = column.evidence();
    evidence.metric = format!("{} ({instance})", evidence.metric);
    evidence
}
