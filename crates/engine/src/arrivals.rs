//! A schedule of arrivals that all sessions share.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
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
    /// The last arrival made.
    last: Instant,
    /// Made and not yet taken.
    waiting: VecDeque<Instant>,
}

impl Arrivals {
    pub fn new(per_second: f64, start: Instant, seed: u64) -> Self {
        Self(Mutex::new(Schedule {
            random: SmallRng::seed_from_u64(seed),
            mean_gap_s: 1.0 / per_second,
            last: start,
            waiting: VecDeque::new(),
        }))
    }

    /// The next arrival's time: maybe to come, maybe overdue.
    pub fn take(&self) -> Instant {
        let mut schedule = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match schedule.waiting.pop_front() {
            Some(arrival) => arrival,
            None => schedule.make(),
        }
    }

    /// Arrivals whose time has come and which no session has taken.
    pub fn backlog(&self, now: Instant) -> u64 {
        let mut schedule = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while schedule.last <= now {
            let arrival = schedule.make();
            schedule.waiting.push_back(arrival);
        }
        schedule
            .waiting
            .iter()
            .take_while(|arrival| **arrival <= now)
            .count() as u64
    }
}

impl Schedule {
    fn make(&mut self) -> Instant {
        // 1 - u lies in (0, 1], where the logarithm is finite.
        let gap = -(1.0 - self.random.random::<f64>()).ln() * self.mean_gap_s;
        self.last += Duration::from_secs_f64(gap);
        self.last
    }
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
