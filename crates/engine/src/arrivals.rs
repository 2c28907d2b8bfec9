//! A schedule of arrivals that all sessions share.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Arrivals at random times, exponentially spaced (a Poisson process), as sysbench's `--rate`
/// makes them.
///
/// A free session takes the next arrival and waits for its time; when all are busy, arrivals queue
/// up in order. So latency counts from the scheduled time, whatever the database does.
pub(crate) struct Arrivals(Mutex<Schedule>);

struct Schedule {
    random: SmallRng,
    mean_gap_s: f64,
    /// The last arrival taken.
    last: Instant,
    taken: u64,
    /// A second pass over the same random gaps that only counts what has come due.
    due: Count,
}

struct Count {
    random: SmallRng,
    /// The next arrival that is not yet counted.
    next: Instant,
    counted: u64,
}

impl Arrivals {
    pub fn new(per_second: f64, start: Instant, seed: u64) -> Self {
        let mean_gap_s = 1.0 / per_second;
        let mut random = SmallRng::seed_from_u64(seed);
        let next = start + gap(&mut random, mean_gap_s);
        Self(Mutex::new(Schedule {
            random: SmallRng::seed_from_u64(seed),
            mean_gap_s,
            last: start,
            taken: 0,
            due: Count {
                random,
                next,
                counted: 0,
            },
        }))
    }

    /// The next arrival's time: maybe to come, maybe overdue.
    pub fn take(&self) -> Instant {
        let mut schedule = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mean = schedule.mean_gap_s;
        let gap = gap(&mut schedule.random, mean);
        schedule.last += gap;
        schedule.taken += 1;
        schedule.last
    }

    /// Arrivals whose time has come and which no session has taken.
    pub fn backlog(&self, now: Instant) -> u64 {
        let mut schedule = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mean = schedule.mean_gap_s;
        let due = &mut schedule.due;
        while due.next <= now {
            due.counted += 1;
            due.next += gap(&mut due.random, mean);
        }
        // Sessions may hold arrivals that are still to come.
        let counted = due.counted;
        counted.saturating_sub(schedule.taken)
    }
}

/// An exponential gap. 1 - u lies in (0, 1], where the logarithm is finite.
fn gap(random: &mut SmallRng, mean_s: f64) -> Duration {
    Duration::from_secs_f64(-(1.0 - random.random::<f64>()).ln() * mean_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_come_at_the_asked_rate_and_in_order() {
        let start = Instant::now();
        let arrivals = Arrivals::new(1000.0, start, 7);
        let times: Vec<_> = (0..20_000).map(|_| arrivals.take()).collect();
        assert!(times.is_sorted());
        let seconds = (times[19_999] - start).as_secs_f64();
        // 20,000 exponential gaps: standard deviation of the sum is 0.14 s.
        assert!((19.3..20.7).contains(&seconds), "{seconds}");
    }

    #[test]
    fn what_nobody_took_is_the_backlog() {
        let start = Instant::now();
        let arrivals = Arrivals::new(100.0, start, 7);
        let later = start + Duration::from_secs(10);
        let backlog = arrivals.backlog(later);
        assert!((850..1150).contains(&backlog), "{backlog}");
        arrivals.take();
        assert_eq!(arrivals.backlog(later), backlog - 1);
    }
}
