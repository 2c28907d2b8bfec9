//! Scaling that is limited by keeping sessions coherent: one run has one number of sessions.

use crate::Words;
use crate::outcome::Outcome;
use crate::seen::Observations;
use crate::texts::coherency as texts;

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    match seen.load.is_open || seen.load.sessions <= 1.0 {
        true => Outcome::NotFound,
        false => Outcome::Skipped(Words::of(texts::needs)),
    }
}
