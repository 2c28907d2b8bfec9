//! What a finding excludes: of its neighbours those that were measured to be small, and were not found.
//!
//! Causes say in [`FindingDetails::excludes`](crate::outcome::FindingDetails) which neighbours there are. Whether one of them is
//! excluded is decided here, from what was seen.

use crate::causes::{neighbour, overload};
use crate::host::Tasks;
use crate::seen::Observations;
use crate::thresholds::{CPU_FULL, CPU_IDLE, DEAD, HELD_UP, HITS, MISSES, OPEN_S, SMALL};
use crate::{Cause, Confidence, Finding, PartKind, WaitClass};

/// Leaves to each finding the neighbours that it excludes. One that is not sure excludes nothing.
pub(crate) fn neighbours(seen: &Observations<'_>, findings: &mut [Finding], found: &[Cause]) {
    for finding in findings {
        let is_sure = finding.confidence > Confidence::Low;
        finding
            .excludes
            .retain(|cause| is_sure && !found.contains(cause) && is_small(seen, *cause));
    }
}

/// Whether what a cause would need was measured, and is small.
fn is_small(seen: &Observations<'_>, cause: Cause) -> bool {
    let waits = |classes: &[WaitClass]| {
        let share: f64 = classes.iter().map(|class| seen.wait_share(*class)).sum();
        seen.activity.is_some() && !seen.is_thin() && share < SMALL
    };
    // Servers that tell what sessions execute, and no waits, count them.
    let tells_waits = seen.activity.as_ref().is_some_and(|a| a.executing == 0.0);
    let counts = |names: &[&str]| tells_waits || names.iter().all(|n| seen.status(n).is_some());
    let counts_rows = || counts(&["locks.wait-time"]) || counts(&["locks.waiting"]);
    let is_idle = |busy: Option<f64>| busy.is_some_and(|busy| busy < CPU_IDLE);
    match cause {
        Cause::ServerCpu => is_idle(seen.host_busy()),
        Cause::ClientCpu => {
            seen.load.latency.client_ms().is_some() && seen.share(PartKind::Client) < SMALL
        }
        Cause::NetworkDistance => {
            seen.is_embedded || (seen.activity.is_some() && seen.share(PartKind::Network) < SMALL)
        }
        Cause::TooFewSessions => seen.host_busy().is_some_and(|busy| busy >= CPU_FULL),
        Cause::CommitLog => waits(&[WaitClass::Log]),
        Cause::DiskRate => {
            waits(&[WaitClass::DataRead, WaitClass::DataWrite]) && counts(&["buffer.misses"])
        }
        Cause::CacheMisses => {
            let columns = seen
                .status("buffer.misses")
                .zip(seen.status("buffer.requests"));
            columns.is_some_and(|(misses, requests)| {
                let hits = 1.0 - misses.mean() / requests.mean().max(1e-9);
                misses.mean() < MISSES * seen.load.rate || hits >= HITS
            })
        }
        Cause::RowLocks => waits(&[WaitClass::RowLock]) && counts_rows(),
        Cause::TableLocks => waits(&[WaitClass::TableLock]),
        Cause::LockHeld => waits(&[WaitClass::RowLock, WaitClass::TableLock]) && counts_rows(),
        Cause::Latches => tells_waits && waits(&[WaitClass::Latch]),
        Cause::CpuQuota => {
            let kept = |tasks: &Option<Tasks>| {
                let tasks = tasks.as_ref().filter(|tasks| tasks.delay.is_some());
                tasks.is_some_and(|tasks| tasks.waiting() < HELD_UP * tasks.cpu.mean())
            };
            kept(&seen.threads) && (seen.is_embedded || kept(&seen.server))
        }
        Cause::Neighbour => seen.others().is_some() && neighbour::others(seen).is_none(),
        Cause::ServerStalls => {
            let paused: f64 = seen.pauses.iter().map(|p| p.length_s).sum();
            let none = seen.stalls.as_ref().is_some_and(Vec::is_empty);
            none && paused < DEAD * seen.load.seconds
        }
        Cause::Overload => !seen.load.is_open || overload::is_served(seen),
        Cause::OfferedLoad => seen.load.is_open && !overload::is_served(seen),
        Cause::LongTransaction => {
            let oldest = seen.status("transactions.oldest");
            oldest.is_some_and(|oldest| oldest.max() < OPEN_S)
        }
        _ => false,
    }
}
