//! The kernel's stamps as moments of the monotonic clock, on which the lab schedules its replies.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tidemark_runtime::arrival::Stamp;

/// For how many nanoseconds the two clocks are taken to go alike. Only a step of the real one parts
/// them: slewing moves both.
const HOLDS: u64 = 100_000_000;
/// Between reading the one and the other; more is read again, the thread may have been away.
const AT_ONCE: Duration = Duration::from_micros(2);
const TRIES: u32 = 4;

/// Turns stamps, which are in real time, into moments of the monotonic clock.
#[derive(Debug, Default)]
pub struct ArrivalClock(Cell<Option<Anchor>>);

/// The same moment on both clocks.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    at: Instant,
    /// Nanoseconds since 1970.
    real: u64,
}

impl ArrivalClock {
    /// The moment of a stamp that was received just now; `None` when it does not lie between
    /// `since` and now, because the real clock was set meanwhile.
    pub fn moment(&self, stamp: Stamp, since: Instant) -> Option<Instant> {
        let stamp = u64::try_from(stamp.since_1970().as_nanos()).ok()?;
        let anchor = match self.0.get() {
            Some(anchor) if anchor.real.abs_diff(stamp) <= HOLDS => anchor,
            _ => self.cast()?,
        };
        let apart = Duration::from_nanos(anchor.real.abs_diff(stamp));
        let moment = match stamp >= anchor.real {
            true => anchor.at.checked_add(apart)?,
            false => anchor.at.checked_sub(apart)?,
        };
        if moment < since || moment > Instant::now() {
            self.0.set(None);
            return None;
        }
        Some(moment)
    }

    /// Reads both clocks at once, or as nearly as it can be done.
    #[cold]
    fn cast(&self) -> Option<Anchor> {
        let mut best: Option<(Duration, Anchor)> = None;
        for _ in 0..TRIES {
            let at = Instant::now();
            let real = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            let real = u64::try_from(real.as_nanos()).ok()?;
            let apart = at.elapsed();
            if best.is_none_or(|(least, _)| apart < least) {
                best = Some((apart, Anchor { at, real }));
            }
            if apart <= AT_ONCE {
                break;
            }
        }
        let anchor = best.map(|(_, anchor)| anchor);
        self.0.set(anchor);
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
    }

    fn moment(clock: &ArrivalClock, stamp: Duration, since: Instant) -> Option<Instant> {
        clock.moment(Stamp::new(stamp).unwrap(), since)
    }

    #[test]
    fn a_stamp_becomes_the_moment_it_was_made_at() {
        let clock = ArrivalClock::default();
        for _ in 0..100 {
            let before = Instant::now();
            let stamp = real();
            let after = Instant::now();
            let found = moment(&clock, stamp, before - AT_ONCE).unwrap();
            assert!(found <= after + AT_ONCE, "{:?}", found - after);
        }
    }

    /// A clock that was set gives stamps out of the range that is possible.
    #[test]
    fn a_stamp_that_cannot_be_is_none() {
        let clock = ArrivalClock::default();
        let since = Instant::now();
        let hour = Duration::from_secs(3600);
        assert_eq!(moment(&clock, real() + hour, since), None);
        assert_eq!(moment(&clock, real() - hour, since), None);
        assert_eq!(
            moment(&clock, real() - Duration::from_millis(50), since),
            None
        );
        assert!(moment(&clock, real(), since).is_some());
    }
}
