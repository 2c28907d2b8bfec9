//! Table locks that sessions of the run hold in turn; of SQLite the lock of its one writer.

use super::lock_held;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::table_locks as texts;
use crate::thresholds::SHARE;
use crate::{Cause, WaitClass, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if seen.is_embedded {
        return write_lock(seen);
    }
    let share = seen.wait_share(WaitClass::TableLock);
    if seen.activity.is_none() || share < SHARE || lock_held::is_held_outside(seen) {
        return Outcome::NotFound;
    }
    let says = |lang| texts::says(lang, seen.said(&[WaitClass::TableLock]));
    let evidence = seen.wait_evidence(WaitClass::TableLock);
    Outcome::Found(FindingDetails {
        share,
        // Nobody tells who holds them.
        confidence: Confidence::Medium,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: evidence.into_iter().collect(),
        excludes: vec![Cause::RowLocks, Cause::Latches],
    })
}

/// One session writes at a time, and others wait for their turn (sqlite.org/lockingv3.html, 3.0;
/// sqlite.org/wal.html, 2.2).
fn write_lock(seen: &Observations<'_>) -> Outcome {
    let class = [WaitClass::TableLock];
    let share = seen.wait_share(WaitClass::TableLock);
    if share < SHARE {
        return Outcome::NotFound;
    }
    let counted = ["locks.wait-time", "locks.waits"];
    let counted = counted.iter().filter_map(|name| seen.status(name));
    // Who alone writes waits for another program.
    let are_several = seen.load.sessions > 1.0;
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(are_several && seen.is_most(share, &class)),
        says: Words::of(|lang| texts::sqlite(lang, seen.said(&class))),
        next: Words::of(texts::sqlite_next),
        evidence: counted.map(|c| c.evidence()).collect(),
        excludes: vec![Cause::ServerCpu],
    })
}
