//! What a script pauses on purpose.

use super::Said;
use tidemark_analysis::thresholds::CLIENT_SHARE;
use tidemark_core::record::{EncodedHistogram, RunRecord};
use tidemark_stats::Histogram;

/// Holds of a run whose script paused for so long in all: that is within its transactions, is none of the
/// server's, and no rule takes it for another wait.
pub fn are_the_scripts_own(record: &RunRecord, said: &Said, least_ms: f64) {
    let all = &record.totals.all;
    let sum_ms = |of: &EncodedHistogram| Histogram::decode(&of.0).unwrap().sum_ns() as f64 / 1e6;
    let service_ms = sum_ms(&all.service);
    let elsewhere_ms = service_ms - all.server.as_ref().map_or(0.0, sum_ms);
    assert!(all.paused_ms >= least_ms, "{all:?}");
    // Distributions have steps of a hundredth.
    assert!(all.paused_ms <= elsewhere_ms + 0.02 * service_ms, "{all:?}");
    assert!(!said.all().contains("latency-floor"), "{said:?}");
    // On a busy machine sessions wait for it, too, which is rightly told.
    let share = (elsewhere_ms - all.paused_ms) / service_ms;
    let is_told = said.all().contains("client-bound");
    assert!(!is_told || share >= CLIENT_SHARE, "{share} {said:?}");
}
