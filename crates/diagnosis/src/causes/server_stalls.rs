//! Nothing ended now and then though transactions were due, and nobody waited for a lock: the server or what
//! it stands on paused.

use crate::measured::SummedSeries;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::pauses::Pause;
use crate::seen::Observations;
use crate::texts::server_stalls as texts;
use crate::thresholds::{DEAD, FEWEST_PAUSES, MORE_SENT_AGAIN, SENT_AGAIN, SHARE, SILENT};
use crate::{Cause, Evidence, WaitClass, Words};
use tidemark_core::observe::NETWORK;

/// So many times are told as evidence.
const TOLD: usize = 5;

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if seen.record.dead_times.is_none() {
        return Outcome::Skipped(Words::of(texts::needs));
    }
    let locks = seen.wait_share(WaitClass::RowLock) + seen.wait_share(WaitClass::TableLock);
    if locks >= SHARE {
        return Outcome::NotFound;
    }
    let none = Vec::new();
    let stalls = seen.stalls.as_ref().unwrap_or(&none);
    self::stalls(seen, stalls).unwrap_or_else(|| short(seen))
}

/// Times in which no transaction ended.
fn stalls(seen: &Observations<'_>, stalls: &[(f64, f64)]) -> Option<Outcome> {
    let length = |(from, to): &(f64, f64)| to - from;
    let total_s: f64 = stalls.iter().map(length).sum();
    let share = (total_s / seen.load.seconds).clamp(0.0, 1.0);
    let longest = stalls.iter().max_by(|a, b| length(a).total_cmp(&length(b)));
    let (start_s, end_s) = *longest.filter(|_| share >= DEAD)?;
    // Who looks at the server hears nothing while it stands still. One look that was lost is no proof.
    let silences = seen.activity.iter().flat_map(|a| &a.silences);
    let silences: Vec<(f64, f64)> = silences.copied().collect();
    let silent_in = |stall: &(f64, f64)| -> f64 {
        let each = silences
            .iter()
            .map(|(from, to)| to.min(stall.1) - from.max(stall.0));
        each.map(|s| s.max(0.0)).sum()
    };
    let silent = stalls.iter().filter(|s| silent_in(s) >= SILENT * length(s));
    let silent: Vec<&(f64, f64)> = silent.collect();
    let is_silent = silent.iter().map(|s| length(s)).sum::<f64>() >= SILENT * total_s;
    // Packets that were sent again got lost, or the host had stopped with the server: the sockets can't tell.
    let lost = sent_again(seen, stalls);
    let is_servers = is_silent && lost.is_none();
    let says = |lang| {
        let (longest, start) = (three(end_s - start_s), format!("{start_s:.0}"));
        match is_servers {
            true => texts::silent(lang, stalls.len(), percent(share), longest, start),
            false => texts::says(lang, stalls.len(), percent(share), longest, start),
        }
    };
    let told = stalls.iter().take(TOLD);
    let told = told.map(|stall| at(seen, "no transaction ended", length(stall), *stall));
    let mut evidence: Vec<Evidence> = told.collect();
    let says_silent = "observing sessions got no reply";
    let told = silent.into_iter().take(TOLD);
    evidence.extend(told.map(|stall| at(seen, says_silent, silent_in(stall), *stall)));
    evidence.extend(lost.as_ref().map(SummedSeries::evidence));
    let confidence = Confidence::high_if(is_servers);
    Some(found(share, confidence, Words::of(says), evidence))
}

/// Packets of the sessions that were sent again while nothing ended, or just after; `None` where there were no
/// more than at other times. The kernel of a server that stands still answers for it.
fn sent_again(seen: &Observations<'_>, stalls: &[(f64, f64)]) -> Option<SummedSeries> {
    let sent = seen.series.column(NETWORK, "network.retransmits")?;
    let step_s = f64::from(sent.step_ms) / 1000.0;
    let is_in = |at_ms: i64, stall: &(f64, f64)| {
        let near = stall.0 - step_s..=stall.1 + step_s;
        near.contains(&(at_ms as f64 / 1000.0))
    };
    let again = |wanted: &dyn Fn(i64) -> bool| -> Vec<f64> {
        let points = sent.points.iter().filter(|(at, _)| wanted(*at));
        points.map(|(_, again)| *again).collect()
    };
    // On a long way some are sent again all the time.
    let others = again(&|at| !stalls.iter().any(|stall| is_in(at, stall)));
    let usual = tidemark_stats::mean(others.iter().copied());
    let is_lost = |stall: &(f64, f64)| {
        let within = again(&|at| is_in(at, stall));
        let packets = within.iter().sum::<f64>() * step_s;
        let as_usual = usual * step_s * within.len() as f64;
        packets >= SENT_AGAIN && packets >= MORE_SENT_AGAIN * as_usual
    };
    stalls.iter().any(is_lost).then_some(sent)
}

/// Shorter pauses, again and again.
fn short(seen: &Observations<'_>) -> Outcome {
    let pauses = &seen.pauses;
    let total_s: f64 = pauses.iter().map(|p| p.length_s).sum();
    let share = (total_s / seen.load.seconds).clamp(0.0, 1.0);
    if pauses.len() < FEWEST_PAUSES || share < DEAD {
        return Outcome::NotFound;
    }
    let longest = pauses.iter().map(|p| p.longest_s).fold(0.0, f64::max);
    let says = |lang| texts::short(lang, percent(share), pauses.len(), three(longest));
    let told = pauses.iter().take(TOLD).map(|p: &Pause| {
        let says = "all sessions waited at once";
        at(seen, says, p.length_s, (p.from_s, p.to_s))
    });
    let evidence = told.collect();
    found(share, Confidence::Medium, Words::of(says), evidence)
}

fn at(seen: &Observations<'_>, says: &str, value: f64, (from_s, to_s): (f64, f64)) -> Evidence {
    Evidence {
        from_s,
        to_s,
        ..seen.evidence(says, value, "s")
    }
}

fn found(share: f64, confidence: Confidence, says: Words, evidence: Vec<Evidence>) -> Outcome {
    Outcome::Found(FindingDetails {
        share,
        confidence,
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::LockHeld, Cause::RowLocks],
    })
}
