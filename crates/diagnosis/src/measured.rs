//! Series of a record over its measurement.

use crate::Evidence;
use crate::thresholds::LEVEL;
use std::collections::BTreeMap;
use tidemark_analysis::observed::is_told_before;
use tidemark_core::record::{Phase, RunRecord, StepPurpose};
use tidemark_core::series::Series;

/// The time that is judged, in milliseconds from the start of the measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct JudgedWindow {
    pub from_ms: i64,
    pub to_ms: i64,
}

impl JudgedWindow {
    /// The measurement; where a rate was searched, the rate that was found.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let confirmed = record.steps.iter().rev();
        let confirmed = confirmed
            .filter(|s| s.purpose == StepPurpose::Confirm)
            .find(|s| s.totals.elapsed_s == record.totals.elapsed_s);
        let from_ms = confirmed.map_or(0, |s| s.start_ms);
        let elapsed_ms = record.totals.elapsed_s * 1000.0;
        // Of days more than an i64 has no record: saturates.
        let to_ms = from_ms.saturating_add(elapsed_ms as i64);
        (elapsed_ms > 0.0).then_some(Self { from_ms, to_ms })
    }

    pub fn has(&self, at_ms: i64) -> bool {
        (self.from_ms..self.to_ms).contains(&at_ms)
    }
}

/// Series of one source and name, added up: a value for each time that any of them has.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SummedSeries {
    pub metric: String,
    pub unit: String,
    /// Begin of a point in milliseconds, and the sum of the series' values; in the order of time.
    pub points: Vec<(i64, f64)>,
    pub step_ms: u32,
}

impl SummedSeries {
    /// `None` without points in the window, and of series that can't be read.
    pub fn of<'r>(
        all: impl Iterator<Item = &'r Series>,
        window: JudgedWindow,
        metric: &str,
    ) -> Option<Self> {
        let mut sums = BTreeMap::<i64, f64>::new();
        let (mut unit, mut step_ms) = (String::new(), 0);
        for series in all {
            for point in series.points().ok()? {
                let point = point.ok()?;
                if window.has(point.at_ms) {
                    *sums.entry(point.at_ms).or_default() += point.value;
                }
            }
            unit.clone_from(&series.key.unit);
            step_ms = step_ms.max(series.step_ms);
        }
        (!sums.is_empty()).then(|| Self {
            metric: metric.into(),
            unit,
            points: sums.into_iter().collect(),
            step_ms,
        })
    }

    pub fn mean(&self) -> f64 {
        self.points.iter().map(|(_, v)| v).sum::<f64>() / self.points.len().max(1) as f64
    }

    /// The value of about a time: sources look at the same second some milliseconds apart.
    pub fn near(&self, at_ms: i64) -> Option<f64> {
        let step = u64::from(self.step_ms.max(1));
        // Of days there are a hundred thousand points, and each is asked for.
        let behind = self.points.partition_point(|(at, _)| *at < at_ms);
        let before = behind.checked_sub(1).and_then(|at| self.points.get(at));
        let both = [before, self.points.get(behind)];
        let apart = |point: &&(i64, f64)| point.0.abs_diff(at_ms);
        let nearest = both.into_iter().flatten().min_by_key(apart)?;
        (apart(&nearest) <= step / 2).then_some(nearest.1)
    }

    /// Half of the interval of its mean; infinite of one value.
    pub fn half(&self) -> f64 {
        let values: Vec<f64> = self.points.iter().map(|(_, v)| *v).collect();
        half(&values)
    }

    /// Each value so many times.
    pub fn times(mut self, factor: f64) -> Self {
        self.points.iter_mut().for_each(|(_, v)| *v *= factor);
        self
    }

    /// Both added up.
    pub fn plus(self, other: Self) -> Self {
        let mut sums: BTreeMap<i64, f64> = self.points.into_iter().collect();
        for (at_ms, value) in other.points {
            *sums.entry(at_ms).or_default() += value;
        }
        Self {
            points: sums.into_iter().collect(),
            step_ms: self.step_ms.max(other.step_ms),
            metric: self.metric,
            unit: self.unit,
        }
    }

    pub fn max(&self) -> f64 {
        self.points.iter().map(|(_, v)| *v).fold(0.0, f64::max)
    }

    pub fn first(&self) -> f64 {
        self.points.first().map_or(0.0, |(_, v)| *v)
    }

    pub fn last(&self) -> f64 {
        self.points.last().map_or(0.0, |(_, v)| *v)
    }

    pub fn seconds(&self) -> f64 {
        let (from_s, to_s) = self.range();
        to_s - from_s
    }

    pub fn range(&self) -> (f64, f64) {
        let from = self.points.first().map_or(0, |(at, _)| *at);
        let to = self.points.last().map_or(0, |(at, _)| *at);
        let to = to.saturating_add(i64::from(self.step_ms));
        (from as f64 / 1000.0, to as f64 / 1000.0)
    }

    /// Its mean as evidence.
    pub fn evidence(&self) -> Evidence {
        self.evidence_of(self.mean())
    }

    /// A value of it as evidence.
    pub fn evidence_of(&self, value: f64) -> Evidence {
        let (from_s, to_s) = self.range();
        Evidence {
            metric: self.metric.clone(),
            value,
            unit: self.unit.clone(),
            cores: None,
            from_s,
            to_s,
        }
    }
}

/// Half of the interval of a mean; infinite of fewer than two values.
pub(crate) fn half(values: &[f64]) -> f64 {
    tidemark_stats::half_interval(values, LEVEL).unwrap_or(f64::INFINITY)
}

/// Series of a record, by source and name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordSeries<'r> {
    pub record: &'r RunRecord,
    pub window: JudgedWindow,
}

impl<'r> RecordSeries<'r> {
    /// All series of a name together.
    pub fn column(&self, source: &str, name: &str) -> Option<SummedSeries> {
        self.column_of(source, name, |_| true)
    }

    /// Those that `wanted` takes.
    pub fn column_of(
        &self,
        source: &str,
        name: &str,
        wanted: impl Fn(&Series) -> bool,
    ) -> Option<SummedSeries> {
        let all = self.named(source, name).filter(|s| wanted(s));
        SummedSeries::of(all, self.window, &format!("{source} {name}"))
    }

    /// The same over all times that any series of the name has: a state or a program that was seen late was
    /// at nothing before.
    pub fn column_over_all(
        &self,
        source: &str,
        name: &str,
        wanted: impl Fn(&Series) -> bool,
    ) -> Option<SummedSeries> {
        let mut column = self.column_of(source, name, wanted)?;
        let all = self.column(source, name)?;
        let had: BTreeMap<i64, f64> = column.points.into_iter().collect();
        let times = all.points.iter().map(|(at, _)| *at);
        column.points = times
            .map(|at| (at, had.get(&at).copied().unwrap_or(0.0)))
            .collect();
        Some(column)
    }

    /// The values of one series in the window added up; `None` of what can't be read, and without points.
    pub fn sum_of(&self, series: &Series) -> Option<f64> {
        let column = SummedSeries::of(std::iter::once(series), self.window, "")?;
        Some(column.points.iter().map(|(_, v)| v).sum())
    }

    /// Those of a name; of a host that several clients share they are there once.
    pub fn named(&self, source: &str, name: &str) -> impl Iterator<Item = &'r Series> {
        let record = self.record;
        let all = record.series.iter();
        all.filter(move |s| {
            s.key.source == source && s.key.name == name && !is_told_before(record, s)
        })
    }

    /// Values of a label that series of a name have.
    pub fn labels(&self, source: &str, name: &str, label: &str) -> Vec<&'r str> {
        let all = self.named(source, name);
        let mut values: Vec<&str> = all
            .filter_map(|s| s.key.labels.get(label).map(String::as_str))
            .collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Transactions per second of each measured interval: begin and end in milliseconds, and the rate.
    /// Intervals much shorter than the others are left out.
    pub fn rates(&self) -> Vec<(f64, f64, f64)> {
        let measured = self.record.intervals.iter();
        let measured =
            measured.filter(|i| i.phase == Phase::Measure && self.window.has(i.start_ms));
        let lengths: Vec<f64> = measured.clone().map(|i| i.length_ms).collect();
        let usual = tidemark_stats::median(&lengths);
        measured
            .filter(|i| i.length_ms > 0.0 && i.length_ms >= usual / 2.0)
            .map(|i| {
                let count: u64 = i.types.values().map(|t| t.count).sum();
                let start = i.start_ms as f64;
                (
                    start,
                    start + i.length_ms,
                    count as f64 / i.length_ms * 1000.0,
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_about_a_time_is_the_nearest_one() {
        let series = SummedSeries {
            points: vec![(-1000, 1.0), (0, 2.0), (1000, 3.0), (3000, 4.0)],
            step_ms: 1000,
            ..SummedSeries::default()
        };
        for (at_ms, value) in [
            (i64::MIN, None),
            (-1501, None),
            (-1500, Some(1.0)),
            (-3, Some(2.0)),
            (0, Some(2.0)),
            (2, Some(2.0)),
            // Of two as near the earlier one.
            (500, Some(2.0)),
            (501, Some(3.0)),
            (1500, Some(3.0)),
            (2000, None),
            (2500, Some(4.0)),
            (3500, Some(4.0)),
            (i64::MAX, None),
        ] {
            assert_eq!(series.near(at_ms), value, "{at_ms}");
        }
        assert_eq!(SummedSeries::default().near(0), None);
    }
}
