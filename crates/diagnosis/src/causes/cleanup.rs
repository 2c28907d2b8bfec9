//! Old row versions that are removed more slowly than they are made.

use super::{drift, long_transaction};
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::cleanup as texts;
use crate::thresholds::{DRIFT, HISTORY};
use crate::{Cause, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let drift = drift::of_cpu(seen).filter(|drift| *drift >= DRIFT);
    let Some(drift) = drift.filter(|_| seen.load.writes > 0.0 && !seen.is_embedded) else {
        return Outcome::NotFound;
    };
    let Some(history) = seen.status("history.length") else {
        let needs = |lang| texts::needs(lang, percent(drift));
        return Outcome::Skipped(Words::of(needs));
    };
    let grown = history.last() - history.first();
    if grown < HISTORY || long_transaction::is_found(seen) {
        return Outcome::NotFound;
    }
    let (first, last) = (three(history.first()), three(history.last()));
    let says = |lang| texts::says(lang, &first, &last, percent(drift));
    Outcome::Found(FindingDetails {
        share: (drift / (1.0 + drift)).clamp(0.0, 1.0),
        confidence: Confidence::Medium,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: vec![history.evidence_of(history.last())],
        excludes: vec![Cause::LongTransaction],
    })
}
