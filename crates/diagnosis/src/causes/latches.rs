//! Latches inside the server: short locks of its own, on pages, lists and counters.

use crate::number::percent;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::latches as texts;
use crate::thresholds::{CPU_FULL, SHARE, SMALL};
use crate::{Cause, PartKind, WaitClass, Words};
use tidemark_core::Engine;

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let unexplained = seen.share(PartKind::Unexplained);
    let tells_waits = seen.activity.as_ref().is_some_and(|a| a.executing == 0.0);
    // Where they are not shown, they may be what is unexplained.
    if !tells_waits {
        return match seen.is_embedded || unexplained < SMALL {
            true => Outcome::NotFound,
            false if is_postgres(seen) => {
                Outcome::Skipped(Words::of(crate::texts::row_locks::needs))
            }
            false => Outcome::Skipped(Words::of(|lang| texts::needs(lang, percent(unexplained)))),
        };
    }
    let share = seen.wait_share(WaitClass::Latch);
    let locks = seen.wait_share(WaitClass::RowLock) + seen.wait_share(WaitClass::TableLock);
    let Some(evidence) = seen
        .wait_evidence(WaitClass::Latch)
        .filter(|_| share >= SHARE)
    else {
        return Outcome::NotFound;
    };
    let names = evidence.metric.split_once('(');
    let names = names.map_or("", |(_, names)| names.trim_end_matches(')'));
    let says = |lang| texts::says(lang, seen.said(&[WaitClass::Latch]), names);
    let cpu_is_free = seen.host_busy().is_some_and(|busy| busy < CPU_FULL);
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(
            seen.is_most(share, &[WaitClass::Latch]) && locks < SMALL && cpu_is_free,
        ),
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: vec![evidence],
        excludes: vec![Cause::RowLocks, Cause::LockHeld],
    })
}

/// Whether the server tells latches to whoever may look at its sessions.
fn is_postgres(seen: &Observations<'_>) -> bool {
    let engine = seen.record.server.as_ref().map(|server| server.engine);
    matches!(engine, Some(Engine::Postgres | Engine::Yugabyte))
}
