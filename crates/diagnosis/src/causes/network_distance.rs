//! Round trips: time in which neither the client nor a statement in the server is at work, the same for
//! each transaction.

use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::network_distance as texts;
use crate::thresholds::{
    CONSTANT, CPU_FULL, CPU_IDLE, DISTANT_MS, FLOOR, LOOPBACK_MS, MOST, PROVEN_WAY, SHARE,
};
use crate::{Cause, Evidence, PartKind, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let load = &seen.load;
    let latency = &load.latency;
    if seen.is_embedded || latency.count == 0 {
        return Outcome::NotFound;
    }
    let network_ms = seen.split.ms(PartKind::Network);
    let round_trips = load.round_trips.max(1.0);
    let each_ms = network_ms / round_trips;
    // Without a look at sessions no more than what was added is known to be on the way.
    if seen.activity.is_none() && seen.split.share(network_ms) < SHARE {
        return without_sessions(seen);
    }
    // What a loopback takes is no distance; what is added is.
    let added_ms = seen.record.inject_rtt_ms * load.round_trips;
    let near_ms = (LOOPBACK_MS * round_trips).min((network_ms - added_ms).max(0.0));
    let share = seen.split.share(network_ms - near_ms);
    let is_constant = latency.fastest_ms >= CONSTANT * network_ms;
    let is_asked = is_asked(seen);
    // Where processors are all taken, replies wait for them on both sides.
    let is_full = seen.host_busy().is_some_and(|busy| busy >= CPU_FULL);
    let is_distant = each_ms >= DISTANT_MS || is_proven(seen);
    if share < SHARE || !is_distant || !is_constant || (is_full && !is_asked) {
        return Outcome::NotFound;
    }
    let (share_said, each, number) = (percent(share), three(each_ms), three(round_trips));
    let measured = measured_ms(seen).filter(|_| is_proven(seen));
    let follows = follows_sessions(seen);
    let says = Words::of(|lang| {
        let says = match (is_asked, measured) {
            (true, _) => texts::injected(lang, &share_said, &each, &number),
            (false, Some(ms)) => texts::measured(lang, &share_said, &each, &number, three(ms)),
            (false, None) => texts::says(lang, &share_said, &each, &number),
        };
        match follows {
            true => says + texts::sessions(lang),
            false => says,
        }
    });
    let mut evidence = vec![
        seen.evidence("round trips of a transaction", network_ms, "ms"),
        seen.evidence("fastest transaction", latency.fastest_ms, "ms"),
    ];
    evidence.extend(round_trip(seen));
    evidence.extend(seen.host.as_ref().map(|host| host.busy_evidence()));
    let is_sure = is_asked || (seen.host.is_some() && is_proven(seen));
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(share >= MOST && is_sure),
        says,
        next: match is_asked {
            true => Words::of(texts::next_injected),
            false => Words::of(texts::next),
        },
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::ClientCpu, Cause::ServerStalls],
    })
}

/// Whether more sessions would do more at the same distance: each of these waits for its own replies, on a
/// host that has room, and all that it waits for is on the way.
fn follows_sessions(seen: &Observations<'_>) -> bool {
    let load = &seen.load;
    let has_room = seen.own_busy().is_some_and(|busy| busy < CPU_IDLE);
    !load.is_open && !load.thinks && !load.pauses && has_room && seen.true_waits() < SHARE
}

/// Milliseconds of a measured round trip, with what is added.
fn measured_ms(seen: &Observations<'_>) -> Option<f64> {
    let added = seen.record.inject_rtt_ms;
    let measured = seen.round_trip_ms();
    measured
        .or((added > 0.0).then_some(0.0))
        .map(|ms| ms + added)
}

fn round_trip(seen: &Observations<'_>) -> Option<Evidence> {
    let measured = seen.round_trip_ms()?;
    Some(seen.evidence("shortest round trip", measured, "ms"))
}

/// Whether round trips that were measured explain the time on the way. A pooler's queue is on the way, too,
/// and no distance.
pub(super) fn is_proven(seen: &Observations<'_>) -> bool {
    let network_ms = seen.split.ms(PartKind::Network);
    let of_all = |ms: f64| ms * seen.load.round_trips.max(1.0);
    measured_ms(seen).is_some_and(|ms| network_ms > 0.0 && of_all(ms) >= PROVEN_WAY * network_ms)
}

/// Whether it is the distance that was asked for: a little that was added to a longer way, or beside a pooler's
/// queue, is not.
pub(crate) fn is_asked(seen: &Observations<'_>) -> bool {
    let added_ms = seen.record.inject_rtt_ms * seen.load.round_trips;
    added_ms > 0.0 && added_ms >= PROVEN_WAY * seen.split.ms(PartKind::Network)
}

/// Milliseconds that each transaction takes, if it is nearly all of its time and longer than on one host: no
/// queue is the same for each.
pub(super) fn fixed_ms(seen: &Observations<'_>) -> Option<f64> {
    let latency = &seen.load.latency;
    let is_floor = latency.fastest_ms >= FLOOR * latency.server_ms?;
    let is_distant = latency.fastest_ms / seen.load.round_trips.max(1.0) >= DISTANT_MS;
    (is_floor && is_distant).then_some(latency.fastest_ms)
}

/// By the latencies alone: a cost that is the same for each transaction is rarely a server's.
fn without_sessions(seen: &Observations<'_>) -> Outcome {
    let latency = &seen.load.latency;
    let Some(server_ms) = latency.server_ms else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let floor = latency.fastest_ms / server_ms.max(1e-9);
    let round_trips = seen.load.round_trips.max(1.0);
    let share = seen.split.share(latency.fastest_ms);
    if fixed_ms(seen).is_none() || share < SHARE {
        return Outcome::Skipped(Words::of(texts::needs));
    }
    let says = |lang| texts::floor(lang, percent(floor), three(round_trips));
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::Medium,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: vec![seen.evidence("fastest transaction", latency.fastest_ms, "ms")],
        excludes: Vec::new(),
    })
}
