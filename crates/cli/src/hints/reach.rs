//! A rate against what the network alone allows.

use super::Hint;
use std::time::Duration;
use tidemark_core::{Pacing, RunSpec};

/// A cold statement on an idle host may take so many times as long as a statement under load.
const SLACK: f64 = 3.0;

/// `round_trip` is the quickest of a few, so that no busy moment makes a false alarm.
pub(super) fn of(load: &RunSpec, round_trip: Option<Duration>, each: u32) -> Option<Hint> {
    let (rate, is_step) = match &load.pacing {
        Pacing::Rate(rate) => (*rate, false),
        Pacing::Steps(steps) => {
            let rates = steps.iter().map(|s| s.per_second);
            (rates.fold(0.0, f64::max), true)
        }
        Pacing::Closed | Pacing::FindMax(_) => return None,
    };
    let round_trip = round_trip.filter(|t| !t.is_zero())?;
    let sessions = load.sessions;
    (most(sessions, round_trip, each) * SLACK < rate).then_some(Hint::Unreachable {
        rate,
        is_step,
        sessions,
        round_trip,
        each,
    })
}

/// Transactions a second that sessions complete at most.
pub(super) fn most(sessions: usize, round_trip: Duration, each: u32) -> f64 {
    sessions as f64 / (round_trip.as_secs_f64() * f64::from(each.max(1)))
}
