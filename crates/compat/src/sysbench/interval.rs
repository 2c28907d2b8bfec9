//! The line of an interval.

use super::shown;
use std::fmt;
use tidemark_core::record::Phase;
use tidemark_report::Merged;

/// One intermediate line; in open loop two.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalLine {
    /// Seconds to the end of the interval, from the start of the measurement, or of the warm-up if
    /// it is of that.
    pub at_s: f64,
    /// Whether it counts. A line of warm-up begins `[ warm-up`, which no parser takes for a result.
    pub phase: Phase,
    /// Sessions connected.
    pub sessions: u64,
    /// Transactions a second.
    pub transactions: f64,
    /// Statements a second.
    pub queries: f64,
    /// Reading statements a second.
    pub read: f64,
    /// Writing statements a second.
    pub write: f64,
    /// Other statements a second.
    pub other: f64,
    /// Percentiles and their latencies in milliseconds; empty for none.
    pub latency_ms: Vec<(f64, f64)>,
    /// Ignored errors a second.
    pub errors: f64,
    /// Reconnects a second.
    pub reconnects: f64,
    /// Arrivals waiting and transactions in progress; absent in closed loop.
    pub open_loop: Option<(u64, u64)>,
    /// Arrivals a second asked for at its end, where that changes in the run.
    pub rate: Option<f64>,
}

impl IntervalLine {
    /// From the intervals since the last line, added up. In open loop latencies are response
    /// times, as sysbench's are. `warmup_s` is how long the warm-up is that was asked for.
    pub fn of(
        sum: &Merged,
        phase: Phase,
        percentiles: &[f64],
        open_loop: bool,
        warmup_s: f64,
    ) -> Self {
        let all = sum.all();
        let latency = all.latency();
        let rate = |count| sum.per_second(count);
        Self {
            at_s: match phase {
                Phase::Warmup => warmup_s + sum.end_ms / 1000.0,
                Phase::Measure => sum.end_ms / 1000.0,
            },
            phase,
            sessions: sum.sessions,
            transactions: rate(all.count),
            queries: rate(sum.statements.total()),
            read: rate(sum.statements.read),
            write: rate(sum.statements.write),
            other: rate(sum.statements.other),
            latency_ms: shown(percentiles)
                .map(|p| (p, latency.percentile_ns(p) as f64 / 1e6))
                .collect(),
            errors: rate(sum.ignored_errors),
            reconnects: rate(sum.reconnects),
            open_loop: open_loop.then_some((sum.queue_length, sum.concurrency)),
            rate: None,
        }
    }
}

impl fmt::Display for IntervalLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = match self.phase {
            Phase::Warmup => format!("[ warm-up {:.0}s ]", self.at_s),
            Phase::Measure => format!("[ {:.0}s ]", self.at_s),
        };
        let (first, others) = match self.latency_ms.split_first() {
            Some((first, others)) => (*first, others),
            None => ((0.0, 0.0), &[][..]),
        };
        write!(
            f,
            "{at} thds: {} tps: {:.2} qps: {:.2} (r/w/o: {:.2}/{:.2}/{:.2}) \
             lat (ms,{}%): {:.2} err/s: {:.2} reconn/s: {:.2}",
            self.sessions,
            self.transactions,
            self.queries,
            self.read,
            self.write,
            self.other,
            first.0,
            first.1,
            self.errors,
            self.reconnects,
        )?;
        // Parsers expect err/s after the first percentile, so the others follow at the end.
        for (percent, ms) in others {
            write!(f, " lat (ms,{percent}%): {ms:.2}")?;
        }
        writeln!(f)?;
        if let Some((queue, concurrency)) = self.open_loop {
            write!(f, "{at} queue length: {queue}, concurrency: {concurrency}")?;
            if let Some(rate) = self.rate {
                write!(f, ", rate: {rate:.2}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
