//! A record's figures, decoded once, for all forms of report.

use crate::load::{Lateness, LoadKind, StepFigures, steps};
use crate::merge::{TypeLatency, add_interval, per_second};
use crate::{ReportError, totals};
use std::borrow::Cow;
use tidemark_core::record::{Interval, Phase, RunRecord, RunState, StatedFigure, Totals};
use tidemark_stats::Histogram;

/// Points of a chart over time; more can't be told apart on a screen.
const MAX_POINTS: usize = 600;

/// The figures of one run.
pub struct Digest<'a> {
    pub(crate) record: &'a RunRecord,
    /// The record's, or summed from its intervals when no end was written.
    pub(crate) totals: Cow<'a, Totals>,
    /// All types together.
    pub(crate) all: TypeLatency,
    /// Each type, the most frequent first.
    pub(crate) types: Vec<(&'a str, TypeLatency)>,
    /// Over time, warm-up included.
    pub(crate) points: Vec<ChartPoint>,
    /// Intervals summed into one point.
    pub(crate) intervals_per_point: usize,
    /// Seconds of warm-up.
    pub(crate) warmup_s: f64,
    /// What let transactions start.
    pub(crate) kind: LoadKind,
    /// Rates that followed each other.
    pub(crate) steps: Vec<StepFigures<'a>>,
    /// The generator's own, where transactions are due before they are sent.
    pub(crate) lateness: Option<Lateness>,
}

/// One or several intervals, for the charts.
#[derive(Debug, Clone)]
pub(crate) struct ChartPoint {
    /// Seconds from the start of the measurement.
    pub start_s: f64,
    pub end_s: f64,
    pub phase: Phase,
    pub transactions_per_s: f64,
    pub errors_per_s: f64,
    pub reconnects_per_s: f64,
    /// The longest queue at the end of any of the intervals.
    pub queue_length: u64,
    /// p50, p95, p99 and maximum; `None` when no transaction ended.
    pub latency_ms: Option<[f64; 4]>,
    /// Arrivals a second asked for at its end, where that is recorded.
    pub rate: Option<f64>,
    /// Transactions a second of each of [`Digest::types`].
    pub by_type: Vec<f64>,
}

impl ChartPoint {
    pub fn middle_s(&self) -> f64 {
        (self.start_s + self.end_s) / 2.0
    }
}

impl<'a> Digest<'a> {
    /// The run's record.
    pub fn record(&self) -> &'a RunRecord {
        self.record
    }

    pub(crate) fn of(record: &'a RunRecord) -> Result<Self, ReportError> {
        let mut digest = Self::of_totals(record)?;
        let names: Vec<&str> = digest.types.iter().map(|(name, _)| *name).collect();
        (digest.points, digest.intervals_per_point) = points(&record.intervals, &names)?;
        Ok(digest)
    }

    /// Without its points: reading every interval's distributions is what a digest costs.
    pub(crate) fn of_totals(record: &'a RunRecord) -> Result<Self, ReportError> {
        let rebuilt = record.state == RunState::Running && record.totals.elapsed_s == 0.0;
        let totals = if rebuilt {
            Cow::Owned(totals(&record.intervals)?)
        } else {
            Cow::Borrowed(&record.totals)
        };
        let all = TypeLatency::decode(&totals.all, "the whole run")?;
        // Names come from the record and not from the totals, which may be ours.
        let named = |name: &str| {
            let known = record.totals.types.keys();
            let seen = record.intervals.iter().flat_map(|i| i.types.keys());
            known.chain(seen).find(|n| *n == name)
        };
        let mut types = Vec::new();
        for (name, stats) in &totals.types {
            let latency = TypeLatency::decode(stats, &format!("type {name}"))?;
            if let Some(name) = named(name) {
                types.push((name.as_str(), latency));
            }
        }
        types.sort_by_key(|(_, t)| std::cmp::Reverse(t.count));
        let warmup = record.intervals.iter().filter(|i| i.phase == Phase::Warmup);
        let warmup_s = warmup.map(|i| i.length_ms).sum::<f64>() / 1000.0;
        let lateness = Lateness::of(&totals, &all)?;
        Ok(Self {
            kind: LoadKind::of(record),
            steps: steps(record)?,
            lateness,
            record,
            totals,
            all,
            types,
            points: Vec::new(),
            intervals_per_point: 1,
            warmup_s,
        })
    }

    /// Not a number where a document states neither it nor how long the run was.
    pub(crate) fn transactions_per_s(&self) -> f64 {
        let imported = self.record.imported.as_ref();
        let is_unknown = self.all.count == 0
            && imported.is_some_and(|i| i.figure("count").or(i.figure("events")).is_none());
        let stated = self.record.stated_rate();
        stated.unwrap_or_else(|| match is_unknown {
            true => f64::NAN,
            false => self.per_second(self.all.count),
        })
    }

    /// As [`Self::transactions_per_s`].
    pub(crate) fn statements_per_s(&self) -> f64 {
        let stated = self.record.imported.as_ref();
        if let Some(stated) = stated.and_then(|i| i.figure("statement_rate")) {
            return stated.value;
        }
        let counted = self.totals.statements.total();
        // A part of the statements is not all of them: the output may be cut.
        let is_whole = stated.is_none_or(|i| {
            let kinds = ["read", "write", "other"];
            i.figure("statement_sum").is_some() || kinds.iter().all(|k| i.figure(k).is_some())
        });
        match is_whole {
            true => self.per_second(counted),
            false => f64::NAN,
        }
    }

    /// A count as a rate; not a number where nobody knows how long the run was.
    pub(crate) fn per_second(&self, count: u64) -> f64 {
        match self.record.is_derived("elapsed_s") {
            true => f64::NAN,
            false => per_second(count, self.totals.elapsed_s),
        }
    }

    /// In milliseconds; `None` when no transaction ended.
    pub(crate) fn percentile_ms(&self, percent: f64) -> Option<f64> {
        percentile_ms(&self.all, percent)
    }

    /// The points that count.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &ChartPoint> {
        self.points.iter().filter(|p| p.phase == Phase::Measure)
    }
}

/// Whether a record says how many errors there were; another tool may not have stated it.
pub(crate) fn states_errors(record: &RunRecord) -> bool {
    record.imported.as_ref().is_none_or(|imported| {
        let is_count = |f: &StatedFigure| {
            // A share of errors says how many there were where it is none.
            let is_none = f.name == "error_share" && f.value == 0.0;
            f.of == "errors" || is_none || matches!(f.name.as_str(), "ignored_errors" | "failed")
        };
        record.totals.ignored_errors > 0 || imported.figures.iter().any(is_count)
    })
}

/// In milliseconds; `None` where it is not known.
pub(crate) fn percentile_ms(latency: &TypeLatency, percent: f64) -> Option<f64> {
    latency.percentile_ms(percent)
}

/// Sums neighbouring intervals of a phase until there are few enough points. Histograms are summed
/// before percentiles are taken, so a point is as true as an interval.
fn points(intervals: &[Interval], types: &[&str]) -> Result<(Vec<ChartPoint>, usize), ReportError> {
    let (groups, per_point) = groups(intervals, MAX_POINTS);
    let points = groups.into_iter().map(|group| ChartPoint::of(group, types));
    Ok((points.collect::<Result<_, _>>()?, per_point))
}

/// Neighbouring intervals of a phase that make a point, so that there are `most` or a few more; and
/// how many make one.
pub(crate) fn groups(intervals: &[Interval], most: usize) -> (Vec<&[Interval]>, usize) {
    let per_point = intervals.len().div_ceil(most).max(1);
    let mut groups: Vec<&[Interval]> = intervals
        .chunk_by(|a, b| a.phase == b.phase)
        .flat_map(|phase| phase.chunks(per_point))
        .collect();
    join_short_end(&mut groups, intervals);
    (groups, per_point)
}

/// A run rarely ends with an interval; a rate over its last milliseconds would be noise. Such an
/// end is added to the point before it.
fn join_short_end<'i>(groups: &mut Vec<&'i [Interval]>, intervals: &'i [Interval]) {
    let length = |group: &[Interval]| group.iter().map(|i| i.length_ms).sum::<f64>();
    let [.., before, last] = groups.as_slice() else {
        return;
    };
    let same_phase = before.first().map(|i| i.phase) == last.first().map(|i| i.phase);
    if same_phase && length(last) < length(before) / 2.0 {
        let joined = before.len() + last.len();
        groups.truncate(groups.len() - 2);
        groups.extend(intervals.get(intervals.len() - joined..));
    }
}

impl ChartPoint {
    /// The intervals are neighbours of one phase. Of each type only its count is needed, and of
    /// its histograms only the one that is shown: reading them is what a long run's report costs.
    fn of(group: &[Interval], types: &[&str]) -> Result<Self, ReportError> {
        let mut latency = Histogram::new();
        let mut by_type = vec![0u64; types.len()];
        for interval in group {
            for (name, stats) in &interval.types {
                let shown = stats.response.as_ref().unwrap_or(&stats.service);
                add_interval(&mut latency, interval, name, shown)?;
                if let Some(n) = types.iter().position(|t| t == name) {
                    by_type[n] += stats.count;
                }
            }
        }
        let length_s = group.iter().map(|i| i.length_ms).sum::<f64>() / 1000.0;
        let start_s = group.first().map_or(0.0, |i| i.start_ms as f64 / 1000.0);
        let rate =
            |count: fn(&Interval) -> u64| per_second(group.iter().map(count).sum(), length_s);
        let ms = |p| latency.percentile_ns(p) as f64 / 1e6;
        Ok(Self {
            start_s,
            end_s: start_s + length_s,
            phase: group.first().map_or(Phase::Measure, |i| i.phase),
            transactions_per_s: rate(|i| i.transactions()),
            errors_per_s: rate(|i| i.ignored_errors),
            reconnects_per_s: rate(|i| i.reconnects),
            queue_length: group.iter().map(|i| i.queue_length).max().unwrap_or(0),
            rate: group.last().and_then(|i| i.rate),
            latency_ms: (!latency.is_empty())
                .then(|| [ms(50.0), ms(95.0), ms(99.0), latency.max_ns() as f64 / 1e6]),
            by_type: by_type
                .into_iter()
                .map(|n| per_second(n, length_s))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;
    use tidemark_core::record::{EncodedHistogram, StatementCounts, TypeStats};

    fn interval(n: i64, length_ms: f64, latencies_ms: &[u64]) -> Interval {
        let mut h = Histogram::new();
        latencies_ms
            .iter()
            .for_each(|ms| h.record(Duration::from_millis(*ms)));
        let stats = TypeStats {
            count: h.count(),
            service: EncodedHistogram(h.encode()),
            response: None,
            ..TypeStats::default()
        };
        Interval {
            start_ms: n * 1000,
            length_ms,
            phase: if n < 0 { Phase::Warmup } else { Phase::Measure },
            sessions: 1,
            statements: StatementCounts::default(),
            ignored_errors: 2,
            reconnects: 0,
            queue_length: n.unsigned_abs() % 7,
            concurrency: 0,
            types: BTreeMap::from([("t".into(), stats)]),
            ..Interval::default()
        }
    }

    #[test]
    fn points_hold_every_transaction_and_error_of_the_intervals() {
        let intervals: Vec<_> = (-10..2000)
            .map(|n| interval(n, 1000.0, &vec![1; (n + 10) as usize % 13]))
            .collect();
        let (points, per_point) = points(&intervals, &["t"]).unwrap();
        assert_eq!(per_point, 4);
        assert!(points.len() <= MAX_POINTS);
        let sum = |f: fn(&ChartPoint) -> f64| -> f64 {
            points.iter().map(|p| f(p) * (p.end_s - p.start_s)).sum()
        };
        let transactions: usize = (0..2010).map(|n| n % 13).sum();
        assert!((sum(|p| p.transactions_per_s) - transactions as f64).abs() < 1e-6);
        assert!((sum(|p| p.by_type[0]) - transactions as f64).abs() < 1e-6);
        assert!((sum(|p| p.errors_per_s) - 4020.0).abs() < 1e-6);
        // Warm-up never shares a point with the measurement, and time has no gap.
        assert_eq!(
            points.iter().filter(|p| p.phase == Phase::Warmup).count(),
            3
        );
        assert!(points.windows(2).all(|w| w[0].end_s == w[1].start_s));
        assert_eq!(points.iter().map(|p| p.queue_length).max(), Some(6));
    }

    #[test]
    fn percentiles_of_a_point_come_from_the_sum_of_its_intervals() {
        let group = [
            interval(0, 1000.0, &[1; 98]),
            interval(1, 1000.0, &[100, 100]),
        ];
        let point = ChartPoint::of(&group, &["t"]).unwrap();
        let [p50, p95, p99, max] = point.latency_ms.unwrap();
        assert!((p50 - 1.0).abs() < 0.01 && (p95 - 1.0).abs() < 0.01);
        assert!((p99 - 100.0).abs() < 0.1 && (max - 100.0).abs() < 0.1);
        assert_eq!(point.transactions_per_s, 50.0);
        let idle = ChartPoint::of(&[interval(0, 1000.0, &[])], &["t"]).unwrap();
        assert_eq!(idle.latency_ms, None);
    }

    #[test]
    fn the_last_milliseconds_of_a_run_make_no_point_of_their_own() {
        let mut intervals: Vec<_> = (0..5).map(|n| interval(n, 1000.0, &[1; 10])).collect();
        intervals.push(interval(5, 2.0, &[1; 3]));
        let (points, _) = points(&intervals, &["t"]).unwrap();
        assert_eq!(points.len(), 5);
        let last = points.last().unwrap();
        assert!((last.transactions_per_s - 13.0 / 1.002).abs() < 1e-9);
        // An end of some length is a point.
        intervals[5].length_ms = 600.0;
        assert_eq!(super::points(&intervals, &[]).unwrap().0.len(), 6);
    }
}
