//! Which finding comes first, and what the verdict says.

use crate::causes::{AT_A_HIGHER_LOAD, MAKES, client_cpu, disk_rate};
use crate::doubt;
use crate::number::percent;
use crate::seen::Observations;
use crate::texts::verdict as texts;
use crate::thresholds::{
    CPU_FULL, CPU_IDLE, FEWEST_LOOKS, MAKES_MOST, OF_LOW, OF_MEDIUM, PAUSED, SMALL,
};
use crate::{Cause, Confidence, Finding, Lang, PartKind, Skipped, Words};

/// Without what would limit a higher load, where all that was asked for was served: it is where the time
/// goes, and no bottleneck. What is wrong at any load stays, and what is full.
pub(crate) fn of_load(seen: &Observations<'_>, mut findings: Vec<Finding>) -> Vec<Finding> {
    let is_full = |cause| match cause {
        Cause::ServerCpu => seen.host_busy().is_some_and(|busy| busy >= CPU_FULL),
        Cause::ClientCpu => client_cpu::is_full(seen),
        Cause::DiskRate => seen.disk.as_ref().is_some_and(disk_rate::is_saturated),
        _ => false,
    };
    if findings.iter().any(|f| f.cause == Cause::OfferedLoad) {
        findings.retain(|f| !AT_A_HIGHER_LOAD.contains(&f.cause) || is_full(f.cause));
    }
    findings
}

/// Whether a cause that makes another one is where to begin: it takes a good part of what the other takes, or
/// there would be nothing of the other without it. Stalls are a share of the time, beside what limits the
/// rest of it, and a served load limits nothing.
fn is_worth(seen: &Observations<'_>, maker: &Finding, made: &Finding) -> bool {
    let is_of_time = maker.cause == Cause::ServerStalls;
    let is_load = [maker.cause, made.cause].contains(&Cause::OfferedLoad);
    // The host is full only with what others take of it.
    let fills =
        maker.cause == Cause::Neighbour && seen.own_busy().is_some_and(|own| own < CPU_FULL);
    is_of_time || is_load || fills || maker.share >= MAKES_MOST * made.share
}

/// The most telling first: by share, and how sure it is. A cause that makes another one comes before it.
pub(crate) fn ranked(seen: &Observations<'_>, mut findings: Vec<Finding>) -> Vec<Finding> {
    let mut scores: Vec<(Cause, f64)> = findings.iter().map(|f| (f.cause, score(f))).collect();
    // Chains are short; each round lifts one link of each.
    for _ in 0..3 {
        for (first, second) in MAKES {
            let of = |cause: &Cause| findings.iter().find(|f| f.cause == *cause);
            let least = match first {
                Cause::ServerStalls => PAUSED,
                _ => SMALL,
            };
            let Some(maker) =
                of(first).filter(|f| f.confidence > Confidence::Low && f.share >= least)
            else {
                continue;
            };
            let made = of(second).filter(|made| is_worth(seen, maker, made));
            let made = made.and_then(|made| scores.iter().find(|(cause, _)| *cause == made.cause));
            let made = made.map(|(_, s)| *s);
            let own = scores.iter_mut().find(|(cause, _)| *cause == maker.cause);
            if let (Some(made), Some((_, own))) = (made, own) {
                *own = own.max(made * JUST_BEFORE);
            }
        }
    }
    let score_of = |cause: Cause| {
        scores
            .iter()
            .find(|(c, _)| *c == cause)
            .map_or(0.0, |(_, s)| *s)
    };
    findings.sort_by(|a, b| score_of(b.cause).total_cmp(&score_of(a.cause)));
    findings
}

/// How much before what it makes a cause stands: there is nothing between.
const JUST_BEFORE: f64 = 1.001;

/// By what throughput would gain without it, as every cause has its share, and how sure that is.
fn score(finding: &Finding) -> f64 {
    let sure = match finding.confidence {
        Confidence::High => 1.0,
        Confidence::Medium => OF_MEDIUM,
        Confidence::Low => OF_LOW,
    };
    finding.share * sure
}

/// The verdict, and it in words.
pub(crate) fn verdict(
    seen: &Observations<'_>,
    findings: &[Finding],
    skipped: &[Skipped],
) -> (Cause, Words) {
    let first = findings.first();
    let Some(first) = first.filter(|f| f.confidence > Confidence::Low) else {
        return (Cause::NotEnoughSeen, not_enough(seen, skipped));
    };
    let next = next_limit(seen, first.cause);
    let over = doubt::is_over(seen, first.cause).then(|| format!("{:.1}", seen.over));
    let sentence = |lang: Lang| {
        let mut says = vec![first.sentence.in_language(lang).to_string()];
        says.extend(over.as_ref().map(|times| texts::over(lang, times)));
        says.extend(next.as_ref().map(|times| texts::next_limit(lang, times)));
        joined(lang, &says)
    };
    (first.cause, Words::of(sentence))
}

/// At how many times the rate the host's CPU is full, where that is not what limits, if its use grows with
/// the rate.
fn next_limit(seen: &Observations<'_>, cause: Cause) -> Option<String> {
    let waits_for_other = matches!(
        cause,
        Cause::CommitLog
            | Cause::DiskRate
            | Cause::RowLocks
            | Cause::NetworkDistance
            | Cause::TooFewSessions
    );
    let host = seen
        .host
        .as_ref()
        .filter(|host| waits_for_other && host.load() < CPU_IDLE)?;
    let own = host.busy.mean() - seen.others().unwrap_or(0.0);
    let room = CPU_FULL * host.cores - host.busy.mean();
    (own > 0.0).then(|| format!("{:.1}", 1.0 + room / own))
}

fn not_enough(seen: &Observations<'_>, skipped: &[Skipped]) -> Words {
    let unexplained = seen.share(PartKind::Unexplained);
    // What is missing for the most likely causes, each once.
    let needs: Vec<&Words> = skipped
        .iter()
        .filter(|s| s.cause != Cause::Coherency)
        .map(|s| &s.needs)
        .fold(Vec::new(), |mut all, needs| {
            if !all.contains(&needs) && all.len() < 2 {
                all.push(needs);
            }
            all
        });
    Words::of(|lang| {
        let says = match &seen.host {
            Some(host) if seen.activity.is_some() => {
                let waits = percent(seen.true_waits());
                texts::no_cause(lang, percent(host.load()), waits, percent(unexplained))
            }
            _ => texts::not_seen(lang, percent(unexplained)),
        };
        let mut needs: Vec<String> = match needs.is_empty() {
            true => vec![texts::compare(lang).into()],
            false => needs.iter().map(|n| n.in_language(lang).into()).collect(),
        };
        if seen.is_thin() {
            // Ten looks a second.
            needs.insert(0, texts::longer(lang, 2 * FEWEST_LOOKS));
        }
        let collect = texts::collect(lang, joined(lang, &needs));
        joined(lang, &[says, collect])
    })
}

/// Sentences one after the other: Chinese has no gap between them.
fn joined(lang: Lang, sentences: &[String]) -> String {
    let gap = match lang {
        Lang::En => " ",
        Lang::Zh => "",
    };
    let said = sentences.iter().map(|s| s.trim()).filter(|s| !s.is_empty());
    said.collect::<Vec<_>>().join(gap)
}
