//! What watches a run beside its load, and how it tells what it saw.

use std::collections::HashMap;
use std::time::{Duration, Instant};
use tidemark_core::record::{Gap, LoadTotal, ServerStatement};
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};

/// Something that is sampled while a run goes on: the client's host, a server's status, a Prometheus
/// endpoint. Each has a thread of its own, so it may wait for an answer; a sample that took longer than
/// its time leaves a gap.
pub trait SeriesSource: Send {
    /// What its series stand under in the record: `client-host`.
    fn name(&self) -> &str;

    /// Time from sample to sample; no less than a millisecond.
    fn every(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Time from sample to sample where its user wants another one: what is costly to ask keeps its own, if
    /// that is longer.
    fn at_pace(&mut self, wanted: Duration) -> Duration {
        wanted
    }

    /// So many peeks are taken between two samples, evenly.
    fn peeks(&self) -> u32 {
        0
    }

    /// Gets ready, once, when the load begins: finds out whether it can be had. What it can't see goes to
    /// `gaps`.
    ///
    /// # Errors
    /// Why it can't be had. Such a source is not sampled.
    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let _ = gaps;
        Ok(())
    }

    /// Samples. The first sample is at the beginning of the load: totals count from there.
    ///
    /// # Errors
    /// What becomes a note of the record, for people, once. The source is sampled again, and what it
    /// gave before the error counts.
    fn sample(&mut self, samples: &mut Samples) -> Result<(), String>;

    /// Looks at what the next sample sums up. It is left out while peeks take more than a tenth of the
    /// time.
    ///
    /// # Errors
    /// As [`SeriesSource::sample`].
    fn peek(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Takes what is still to come, once, when the load has ended; for less than a second.
    ///
    /// # Errors
    /// As [`SeriesSource::sample`].
    fn finish(&mut self, samples: &mut Samples) -> Result<(), String> {
        let _ = samples;
        Ok(())
    }

    /// What counters grew by over the whole load, when its sessions are closed: of a server whose sessions
    /// report late. `None` while reports may still come: it is asked again in a moment, for less than a second
    /// in all. `is_last` says that it is not.
    ///
    /// # Errors
    /// As [`SeriesSource::sample`].
    fn load_totals(&mut self, is_last: bool) -> Result<Option<Vec<LoadTotal>>, String> {
        let _ = is_last;
        Ok(Some(Vec::new()))
    }

    /// The statements of the whole load by the server's account, once, when it has ended. What it can't tell
    /// goes to `gaps`.
    ///
    /// # Errors
    /// As [`SeriesSource::sample`].
    fn statements(&mut self, gaps: &mut Vec<Gap>) -> Result<Vec<ServerStatement>, String> {
        let _ = gaps;
        Ok(Vec::new())
    }
}

/// What a series of a source is called, and how exactly it is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name: `log.written`.
    pub name: &'static str,
    /// Its unit, of a rate that of what happens in a second.
    pub unit: &'static str,
    /// Decimal digits that are kept.
    pub digits: i8,
    /// Whether values are totals, whose growth is kept.
    pub is_total: bool,
    /// What a value is multiplied by to be in its unit.
    pub scale: f64,
}

impl Metric {
    /// A total of events.
    pub const fn count(name: &'static str) -> Self {
        Self::total(name, "1/s", 0, 1.0)
    }

    /// A total of bytes.
    pub const fn bytes(name: &'static str) -> Self {
        Self::total(name, "bytes/s", -2, 1.0)
    }

    /// A total of milliseconds, of which so many are one in what a value is counted in.
    pub const fn time(name: &'static str, ms: f64) -> Self {
        Self::total(name, "ms/s", 1, ms)
    }

    /// A total.
    pub const fn total(name: &'static str, unit: &'static str, digits: i8, scale: f64) -> Self {
        Self {
            name,
            unit,
            digits,
            is_total: true,
            scale,
        }
    }

    /// A value as it is.
    pub const fn gauge(name: &'static str, unit: &'static str, digits: i8) -> Self {
        Self {
            name,
            unit,
            digits,
            is_total: false,
            scale: 1.0,
        }
    }
}

/// Totals that are nearer to each other than this part of a step make no rate of their own.
const SHORTEST: u32 = 4;

/// Names one series of a source's [`Samples`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesHandle(usize);

/// What a source has seen, series by series.
#[derive(Debug)]
pub struct Samples {
    source: String,
    step_ms: u32,
    columns: Vec<SeriesState>,
    /// Those of metrics, by name and labels' values.
    named: HashMap<(&'static str, String), SeriesHandle>,
    /// The look that goes on: when it began, and the time that it tells of; the first tells of none.
    now: Instant,
    at_ms: Option<i64>,
    /// When the load begins, in the record's time.
    first_ms: i64,
}

#[derive(Debug)]
struct SeriesState {
    builder: SeriesBuilder,
    /// The last total and when it was.
    last: Option<(Instant, f64)>,
    /// The last rate.
    rate: Option<f64>,
}

impl Samples {
    /// None yet.
    pub fn new(source: &str, every: Duration) -> Self {
        Self {
            source: source.into(),
            step_ms: u32::try_from(every.as_millis()).unwrap_or(u32::MAX),
            columns: Vec::new(),
            named: HashMap::new(),
            now: Instant::now(),
            at_ms: None,
            first_ms: 0,
        }
    }

    /// A new series of these, of values that [`Samples::put`] gives: `digits` are those behind the
    /// decimal point that are kept.
    pub fn gauge(
        &mut self,
        name: &str,
        unit: &str,
        labels: &[(&str, &str)],
        digits: i8,
    ) -> SeriesHandle {
        self.column(name, unit, labels, digits, Measures::Gauge)
    }

    /// A new series of these, of what happens in each second.
    pub fn rate(
        &mut self,
        name: &str,
        unit: &str,
        labels: &[(&str, &str)],
        digits: i8,
    ) -> SeriesHandle {
        self.column(name, unit, labels, digits, Measures::Rate)
    }

    fn column(
        &mut self,
        name: &str,
        unit: &str,
        labels: &[(&str, &str)],
        digits: i8,
        measures: Measures,
    ) -> SeriesHandle {
        let mut key = SeriesKey::new(&self.source, name, unit, measures);
        key = labels.iter().fold(key, |key, (l, v)| key.with(l, v));
        self.columns.push(SeriesState {
            builder: SeriesBuilder::new(key, digits, self.step_ms),
            last: None,
            rate: None,
        });
        SeriesHandle(self.columns.len() - 1)
    }

    /// A metric's value at this sample, with the labels that tell it from others of its name. A new
    /// one makes a series.
    pub fn tell(&mut self, metric: &Metric, labels: &[(&str, &str)], value: f64) {
        let values: String = labels.iter().map(|(_, v)| format!("{v}\0")).collect();
        let key = (metric.name, values);
        let column = match self.named.get(&key) {
            Some(column) => *column,
            None => {
                let Metric {
                    name, unit, digits, ..
                } = *metric;
                let column = match metric.is_total {
                    true => self.rate(name, unit, labels, digits),
                    false => self.gauge(name, unit, labels, digits),
                };
                self.named.insert(key, column);
                column
            }
        };
        let value = value * metric.scale;
        match metric.is_total {
            true => self.total(column, value),
            false => self.put(column, value),
        }
    }

    /// A value as it is.
    pub fn put(&mut self, column: SeriesHandle, value: f64) {
        if let (Some(at), Some(state)) = (self.at_ms, self.columns.get_mut(column.0)) {
            state.builder.push(at, value);
        }
    }

    /// The load begins at this time of the record.
    pub(crate) fn begin_at(&mut self, first_ms: i64) {
        self.first_ms = first_ms;
    }

    /// A value of so many milliseconds after the load began, which is later than the last one.
    pub(crate) fn put_after(&mut self, column: SeriesHandle, after_ms: i64, value: f64) {
        if let Some(state) = self.columns.get_mut(column.0) {
            let at = self.first_ms.saturating_add(after_ms);
            state.builder.push(at, value);
        }
    }

    /// A total that only grows; what is kept is its growth a second since the last one. One that has
    /// shrunk began anew, and tells nothing.
    pub fn total(&mut self, column: SeriesHandle, total: f64) {
        let now = self.now;
        let least = Duration::from_millis(u64::from(self.step_ms / SHORTEST));
        let Some(state) = self.columns.get_mut(column.0) else {
            return;
        };
        // After a reply that came late the next comes at once. When a server counted is not known as finely: the
        // rate is taken to be the same, and the next one is of both times.
        if let Some((then, before)) = state.last
            && total >= before
            && now.saturating_duration_since(then) < least
        {
            if let (Some(at), Some(rate)) = (self.at_ms, state.rate) {
                state.builder.push(at, rate);
            }
            return;
        }
        let before = state.last.replace((now, total));
        if let (Some(at), Some((then, before))) = (self.at_ms, before)
            && total >= before
        {
            let seconds = now.saturating_duration_since(then).as_secs_f64();
            let rate = (total - before) / seconds;
            state.rate = Some(rate);
            // Of no time comes no number, which is a gap.
            state.builder.push(at, rate);
        }
    }

    /// A look begins, at the end of the time from `at_ms`; `None` of the first look.
    pub fn begin(&mut self, at_ms: Option<i64>) {
        (self.now, self.at_ms) = (Instant::now(), at_ms);
    }

    /// Totals of this look are of this moment: who tells them was waited for.
    pub(crate) fn are_of_now(&mut self) {
        self.now = Instant::now();
    }

    /// What was kept until now, or since [`Samples::clear`].
    pub fn series(&self) -> Vec<Series> {
        let builders = self.columns.iter().map(|c| &c.builder);
        builders.filter_map(SeriesBuilder::series).collect()
    }

    /// The same while there is more to come: cheaper to make, and larger.
    pub fn unfinished(&self) -> Vec<Series> {
        let builders = self.columns.iter().map(|c| &c.builder);
        builders.filter_map(SeriesBuilder::unfinished).collect()
    }

    /// What was kept is somebody else's now.
    pub fn clear(&mut self) {
        for column in &mut self.columns {
            column.builder.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_nearly_one_moment_make_no_rate() {
        let mut samples = Samples::new("test", Duration::from_millis(200));
        let rate = samples.rate("sent", "1/s", &[], 0);
        let begun = samples.now;
        let mut look = |ms: u64, at: Option<i64>, total: f64| {
            samples.begin(at);
            samples.now = begun + Duration::from_millis(ms);
            samples.total(rate, total);
        };
        look(0, None, 0.0);
        look(200, Some(0), 20.0);
        // The reply that was late is followed by the next one at once.
        look(210, Some(200), 40.0);
        look(400, Some(400), 60.0);
        let series = samples.series();
        let points = series[0].points().unwrap().map(Result::unwrap);
        let points: Vec<(i64, f64)> = points.map(|p| (p.at_ms, p.value)).collect();
        let [(0, first), (200, same), (400, last)] = points[..] else {
            panic!("{points:?}");
        };
        assert_eq!((first, same, last), (100.0, 100.0, 200.0));
    }

    #[test]
    fn totals_become_rates_and_a_new_beginning_a_gap() {
        let mut samples = Samples::new("test", Duration::from_millis(10));
        let (rate, gauge) = (
            samples.rate("sent", "bytes/s", &[("to", "a")], 0),
            samples.gauge("open", "files", &[], 0),
        );
        for (at, total) in [
            (None, 5.0),
            (Some(0), 6.0),
            (Some(10), 1.0),
            (Some(20), 3.0),
        ] {
            std::thread::sleep(Duration::from_millis(10));
            samples.begin(at);
            samples.total(rate, total);
            samples.put(gauge, total);
        }
        let series = samples.series();
        let times = |n: usize| -> Vec<i64> {
            let points = series[n].points().unwrap();
            points.map(|p| p.unwrap().at_ms).collect()
        };
        assert_eq!((times(0), times(1)), (vec![0, 20], vec![0, 10, 20]));
        let rates: Vec<f64> = series[0]
            .points()
            .unwrap()
            .map(|p| p.unwrap().value)
            .collect();
        // One in ten milliseconds, or longer on a busy machine.
        assert!(rates[0] > 0.0 && rates[0] <= 100.0, "{rates:?}");
        assert_eq!(series[0].key.labels["to"], "a");
        samples.clear();
        assert!(samples.series().is_empty());
    }
}
