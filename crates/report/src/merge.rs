//! Adding intervals up. Histograms are added and percentiles taken from the sum, never averaged.

use crate::ReportError;
use std::collections::BTreeMap;
use tidemark_core::record::{
    EncodedHistogram, HostLoad, Interval, Phase, Quantiles, StatementCounts, Totals, TypeStats,
};
use tidemark_stats::Histogram;

/// One transaction type, decoded.
#[derive(Debug, Clone, Default)]
pub struct TypeLatency {
    /// Transactions that ended well.
    pub count: u64,
    /// From handing the first statement over until the session had the last reply and could go on.
    pub service: Histogram,
    /// Of that, the time at the server and on the way; absent of embedded databases and in records
    /// of versions that did not split it.
    pub server: Option<Histogram>,
    /// From the moment they were due until the session could go on; absent where a transaction is
    /// never due before it is sent.
    pub response: Option<Histogram>,
    /// Waits for a free session, from the moment they were due; absent likewise.
    pub wait: Option<Histogram>,
    /// What a source gave that keeps no distribution.
    pub quantiles: Option<Quantiles>,
    /// What their own script paused within the service times, in all.
    pub paused_ms: f64,
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
            server: stats.server.as_ref().map(decode).transpose()?,
            response: stats.response.as_ref().map(decode).transpose()?,
            wait: stats.wait.as_ref().map(decode).transpose()?,
            quantiles: stats.quantiles.clone(),
            paused_ms: stats.paused_ms,
        })
    }

    /// What a user waited on average, in milliseconds; `None` where that is not known.
    pub fn mean_ms(&self) -> Option<f64> {
        let h = self.latency();
        match h.is_empty() {
            true => self.quantiles.as_ref()?.mean_ms,
            false => Some(h.mean_ns() / 1e6),
        }
    }

    /// The time within which so many percent ended, in milliseconds; `None` where that is not known.
    pub fn percentile_ms(&self, percent: f64) -> Option<f64> {
        let h = self.latency();
        match h.is_empty() {
            true => self.quantiles.as_ref()?.percentile_ms(percent),
            false => Some(h.percentile_ns(percent) as f64 / 1e6),
        }
    }

    /// What a user of the database waited: response times where there are any, service times else.
    pub fn latency(&self) -> &Histogram {
        self.response.as_ref().unwrap_or(&self.service)
    }

    /// Where only one of the two has response times, the other's are its service times: what was
    /// never due before it was sent has waited for nothing else (parts of a larger operation).
    pub fn add(&mut self, other: &Self) {
        // Of a sum of which only a part is split, nothing can be said.
        match (&mut self.server, &other.server) {
            (Some(ours), Some(theirs)) => ours.merge(theirs),
            (None, Some(theirs)) if self.count == 0 => self.server = Some(theirs.clone()),
            (ours, None) if other.count > 0 => *ours = None,
            _ => {}
        }
        self.count += other.count;
        self.paused_ms += other.paused_ms;
        let response = match (&mut self.response, &other.response) {
            (None, Some(_)) => Some(self.service.clone()),
            (Some(ours), None) => {
                ours.merge(&other.service);
                None
            }
            _ => None,
        };
        if response.is_some() {
            self.response = response;
        }
        self.service.merge(&other.service);
        for (sum, one) in [
            (&mut self.response, &other.response),
            (&mut self.wait, &other.wait),
        ] {
            if let Some(one) = one {
                sum.get_or_insert_with(Histogram::new).merge(one);
            }
        }
    }

    fn encode(&self) -> TypeStats {
        let encode = |h: &Histogram| EncodedHistogram(h.encode());
        TypeStats {
            count: self.count,
            service: encode(&self.service),
            server: self.server.as_ref().map(encode),
            response: self.response.as_ref().map(encode),
            wait: self.wait.as_ref().map(encode),
            paused_ms: self.paused_ms,
            // Of several, nothing is known together.
            quantiles: None,
        }
    }
}

pub(crate) fn decode(
    encoded: &EncodedHistogram,
    place: impl FnOnce() -> String,
) -> Result<Histogram, ReportError> {
    Histogram::decode(&encoded.0).map_err(|source| ReportError::Histogram {
        place: place(),
        source,
    })
}

/// Adds one of an interval's histograms to a sum.
pub(crate) fn add_interval(
    sum: &mut Histogram,
    interval: &Interval,
    type_name: &str,
    encoded: &EncodedHistogram,
) -> Result<(), ReportError> {
    let added = sum.add_encoded(&encoded.0);
    added.map_err(|source| ReportError::Histogram {
        place: place_of(interval, type_name),
        source,
    })
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
    /// Arrivals a second asked for at the end of the last (open loop).
    pub rate: Option<f64>,
    /// Arrivals that came when no session was free (open loop).
    pub delayed_arrivals: u64,
    /// Arrivals dropped because the backlog was full (open loop).
    pub dropped_arrivals: u64,
    /// Milliseconds in which a host could not be reached.
    pub outage_ms: f64,
    /// What each host was sent; its sessions are those at the end of the last.
    pub hosts: Vec<HostLoad>,
    /// Per transaction type, by name.
    pub types: BTreeMap<String, TypeLatency>,
    /// Per type, by name, the transactions that were parts of larger ones.
    pub parts: BTreeMap<String, TypeLatency>,
    /// Outcomes that the workload counts beside its types, by name.
    pub notes: BTreeMap<String, u64>,
}

impl Merged {
    /// Adds intervals up; they come in order of time.
    ///
    /// # Errors
    /// [`ReportError::Histogram`].
    pub fn of<'a>(intervals: impl IntoIterator<Item = &'a Interval>) -> Result<Self, ReportError> {
        let mut sum = Self::default();
        for interval in intervals {
            sum.add(interval)?;
        }
        Ok(sum)
    }

    /// Adds one more, which comes after all the others.
    ///
    /// # Errors
    /// [`ReportError::Histogram`]; the sum is of no use then.
    pub fn add(&mut self, i: &Interval) -> Result<(), ReportError> {
        let start_ms = i.start_ms as f64;
        let sum = self;
        if sum.length_ms == 0.0 {
            sum.start_ms = start_ms;
        }
        sum.end_ms = start_ms + i.length_ms;
        sum.length_ms += i.length_ms;
        sum.sessions = i.sessions;
        sum.statements += i.statements;
        sum.ignored_errors += i.ignored_errors;
        sum.reconnects += i.reconnects;
        sum.queue_length = i.queue_length;
        sum.concurrency = i.concurrency;
        sum.rate = i.rate;
        sum.delayed_arrivals += i.delayed_arrivals;
        sum.dropped_arrivals += i.dropped_arrivals;
        sum.outage_ms += i.outage_ms;
        i.hosts.iter().for_each(|h| sum.add_host(h));
        for (name, noted) in &i.notes {
            let count = sum.notes.entry(name.clone()).or_default();
            *count = count.saturating_add(*noted);
        }
        for (name, stats) in &i.types {
            let one = TypeLatency::decode(stats, &place_of(i, name))?;
            sum.types.entry(name.clone()).or_default().add(&one);
        }
        for (name, stats) in &i.parts {
            let one = TypeLatency::decode(stats, &place_of(i, name))?;
            sum.parts.entry(name.clone()).or_default().add(&one);
        }
        Ok(())
    }

    fn add_host(&mut self, one: &HostLoad) {
        let same = |h: &&mut HostLoad| h.host == one.host && h.role == one.role;
        match self.hosts.iter_mut().find(same) {
            Some(sum) => {
                sum.statements += one.statements;
                sum.sessions = one.sessions;
            }
            None => self.hosts.push(one.clone()),
        }
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

/// A count as a rate; 0 when no time has passed.
pub fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

fn encoded(types: &BTreeMap<String, TypeLatency>) -> BTreeMap<String, TypeStats> {
    let each = types.iter();
    each.map(|(name, t)| (name.clone(), t.encode())).collect()
}

/// The totals of the measured intervals, for a run whose end was never written. How evenly the
/// sessions were served can't be told from intervals and stays zero, and how late the generator was
/// stays unknown.
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
        types: encoded(&merged.types),
        parts: encoded(&merged.parts),
        all: merged.all().encode(),
        notes: merged.notes,
        delayed_arrivals: merged.delayed_arrivals,
        dropped_arrivals: merged.dropped_arrivals,
        // What waited and what was begun when the last of them ended.
        unserved_arrivals: match merged.rate {
            Some(_) => merged.queue_length + merged.concurrency,
            None => 0,
        },
        outage_s: merged.outage_ms / 1000.0,
        hosts: merged.hosts,
        ..Totals::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(us: &[u64], waited_us: Option<u64>) -> TypeLatency {
        let histogram = |beyond: u64| {
            let mut h = Histogram::new();
            for us in us {
                h.record(std::time::Duration::from_micros(us + beyond));
            }
            h
        };
        TypeLatency {
            count: us.len() as u64,
            service: histogram(0),
            response: waited_us.map(histogram),
            ..TypeLatency::default()
        }
    }

    #[test]
    fn latencies_are_as_many_as_the_count_whoever_has_response_times() {
        let (due, part) = (latency(&[100, 200], Some(1000)), latency(&[50], None));
        for (first, second) in [(&due, &part), (&part, &due)] {
            let mut sum = TypeLatency::default();
            sum.add(first);
            sum.add(second);
            assert_eq!(sum.count, 3);
            assert_eq!(sum.latency().count(), 3);
            assert_eq!(sum.service.count(), 3);
            // The part's own time is its response time.
            assert_eq!(sum.latency().min_ns(), 50_000);
            assert_eq!(sum.latency().max_ns(), 1_200_000);
        }
        let mut sum = TypeLatency::default();
        sum.add(&part);
        sum.add(&part);
        assert!(sum.response.is_none());
    }
}
