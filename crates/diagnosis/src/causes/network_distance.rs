//! Round trips: time in which neither the client nor a statement in the server is at work, the same for
//! each transaction.

use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::network_distance as texts;
use crate::thresholds::{CONSTANT, CPU_FULL, DISTANT_MS, FLOOR, MOST, SHARE};
use crate::{Cause, PartKind, Words};

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    let load = &seen.load;
    let latency = &load.latency;
    let injected = seen.record.inject_rtt_ms > 0.0;
    if seen.is_embedded || latency.count == 0 {
        return Outcome::NotFound;
    }
    let network_ms = seen.split.ms(PartKind::Network);
    let statements = load.statements.max(1.0);
    let each_ms = network_ms / statements;
    if seen.activity.is_none() && !injected {
        return without_sessions(seen);
    }
    let share = seen.split.share(network_ms);
    let is_constant = latency.fastest_ms >= CONSTANT * network_ms;
    // Where processors are all taken, replies wait for them on both sides.
    let is_full = seen.host_busy().is_some_and(|busy| busy >= CPU_FULL);
    if share < SHARE || each_ms < DISTANT_MS || !is_constant || (is_full && !injected) {
        return Outcome::NotFound;
    }
    let (share_said, each, number) = (percent(share), three(each_ms), three(statements));
    let says = Words::of(|lang| match injected {
        true => texts::injected(lang, &share_said, &each, &number),
        false => texts::says(lang, &share_said, &each, &number),
    });
    let mut evidence = vec![
        seen.evidence("round trips of a transaction", network_ms, "ms"),
        seen.evidence("fastest transaction", latency.fastest_ms, "ms"),
    ];
    evidence.extend(seen.host.as_ref().map(|host| host.busy.evidence()));
    let confidence = match share >= MOST && (injected || seen.host.is_some()) {
        true => Confidence::High,
        false => Confidence::Medium,
    };
    Outcome::Found(Found {
        share,
        confidence,
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::ClientCpu, Cause::ServerStalls],
    })
}

/// By the latencies alone: a cost that is the same for each transaction is rarely a server's.
fn without_sessions(seen: &Seen<'_>) -> Outcome {
    let latency = &seen.load.latency;
    let Some(server_ms) = latency.server_ms else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let floor = latency.fastest_ms / server_ms.max(1e-9);
    let statements = seen.load.statements.max(1.0);
    let share = seen.split.share(latency.fastest_ms);
    if floor < FLOOR || latency.fastest_ms / statements < DISTANT_MS || share < SHARE {
        return Outcome::Skipped(Words::of(texts::needs));
    }
    let says = |lang| texts::floor(lang, percent(floor), three(statements));
    Outcome::Found(Found {
        share,
        confidence: Confidence::Medium,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: vec![seen.evidence("fastest transaction", latency.fastest_ms, "ms")],
        excludes: Vec::new(),
    })
}
