//! A headline that a few transactions contradict.
//!
//! Where most intervals have the tail (an embedded engine's checkpoints), mean and percentile together
//! describe the run; where a few have it, another run may have none.

use crate::run::Run;
use crate::texts::heavy_tail::{INSTEAD, SAYS};
use crate::thresholds::{PERCENTILE_STEP, TAIL_COUNT, TAIL_INTERVALS, TAIL_SAMPLES, TAIL_SHARE};
use crate::{AnalysisError, Figure, Finding, LoadKind, Severity};
use tidemark_stats::{Histogram, median};

pub(super) const ID: &str = "heavy-tail";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let latency = &run.latency;
    // Rates that follow each other have latencies of their own each.
    let one_rate = matches!(run.kind, LoadKind::Closed | LoadKind::Open(_));
    if !one_rate || latency.count() < TAIL_SAMPLES {
        return Ok(None);
    }
    let (mean, p95) = (latency.mean_ns(), latency.percentile_ns(95.0) as f64);
    let held = latency.share_of_slowest(TAIL_COUNT);
    let contradicted = p95 < mean;
    if !contradicted && held < TAIL_SHARE || is_dead_time(run) {
        return Ok(None);
    }
    let severity = match contradicted && !is_steady(run, p95)? {
        true => Severity::Suspect,
        false => Severity::Note,
    };
    let max = latency.max_ns() as f64;
    let [mean, p95, max] = [mean, p95, max].map(|ns| ns / 1e6);
    Ok(Some(finding(severity, held, mean, p95, max)))
}

/// What a printed histogram says: milliseconds in order, and how many took so long. A note, because
/// nothing tells whether most intervals have the tail.
pub(super) fn of_buckets(buckets: &[(f64, f64)]) -> Option<Finding> {
    let all: f64 = buckets.iter().map(|(_, count)| count).sum();
    let sum: f64 = buckets.iter().map(|(ms, count)| ms * count).sum();
    let (mut left, mut slow) = (all * (1.0 - TAIL_COUNT), 0.0f64);
    let (mut below, mut p95) = (0.0f64, None);
    for &(ms, count) in buckets {
        let fast = count.min(left);
        left -= fast;
        slow += ms * (count - fast);
        below += count;
        p95 = p95.or((below >= all * 0.95).then_some(ms));
    }
    let (max, _) = buckets.iter().rfind(|(_, count)| *count > 0.0)?;
    let (mean, held, p95) = (sum / all, slow / sum, p95?);
    let contradicted = p95 * (1.0 + PERCENTILE_STEP) < mean;
    let is_told = all >= TAIL_SAMPLES as f64 && (contradicted || held >= TAIL_SHARE);
    is_told.then(|| finding(Severity::Note, held, mean, p95, *max))
}

fn finding(severity: Severity, held: f64, mean_ms: f64, p95_ms: f64, max_ms: f64) -> Finding {
    Finding {
        rule: ID,
        severity,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("slowest", Figure::Number(TAIL_COUNT * 100.0)),
            ("held", Figure::Number(held * 100.0)),
            ("mean", Figure::Number(mean_ms)),
            ("p95", Figure::Number(p95_ms)),
            ("max", Figure::Number(max_ms)),
        ],
    }
}

/// Whether the mean of most intervals is above the percentile, too.
fn is_steady(run: &Run<'_>, p95_ns: f64) -> Result<bool, AnalysisError> {
    let mut means = Vec::new();
    for interval in run.whole() {
        let mut latency = Histogram::new();
        for stats in interval.types.values() {
            run.add_latency(stats, &mut latency)?;
        }
        means.push(latency.mean_ns());
    }
    Ok(means.len() >= TAIL_INTERVALS && median(&means) > p95_ns)
}

/// Whether the slowest transactions waited for the end of a stretch in which nothing ended: `stall`,
/// `client-stopped` and `outage` speak of it.
fn is_dead_time(run: &Run<'_>) -> bool {
    let dead = run.record.dead_times.iter().flatten().map(|d| d.length_ms);
    let away = run.record.outages.iter().map(|o| o.length_ms);
    let longest = dead.chain(away).fold(0.0, f64::max);
    longest > run.latency.max_ns() as f64 / 1e6 / 2.0
}
