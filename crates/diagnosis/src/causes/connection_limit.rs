//! The server, the account, a pooler or this process's own limit allows no more connections.

use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::connection_limit as texts;
use crate::thresholds::{CPU_IDLE, SHARE};
use crate::{Cause, Words};
use tidemark_core::ErrorKind;

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    let record = seen.record;
    let errors = record.errors.iter();
    let refused: u64 = errors
        .filter(|e| e.kind == Some(ErrorKind::TooManySessions))
        .map(|e| e.count)
        .sum();
    let opened = record.sessions_opened.filter(|n| *n < record.sessions);
    let because = record.fewer_sessions_because.as_deref().unwrap_or("");
    // More sessions would bring more only if what they use has room, and nobody waits for it.
    let has_room = seen.own_busy().is_none_or(|busy| busy < CPU_IDLE) && seen.true_waits() < SHARE;
    let (share, says) = match opened {
        Some(opened) => {
            let says = |lang| match has_room {
                true => texts::opened(lang, opened, record.sessions, because),
                false => texts::full(lang, opened, record.sessions, because),
            };
            let missing = (record.sessions - opened) as f64;
            (missing / record.sessions as f64, Words::of(says))
        }
        None if refused > 0 => {
            let tries = refused as f64 + record.totals.all.count as f64;
            let says = |lang| match has_room {
                true => texts::refused(lang, refused),
                false => texts::refused_full(lang, refused),
            };
            (refused as f64 / tries, Words::of(says))
        }
        None => return Outcome::NotFound,
    };
    let mut evidence = vec![seen.evidence("connections refused", refused as f64, "errors")];
    if let Some(opened) = opened {
        evidence.push(seen.evidence("sessions opened", opened as f64, "sessions"));
    }
    evidence.extend(seen.host.as_ref().map(|host| host.busy.evidence()));
    let is_seen = seen.own_busy().is_some() && seen.activity.is_some();
    Outcome::Found(Found {
        share: match has_room {
            true => share,
            false => 0.0,
        },
        confidence: match has_room {
            true if is_seen => Confidence::High,
            true => Confidence::Medium,
            false => Confidence::Low,
        },
        says,
        next: Words::of(next(because)),
        evidence,
        excludes: vec![Cause::TooFewSessions],
    })
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
