//! Stretches of a run in which no transaction ended, and on which side they arose.

use std::time::{Duration, Instant};
use tidemark_core::record::DeadSide;

/// How often progress is looked at.
const TICK: Duration = Duration::from_millis(100);
/// A look that comes so much later than it should means that this process did not run.
const CLIENT_STOPPED: Duration = Duration::from_millis(400);
/// Shorter stretches are not kept.
const SHORTEST: Duration = Duration::from_millis(800);
/// So many are kept, the longest: where transactions take seconds, there is one between any two.
const MOST: usize = 100;

/// A stretch in which nothing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub start: Instant,
    pub length: Duration,
    pub side: DeadSide,
}

/// Watches whether transactions end.
#[derive(Debug)]
pub(crate) struct DeadTime {
    /// The last look.
    looked: Instant,
    /// The last look that found progress, or the end of a stretch that is told already.
    alive: Instant,
    /// What had ended then.
    ended: u64,
    stretches: Vec<Stretch>,
}

impl DeadTime {
    pub fn new(now: Instant) -> Self {
        Self {
            looked: now,
            alive: now,
            ended: 0,
            stretches: Vec::new(),
        }
    }

    /// What was seen until now does not count.
    pub fn restart(&mut self, now: Instant, ended: u64) {
        *self = Self {
            ended,
            ..Self::new(now)
        };
    }

    /// When progress is to be looked at next.
    pub fn due(&self) -> Instant {
        self.looked + TICK
    }

    /// Looks at progress: `ended` counts all transactions and errors so far.
    pub fn look(&mut self, now: Instant, ended: u64) {
        let gap = now.saturating_duration_since(self.looked);
        if gap > TICK + CLIENT_STOPPED {
            // Nothing is known of the time in which this process did not run.
            self.close(self.looked, DeadSide::Target);
            self.keep(self.looked, gap, DeadSide::Client);
            self.alive = now;
        } else if ended != self.ended {
            self.close(self.looked, DeadSide::Target);
            self.alive = now;
        }
        self.looked = now;
        self.ended = ended;
    }

    /// Ends a stretch in which nothing had ended since the last sign of life.
    fn close(&mut self, until: Instant, side: DeadSide) {
        let length = until.saturating_duration_since(self.alive);
        self.keep(self.alive, length, side);
    }

    fn keep(&mut self, start: Instant, length: Duration, side: DeadSide) {
        let is_long = match side {
            DeadSide::Client => length >= CLIENT_STOPPED,
            DeadSide::Target => length >= SHORTEST,
        };
        if !is_long {
            return;
        }
        self.stretches.push(Stretch {
            start,
            length,
            side,
        });
        if self.stretches.len() > MOST {
            let lengths = self.stretches.iter().enumerate();
            let shortest = lengths.min_by_key(|(_, s)| s.length).map(|(at, _)| at);
            if let Some(shortest) = shortest {
                self.stretches.remove(shortest);
            }
        }
    }

    /// The load is over: what was not over by then ends with it.
    pub fn end(&mut self, now: Instant, ended: u64) {
        self.look(now, ended);
        self.close(now, DeadSide::Target);
        self.alive = now;
    }

    /// What was found, in order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every 100 ms; `alive` says in which of them something had ended.
    fn looked_at(looks: &[(u64, bool)]) -> Vec<(u64, u64, DeadSide)> {
        let start = Instant::now();
        let mut dead = DeadTime::new(start);
        let (mut at, mut ended) = (0, 0);
        for (after_ms, alive) in looks {
            at += after_ms;
            ended += u64::from(*alive);
            dead.look(start + Duration::from_millis(at), ended);
        }
        dead.end(start + Duration::from_millis(at), ended);
        let ms = |d: Duration| d.as_millis() as u64;
        let told = dead.stretches().iter();
        told.map(|s| (ms(s.start - start), ms(s.length), s.side))
            .collect()
    }

    #[test]
    fn a_stretch_without_an_end_is_the_targets() {
        let mut looks = vec![(100, true); 5];
        looks.extend([(100, false); 12]);
        looks.extend([(100, true); 5]);
        assert_eq!(looked_at(&looks), [(500, 1200, DeadSide::Target)]);
        // It lasts to the end.
        looks.truncate(15);
        assert_eq!(looked_at(&looks), [(500, 1000, DeadSide::Target)]);
    }

    #[test]
    fn a_look_that_comes_late_is_the_clients() {
        let mut looks = vec![(100, true); 5];
        looks.push((1000, true));
        looks.extend([(100, true); 5]);
        assert_eq!(looked_at(&looks), [(500, 1000, DeadSide::Client)]);
        // Nothing had ended before it and after it either: three stretches, none counted twice.
        let mut looks = vec![(100, false); 10];
        looks.push((1000, false));
        looks.extend([(100, false); 10]);
        assert_eq!(
            looked_at(&looks),
            [
                (0, 1000, DeadSide::Target),
                (1000, 1000, DeadSide::Client),
                (2000, 1000, DeadSide::Target)
            ]
        );
    }

    #[test]
    fn short_pauses_are_not_kept_and_the_longest_of_many_are() {
        assert!(looked_at(&[(100, true), (100, false), (450, true)]).is_empty());
        let mut looks = Vec::new();
        for n in 0..MOST as u64 + 20 {
            looks.extend(vec![(100, false); 8 + usize::from(n >= 20)]);
            looks.push((100, true));
        }
        let kept = looked_at(&looks);
        assert_eq!(kept.len(), MOST);
        assert!(kept.iter().all(|(_, length, _)| *length >= 900));
    }
}
