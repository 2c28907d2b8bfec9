//! Table locks that sessions of the run hold in turn.

use super::lock_held;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::table_locks as texts;
use crate::thresholds::SHARE;
use crate::{Cause, WaitClass, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
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
