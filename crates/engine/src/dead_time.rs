//! Stretches of a run in which no transaction ended, and on which side they arose.

use std::time::{Duration, Instant};
use tidemark_core::record::DeadSide;

/// How often progress is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// A look that comes so much later than it should means that this process did not run,
const CLIENT_STOPPED: Duration = Duration::from_millis(400);
/// unless it used more than this share of the time between: then only the look itself was late.
const CLIENT_RAN: f64 = 0.1;
/// or as many transactions as this share of those that ended in the same time before.
const CLIENT_WORKED: f64 = 0.5;
/// Shorter stretches are not kept.
const SHORTEST: Duration = Duration::from_millis(800);
/// After so long without an end, a stretch has begun: two looks found nothing.
const BEGUN: Duration = Duration::from_millis(200);
/// So many are kept, the longest: where transactions take seconds, there is one between any two.
const MOST: usize = 100;

/// A stretch in which nothing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub start: Instant,
    pub length: Duration,
    pub side: DeadSide,
    /// Deadlocks that the server broke at its end.
    pub deadlocks: u64,
}

/// What is seen at one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProgressSample {
    pub at: Instant,
    /// Transactions and errors that ended so far.
    pub ended: u64,
    /// Of them, those that the server ended to break a deadlock.
    pub deadlocks: u64,
    /// Processor time that this process has used so far.
    pub used: Duration,
}

/// Watches whether transactions end.
#[derive(Debug)]
pub(crate) struct DeadTime {
    first: ProgressSample,
    /// The last look.
    last: ProgressSample,
    /// The last look that found progress, or the end of a stretch that is told already.
    alive: Instant,
    /// No transaction begins any more: only a stretch that had begun by then goes on.
    closing: bool,
    over: bool,
    stretches: Vec<Stretch>,
}

impl DeadTime {
    pub fn new(now: ProgressSample) -> Self {
        Self {
            first: now,
            last: now,
            alive: now.at,
            closing: false,
            over: false,
            stretches: Vec::new(),
        }
    }

    /// What was seen until now does not count.
    pub fn restart(&mut self, now: ProgressSample) {
        *self = Self::new(now);
    }

    /// Looks at progress.
    pub fn look(&mut self, now: ProgressSample) {
        if self.over {
            return;
        }
        let gap = now.at.saturating_duration_since(self.last.at);
        if gap > TICK + CLIENT_STOPPED && self.client_stood_still(now, gap) {
            // Nothing is known of the time in which this process did not run.
            self.close(self.last.at, now);
            self.keep(self.last.at, gap, DeadSide::Client, 0);
            self.alive = now.at;
        } else if now.ended != self.last.ended {
            self.close(self.last.at, now);
            self.alive = now.at;
            self.over = self.closing;
        }
        self.last = now;
    }

    /// Whether a look is late because the whole process was, and not only the look.
    fn client_stood_still(&self, now: ProgressSample, gap: Duration) -> bool {
        let used = now.used.saturating_sub(self.last.used);
        let before = self.last.at.saturating_duration_since(self.first.at);
        let ended =
            |from: ProgressSample, to: ProgressSample| to.ended.saturating_sub(from.ended) as f64;
        let usual =
            ended(self.first, self.last) * gap.as_secs_f64() / before.as_secs_f64().max(0.001);
        let worked = usual > 0.0 && ended(self.last, now) >= usual * CLIENT_WORKED;
        used < gap.mul_f64(CLIENT_RAN) && !worked
    }

    /// Ends a stretch in which nothing had ended since the last sign of life.
    fn close(&mut self, until: Instant, now: ProgressSample) {
        let length = until.saturating_duration_since(self.alive);
        let deadlocks = now.deadlocks.saturating_sub(self.last.deadlocks);
        self.keep(self.alive, length, DeadSide::Target, deadlocks);
    }

    fn keep(&mut self, start: Instant, length: Duration, side: DeadSide, deadlocks: u64) {
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
            deadlocks,
        });
        if self.stretches.len() > MOST {
            let lengths = self.stretches.iter().enumerate();
            let shortest = lengths.min_by_key(|(_, s)| s.length).map(|(at, _)| at);
            if let Some(shortest) = shortest {
                self.stretches.remove(shortest);
            }
        }
    }

    /// No transaction is to begin any more. A stretch that has begun lasts until one ends all the
    /// same: the run waits for those in progress, and its time goes on.
    pub fn closing(&mut self, now: ProgressSample) {
        self.look(now);
        self.closing = true;
        self.over |= now.at.saturating_duration_since(self.alive) < BEGUN;
    }

    /// The run is over: what was not over by then ends with it.
    pub fn end(&mut self, now: ProgressSample) {
        self.look(now);
        if !self.over {
            self.close(now.at, now);
            self.over = true;
        }
    }

    /// What was found, in order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn told(dead: &DeadTime, start: Instant) -> Vec<(u64, u64, DeadSide)> {
        let ms = |d: Duration| d.as_millis() as u64;
        let told = dead.stretches().iter();
        told.map(|s| (ms(s.start - start), ms(s.length), s.side))
            .collect()
    }

    /// Looks every so many milliseconds; `alive` says in which of them something had ended. The
    /// process uses a millisecond of processor time between any two looks.
    fn looked_at(looks: &[(u64, bool)]) -> Vec<(u64, u64, DeadSide)> {
        let start = Instant::now();
        let mut seen = ProgressSample {
            at: start,
            ended: 0,
            deadlocks: 0,
            used: Duration::ZERO,
        };
        let mut dead = DeadTime::new(seen);
        for (after_ms, alive) in looks {
            seen.at += ms(*after_ms);
            seen.ended += u64::from(*alive);
            seen.used += ms(1);
            dead.look(seen);
        }
        dead.end(seen);
        told(&dead, start)
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
    fn a_stretch_that_a_deadlock_ended_says_so() {
        let start = Instant::now();
        let seen = |at, ended, deadlocks| ProgressSample {
            at: start + ms(at),
            ended,
            deadlocks,
            used: ms(at),
        };
        let mut dead = DeadTime::new(seen(0, 0, 0));
        // A deadlock in time that is not dead is none of a stretch.
        dead.look(seen(100, 10, 1));
        (200..=1000)
            .step_by(100)
            .for_each(|at| dead.look(seen(at, 10, 1)));
        dead.look(seen(1100, 12, 3));
        (1200..=2200)
            .step_by(100)
            .for_each(|at| dead.look(seen(at, 12, 3)));
        dead.look(seen(2300, 13, 3));
        dead.end(seen(2300, 13, 3));
        let of_each: Vec<u64> = dead.stretches().iter().map(|s| s.deadlocks).collect();
        assert_eq!(of_each, [2, 0]);
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

    #[test]
    fn a_late_look_of_a_process_that_worked_meanwhile_is_no_stop() {
        let start = Instant::now();
        let seen = |at, ended, used| ProgressSample {
            at: start + ms(at),
            ended,
            deadlocks: 0,
            used: ms(used),
        };
        let mut dead = DeadTime::new(seen(0, 0, 0));
        dead.look(seen(100, 10, 50));
        dead.look(seen(1100, 500, 550));
        dead.look(seen(1200, 510, 600));
        // Little processor time is enough for as many transactions as before.
        dead.look(seen(2200, 900, 610));
        dead.end(seen(2200, 900, 610));
        assert!(dead.stretches().is_empty());
    }

    #[test]
    fn the_time_after_the_end_counts_only_where_nothing_ended_before_it_either() {
        let start = Instant::now();
        let seen = |at, ended| ProgressSample {
            at: start + ms(at),
            ended,
            deadlocks: 0,
            used: ms(at),
        };
        let run = |last_alive: u64, closing: u64, answered: u64| {
            let mut dead = DeadTime::new(seen(0, 0));
            for at in (100..=closing).step_by(100) {
                dead.look(seen(at, at.min(last_alive)));
            }
            dead.closing(seen(closing, closing.min(last_alive)));
            for at in (closing + 100..answered).step_by(100) {
                dead.look(seen(at, closing.min(last_alive)));
            }
            dead.look(seen(answered, 1_000_000));
            // Nothing follows the last reply.
            dead.look(seen(answered + 3000, 1_000_000));
            dead.end(seen(answered + 3000, 1_000_000));
            told(&dead, start)
        };
        assert_eq!(run(2000, 5000, 7000), [(2000, 4900, DeadSide::Target)]);
        // Too short at the end of the load, and long when the last reply comes.
        assert_eq!(run(4600, 5000, 5900), [(4600, 1200, DeadSide::Target)]);
        // The last transaction takes a while, as it may.
        assert!(run(5000, 5000, 8000).is_empty());
    }
}
