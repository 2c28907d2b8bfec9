//! The server paused now and then: nothing ended, and nobody was answered.

use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::pauses::{Pause, pauses};
use crate::seen::Seen;
use crate::texts::server_stalls as texts;
use crate::thresholds::{DEAD, FEWEST_PAUSES, SHARE, SILENT_S};
use crate::{Cause, Evidence, WaitClass, Words};
use tidemark_core::record::{DeadSide, DeadTime};

/// So many times are told as evidence.
const TOLD: usize = 5;

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    let Some(dead) = &seen.record.dead_times else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let locks = seen.wait_share(WaitClass::RowLock) + seen.wait_share(WaitClass::TableLock);
    if locks >= SHARE {
        return Outcome::NotFound;
    }
    // What a deadlock's end explains is no stall of the server.
    let ours = |d: &&DeadTime| d.side == DeadSide::Target && d.deadlocks == 0;
    let dead: Vec<&DeadTime> = dead.iter().filter(ours).collect();
    stalls(seen, &dead).unwrap_or_else(|| short(seen))
}

/// Times in which no transaction ended.
fn stalls(seen: &Seen<'_>, dead: &[&DeadTime]) -> Option<Outcome> {
    let total_s = dead.iter().map(|d| d.length_ms).sum::<f64>() / 1000.0;
    let share = (total_s / seen.load.seconds).clamp(0.0, 1.0);
    let longest = dead
        .iter()
        .max_by(|a, b| a.length_ms.total_cmp(&b.length_ms));
    let longest = longest.filter(|_| share >= DEAD)?;
    let (length_s, start_s) = (longest.length_ms / 1000.0, longest.start_ms as f64 / 1000.0);
    let says = |lang| {
        let (length, start) = (three(length_s), format!("{start_s:.0}"));
        texts::says(lang, dead.len(), percent(share), length, start)
    };
    let told = dead.iter().take(TOLD).map(|d| {
        let from_s = d.start_ms as f64 / 1000.0;
        let length_s = d.length_ms / 1000.0;
        at(
            seen,
            "no transaction ended",
            length_s,
            (from_s, from_s + length_s),
        )
    });
    let mut evidence: Vec<Evidence> = told.collect();
    let silent = seen.activity.as_ref().map_or(0.0, |a| a.silent.0);
    if let Some(activity) = seen.activity.as_ref().filter(|_| silent >= SILENT_S) {
        let (length, from) = activity.silent;
        let says = "observing sessions got no reply";
        evidence.push(at(seen, says, length, (from, from + length)));
    }
    let confidence = match silent >= SILENT_S {
        true => Confidence::High,
        false => Confidence::Medium,
    };
    Some(found(share, confidence, Words::of(says), evidence))
}

/// Shorter pauses, again and again.
fn short(seen: &Seen<'_>) -> Outcome {
    let pauses = pauses(seen.record, seen.load.sessions);
    let total_s: f64 = pauses.iter().map(|p| p.length_s).sum();
    let share = (total_s / seen.load.seconds).clamp(0.0, 1.0);
    if pauses.len() < FEWEST_PAUSES || share < DEAD {
        return Outcome::NotFound;
    }
    let longest = pauses.iter().map(|p| p.longest_s).fold(0.0, f64::max);
    let says = |lang| texts::short(lang, pauses.len(), percent(share), three(longest));
    let told = pauses.iter().take(TOLD).map(|p: &Pause| {
        let says = "all sessions waited at once";
        at(seen, says, p.length_s, (p.from_s, p.to_s))
    });
    let evidence = told.collect();
    found(share, Confidence::Medium, Words::of(says), evidence)
}

fn at(seen: &Seen<'_>, says: &str, value: f64, (from_s, to_s): (f64, f64)) -> Evidence {
    Evidence {
        from_s,
        to_s,
        ..seen.evidence(says, value, "s")
    }
}

fn found(share: f64, confidence: Confidence, says: Words, evidence: Vec<Evidence>) -> Outcome {
    Outcome::Found(Found {
        share,
        confidence,
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::LockHeld, Cause::RowLocks],
    })
}
