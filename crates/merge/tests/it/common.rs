//! Clients' samples, and what one client with all of them has.

use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::record::{EncodedHistogram, Interval, Phase, StatementCounts, TypeStats};
use tidemark_stats::Histogram;

/// A type's service times, in microseconds.
pub fn stats(micros: &[u64]) -> TypeStats {
    let mut histogram = Histogram::new();
    for micros in micros {
        histogram.record(Duration::from_micros(*micros));
    }
    TypeStats {
        count: micros.len() as u64,
        service: EncodedHistogram(histogram.encode()),
        ..TypeStats::default()
    }
}

/// A second of one client, with transactions of one type.
pub fn second(at: i64, sessions: u64, micros: &[u64]) -> Interval {
    Interval {
        start_ms: at * 1000,
        length_ms: 1000.0,
        phase: Phase::Measure,
        sessions,
        statements: StatementCounts {
            read: micros.len() as u64,
            round_trips: 2 * micros.len() as u64,
            ..StatementCounts::default()
        },
        types: BTreeMap::from([("t".to_string(), stats(micros))]),
        notes: BTreeMap::from([("noted".to_string(), 1)]),
        ..Interval::default()
    }
}
