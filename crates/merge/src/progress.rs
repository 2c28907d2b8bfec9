//! What one client has told so far.

use crate::{MergeError, stats};
use std::collections::BTreeMap;
use tidemark_core::record::{ErrorCount, Interval, MissingSpan, Phase, TypeStats};

/// Intervals are added up by so many: a sum is decoded and encoded again each time.
const AT_ONCE: usize = 8;

/// What one client has told in its intervals.
#[derive(Debug, Clone, Default)]
pub struct ClientProgress {
    /// Transactions of the measurement, their service times and their response times.
    pub all: TypeStats,
    /// Errors of the measurement that were counted and retried.
    pub ignored_errors: u64,
    /// Sessions opened again in it.
    pub reconnects: u64,
    /// Seconds of the measurement that it told of.
    pub measured_s: f64,
    /// Sessions at the end of its last interval.
    pub sessions: u64,
    /// By how much its longest interval was too long, in milliseconds.
    pub longest_lag_ms: f64,
    /// Errors of the measurement, of one kind each.
    pub errors: Vec<ErrorCount>,
    /// Intervals counted.
    pub intervals: u64,
    /// Not added up yet.
    waiting: Vec<TypeStats>,
    /// Times told of, in milliseconds from the start of the measurement: ends by starts.
    covered: BTreeMap<i64, i64>,
    last_start_ms: Option<i64>,
}

impl ClientProgress {
    /// One more interval, in any order.
    pub(crate) fn add(
        &mut self,
        interval: &Interval,
        errors: &[ErrorCount],
        asked_ms: f64,
    ) -> Result<(), MergeError> {
        self.intervals += 1;
        if self
            .last_start_ms
            .is_none_or(|last| last <= interval.start_ms)
        {
            self.last_start_ms = Some(interval.start_ms);
            self.sessions = interval.sessions;
        }
        let end_ms = interval.start_ms + interval.length_ms.ceil() as i64;
        self.cover(interval.start_ms, end_ms);
        let lag_ms = interval.length_ms - asked_ms;
        self.longest_lag_ms = self.longest_lag_ms.max(lag_ms);
        if interval.phase != Phase::Measure {
            return Ok(());
        }
        self.measured_s += interval.length_ms / 1000.0;
        self.ignored_errors = self.ignored_errors.saturating_add(interval.ignored_errors);
        self.reconnects = self.reconnects.saturating_add(interval.reconnects);
        if !errors.is_empty() {
            self.errors = crate::errors(self.errors.iter().chain(errors));
        }
        // Which part of them passed where is not each client's to say.
        let lean = interval.types.values().map(|of| TypeStats {
            server: None,
            wait: None,
            ..of.clone()
        });
        self.waiting.extend(lean);
        match self.waiting.len() >= AT_ONCE {
            true => self.settle(),
            false => Ok(()),
        }
    }

    /// Adds up what waits for it.
    pub(crate) fn settle(&mut self) -> Result<(), MergeError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let each: Vec<&TypeStats> = std::iter::once(&self.all).chain(&waiting).collect();
        self.all = stats::type_stats(&each, "a client's transactions")?;
        Ok(())
    }

    /// A time that it told of. Neighbours are apart by what is rounded.
    fn cover(&mut self, start: i64, end: i64) {
        let (mut start, mut end) = (start, end.max(start));
        while let Some((&from, &to)) = self.covered.range(..=end + 1).next_back()
            && to + 1 >= start
        {
            self.covered.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.covered.insert(start, end);
    }

    /// Times between two moments of which it told nothing, shorter ones than `least_ms` left out.
    pub(crate) fn missing(
        &self,
        from: i64,
        to: i64,
        least_ms: i64,
        sessions: u64,
    ) -> Vec<MissingSpan> {
        let mut missing = Vec::new();
        let mut at = from;
        let ends = self.covered.iter().map(|(start, end)| (*start, *end));
        for (start, end) in ends.chain([(to, to)]) {
            let gap = start.min(to) - at;
            if gap > least_ms {
                missing.push(MissingSpan {
                    start_ms: at,
                    length_ms: gap as f64,
                    sessions,
                });
            }
            at = at.max(end);
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(spans: &[(i64, f64)]) -> ClientProgress {
        let mut progress = ClientProgress::default();
        for (start_ms, length_ms) in spans {
            let interval = Interval {
                start_ms: *start_ms,
                length_ms: *length_ms,
                phase: Phase::Measure,
                ..Interval::default()
            };
            progress.add(&interval, &[], 1000.0).unwrap();
        }
        progress
    }

    #[test]
    fn what_nobody_told_of_is_missing_in_any_order() {
        let spans = [(0, 1000.4), (1000, 999.7), (4000, 1000.0), (2000, 1000.0)];
        let mut reversed = spans;
        reversed.reverse();
        for spans in [spans, reversed] {
            let progress = of(&spans);
            let missing = progress.missing(0, 7000, 500, 3);
            let times: Vec<_> = missing.iter().map(|m| (m.start_ms, m.length_ms)).collect();
            assert_eq!(times, [(3000, 1000.0), (5000, 2000.0)]);
            assert_eq!(missing[0].sessions, 3);
        }
        let never = ClientProgress::default().missing(0, 7000, 500, 3);
        assert_eq!((never[0].start_ms, never[0].length_ms), (0, 7000.0));
        assert!(of(&[(0, 7000.0)]).missing(0, 7000, 500, 1).is_empty());
    }
}
