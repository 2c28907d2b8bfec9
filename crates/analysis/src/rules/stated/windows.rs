//! A rate of one stretch of time beside latencies of another.

use super::finding;
use super::view::ImportedRun;
use crate::texts::different_windows::{INSTEAD, SAYS};
use crate::thresholds::WINDOWS_APART;
use crate::{Figure, Finding, Severity};

/// Transactions whose latencies are stated, by the stated rate, last as long as the window of the
/// latencies. The rate's window is the time that is stated. They are two where the difference is the
/// warm-up: everything else is `summary-mismatch`.
pub(super) fn different(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let timed = view
        .number("time")
        .or(view.all("elapsed_s").map(|e| e.value));
    let timed = timed.filter(|s| *s > 0.0)?;
    let per_minute = view.all("nopm").or(view.all("tpmc"));
    let (count, per_second) = match per_minute {
        Some(n) => {
            let count = view
                .of("NewOrder", "count")
                .or(view.of("NewOrder", "samples"))?;
            (count, n.value / 60.0)
        }
        None => {
            let types = view.types();
            let counts = types.iter().filter_map(|of| view.of(of, "count"));
            let counts = counts.reduce(super::view::Range::plus)?;
            (counts, view.all("rate")?.value)
        }
    };
    let latencies = count.value / per_second;
    let warmup = view
        .number("warmup-time")
        .or(view.number("warmup"))
        .unwrap_or(0.0);
    let is = |seconds: f64| (latencies - seconds).abs() <= WINDOWS_APART / 2.0 * seconds;
    let apart = latencies > timed * (1.0 + WINDOWS_APART) && warmup > 0.0;
    if !latencies.is_finite() || !apart || !is(timed + warmup) {
        return Some(Vec::new());
    }
    let figures = vec![
        ("line", Figure::Count(count.line)),
        ("latencies", Figure::Number(latencies)),
        ("rate", Figure::Number(timed)),
        ("warmup", Figure::Number(warmup)),
    ];
    Some(vec![finding(
        "different-windows",
        Severity::Suspect,
        SAYS,
        INSTEAD,
        figures,
    )])
}
