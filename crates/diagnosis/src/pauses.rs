//! Pauses too short to be times without a transaction: moments in which all sessions waited at once, much
//! longer than usual.

use crate::thresholds::{ALL_SESSIONS, LONG_PAUSE_MS, UNUSUAL};
use tidemark_core::record::{Interval, Phase, RunRecord};
use tidemark_stats::Histogram;

/// An interval with such moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pause {
    /// Begin of the interval, in seconds from the start of the measurement.
    pub from_s: f64,
    pub to_s: f64,
    /// How long the sessions waited in it, together by their number.
    pub length_s: f64,
    /// The longest wait.
    pub longest_s: f64,
}

/// Of a closed loop or a schedule alike: what was slow in each interval, by service time. Empty where
/// slow transactions are those of some sessions only, and where a distribution can't be read.
pub(crate) fn pauses(record: &RunRecord, sessions: f64) -> Vec<Pause> {
    look(record, sessions).unwrap_or_default()
}

fn look(record: &RunRecord, sessions: f64) -> Option<Vec<Pause>> {
    let all = Histogram::decode(&record.totals.all.service.0).ok()?;
    let median_ms = all.percentile_ns(50.0) as f64 / 1e6;
    let limit_ms = LONG_PAUSE_MS.max(UNUSUAL * median_ms);
    let intervals = record.intervals.iter();
    let measured = intervals.filter(|i| i.phase == Phase::Measure);
    let mut pauses = Vec::new();
    for interval in measured {
        let latencies = latencies(interval)?;
        let (mut count, mut sum_s) = (0, 0.0);
        for (ns, of) in latencies.occupied() {
            if ns as f64 / 1e6 >= limit_ms {
                count += of;
                sum_s += ns as f64 / 1e9 * of as f64;
            }
        }
        let from_s = interval.start_ms as f64 / 1000.0;
        if count as f64 >= ALL_SESSIONS * sessions && count > 0 {
            pauses.push(Pause {
                from_s,
                to_s: from_s + interval.length_ms / 1000.0,
                length_s: sum_s / sessions,
                longest_s: latencies.max_ns() as f64 / 1e9,
            });
        }
    }
    Some(pauses)
}

fn latencies(interval: &Interval) -> Option<Histogram> {
    let mut all = Histogram::new();
    for stats in interval.types.values() {
        all.add_encoded(&stats.service.0).ok()?;
    }
    Some(all)
}
