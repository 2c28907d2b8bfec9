//! Transactions of the run that wait for each other's rows.

use super::lock_held;
use crate::number::three;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::row_locks as texts;
use crate::thresholds::{CPU_FULL, SHARE};
use crate::{Cause, WaitClass, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if seen.is_embedded {
        return Outcome::NotFound;
    }
    if seen.activity.is_none() {
        return Outcome::Skipped(Words::of(texts::needs));
    }
    let share = seen.wait_share(WaitClass::RowLock);
    if share < SHARE || lock_held::is_long(seen) {
        return Outcome::NotFound;
    }
    let waits = seen.status("locks.waits").filter(|c| c.mean() > 0.0);
    let each = waits
        .as_ref()
        .map(|waits| seen.row_lock_sessions() * 1000.0 / waits.mean());
    let said = seen.said(&[WaitClass::RowLock]);
    let says = Words::of(|lang| match (&waits, each) {
        (Some(waits), Some(each)) => texts::counted(lang, &said, three(waits.mean()), three(each)),
        _ => texts::says(lang, &said),
    });
    let mut evidence: Vec<_> = seen.wait_evidence(WaitClass::RowLock).into_iter().collect();
    let names = [
        "locks.waits",
        "locks.wait-time",
        "locks.waiting",
        "deadlocks",
    ];
    evidence.extend(seen.statuses(&names));
    let cpu_is_free = seen.host_busy().is_some_and(|busy| busy < CPU_FULL);
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(seen.is_most(share, &[WaitClass::RowLock]) && cpu_is_free),
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::Latches, Cause::LockHeld],
    })
}
