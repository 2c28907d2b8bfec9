//! The server, the account or a pooler accepts no more connections.

use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::connection_limit as texts;
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
    let (share, says) = match opened {
        Some(opened) => {
            let says = |lang| texts::opened(lang, opened, record.sessions, because);
            let missing = (record.sessions - opened) as f64;
            (missing / record.sessions as f64, Words::of(says))
        }
        None if refused > 0 => {
            let tries = refused as f64 + record.totals.all.count as f64;
            (
                refused as f64 / tries,
                Words::of(|lang| texts::refused(lang, refused)),
            )
        }
        None => return Outcome::NotFound,
    };
    let mut evidence = vec![seen.evidence("connections refused", refused as f64, "errors")];
    if let Some(opened) = opened {
        evidence.push(seen.evidence("sessions opened", opened as f64, "sessions"));
    }
    Outcome::Found(Found {
        share,
        confidence: Confidence::High,
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::TooFewSessions],
    })
}
