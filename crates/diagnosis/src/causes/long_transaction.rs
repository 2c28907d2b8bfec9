//! A transaction that stays open, for whose sake old row versions stay, and statements read them.

use super::drift;
use crate::measured::SummedSeries;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::long_transaction as texts;
use crate::thresholds::{
    AGES, DEAD_ROWS, DRIFT, HISTORY, LONGER_THAN_OWN, NOTHING_PURGED, OPEN_S, VERSIONS_A_ROW,
};
use crate::{Cause, PartKind, WaitClass, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if seen.is_embedded || (seen.load.writes == 0.0 && !are_left(seen)) {
        return Outcome::NotFound;
    }
    let oldest = seen.status("transactions.oldest");
    if let Some(seconds) = oldest.as_ref().and_then(|oldest| open_s(seen, oldest)) {
        let evidence = oldest.map(|oldest| oldest.evidence_of(seconds));
        return found(
            seen,
            |lang, effect| match effect {
                Some(Effect::Drift(drift)) => texts::open(lang, three(seconds), percent(*drift)),
                Some(Effect::Versions(each)) => texts::versions(lang, three(seconds), three(*each)),
                None => texts::unfelt(lang, three(seconds)),
            },
            evidence.into_iter().collect(),
            Confidence::High,
        );
    }
    let histories = ["history.length", "transactions.held-back"].map(|name| seen.status(name));
    if oldest.is_none() && histories.iter().all(Option::is_none) {
        return Outcome::Skipped(Words::of(texts::needs));
    }
    let mut histories = histories.into_iter().flatten();
    let of = |history: SummedSeries| kept(seen, &history).map(|kept| (history, kept));
    let Some((history, kept)) = histories.find_map(of) else {
        return Outcome::NotFound;
    };
    let (first, last) = (three(history.first()), three(history.last()));
    found(
        seen,
        |lang, effect| match effect {
            Some(_) => texts::history(lang, &first, &last, percent(kept)),
            None => texts::history_unfelt(lang, &first, &last, percent(kept)),
        },
        vec![history.evidence_of(history.last())],
        Confidence::Medium,
    )
}

/// What an open transaction does to the others.
enum Effect {
    /// The CPU of a transaction grew by this part, while old versions became more.
    Drift(f64),
    /// So many old versions for each row.
    Versions(f64),
}

/// What shows that old versions cost something. That there are some slows nobody.
fn effect(seen: &Observations<'_>) -> Option<Effect> {
    let grown = |name: &str, least: f64| {
        seen.status(name)
            .is_some_and(|c| c.last() - c.first() >= least)
    };
    let grows = grown("history.length", HISTORY) || grown("rows.dead", DEAD_ROWS);
    let drift = drift::of_cpu(seen).filter(|drift| *drift >= DRIFT && grows);
    drift.map(Effect::Drift).or_else(|| {
        let each = versions(seen)?;
        (each >= VERSIONS_A_ROW).then_some(Effect::Versions(each))
    })
}

/// Old versions for each row that the run's tables have; `None` where there are few, or the rows were not
/// counted.
fn versions(seen: &Observations<'_>) -> Option<f64> {
    let most = |name: &str| seen.status(name).map_or(0.0, |c| c.max());
    let rows: u64 = seen.record.tables_before.iter().map(|t| t.rows).sum();
    let (dead, history) = (most("rows.dead"), most("history.length"));
    let old = dead.max(history);
    let are_many = dead >= DEAD_ROWS || history >= HISTORY;
    (are_many && rows > 0).then(|| old / rows as f64)
}

/// Whether the old versions that are seen are dead rows of the tables themselves, which scans pass. Versions of
/// a history stand apart, and who reads by a key meets none of them.
fn are_in_tables(seen: &Observations<'_>) -> bool {
    let rows: u64 = seen.record.tables_before.iter().map(|t| t.rows).sum();
    let dead = seen.status("rows.dead").map_or(0.0, |c| c.max());
    dead >= DEAD_ROWS && dead >= VERSIONS_A_ROW * rows as f64
}

/// Whether there are many old versions, for which readers pay whoever left them.
pub(super) fn are_left(seen: &Observations<'_>) -> bool {
    let most = |name: &str| seen.status(name).map_or(0.0, |c| c.max());
    let live: u64 = seen.record.tables_before.iter().map(|t| t.rows).sum();
    let dead = most("rows.dead");
    most("history.length") >= HISTORY || dead >= DEAD_ROWS && dead >= live as f64
}

/// Whether one was found that costs something.
pub(super) fn is_found(seen: &Observations<'_>) -> bool {
    matches!(check(seen), Outcome::Found(found) if found.confidence > Confidence::Low)
}

/// For how long the oldest transaction is open, if it is one and longer than any of the run's.
fn open_s(seen: &Observations<'_>, oldest: &SummedSeries) -> Option<f64> {
    let longest = oldest.max();
    // One that goes on ages by a second each second; the oldest of many short ones does not for long.
    let (mut streak, mut longest_streak) = (0, 0);
    for pair in oldest.points.windows(2) {
        if let [(at, one), (next, two)] = pair {
            let ages = two - one >= AGES * (next - at) as f64 / 1000.0;
            streak = if ages { streak + 1 } else { 0 };
            longest_streak = longest_streak.max(streak);
        }
    }
    let is_one = longest_streak * 2 >= oldest.points.len();
    let own_s = seen.load.latency.slowest_ms / 1000.0;
    (longest >= OPEN_S && is_one && longest >= LONGER_THAN_OWN * own_s).then_some(longest)
}

/// The share of the writing transactions whose old versions stayed, where it is nearly all of them all the
/// time. Purge that is merely late removes some every now and then.
fn kept(seen: &Observations<'_>, history: &SummedSeries) -> Option<f64> {
    let grown = history.last() - history.first();
    let rate = grown / history.seconds().max(1.0) / seen.load.rate;
    let grows = |pair: &[(i64, f64)]| matches!(pair, [(_, one), (_, two)] if two > one);
    let always = history.points.windows(2).all(grows);
    (grown >= HISTORY && always && rate >= NOTHING_PURGED).then(|| rate.min(1.0))
}

fn found(
    seen: &Observations<'_>,
    says: impl Fn(crate::Lang, Option<&Effect>) -> String,
    mut evidence: Vec<crate::Evidence>,
    confidence: Confidence,
) -> Outcome {
    let effect = effect(seen);
    let left = ["rows.dead", "history.length"].map(|name| seen.status(name));
    evidence.extend(left.into_iter().flatten().map(|c| c.evidence_of(c.last())));
    // Looking at old versions takes the server's CPU.
    let cpu = seen.split.ms(PartKind::ServerCpu)
        + seen.split.wait_ms(WaitClass::RunQueue)
        + seen.split.ms(PartKind::Unexplained);
    let share = match &effect {
        Some(Effect::Drift(drift)) => drift / (1.0 + drift),
        Some(Effect::Versions(each)) => seen.split.share(cpu) * each / (1.0 + each),
        None => 0.0,
    };
    Outcome::Found(FindingDetails {
        share,
        confidence: match effect {
            Some(Effect::Versions(_)) if !are_in_tables(seen) => confidence.min(Confidence::Medium),
            Some(_) => confidence,
            None => Confidence::Low,
        },
        says: Words::of(|lang| says(lang, effect.as_ref())),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::Cleanup],
    })
}
