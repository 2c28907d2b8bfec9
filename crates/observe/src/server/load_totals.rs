//! What counters of PostgreSQL grow by over a whole load.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::record::LoadTotal;

/// Counters, by name.
pub(crate) type Counters = BTreeMap<&'static str, f64>;

/// A session that works reports once a second (`PGSTAT_MIN_INTERVAL`): what is read earlier has nothing of the
/// load yet.
const REPORTED: Duration = Duration::from_millis(900);
/// A counter of what nothing but sessions does.
const OF_SESSIONS: &str = "rows.read";
/// What may still come of it when there is no time left, by what came.
const LITTLE: f64 = 0.001;

/// What a server says of its counters at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reading {
    /// Which server counts, and since when.
    pub server: String,
    /// The run's sessions that are open.
    pub sessions: i64,
    /// What it has counted.
    pub counters: Counters,
}

/// Counters of a server whose sessions report what they did once a second, and when they end: from the begin
/// of a load until all of its sessions have reported.
#[derive(Debug)]
pub(crate) struct LoadTotals {
    /// When the load began.
    begun: Instant,
    server: String,
    first: Counters,
    last: Counters,
    has_ended: bool,
}

impl LoadTotals {
    /// The load begins.
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
            server: String::new(),
            first: Counters::new(),
            last: Counters::new(),
            has_ended: false,
        }
    }

    /// What is read first.
    pub fn begin(&mut self, reading: Reading) {
        self.last.clone_from(&reading.counters);
        self.server = reading.server;
        if self.begun.elapsed() < REPORTED {
            self.first = reading.counters;
        }
    }

    /// A counter while the load goes on: of one that has shrunk, which began anew, nothing is told any more.
    pub fn see(&mut self, name: &'static str, value: f64) {
        if self
            .last
            .insert(name, value)
            .is_some_and(|last| value < last)
        {
            self.first.remove(name);
        }
    }

    /// What is read after the load; gives what counters grew by once its sessions are closed and have reported.
    /// Where this `is_last` and more is to come, nothing is known.
    pub fn end(&mut self, reading: &Reading, is_last: bool) -> Option<Vec<LoadTotal>> {
        let rows = |counters: &Counters| counters.get(OF_SESSIONS).copied();
        let (before, now) = (rows(&self.last), rows(&reading.counters));
        let grows_by = before.zip(now).map(|(before, now)| now - before);
        for (name, value) in &reading.counters {
            self.see(name, *value);
        }
        let had_ended = std::mem::replace(&mut self.has_ended, true);
        let Some((grows_by, first)) = grows_by.zip(rows(&self.first)) else {
            return Some(Vec::new());
        };
        let whole = now.unwrap_or(first) - first;
        let are_closed = reading.sessions == 0;
        let is_known = are_closed && had_ended && grows_by == 0.0;
        if !is_known && !is_last {
            return None;
        }
        let is_nearly_known = are_closed && grows_by <= whole * LITTLE;
        if self.server != reading.server || !(is_known || is_nearly_known) {
            return Some(Vec::new());
        }
        let grown = self.first.iter().filter_map(|(name, first)| {
            Some(LoadTotal {
                source: SERVER_STATUS.into(),
                name: (*name).into(),
                total: reading.counters.get(name)? - first,
            })
        });
        Some(grown.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(rows: f64, written: f64) -> Reading {
        Reading {
            server: "since 10:00".into(),
            sessions: 0,
            counters: [("rows.read", rows), ("log.written", written)].into(),
        }
    }

    fn begun() -> LoadTotals {
        let mut totals = LoadTotals::new();
        totals.begin(reading(100.0, 7.0));
        totals
    }

    fn told(totals: Option<Vec<LoadTotal>>) -> Option<Vec<(String, f64)>> {
        totals.map(|all| all.into_iter().map(|t| (t.name, t.total)).collect())
    }

    #[test]
    fn a_load_is_counted_when_its_sessions_have_reported() {
        let mut totals = begun();
        totals.see("rows.read", 500.0);
        let open = Reading {
            sessions: 3,
            ..reading(800.0, 8.0)
        };
        assert_eq!(totals.end(&open, false), None);
        assert_eq!(totals.end(&open, false), None);
        assert_eq!(totals.end(&reading(900.0, 9.0), false), None);
        // What the server does by itself is not waited for.
        let all = told(totals.end(&reading(900.0, 10.0), false));
        let grown = vec![("log.written".into(), 3.0), ("rows.read".into(), 800.0)];
        assert_eq!(all, Some(grown));
    }

    #[test]
    fn nothing_is_known_where_much_is_still_to_come() {
        let last = |rows: f64, sessions: i64| {
            let mut totals = begun();
            assert_eq!(totals.end(&reading(100_100.0, 7.0), false), None);
            let reading = Reading {
                sessions,
                ..reading(rows, 7.0)
            };
            told(totals.end(&reading, true)).map(|all| all.len())
        };
        assert_eq!(last(100_100.0, 0), Some(2));
        assert_eq!(last(100_150.0, 0), Some(2));
        assert_eq!(last(110_000.0, 0), Some(0));
        assert_eq!(last(100_100.0, 1), Some(0));
    }

    #[test]
    fn nothing_is_told_of_a_counter_that_began_anew_or_another_servers() {
        let mut totals = begun();
        totals.see("log.written", 3.0);
        let end = reading(500.0, 5000.0);
        assert_eq!(totals.end(&end, false), None);
        let all = told(totals.end(&end, false));
        assert_eq!(all, Some(vec![("rows.read".into(), 400.0)]));
        let mut totals = begun();
        let other = Reading {
            server: "since 11:00".into(),
            ..reading(9e11, 9e11)
        };
        assert_eq!(totals.end(&other, false), None);
        assert_eq!(told(totals.end(&other, false)), Some(vec![]));
    }

    #[test]
    fn a_first_reading_that_comes_late_lacks_what_was_reported() {
        let mut totals = LoadTotals::new();
        totals.begun = Instant::now().checked_sub(REPORTED).unwrap();
        totals.begin(reading(100.0, 7.0));
        assert_eq!(totals.end(&reading(500.0, 9.0), false), Some(vec![]));
    }

    #[test]
    fn a_server_that_does_not_answer_is_not_asked_again() {
        let mut totals = begun();
        assert_eq!(totals.end(&Reading::default(), false), Some(vec![]));
    }
}
