//! A transaction that stays open, for whose sake old row versions stay.

use super::drift;
use crate::measured::Column;
use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::long_transaction as texts;
use crate::thresholds::{DEAD_ROWS, HISTORY, NOTHING_PURGED, OPEN_S, SMALL};
use crate::{Cause, Words};

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    if seen.is_embedded || (seen.load.writes == 0.0 && !are_left(seen)) {
        return Outcome::NotFound;
    }
    let drift = drift::of_cpu(seen).unwrap_or(0.0).max(0.0);
    if let Some(oldest) = seen.status("transactions.oldest") {
        return open(seen, &oldest, drift);
    }
    let Some(history) = seen.status("history.length") else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let Some(kept) = kept(seen, &history) else {
        return Outcome::NotFound;
    };
    let (first, last) = (three(history.first()), three(history.last()));
    let says = |lang| texts::history(lang, &first, &last, percent(kept));
    let evidence = vec![history.evidence_of(history.last())];
    found(drift, Words::of(says), evidence, Confidence::Medium)
}

/// Whether there are many old versions, for which readers pay whoever left them.
pub(super) fn are_left(seen: &Seen<'_>) -> bool {
    let most = |name: &str| seen.status(name).map_or(0.0, |c| c.max());
    let live: u64 = seen.record.tables_before.iter().map(|t| t.rows).sum();
    let dead = most("rows.dead");
    most("history.length") >= HISTORY || dead >= DEAD_ROWS && dead >= live as f64
}

/// Whether one was found.
pub(super) fn is_found(seen: &Seen<'_>) -> bool {
    matches!(check(seen), Outcome::Found(_))
}

/// PostgreSQL tells how long the oldest transaction is open.
fn open(seen: &Seen<'_>, oldest: &Column, drift: f64) -> Outcome {
    let longest = oldest.max();
    // One that goes on ages by a second each second; the oldest of many short ones does not for long.
    let (mut streak, mut longest_streak) = (0, 0);
    for pair in oldest.points.windows(2) {
        if let [(at, one), (next, two)] = pair {
            let ages = two - one >= 0.5 * (next - at) as f64 / 1000.0;
            streak = if ages { streak + 1 } else { 0 };
            longest_streak = longest_streak.max(streak);
        }
    }
    let is_one = longest_streak * 2 >= oldest.points.len();
    let own_s = seen.load.latency.slowest_ms / 1000.0;
    if longest < OPEN_S || !is_one || longest < 2.0 * own_s {
        return Outcome::NotFound;
    }
    let says = |lang| texts::open(lang, three(longest), percent(drift));
    let evidence = vec![oldest.evidence_of(longest)];
    found(drift, Words::of(says), evidence, Confidence::High)
}

/// InnoDB: the share of the writing transactions whose old versions stayed, where it is nearly all of them
/// all the time. Purge that is merely late removes some every now and then.
fn kept(seen: &Seen<'_>, history: &Column) -> Option<f64> {
    let grown = history.last() - history.first();
    let rate = grown / history.seconds().max(1.0) / seen.load.rate;
    let grows = |pair: &[(i64, f64)]| matches!(pair, [(_, one), (_, two)] if two > one);
    let always = history.points.windows(2).all(grows);
    (grown >= HISTORY && always && rate >= NOTHING_PURGED).then(|| rate.min(1.0))
}

fn found(
    drift: f64,
    says: Words,
    evidence: Vec<crate::Evidence>,
    confidence: Confidence,
) -> Outcome {
    Outcome::Found(Found {
        // What it costs is seen only as it grows.
        share: (drift / (1.0 + drift)).clamp(SMALL, 1.0),
        confidence,
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::Cleanup],
    })
}
