//! Adding intervals up. Histograms are added and percentiles taken from the sum, never averaged.

use crate::ReportError;
use std::collections::BTreeMap;
use tidemark_core::record::{
    EncodedHistogram, Interval, Phase, StatementCounts, Totals, TypeStats,
};
use tidemark_stats::Histogram;

/// One transaction type, decoded.
#[derive(Debug, Clone, Default)]
pub struct TypeLatency {
    /// Transactions that ended well.
    pub count: u64,
    /// Send to last reply.
    pub service: Histogram,
    /// Scheduled arrival to last reply; absent in closed loop.
    pub response: Option<Histogram>,
}

impl TypeLatency {
    /// Decodes; `place` goes into the error.
    ///
    /// # Errors
    /// [`ReportError::Histogram`].
    pub fn decode(stats: &TypeStats, place: &str) -> Result<Self, ReportError> {
        let decode = |encoded| decode(encoded, || place.into());
        Ok(Self {
            count: stats.count,
            service: decode(&stats.service)?,
            response: stats.response.as_ref().map(decode).transpose()?,
        })
    }

    /// What a user of the database waited: response times in open loop, service times else.
    pub fn latency(&self) -> &Histogram {
        self.response.as_ref().unwrap_or(&self.service)
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.service.merge(&other.service);
        if let Some(response) = &other.response {
            self.response
                .get_or_insert_with(Histogram::new)
                .merge(response);
        }
    }

    fn encode(&self) -> TypeStats {
        TypeStats {
            count: self.count,
            service: EncodedHistogram(self.service.encode()),
            response: self.response.as_ref().map(|h| EncodedHistogram(h.encode())),
            ..TypeStats::default()
        }
    }
}

fn decode(
    encoded: &EncodedHistogram,
    place: impl FnOnce() -> String,
) -> Result<Histogram, ReportError> {
    Histogram::decode(&encoded.0).map_err(|source| ReportError::Histogram {
        place: place(),
        source,
    })
}

/// One of an interval's histograms.
pub(crate) fn interval_histogram(
    interval: &Interval,
    type_name: &str,
    encoded: &EncodedHistogram,
) -> Result<Histogram, ReportError> {
    decode(encoded, || place_of(interval, type_name))
}

fn place_of(interval: &Interval, type_name: &str) -> String {
    format!("the interval at {} ms, type {type_name}", interval.start_ms)
}

/// Several intervals as one.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    /// Start of the first, in milliseconds from the start of the measurement.
    pub start_ms: f64,
    /// End of the last, likewise.
    pub end_ms: f64,
    /// Their lengths together, in milliseconds.
    pub length_ms: f64,
    /// Sessions connected at the end of the last.
    pub sessions: u64,
    /// Statements.
    pub statements: StatementCounts,
    /// Errors that were counted and retried.
    pub ignored_errors: u64,
    /// Sessions opened again.
    pub reconnects: u64,
    /// Arrivals waiting at the end of the last.
    pub queue_length: u64,
    /// Transactions in progress at the end of the last.
    pub concurrency: u64,
    /// Per transaction type, by name.
    pub types: BTreeMap<String, TypeLatency>,
}

impl Merged {
    /// Adds intervals up; they come in order of time.
    ///
    /// # Errors
    /// [`ReportError::Histogram`].
    pub fn of<'a>(intervals: impl IntoIterator<Item = &'a Interval>) -> Result<Self, ReportError> {
        let mut sum: Option<Self> = None;
        for i in intervals {
            let start_ms = i.start_ms as f64;
            let sum = sum.get_or_insert_with(|| Self {
                start_ms,
                ..Self::default()
            });
            sum.end_ms = start_ms + i.length_ms;
            sum.length_ms += i.length_ms;
            sum.sessions = i.sessions;
            sum.statements += i.statements;
            sum.ignored_errors += i.ignored_errors;
            sum.reconnects += i.reconnects;
            sum.queue_length = i.queue_length;
            sum.concurrency = i.concurrency;
            for (name, stats) in &i.types {
                let one = TypeLatency::decode(stats, &place_of(i, name))?;
                sum.types.entry(name.clone()).or_default().add(&one);
            }
        }
        Ok(sum.unwrap_or_default())
    }

    /// All types together.
    pub fn all(&self) -> TypeLatency {
        let mut all = TypeLatency::default();
        self.types.values().for_each(|t| all.add(t));
        all
    }

    /// Transactions of all types.
    pub fn transactions(&self) -> u64 {
        self.types.values().map(|t| t.count).sum()
    }

    /// Counts as a rate; 0 when no time has passed.
    pub fn per_second(&self, count: u64) -> f64 {
        per_second(count, self.length_ms / 1000.0)
    }
}

pub(crate) fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

/// The totals of the measured intervals, for a run whose end was never written. How evenly the
/// sessions were served can't be told from intervals and stays zero.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn totals(intervals: &[Interval]) -> Result<Totals, ReportError> {
    let merged = Merged::of(intervals.iter().filter(|i| i.phase == Phase::Measure))?;
    Ok(Totals {
        elapsed_s: merged.length_ms / 1000.0,
        statements: merged.statements,
        ignored_errors: merged.ignored_errors,
        reconnects: merged.reconnects,
        types: merged
            .types
            .iter()
            .map(|(name, t)| (name.clone(), t.encode()))
            .collect(),
        all: merged.all().encode(),
        ..Totals::default()
    })
}
