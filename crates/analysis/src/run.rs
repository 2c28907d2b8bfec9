//! A record's figures as the rules want them, decoded once.

use crate::{AnalysisError, LoadKind};
use tidemark_core::Pacing;
use tidemark_core::record::{
    EncodedHistogram, Interval, Phase, RunRecord, RunState, Totals, TypeStats,
};
use tidemark_stats::Histogram;

/// One run, decoded as far as every rule needs it.
pub(crate) struct Run<'r> {
    pub record: &'r RunRecord,
    pub totals: &'r Totals,
    pub kind: LoadKind,
    /// From the first statement until the session can go on, all types together.
    pub service: Histogram,
    /// Of that, the time at the server and on the way; `None` where the record does not split it.
    pub server: Option<Histogram>,
    /// What a user waited: response times where there are any, service times else.
    pub latency: Histogram,
}

impl<'r> Run<'r> {
    /// `None` where there is nothing to judge: no transaction ended well, or no end was written.
    pub fn of(record: &'r RunRecord) -> Result<Option<Self>, AnalysisError> {
        let totals = &record.totals;
        // Written as "not above" so that a time that is no number is nothing, too.
        let no_time = totals.elapsed_s.is_nan() || totals.elapsed_s <= 0.0;
        // A document may state a rate, and no count.
        let nothing = totals.all.count == 0 && record.stated_rate().is_none_or(|rate| rate <= 0.0);
        if record.state == RunState::Running || nothing || no_time {
            return Ok(None);
        }
        let service = decode(record, &totals.all.service)?;
        let server = totals.all.server.as_ref();
        let server = server.map(|s| decode(record, s)).transpose()?;
        let latency = match &totals.all.response {
            Some(response) => decode(record, response)?,
            None => service.clone(),
        };
        Ok(Some(Self {
            record,
            totals,
            kind: LoadKind::of(record),
            service,
            server,
            latency,
        }))
    }

    /// What a user waited for a transaction type.
    pub fn latency_of(&self, stats: &TypeStats) -> Result<Histogram, AnalysisError> {
        decode(
            self.record,
            stats.response.as_ref().unwrap_or(&stats.service),
        )
    }

    /// Adds what a user waited for a transaction type to a sum.
    pub fn add_latency(&self, stats: &TypeStats, sum: &mut Histogram) -> Result<(), AnalysisError> {
        let shown = stats.response.as_ref().unwrap_or(&stats.service);
        let added = sum.add_encoded(&shown.0);
        added.map_err(|source| AnalysisError::Histogram {
            run: self.record.id.clone(),
            source,
        })
    }

    /// Transactions a second.
    pub fn per_second(&self) -> f64 {
        self.totals.all.count as f64 / self.totals.elapsed_s
    }

    /// Emulated users: terminals, or the sessions where each is one.
    pub fn users(&self) -> usize {
        let sessions = self.sessions();
        self.record.terminals.unwrap_or(sessions)
    }

    /// Sessions that ran: those asked for, or fewer where that was allowed.
    pub fn sessions(&self) -> usize {
        let record = self.record;
        record.sessions_opened.unwrap_or(record.sessions)
    }

    /// Intervals that count.
    pub fn measured(&self) -> impl Iterator<Item = &'r Interval> + use<'r> {
        measured(self.record)
    }

    /// Intervals that count and are whole: a run rarely ends with one, and a rate over its last
    /// milliseconds would be noise.
    pub fn whole(&self) -> Vec<&'r Interval> {
        whole_intervals(self.record)
    }
}

fn measured(record: &RunRecord) -> impl Iterator<Item = &Interval> {
    let intervals = record.intervals.iter();
    intervals.filter(|i| i.phase == Phase::Measure)
}

/// Intervals that count, are at least half as long as the median one, and in half of which
/// transactions began: a run ends with those in progress, whose rate is none of the load's.
pub(crate) fn whole_intervals(record: &RunRecord) -> Vec<&Interval> {
    let lengths: Vec<f64> = measured(record).map(|i| i.length_ms).collect();
    let half = tidemark_stats::median(&lengths) / 2.0;
    let end_ms = load_end_ms(record);
    measured(record)
        .filter(|i| i.length_ms > 0.0 && i.length_ms >= half)
        .filter(|i| end_ms - i.start_ms as f64 >= i.length_ms / 2.0)
        .collect()
}

/// When the last transactions began, from the start of the measurement; infinite where no time was
/// asked for.
pub(crate) fn load_end_ms(record: &RunRecord) -> f64 {
    let load = record.job.as_ref().map(|job| &job.load);
    // The time of steps and of a search is that of each step.
    let load = load.filter(|load| matches!(load.pacing, Pacing::Closed | Pacing::Rate(_)));
    let time = load
        .and_then(|load| load.time)
        .filter(|time| !time.is_zero());
    time.map_or(f64::INFINITY, |time| time.as_secs_f64() * 1000.0)
}

/// Transactions that ended well in an interval.
pub(crate) fn count(interval: &Interval) -> u64 {
    let counts = interval.types.values().map(|t| t.count);
    counts.fold(0, u64::saturating_add)
}

/// Transactions a second in an interval of some length.
pub(crate) fn rate(interval: &Interval) -> f64 {
    count(interval) as f64 * 1000.0 / interval.length_ms
}

pub(crate) fn decode(
    record: &RunRecord,
    encoded: &EncodedHistogram,
) -> Result<Histogram, AnalysisError> {
    Histogram::decode(&encoded.0).map_err(|source| AnalysisError::Histogram {
        run: record.id.clone(),
        source,
    })
}
