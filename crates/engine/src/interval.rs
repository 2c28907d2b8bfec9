//! Counters to record types.

use crate::recorder::{Counters, Latencies, SessionTally};
use std::collections::BTreeMap;
use tidemark_core::record::{
    EncodedHistogram, Fairness, HostLoad, HostRole, LatencyParts, TypeStats,
};
use tidemark_stats::{Histogram, mean, population_stddev};

/// What a workload counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    /// Transaction types.
    pub types: &'static [&'static str],
    /// Outcomes beside them.
    pub notes: &'static [&'static str],
}

fn stats(latencies: &Latencies) -> TypeStats {
    TypeStats {
        count: latencies.service.count(),
        service: EncodedHistogram(latencies.service.encode()),
        server: encoded(&latencies.server),
        response: encoded(&latencies.response),
        wait: encoded(&latencies.wait),
        paused_ms: latencies.paused.as_secs_f64() * 1e3,
        ..TypeStats::default()
    }
}

/// Where the mean service time of all types passed; `None` where that is not measured.
pub(crate) fn latency_parts(counters: &Counters) -> Option<LatencyParts> {
    let (mut count, mut service, mut server, mut paused) = (0, 0, 0, 0);
    for latencies in &counters.types {
        if latencies.server.count() != latencies.service.count() {
            return None;
        }
        count += latencies.service.count();
        service += latencies.service.sum_ns();
        server += latencies.server.sum_ns();
        paused += latencies.paused.as_nanos();
    }
    let mean_ms = |sum_ns: u128| sum_ns as f64 / count as f64 / 1e6;
    (count > 0).then(|| LatencyParts {
        service_mean_ms: mean_ms(service),
        server_and_network_mean_ms: mean_ms(server),
        client_mean_ms: mean_ms(service.saturating_sub(server + paused)),
        paused_mean_ms: mean_ms(paused),
    })
}

/// `None` for nothing.
pub(crate) fn encoded(histogram: &Histogram) -> Option<EncodedHistogram> {
    (!histogram.is_empty()).then(|| EncodedHistogram(histogram.encode()))
}

/// Per transaction type, by name; types without transactions are left out.
pub(crate) fn type_stats(names: &[&str], counters: &Counters) -> BTreeMap<String, TypeStats> {
    by_name(names, &counters.types)
}

/// Per type, by name, the transactions that were parts of larger ones; none of most workloads.
pub(crate) fn part_stats(names: &[&str], counters: &Counters) -> BTreeMap<String, TypeStats> {
    by_name(names, &counters.parts)
}

fn by_name(names: &[&str], latencies: &[Latencies]) -> BTreeMap<String, TypeStats> {
    names
        .iter()
        .zip(latencies)
        .filter(|(_, l)| !l.service.is_empty())
        .map(|(name, l)| (name.to_string(), stats(l)))
        .collect()
}

/// Counted outcomes by name; those that never came are there with 0.
pub(crate) fn notes(names: &[&str], counters: &Counters) -> BTreeMap<String, u64> {
    let counted = names.iter().zip(counters.notes);
    counted.map(|(name, n)| (name.to_string(), n)).collect()
}

/// All types together.
pub(crate) fn all_types(counters: &Counters) -> TypeStats {
    let mut sum = Latencies::default();
    for latencies in &counters.types {
        sum.merge(latencies);
    }
    stats(&sum)
}

/// What each host was sent.
pub(crate) fn host_loads(
    hosts: &[(String, HostRole)],
    statements: &[u64],
    sessions: &[u64],
) -> Vec<HostLoad> {
    hosts
        .iter()
        .zip(statements.iter().zip(sessions))
        .map(|((host, role), (statements, sessions))| HostLoad {
            host: host.clone(),
            role: *role,
            sessions: *sessions,
            statements: *statements,
        })
        .collect()
}

/// How evenly sessions were served, and what time passed between their transactions, if that is the
/// client's own.
pub(crate) fn fairness(sessions: &[SessionTally], clients_own: bool) -> Fairness {
    let events = || sessions.iter().map(|s| s.events as f64);
    let busy = || sessions.iter().map(|s| s.busy.as_secs_f64());
    Fairness {
        events_avg: mean(events()),
        events_stddev: population_stddev(events()),
        time_avg_s: mean(busy()),
        time_stddev_s: population_stddev(busy()),
        between_avg_s: clients_own.then(|| mean(sessions.iter().map(|s| s.between.as_secs_f64()))),
    }
}
