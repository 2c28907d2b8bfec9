//! Clocks of two hosts, compared by round trips. Only monotonic clocks are used: nobody sets them.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A better comparison is forgotten after this time: crystals differ by up to 100 ppm, which is 3 ms in it.
const FRESH: Duration = Duration::from_secs(30);
/// A clock goes wrong by one part of so many (100 ppm).
const DRIFT_PARTS: u128 = 10_000;
/// So often the two readings of this host's clock are made.
const PAIRS: usize = 5;
/// So many comparisons are kept.
const MOST: usize = 120;

/// This host's monotonic clock, in nanoseconds; [`Instant`] reads the same one and does not tell it.
pub fn now_ns() -> i64 {
    let read = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    read.map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

/// The instant at which this host's clock shows so many nanoseconds, also one that is past.
pub fn instant_of(ns: i64) -> Instant {
    let (now, shown) = now_by_both();
    let ahead = ns.saturating_sub(shown);
    let distance = Duration::from_nanos(ahead.unsigned_abs());
    match ahead < 0 {
        // Before the host was started there was nothing.
        true => now.checked_sub(distance).unwrap_or(now),
        false => now + distance,
    }
}

/// One moment as both read it. Between two readings a thread may lose its processor: of several pairs
/// the closest one counts.
fn now_by_both() -> (Instant, i64) {
    let pair = || {
        let now = Instant::now();
        let shown = now_ns();
        (now.elapsed(), now, shown)
    };
    let (mut closest, mut now, mut shown) = pair();
    for _ in 1..PAIRS {
        let (apart, again, shown_again) = pair();
        if apart < closest {
            (closest, now, shown) = (apart, again, shown_again);
        }
    }
    (now, shown)
}

/// How far another host's clock is ahead of this one's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// Nanoseconds that are added to this clock for the other.
    pub ns: i64,
    /// Nanoseconds by which that may be wrong: half of the round trip.
    pub error_ns: i64,
}

impl Offset {
    /// Of one round trip: sent and back by this clock, answered by the other. The answer was made
    /// between the two, wherever; so the middle is wrong by half at most.
    pub fn of(sent: i64, there: i64, back: i64) -> Self {
        let half = (back - sent).max(0) / 2;
        Self {
            ns: there - (sent + half),
            error_ns: half + 1,
        }
    }

    /// This moment by the other clock.
    pub fn there(&self, here: i64) -> i64 {
        here.saturating_add(self.ns)
    }

    /// A moment of the other clock by this one.
    pub fn here(&self, there: i64) -> i64 {
        there.saturating_sub(self.ns)
    }
}

/// Comparisons with one host, of which the shortest fresh one counts.
#[derive(Debug, Default)]
pub struct Comparisons {
    kept: VecDeque<(Instant, Offset)>,
}

impl Comparisons {
    /// One more.
    pub fn add(&mut self, at: Instant, offset: Offset) {
        self.kept.push_back((at, offset));
        let is_old = |first: &(Instant, Offset)| at.duration_since(first.0) > FRESH;
        while self.kept.len() > MOST || self.kept.len() > 1 && self.kept.front().is_some_and(is_old)
        {
            self.kept.pop_front();
        }
    }

    /// That of the smallest error, to which is added what the clocks may have drifted apart until the last.
    pub fn best(&self) -> Option<Offset> {
        let (last, _) = self.kept.back()?;
        let offsets = self.kept.iter().map(|(at, offset)| {
            let age = last.saturating_duration_since(*at).as_nanos() / DRIFT_PARTS;
            Offset {
                error_ns: offset
                    .error_ns
                    .saturating_add(i64::try_from(age).unwrap_or(i64::MAX)),
                ..*offset
            }
        });
        offsets.min_by_key(|offset| offset.error_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_true_offset_is_within_the_error(
            truth in -1_000_000_000_000_i64..1_000_000_000_000,
            sent in 0_i64..1_000_000_000_000,
            there in 0_i64..50_000_000,
            back in 0_i64..50_000_000,
        ) {
            let offset = Offset::of(sent, sent + there + truth, sent + there + back);
            prop_assert!((offset.ns - truth).abs() <= offset.error_ns);
            prop_assert_eq!(offset.here(offset.there(sent)), sent);
        }
    }

    #[test]
    fn the_shortest_round_trip_counts_while_it_is_fresh() {
        let start = Instant::now();
        let mut all = Comparisons::default();
        assert_eq!(all.best(), None);
        let offset = |error_ns| Offset { ns: 7, error_ns };
        all.add(start, offset(10_000_000));
        all.add(start + Duration::from_secs(1), offset(30_000_000));
        // In a second the clocks may have drifted 0.1 ms apart.
        assert_eq!(all.best(), Some(offset(10_100_000)));
        all.add(
            start + FRESH + Duration::from_millis(500),
            offset(40_000_000),
        );
        assert_eq!(all.best(), Some(offset(32_950_000)));
        // One that is not known yet has no end that could be passed.
        let mut unknown = Comparisons::default();
        unknown.add(start, offset(i64::MAX));
        unknown.add(start + Duration::from_secs(1), offset(i64::MAX));
        assert_eq!(unknown.best(), Some(offset(i64::MAX)));
    }

    #[test]
    fn an_instant_and_the_clock_are_one() {
        let ahead = instant_of(now_ns() + 50_000_000);
        let left = ahead.saturating_duration_since(Instant::now());
        assert!(left <= Duration::from_millis(50));
        let past = instant_of(now_ns() - 50_000_000);
        assert!(past.elapsed() >= Duration::from_millis(50));
    }
}
