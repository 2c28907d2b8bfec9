//! What makes a finding less sure, whatever its cause: few samples, parts that are more than the whole, and
//! counters that others move, too.

use crate::causes::network_distance;
use crate::seen::Observations;
use crate::thresholds::{FEWEST_LOOKS, OTHERS_SEEN, OVER, SMALL};
use crate::{Cause, Confidence, Finding, WaitClass};

/// Judged by what sessions were seen at.
const BY_LOOKS: &[Cause] = &[
    Cause::NetworkDistance,
    Cause::CommitLog,
    Cause::DiskRate,
    Cause::CacheMisses,
    Cause::RowLocks,
    Cause::TableLocks,
    Cause::LockHeld,
    Cause::Latches,
    Cause::OtherSessions,
];

/// Judged by means of seconds.
const BY_SECONDS: &[Cause] = &[
    Cause::ClientCpu,
    Cause::ServerCpu,
    Cause::TooFewSessions,
    Cause::CpuQuota,
    Cause::Neighbour,
    Cause::MissingIndex,
    Cause::StoreImbalance,
];

/// Judged by the server's parts of the latency.
const BY_PARTS: &[Cause] = &[
    Cause::CommitLog,
    Cause::DiskRate,
    Cause::CacheMisses,
    Cause::RowLocks,
    Cause::TableLocks,
    Cause::LockHeld,
    Cause::Latches,
    Cause::MissingIndex,
    Cause::Checkpoints,
];

/// Judged by what the server counts of all its sessions.
const BY_COUNTERS: &[Cause] = &[Cause::CacheMisses, Cause::MissingIndex];

/// The same of servers that tell what sessions execute, and no waits.
const BY_COUNTERS_OF_WAITS: &[Cause] = &[Cause::DiskRate, Cause::RowLocks];

/// Whether what the server counted may be of sessions that are none of the run's: some were at statements, or
/// nobody looked.
fn may_be_others(seen: &Observations<'_>, cause: Cause) -> bool {
    let Some(activity) = &seen.activity else {
        return BY_COUNTERS.contains(&cause);
    };
    let counts_waits = activity.executing > 0.0 && BY_COUNTERS_OF_WAITS.contains(&cause);
    let is_counted = counts_waits || BY_COUNTERS.contains(&cause);
    is_counted && activity.others.all() >= OTHERS_SEEN
}

/// Whether the server's parts are more than what was left of the latency for them.
pub(crate) fn is_over(seen: &Observations<'_>, cause: Cause) -> bool {
    seen.over > OVER && BY_PARTS.contains(&cause)
}

/// Whether sessions waited for rows in a few seconds only, so that the share may be next to nothing: they pile
/// up behind a deadlock until the server looks for it (PostgreSQL's `deadlock_timeout`).
fn may_be_one_pile(seen: &Observations<'_>, finding: &Finding) -> bool {
    if finding.cause != Cause::RowLocks {
        return false;
    }
    let half = seen.half(&[WaitClass::RowLock]);
    half.is_finite() && finding.share - half < SMALL
}

/// Lowers a finding's confidence to what the samples allow.
pub(crate) fn lower(seen: &Observations<'_>, finding: &mut Finding) {
    let cause = finding.cause;
    // What is added is known, not sampled.
    let is_asked = cause == Cause::NetworkDistance && network_distance::is_asked(seen);
    let few = |points: usize| points < FEWEST_LOOKS;
    let seconds = seen.host.as_ref().or(seen.client.as_ref());
    let seconds = seconds.is_some_and(|host| few(host.busy.points.len()));
    // Sessions of SQLite are not looked at: they count.
    let by_seconds = BY_SECONDS.contains(&cause) || (seen.is_embedded && BY_LOOKS.contains(&cause));
    let is_thin = BY_LOOKS.contains(&cause) && seen.is_thin() && !is_asked;
    let most = if is_thin || may_be_one_pile(seen, finding) {
        Confidence::Low
    } else if is_over(seen, cause) || may_be_others(seen, cause) || (seconds && by_seconds) {
        Confidence::Medium
    } else {
        Confidence::High
    };
    finding.confidence = finding.confidence.min(most);
}
