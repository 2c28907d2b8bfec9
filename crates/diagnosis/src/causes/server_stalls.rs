//! The server paused now and then: nothing ended, and nobody was answered.

use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::server_stalls as texts;
use crate::thresholds::{DEAD, SHARE, SILENT_S};
use crate::{Cause, WaitClass, Words};
use tidemark_core::record::DeadSide;

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    let Some(dead) = &seen.record.dead_times else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    // What a deadlock's end or a lock explains is no stall of the server.
    let dead = dead
        .iter()
        .filter(|d| d.side == DeadSide::Target && d.deadlocks == 0);
    let dead: Vec<_> = dead.collect();
    let total_s = dead.iter().map(|d| d.length_ms).sum::<f64>() / 1000.0;
    let share = (total_s / seen.load.seconds).clamp(0.0, 1.0);
    let locks = seen.wait_share(WaitClass::RowLock) + seen.wait_share(WaitClass::TableLock);
    let longest = dead
        .iter()
        .max_by(|a, b| a.length_ms.total_cmp(&b.length_ms));
    let Some(longest) = longest.filter(|_| share >= DEAD && locks < SHARE) else {
        return Outcome::NotFound;
    };
    let (length_s, start_s) = (longest.length_ms / 1000.0, longest.start_ms as f64 / 1000.0);
    let says = |lang| {
        let (length, start) = (three(length_s), format!("{start_s:.0}"));
        texts::says(lang, dead.len(), percent(share), length, start)
    };
    let mut evidence: Vec<_> = dead
        .iter()
        .take(5)
        .map(|d| {
            let mut evidence = seen.evidence("no transaction ended", d.length_ms / 1000.0, "s");
            evidence.from_s = d.start_ms as f64 / 1000.0;
            evidence.to_s = evidence.from_s + evidence.value;
            evidence
        })
        .collect();
    let silent = seen.activity.as_ref().map_or(0.0, |a| a.silent.0);
    if let Some(activity) = seen.activity.as_ref().filter(|_| silent >= SILENT_S) {
        let (length, from) = activity.silent;
        let mut evidence_of = seen.evidence("observing sessions got no reply", length, "s");
        (evidence_of.from_s, evidence_of.to_s) = (from, from + length);
        evidence.push(evidence_of);
    }
    Outcome::Found(Found {
        share,
        confidence: match silent >= SILENT_S {
            true => Confidence::High,
            false => Confidence::Medium,
        },
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::LockHeld, Cause::RowLocks],
    })
}
