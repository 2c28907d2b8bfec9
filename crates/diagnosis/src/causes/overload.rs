//! More transactions come due than are served.

use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::overload as texts;
use crate::thresholds::{CHANCE, CPU_IDLE, CROWDED, MOST, SERVED, SHARE};
use crate::{Cause, PartKind, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let load = &seen.load;
    let share = seen.share(PartKind::WaitingForSession);
    if !load.is_open || (is_served(seen) && (share < SHARE || !is_crowded(seen))) {
        return Outcome::NotFound;
    }
    let totals = &seen.record.totals;
    let said = percent(share);
    let missed = !is_served(seen);
    let says = Words::of(|lang| match load.asked.filter(|_| missed) {
        Some(asked) => texts::says(lang, three(asked), three(load.rate), &said),
        None => texts::waits(lang, &said),
    });
    let unserved = (totals.unserved_arrivals + totals.dropped_arrivals) as f64;
    Outcome::Found(FindingDetails {
        // Those that were never served are in no response time.
        share: share.max(match missed {
            true => MOST,
            false => 0.0,
        }),
        // Sessions that are free most of the time can serve more: what was missed came due while something
        // stood still.
        confidence: Confidence::high_if(missed && share >= MOST && is_crowded(seen)),
        says,
        next: Words::of(
            |lang| match seen.own_busy().is_some_and(|busy| busy < CPU_IDLE) {
                true => texts::next_sessions(lang),
                false => texts::next(lang),
            },
        ),
        evidence: vec![
            seen.evidence("transactions", load.rate, "1/s"),
            seen.evidence("wait for a session", load.latency.waiting_ms, "ms"),
            seen.evidence("arrivals not served", unserved, "transactions"),
        ],
        excludes: vec![Cause::TooFewSessions, Cause::OfferedLoad],
    })
}

/// Whether sessions are busy most of the time, so that random arrivals have to wait. Where they are not,
/// what waited did so in moments in which something stood still.
pub(super) fn is_crowded(seen: &Observations<'_>) -> bool {
    let load = &seen.load;
    load.rate * load.latency.service_ms / 1000.0 >= CROWDED * load.sessions
}

/// Whether all that came due was served, but for chance.
pub(crate) fn is_served(seen: &Observations<'_>) -> bool {
    let totals = &seen.record.totals;
    let unserved = totals
        .unserved_arrivals
        .saturating_add(totals.dropped_arrivals) as f64;
    let served = totals.all.count as f64;
    let by_count = served >= SERVED * (served + unserved);
    let by_rate = seen.load.asked.is_none_or(|asked| {
        let due = asked * seen.load.seconds;
        served >= SERVED * due - CHANCE * due.sqrt()
    });
    by_count && by_rate
}
