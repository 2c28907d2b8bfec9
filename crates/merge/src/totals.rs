//! Totals of several clients.

use crate::interval::{hosts, statements};
use crate::{MergeError, stats};
use tidemark_core::record::{ErrorCount, Fairness, LatencyParts, Step, Totals, TypeStats};
use tidemark_stats::Histogram;

/// What one client measured, and when.
#[derive(Debug, Clone, Copy)]
pub struct ClientTotals<'a> {
    /// What it measured.
    pub totals: &'a Totals,
    /// Its sessions, by which means of sessions are weighed.
    pub sessions: u64,
    /// When its time began after the common start, in seconds.
    pub late_s: f64,
}

/// Totals of clients that measured at the same time. Their time is the union of the clients'; the time of
/// outages is the longest of a client's, for totals don't tell when they were ([`crate::record()`] has the
/// union).
///
/// # Errors
/// [`MergeError::Nothing`] of none, [`MergeError::Histogram`].
pub fn totals(each: &[ClientTotals<'_>]) -> Result<Totals, MergeError> {
    if each.is_empty() {
        return Err(MergeError::Nothing);
    }
    let place = "the totals";
    let all = || each.iter().map(|part| part.totals);
    let sum = |of: fn(&Totals) -> u64| all().fold(0u64, |sum, t| sum.saturating_add(of(t)));
    let lateness: Vec<_> = all().filter_map(|t| t.lateness.as_ref()).collect();
    let of_all: Vec<&TypeStats> = all().map(|t| &t.all).collect();
    Ok(Totals {
        elapsed_s: union_s(each),
        statements: statements(all().map(|t| t.statements)),
        ignored_errors: sum(|t| t.ignored_errors),
        reconnects: sum(|t| t.reconnects),
        types: stats::by_name(all().map(|t| &t.types), place)?,
        parts: stats::by_name(all().map(|t| &t.parts), place)?,
        notes: stats::notes(all().map(|t| &t.notes)),
        all: stats::type_stats(&of_all, place)?,
        latency_parts: latency_parts(each),
        fairness: fairness(each),
        delayed_arrivals: sum(|t| t.delayed_arrivals),
        dropped_arrivals: sum(|t| t.dropped_arrivals),
        unserved_arrivals: sum(|t| t.unserved_arrivals),
        lateness: match lateness.is_empty() {
            true => None,
            false => Some(stats::histogram(lateness, place)?),
        },
        outage_s: all().map(|t| t.outage_s).fold(0.0, f64::max),
        hosts: hosts(all().map(|t| t.hosts.as_slice())),
    })
}

/// From the first begin to the last end of those that measured anything.
fn union_s(each: &[ClientTotals<'_>]) -> f64 {
    let measured = || each.iter().filter(|part| part.totals.elapsed_s > 0.0);
    let begin = measured().map(|p| p.late_s).fold(f64::INFINITY, f64::min);
    let ends = measured().map(|p| p.late_s + p.totals.elapsed_s);
    let end = ends.fold(f64::NEG_INFINITY, f64::max);
    match end > begin {
        true => end - begin,
        false => 0.0,
    }
}

/// Mean and deviation of all sessions from those of the clients' sessions.
fn pooled(each: &[ClientTotals<'_>], of: impl Fn(&Fairness) -> (f64, f64)) -> (f64, f64) {
    let parts = || {
        each.iter()
            .map(|p| (p.sessions as f64, of(&p.totals.fairness)))
    };
    let count: f64 = parts().map(|(n, _)| n).sum();
    if count <= 0.0 {
        return (0.0, 0.0);
    }
    let mean = parts().map(|(n, (mean, _))| n * mean).sum::<f64>() / count;
    let square = |(n, (own, deviation)): (f64, (f64, f64))| {
        n * (deviation * deviation + (own - mean) * (own - mean))
    };
    let variance = parts().map(square).sum::<f64>() / count;
    (mean, variance.sqrt())
}

fn fairness(each: &[ClientTotals<'_>]) -> Fairness {
    let (events_avg, events_stddev) = pooled(each, |f| (f.events_avg, f.events_stddev));
    let (time_avg_s, time_stddev_s) = pooled(each, |f| (f.time_avg_s, f.time_stddev_s));
    let between = |f: &Fairness| f.between_avg_s;
    let known = each.iter().all(|p| between(&p.totals.fairness).is_some());
    let (between_s, _) = pooled(each, |f| (f.between_avg_s.unwrap_or(0.0), 0.0));
    Fairness {
        events_avg,
        events_stddev,
        time_avg_s,
        time_stddev_s,
        between_avg_s: known.then_some(between_s),
    }
}

/// Each client's means weighed by its transactions, of which it has the sums.
fn latency_parts(each: &[ClientTotals<'_>]) -> Option<LatencyParts> {
    let (mut count, mut sum) = (0.0, LatencyParts::default());
    for totals in each.iter().map(|p| p.totals).filter(|t| t.all.count > 0) {
        let parts = totals.latency_parts?;
        // Those of the types are counted once more where a part of a transaction came after its reply.
        let service = Histogram::decode(&totals.all.service.0).ok()?;
        let n = service.count() as f64;
        count += n;
        sum.service_mean_ms += n * parts.service_mean_ms;
        sum.server_and_network_mean_ms += n * parts.server_and_network_mean_ms;
        sum.client_mean_ms += n * parts.client_mean_ms;
        sum.paused_mean_ms += n * parts.paused_mean_ms;
    }
    (count > 0.0).then(|| LatencyParts {
        service_mean_ms: sum.service_mean_ms / count,
        server_and_network_mean_ms: sum.server_and_network_mean_ms / count,
        client_mean_ms: sum.client_mean_ms / count,
        paused_mean_ms: sum.paused_mean_ms / count,
    })
}

/// A rate that all held. What was decided of it is the first one's, if any.
///
/// # Errors
/// As [`totals`]. `each` has the sessions beside.
pub fn step(each: &[(&Step, u64)]) -> Result<Step, MergeError> {
    let Some((first, _)) = each.first() else {
        return Err(MergeError::Nothing);
    };
    let start_ms = each.iter().map(|(step, _)| step.start_ms).min();
    let start_ms = start_ms.unwrap_or(first.start_ms);
    let parts: Vec<ClientTotals<'_>> = each
        .iter()
        .map(|(step, sessions)| ClientTotals {
            totals: &step.totals,
            sessions: *sessions,
            late_s: (step.start_ms - start_ms) as f64 / 1000.0,
        })
        .collect();
    Ok(Step {
        purpose: first.purpose,
        rate: first.rate,
        start_ms,
        totals: totals(&parts)?,
        verdict: first.verdict.clone(),
        cut_short: each.iter().any(|(step, _)| step.cut_short),
    })
}

/// Errors of all clients: one of each kind, with the first message.
pub fn errors<'a>(each: impl IntoIterator<Item = &'a ErrorCount>) -> Vec<ErrorCount> {
    let mut all: Vec<ErrorCount> = Vec::new();
    for one in each {
        let same = |sum: &&mut ErrorCount| {
            sum.code == one.code && sum.class == one.class && sum.kind == one.kind
        };
        match all.iter_mut().find(same) {
            Some(sum) => sum.count = sum.count.saturating_add(one.count),
            None => all.push(one.clone()),
        }
    }
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)));
    all
}
