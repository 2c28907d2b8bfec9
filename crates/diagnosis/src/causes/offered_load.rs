//! All that was asked for was served: no bottleneck at this load.

use super::overload;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::offered_load as texts;
use crate::thresholds::{SERVED, SMALL};
use crate::{Cause, PartKind, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let load = &seen.load;
    let waiting = seen.share(PartKind::WaitingForSession);
    let pauses = !load.is_open && !load.thinks && load.pauses && load.is_paced;
    let is_served = match load.is_open {
        true => overload::is_served(seen),
        false => load.thinks || pauses,
    };
    let waits = waiting >= SMALL && (!load.is_open || overload::is_crowded(seen));
    if !is_served || waits || load.latency.count == 0 {
        return Outcome::NotFound;
    }
    let says = Words::of(|lang| match (load.is_open, load.asked) {
        // Random arrivals are fewer or more than were asked for.
        (true, Some(asked)) if load.rate < SERVED * asked => {
            texts::by_chance(lang, three(load.rate), three(asked))
        }
        (true, Some(asked)) => texts::rate(lang, three(asked)),
        (true, None) => texts::schedule(lang).to_string(),
        (false, _) if pauses => texts::pausing(lang, percent(seen.share(PartKind::Paused))),
        (false, _) => texts::thinking(lang).to_string(),
    });
    Outcome::Found(FindingDetails {
        share: 1.0 - waiting,
        confidence: Confidence::High,
        says,
        next: match pauses {
            true => Words::of(texts::next_pausing),
            false => Words::of(texts::next),
        },
        evidence: vec![
            seen.evidence("transactions", load.rate, "1/s"),
            seen.evidence("wait for a session", load.latency.waiting_ms, "ms"),
        ],
        excludes: vec![Cause::Overload],
    })
}
