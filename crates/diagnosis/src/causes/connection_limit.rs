//! The server, the account, a pooler or this process's own limit allows no more connections.

use super::overload;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::connection_limit as texts;
use crate::thresholds::{CPU_FULL, CPU_IDLE, SHARE, SMALL};
use crate::{PartKind, Words};
use tidemark_core::ErrorKind;

/// What more sessions would meet.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    /// Room for their work.
    Room,
    /// A server that these sessions use fully.
    Full,
    /// A schedule whose arrivals are served already.
    Served,
}

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let record = seen.record;
    let errors = record.errors.iter();
    let refused: u64 = errors
        .filter(|e| e.kind == Some(ErrorKind::TooManySessions))
        .map(|e| e.count)
        .sum();
    let opened = record.sessions_opened.filter(|n| *n < record.sessions);
    let because = record.fewer_sessions_because.as_deref().unwrap_or("");
    let then = then(seen);
    let (share, says) = match opened {
        Some(opened) => {
            let says = |lang| match then {
                Then::Room => texts::opened(lang, opened, record.sessions, because),
                Then::Full => texts::full(lang, opened, record.sessions, because),
                Then::Served => texts::served(lang, opened, record.sessions, because),
            };
            let more = record.sessions as f64 / opened.max(1) as f64;
            (1.0 - 1.0 / gain(seen, more), Words::of(says))
        }
        None if refused > 0 => {
            let tries = refused as f64 + record.totals.all.count as f64;
            let says = |lang| match then {
                Then::Full => texts::refused_full(lang, refused),
                Then::Room | Then::Served => texts::refused(lang, refused),
            };
            (refused as f64 / tries, Words::of(says))
        }
        None => return Outcome::NotFound,
    };
    let mut evidence = vec![seen.evidence("connections refused", refused as f64, "errors")];
    if let Some(opened) = opened {
        evidence.push(seen.evidence("sessions opened", opened as f64, "sessions"));
    }
    evidence.extend(seen.host.as_ref().map(|host| host.busy_evidence()));
    let is_seen = seen.own_busy().is_some() && seen.activity.is_some();
    // One refusal of many tries changes nothing.
    let is_felt = share >= SMALL;
    Outcome::Found(FindingDetails {
        share: match then {
            Then::Room => share,
            Then::Full | Then::Served => 0.0,
        },
        confidence: match then {
            Then::Room if is_felt => Confidence::high_if(is_seen),
            Then::Room | Then::Full | Then::Served => Confidence::Low,
        },
        says,
        next: Words::of(next(because)),
        evidence,
        excludes: Vec::new(),
    })
}

/// More sessions would bring more only if what they use has room, nobody waits for it, and there is more to
/// serve.
fn then(seen: &Observations<'_>) -> Then {
    let waiting = seen.share(PartKind::WaitingForSession);
    let is_served = seen.load.is_open && overload::is_served(seen) && waiting < SMALL;
    let has_room = seen.own_busy().is_none_or(|busy| busy < CPU_IDLE) && seen.true_waits() < SHARE;
    match has_room {
        _ if is_served => Then::Served,
        true => Then::Room,
        false => Then::Full,
    }
}

/// How many times as much so many times as many sessions would do: as many, until the host's CPU is full.
fn gain(seen: &Observations<'_>, more: f64) -> f64 {
    let room = seen.own_busy().map(|busy| CPU_FULL / busy.max(1e-9));
    more.min(room.unwrap_or(f64::INFINITY)).max(1.0)
}

/// What to raise, by whose limit it is.
fn next(because: &str) -> fn(crate::Lang) -> &'static str {
    if because.contains("ulimit") {
        texts::next_client
    } else if because.contains("prepared_stmt") {
        texts::next_statements
    } else {
        texts::next
    }
}
