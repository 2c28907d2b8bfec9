//! The full report: at the end and at checkpoints.

use super::shown;
use std::fmt;
use tidemark_core::record::{Fairness, StatementCounts, Totals};
use tidemark_report::{Merged, ReportError, TypeLatency, per_second};
use tidemark_stats::Histogram;

/// The latency block, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latency {
    /// Smallest.
    pub min_ms: f64,
    /// Mean.
    pub avg_ms: f64,
    /// Largest.
    pub max_ms: f64,
    /// Percentiles and their latencies; empty for none.
    pub percentiles_ms: Vec<(f64, f64)>,
    /// Sum.
    pub sum_ms: f64,
}

impl Latency {
    /// From a distribution.
    pub fn of(histogram: &Histogram, percentiles: &[f64]) -> Self {
        let ms = |ns: u64| ns as f64 / 1e6;
        Self {
            min_ms: ms(histogram.min_ns()),
            avg_ms: histogram.mean_ns() / 1e6,
            max_ms: ms(histogram.max_ns()),
            percentiles_ms: shown(percentiles)
                .map(|p| (p, ms(histogram.percentile_ns(p))))
                .collect(),
            sum_ms: histogram.sum_ns() as f64 / 1e6,
        }
    }
}

/// The full report of a span of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Statements by group.
    pub statements: StatementCounts,
    /// Transactions that ended well.
    pub transactions: u64,
    /// Errors that were counted and retried.
    pub ignored_errors: u64,
    /// Sessions opened again.
    pub reconnects: u64,
    /// Seconds that the counts above are of: from the last checkpoint, or the start.
    pub span_s: f64,
    /// Seconds from the start.
    pub total_time_s: f64,
    /// Latencies; in open loop response times, as sysbench's are.
    pub latency: Latency,
    /// How evenly sessions were served.
    pub fairness: Fairness,
}

impl Summary {
    /// Of a whole measurement.
    ///
    /// # Errors
    /// [`ReportError::Histogram`].
    pub fn of_totals(totals: &Totals, percentiles: &[f64]) -> Result<Self, ReportError> {
        let all = TypeLatency::decode(&totals.all, "the whole run")?;
        Ok(Self {
            statements: totals.statements,
            transactions: all.count,
            ignored_errors: totals.ignored_errors,
            reconnects: totals.reconnects,
            span_s: totals.elapsed_s,
            total_time_s: totals.elapsed_s,
            latency: Latency::of(all.latency(), percentiles),
            fairness: totals.fairness,
        })
    }

    /// Of the intervals since the last checkpoint, added up.
    pub fn of_merged(sum: &Merged, fairness: Fairness, percentiles: &[f64]) -> Self {
        let all = sum.all();
        Self {
            statements: sum.statements,
            transactions: all.count,
            ignored_errors: sum.ignored_errors,
            reconnects: sum.reconnects,
            span_s: sum.length_ms / 1000.0,
            total_time_s: sum.end_ms / 1000.0,
            latency: Latency::of(all.latency(), percentiles),
            fairness,
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_sql(f)?;
        self.fmt_general(f)
    }
}

impl Summary {
    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.statements;
        writeln!(f, "SQL statistics:\n    queries performed:")?;
        for (name, count) in [
            ("read:", s.read),
            ("write:", s.write),
            ("other:", s.other),
            ("total:", s.total()),
        ] {
            writeln!(f, "        {name:<33}{count}")?;
        }
        for (name, count) in [
            ("transactions:", self.transactions),
            ("queries:", s.total()),
            ("ignored errors:", self.ignored_errors),
            ("reconnects:", self.reconnects),
        ] {
            let rate = per_second(count, self.span_s);
            writeln!(f, "    {name:<37}{count:<6} ({rate:.2} per sec.)")?;
        }
        Ok(())
    }

    /// What the summary of every test has.
    pub(super) fn fmt_general(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nGeneral statistics:")?;
        writeln!(f, "    {:<37}{:.4}s", "total time:", self.total_time_s)?;
        let events = "total number of events:";
        writeln!(f, "    {events:<37}{}", self.transactions)?;

        let l = &self.latency;
        writeln!(f, "\nLatency (ms):")?;
        let mut line = |name: &str, ms: f64| writeln!(f, "         {name:<30}{ms:>14.2}");
        line("min:", l.min_ms)?;
        line("avg:", l.avg_ms)?;
        line("max:", l.max_ms)?;
        if l.percentiles_ms.is_empty() {
            writeln!(f, "         percentile stats:               disabled")?;
        }
        for (percent, ms) in &l.percentiles_ms {
            let name = format!("{percent:>11}th percentile:");
            writeln!(f, "{name:<38} {ms:>14.2}")?;
        }
        writeln!(f, "         {:<30}{:>14.2}", "sum:", l.sum_ms)?;

        let x = &self.fairness;
        writeln!(f, "\nThreads fairness:")?;
        writeln!(
            f,
            "    events (avg/stddev):           {:.4}/{:.2}",
            x.events_avg, x.events_stddev
        )?;
        writeln!(
            f,
            "    execution time (avg/stddev):   {:.4}/{:.2}\n",
            x.time_avg_s, x.time_stddev_s
        )
    }
}

/// A checkpoint: its line, and the full report of the span before it.
pub fn checkpoint(summary: &Summary) -> String {
    format!("{}{summary}", checkpoint_line(summary.total_time_s))
}

/// The line above a checkpoint's report.
pub fn checkpoint_line(seconds: f64) -> String {
    format!("[ {seconds:.0}s ] Checkpoint report:\n")
}
