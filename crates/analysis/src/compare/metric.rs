//! What is compared, of a whole run and of its parts.

use super::difference::Facts;
use super::usable::invalid_rules;
use crate::run::{Run, whole_intervals};
use crate::{AnalysisError, Finding};
use serde::Serialize;
use tidemark_core::record::{Interval, RunRecord, RunState, TableState};
use tidemark_stats::Histogram;

/// A run's series is compared in at most so many parts: each holds transactions enough for a
/// percentile, and there are enough of them to tell how they vary.
const MOST_PARTS: usize = 30;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Transactions a second.
    Throughput,
    /// Mean latency in milliseconds: response times where there are any, service times else.
    Mean,
    /// Its median.
    P50,
    /// Its 95th percentile.
    P95,
    /// Its 99th percentile.
    P99,
}

impl Metric {
    /// Every metric, in the order in which they are told.
    pub const ALL: [Metric; 5] = [
        Metric::Throughput,
        Metric::Mean,
        Metric::P50,
        Metric::P95,
        Metric::P99,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Mean => "mean",
            Metric::P50 => "p50",
            Metric::P95 => "p95",
            Metric::P99 => "p99",
        }
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        self == Metric::Throughput
    }
}

/// The metrics of a run, or of a part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values([f64; 5]);

impl Values {
    fn of(count: u64, seconds: f64, latency: &Histogram) -> Self {
        let ms = |percent| latency.percentile_ns(percent) as f64 / 1e6;
        Self([
            count as f64 / seconds,
            latency.mean_ns() / 1e6,
            ms(50.0),
            ms(95.0),
            ms(99.0),
        ])
    }

    pub fn get(&self, metric: Metric) -> f64 {
        self.0[metric as usize]
    }
}

/// What a comparison needs of a run: a few kilobytes, so that many runs can be compared whose
/// records are read one by one.
#[derive(Debug, Clone)]
pub struct Measured {
    pub(super) id: String,
    pub(super) whole: Values,
    /// In the order of time; none where they were not asked for.
    pub(super) parts: Vec<Values>,
    pub(crate) facts: Facts,
    pub(crate) tables_before: Vec<TableState>,
    /// Rules that say not to use its figures.
    pub(super) invalid: Vec<&'static str>,
}

impl Measured {
    /// Of a run with an end, and what the rules say of it ([`crate::findings`]).
    ///
    /// # Errors
    /// As [`super::compare`].
    pub fn of(record: &RunRecord, found: &[Finding]) -> Result<Self, AnalysisError> {
        Self::with(record, found, true)
    }

    /// Parts are not needed where there are repeats.
    pub(super) fn with(
        record: &RunRecord,
        found: &[Finding],
        with_parts: bool,
    ) -> Result<Self, AnalysisError> {
        if let RunState::Failed(why) = &record.state {
            return Err(AnalysisError::Failed {
                run: record.id.clone(),
                why: why.clone(),
            });
        }
        let Some(run) = Run::of(record)? else {
            return Err(AnalysisError::NothingMeasured {
                run: record.id.clone(),
            });
        };
        let whole = Values::of(run.totals.all.count, run.totals.elapsed_s, &run.latency);
        // An interval of a stream of queries is one query, none like the other.
        let intervals = if with_parts && record.queries.is_empty() {
            whole_intervals(record)
        } else {
            Vec::new()
        };
        let size = intervals.len().div_ceil(MOST_PARTS).max(1);
        // A last part of fewer intervals would vary more.
        let parts = intervals.chunks_exact(size).map(|part| of_part(&run, part));
        Ok(Self {
            id: record.id.clone(),
            whole,
            parts: parts.collect::<Result<_, _>>()?,
            facts: Facts::of(record),
            tables_before: record.tables_before.clone(),
            invalid: invalid_rules(found),
        })
    }
}

fn of_part(run: &Run<'_>, part: &[&Interval]) -> Result<Values, AnalysisError> {
    let mut latency = Histogram::new();
    let mut count = 0;
    for interval in part {
        for stats in interval.types.values() {
            count += stats.count;
            run.add_latency(stats, &mut latency)?;
        }
    }
    let seconds = part.iter().map(|i| i.length_ms).sum::<f64>() / 1000.0;
    Ok(Values::of(count, seconds, &latency))
}
