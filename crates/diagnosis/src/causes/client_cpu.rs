//! The client's CPU: what the session waits for after the reply is there.

use super::cpu_quota;
use crate::host::Host;
use crate::number::percent;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::client_cpu as texts;
use crate::thresholds::{CLIENT_MS, CPU_FULL, OF_OTHERS, SHARE, THREAD_FULL};
use crate::{Cause, PartKind, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let Some(client_ms) = seen.load.latency.client_ms() else {
        return match seen.is_embedded || seen.load.latency.count == 0 {
            true => Outcome::NotFound,
            false => Outcome::Skipped(Words::of(texts::needs)),
        };
    };
    let share = seen.split.share(client_ms);
    if share < SHARE || client_ms < CLIENT_MS || cpu_quota::of_client(seen).is_some() {
        return Outcome::NotFound;
    }
    let busy = seen.client.as_ref().map(Host::load);
    // Client and server get in each other's way: that is the shared host's CPU. On one that has room, what
    // is left is the way between them.
    let full = threads_are_full(seen);
    if seen.is_shared && (!full || busy.is_none_or(|busy| busy >= CPU_FULL)) {
        return Outcome::NotFound;
    }
    let said = percent(share);
    let (says, confidence) = if full {
        let threads = seen.record.executors.max(1);
        let says = Words::of(|lang| texts::threads(lang, threads, &said));
        (says, Confidence::High)
    } else if let Some(host) = seen.client.as_ref().filter(|h| h.load() >= CPU_FULL) {
        let says = Words::of(|lang| texts::host(lang, host.said(), &said));
        // Another program may be what fills it.
        let own = seen.threads.as_ref().map_or(0.0, |threads| threads.all);
        let is_own = own >= (1.0 - OF_OTHERS) * host.busy.mean();
        (says, Confidence::high_if(is_own))
    } else {
        (
            Words::of(|lang| texts::unclear(lang, &said)),
            Confidence::Low,
        )
    };
    let mut evidence = vec![seen.evidence(
        "latency in the client",
        seen.split.ms(PartKind::Client),
        "ms",
    )];
    let threads = seen.threads.iter();
    evidence.extend(threads.flat_map(|t| {
        [
            Some(t.cpu.evidence()),
            t.delay.as_ref().map(|d| d.evidence()),
        ]
        .into_iter()
        .flatten()
    }));
    evidence.extend(seen.client.as_ref().map(|host| host.busy_evidence()));
    Outcome::Found(FindingDetails {
        share,
        confidence,
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: match confidence {
            Confidence::High => vec![Cause::ServerCpu, Cause::TooFewSessions],
            _ => Vec::new(),
        },
    })
}

/// Whether its threads are busy all the time.
fn threads_are_full(seen: &Observations<'_>) -> bool {
    let threads = seen.record.executors.max(1) as f64;
    let on_cpu = seen.threads.as_ref().map(|t| t.cpu.mean());
    on_cpu.is_some_and(|cpu| cpu >= THREAD_FULL * threads)
}

/// Whether it can do no more: its threads or its host are busy all the time.
pub(crate) fn is_full(seen: &Observations<'_>) -> bool {
    let busy = seen.client.as_ref().map(Host::load);
    threads_are_full(seen) || busy.is_some_and(|busy| busy >= CPU_FULL)
}
