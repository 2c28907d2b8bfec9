//! Counters to record types.

use crate::recorder::{Counters, SessionTally};
use std::collections::BTreeMap;
use tidemark_core::record::{EncodedHistogram, Fairness, TypeStats};
use tidemark_stats::{Histogram, mean, population_stddev};

fn stats(service: &Histogram, response: &Histogram) -> TypeStats {
    TypeStats {
        count: service.count(),
        service: EncodedHistogram(service.encode()),
        response: (!response.is_empty()).then(|| EncodedHistogram(response.encode())),
        ..TypeStats::default()
    }
}

/// Per transaction type, by name; types without transactions are left out.
pub(crate) fn type_stats(names: &[&str], counters: &Counters) -> BTreeMap<String, TypeStats> {
    names
        .iter()
        .zip(&counters.types)
        .filter(|(_, l)| !l.service.is_empty())
        .map(|(name, l)| (name.to_string(), stats(&l.service, &l.response)))
        .collect()
}

/// All types together.
pub(crate) fn all_types(counters: &Counters) -> TypeStats {
    let mut service = Histogram::new();
    let mut response = Histogram::new();
    for latencies in &counters.types {
        service.merge(&latencies.service);
        response.merge(&latencies.response);
    }
    stats(&service, &response)
}

/// How evenly sessions were served.
pub(crate) fn fairness(sessions: &[SessionTally]) -> Fairness {
    let events = || sessions.iter().map(|s| s.events as f64);
    let busy = || sessions.iter().map(|s| s.busy.as_secs_f64());
    Fairness {
        events_avg: mean(events()),
        events_stddev: population_stddev(events()),
        time_avg_s: mean(busy()),
        time_stddev_s: population_stddev(busy()),
    }
}
