//! What counters grow by over a whole load.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::record::LoadTotal;

/// Counters as they are at one moment.
pub(crate) type Counters = BTreeMap<&'static str, f64>;

/// How old it may be what a server of before PostgreSQL 15 tells (`PGSTAT_STAT_INTERVAL`).
const STORED_FOR: Duration = Duration::from_millis(550);
/// Counters that nothing but sessions adds to.
const OF_SESSIONS: [&str; 2] = ["rows.read", "buffer.requests"];

/// Counters of a server whose sessions report what they did once a second, and when they end: from the begin
/// of a load until all of its sessions have reported.
#[derive(Debug, Default)]
pub(crate) struct LoadTotals {
    first: Counters,
    last: Counters,
    /// What is told may be so old.
    oldest: Duration,
    /// When the end was first asked for.
    ended: Option<Instant>,
}

impl LoadTotals {
    /// The load begins, on a server of this version.
    pub fn begin(&mut self, version: i64, counters: Counters) {
        self.oldest = match version {
            150_000.. => Duration::ZERO,
            _ => STORED_FOR,
        };
        self.last.clone_from(&counters);
        self.first = counters;
    }

    /// A counter while it goes on: of one that has shrunk, which began anew, nothing is told any more.
    pub fn see(&mut self, name: &'static str, value: f64) {
        if self
            .last
            .insert(name, value)
            .is_some_and(|last| value < last)
        {
            self.first.remove(name);
        }
    }

    /// Counters when it has ended; gives what they grew by once its sessions' have not changed since they were
    /// last given, or where this `is_last`.
    pub fn end(&mut self, counters: &Counters, is_last: bool) -> Option<Vec<LoadTotal>> {
        let is_first = self.ended.is_none();
        let ended = *self.ended.get_or_insert_with(Instant::now);
        let has_changed = |name: &&str| self.last.get(name) != counters.get(name);
        let waits =
            is_first || OF_SESSIONS.iter().any(has_changed) || ended.elapsed() < self.oldest;
        for (name, value) in counters {
            self.see(name, *value);
        }
        let grown = self.first.iter().filter_map(|(name, first)| {
            Some(LoadTotal {
                source: SERVER_STATUS.into(),
                name: (*name).into(),
                total: counters.get(name)? - first,
            })
        });
        (is_last || !waits).then(|| grown.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(totals: Option<Vec<LoadTotal>>) -> Option<Vec<(String, f64)>> {
        totals.map(|all| all.into_iter().map(|t| (t.name, t.total)).collect())
    }

    fn counters(rows: f64, written: f64) -> Counters {
        [("rows.read", rows), ("log.written", written)].into()
    }

    #[test]
    fn a_load_is_counted_when_its_sessions_have_reported() {
        let mut totals = LoadTotals::default();
        totals.begin(180_000, counters(100.0, 7.0));
        totals.see("rows.read", 500.0);
        assert_eq!(totals.end(&counters(800.0, 8.0), false), None);
        assert_eq!(totals.end(&counters(900.0, 9.0), false), None);
        // What the server does by itself is not waited for.
        let all = told(totals.end(&counters(900.0, 10.0), false));
        let grown = vec![("log.written".into(), 3.0), ("rows.read".into(), 800.0)];
        assert_eq!(all, Some(grown));
    }

    #[test]
    fn one_who_goes_on_ends_with_the_last_look() {
        let mut totals = LoadTotals::default();
        totals.begin(180_000, counters(0.0, 0.0));
        for rows in 1..5 {
            assert_eq!(totals.end(&counters(f64::from(rows), 0.0), false), None);
        }
        let all = told(totals.end(&counters(6.0, 0.0), true)).unwrap();
        assert_eq!(all[1], ("rows.read".into(), 6.0));
    }

    #[test]
    fn counters_that_are_stored_are_asked_again_though_nothing_changed() {
        let mut totals = LoadTotals::default();
        totals.begin(140_000, counters(0.0, 0.0));
        for _ in 0..3 {
            assert_eq!(totals.end(&counters(5.0, 0.0), false), None);
        }
        std::thread::sleep(STORED_FOR);
        assert!(totals.end(&counters(5.0, 0.0), false).is_some());
    }

    #[test]
    fn nothing_is_told_of_a_counter_that_began_anew() {
        let mut totals = LoadTotals::default();
        totals.begin(180_000, counters(100.0, 100.0));
        totals.see("rows.read", 3.0);
        let end = counters(5000.0, 150.0);
        assert_eq!(totals.end(&end, false), None);
        let all = told(totals.end(&end, false));
        assert_eq!(all, Some(vec![("log.written".into(), 50.0)]));
    }
}
