//! Whether points keep the study's objective.

use super::cell::PointResults;
use super::document::Sources;
use super::labels::{load_label, series_name};
use super::matrix::{LoadCurve, Workload};
use super::repeat::Repeat;
use crate::number::three;
use crate::texts::fill;
use tidemark_core::{Limit, Measure, Objective};
use tidemark_stats::Histogram;

/// A point beside the objective.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SloVerdict {
    Yes,
    /// The first limit that a repeat does not keep, with its value; how many repeats do not keep
    /// one, and of how many.
    No {
        why: String,
        n: usize,
        all: usize,
    },
}

/// `None` of a point without a figure that may be used. Each repeat is asked: one that breaks the
/// objective is not outweighed by others that keep it.
pub(super) fn judged(objective: &Objective, cell: &PointResults) -> Option<SloVerdict> {
    if !cell.usable {
        return None;
    }
    let mut broken = Vec::new();
    for repeat in &cell.repeats {
        let latency = repeat.decoded().ok()?;
        for limit in objective.limits() {
            let value = value(limit, repeat, &latency)?;
            if !limit.is_kept(value) {
                broken.push(shown(limit, value));
                break;
            }
        }
    }
    let n = broken.len();
    Some(match broken.into_iter().next() {
        None => SloVerdict::Yes,
        Some(why) => SloVerdict::No {
            why,
            n,
            all: cell.repeats.len(),
        },
    })
}

/// In the limit's unit: seconds, or errors a hundred tries.
fn value(limit: &Limit, repeat: &Repeat, latency: &Histogram) -> Option<f64> {
    if limit.measure == Measure::ErrorPercent {
        let tries = repeat.count.saturating_add(repeat.errors);
        return (tries > 0).then(|| repeat.errors as f64 / tries as f64 * 100.0);
    }
    let nanoseconds = match limit.measure {
        _ if latency.is_empty() => return None,
        Measure::Percentile(p) => latency.percentile_ns(p) as f64,
        Measure::Mean => latency.mean_ns(),
        Measure::Max | Measure::ErrorPercent => latency.max_ns() as f64,
    };
    Some(nanoseconds / 1e9)
}

fn shown(limit: &Limit, value: f64) -> String {
    let ms = || format!("{} ms", three(value * 1000.0));
    match limit.measure {
        Measure::Percentile(p) => format!("p{p} {}", ms()),
        Measure::Mean => format!("avg {}", ms()),
        Measure::Max => format!("max {}", ms()),
        Measure::ErrorPercent => format!("errors {}%", three(value)),
    }
}

/// The study's, if it has one.
pub(super) fn of<'m>(s: &Sources<'m>) -> Option<&'m Objective> {
    s.many.study.as_ref()?.objective.as_ref()
}

/// A cell of the table of results: whether the point keeps it, and by what it does not.
pub(super) fn word(s: &Sources<'_>, objective: &Objective, cell: &PointResults) -> String {
    match judged(objective, cell) {
        None => "–".into(),
        Some(SloVerdict::Yes) => s.t.objective_kept.into(),
        Some(SloVerdict::No { why, all: 1, .. }) => fill(s.t.objective_broken, &[("why", &why)]),
        Some(SloVerdict::No { why, n, all }) => {
            let (n, all) = (n.to_string(), all.to_string());
            let values = [("n", &*n), ("all", &*all), ("why", &*why)];
            fill(s.t.objective_broken_some, &values)
        }
    }
}

/// The most that a series did while it kept the objective; `None` without a point to judge, and of
/// queries, which are no transactions.
pub(super) fn sentence(
    s: &Sources<'_>,
    objective: &Objective,
    workload: &Workload<'_>,
    series: &LoadCurve<'_>,
    cells: &[PointResults],
) -> Option<String> {
    let runs = || series.points.iter().flat_map(|p| &p.runs);
    if runs().any(|r| !r.queries.is_empty()) {
        return None;
    }
    let judged = || {
        let pairs = series.points.iter().zip(cells);
        pairs.filter_map(|(point, cell)| Some((point, cell, judged(objective, cell)?)))
    };
    judged().next()?;
    let name = series_name(s.t, workload, series);
    let text = objective.to_string();
    let mut values = vec![("workload", name.as_str()), ("objective", text.as_str())];
    let kept = judged().filter(|(_, _, kept)| *kept == SloVerdict::Yes);
    let Some((point, cell, _)) = kept.max_by(|a, b| a.1.tps().total_cmp(&b.1.tps())) else {
        return Some(fill(s.t.objective_none, &values));
    };
    let load = load_label(s.t, workload.axis.as_ref(), point);
    let tps = three(cell.tps());
    values.extend([("tps", tps.as_str()), ("load", load.as_str())]);
    let template = match load.as_str() {
        "" => s.t.objective_only,
        _ => s.t.objective_at,
    };
    Some(fill(template, &values))
}
