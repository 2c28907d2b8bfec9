//! Connections that are opened again and again.

use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::connection_churn as texts;
use crate::thresholds::{CHURN, MOST, SMALL};
use crate::{Cause, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let load = &seen.load;
    if load.latency.count == 0 {
        return Outcome::NotFound;
    }
    let totals = &seen.record.totals;
    let opened = opened(seen);
    if opened < CHURN {
        return Outcome::NotFound;
    }
    // Between a transaction's end and the begin of the next one a session opens its connection.
    let between_s = totals.fairness.between_avg_s.unwrap_or(0.0);
    let share = (between_s / load.seconds).clamp(0.0, 1.0);
    if share < SMALL {
        return Outcome::NotFound;
    }
    let rate = opened * load.rate;
    let says = |lang| texts::says(lang, three(opened), three(rate), percent(share));
    let mut evidence = vec![
        seen.evidence("connections opened", rate, "1/s"),
        seen.evidence("time of a session between transactions", between_s, "s"),
    ];
    let names = ["connections", "threads.created"];
    evidence.extend(seen.statuses(&names));
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(share >= MOST),
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::RowLocks, Cause::CommitLog],
    })
}

/// Connections opened for each transaction.
pub(super) fn opened(seen: &Observations<'_>) -> f64 {
    seen.record.totals.reconnects as f64 / (seen.load.latency.count as f64).max(1.0)
}
