//! How the load was made and what came of it beyond latencies: rates, lateness of the generator,
//! steps, searches, outages.

use crate::ReportError;
use crate::merge::{TypeLatency, decode, per_second};
use std::time::Duration;
use tidemark_core::record::{Interval, Phase, RunRecord, Step, StepPurpose, Totals};
use tidemark_stats::Histogram;

/// A generator whose lateness has a 99th percentile above this is told of, whatever the latencies.
const LATE: Duration = Duration::from_millis(1);
/// So is one whose lateness is above this share of the median service time,
const LATE_SHARE: f64 = 0.1;
/// unless it is below this, which timers and the scheduler take on an idle machine.
const NEVER_LATE: Duration = Duration::from_micros(200);

/// What let transactions start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LoadKind {
    /// Replies, and terminals' thinking.
    Closed,
    /// A schedule of so many arrivals a second.
    Open(f64),
    /// A schedule with rates that followed each other.
    Steps,
    /// A search for the highest rate that keeps an objective.
    Search,
}

impl LoadKind {
    pub fn of(record: &RunRecord) -> Self {
        if option(record, "find-max").is_some()
            || record.steps.iter().any(|s| s.purpose != StepPurpose::Asked)
        {
            LoadKind::Search
        } else if !record.steps.is_empty() {
            LoadKind::Steps
        } else if let Some(rate) = record.rate {
            LoadKind::Open(rate)
        } else if record.intervals.iter().any(|i| i.rate.is_some()) {
            // Its end was never written, so neither were its steps.
            LoadKind::Steps
        } else {
            LoadKind::Closed
        }
    }

    pub fn is_open_loop(self) -> bool {
        self != LoadKind::Closed
    }
}

/// An option's value, unless it is empty or says "none".
pub(crate) fn option<'r>(record: &'r RunRecord, name: &str) -> Option<&'r str> {
    let value = record.options.get(name)?.value.as_str();
    Some(value).filter(|v| !matches!(*v, "" | "0"))
}

/// A distribution in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
}

impl Spread {
    /// `None` when nothing was recorded.
    pub fn of(h: &Histogram) -> Option<Self> {
        let ms = |p| h.percentile_ns(p) as f64 / 1e6;
        (!h.is_empty()).then(|| Self {
            mean_ms: h.mean_ns() / 1e6,
            p50_ms: ms(50.0),
            p95_ms: ms(95.0),
            p99_ms: ms(99.0),
            max_ms: h.max_ns() as f64 / 1e6,
        })
    }
}

/// The generator's own lateness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lateness {
    pub spread: Spread,
    /// Whether it shows in the latencies.
    pub matters: bool,
}

impl Lateness {
    /// `None` in closed loop, and when no free session awaited an arrival.
    pub fn of(totals: &Totals, all: &TypeLatency) -> Result<Option<Self>, ReportError> {
        let Some(encoded) = &totals.lateness else {
            return Ok(None);
        };
        let late = decode(encoded, || "the generator's lateness".into())?;
        Ok(Spread::of(&late).map(|spread| {
            let p99 = Duration::from_nanos(late.percentile_ns(99.0));
            let median = Duration::from_nanos(all.service.percentile_ns(50.0));
            let shows = p99 > NEVER_LATE && p99 > median.mul_f64(LATE_SHARE);
            Self {
                spread,
                matters: p99 > LATE || shows,
            }
        }))
    }
}

/// A step's figures.
#[derive(Debug, Clone)]
pub(crate) struct StepFigures<'r> {
    pub step: &'r Step,
    /// Transactions a second that ended.
    pub achieved: f64,
    /// Response times.
    pub latency: Option<Spread>,
    /// Whether the generator was late.
    pub late: bool,
}

/// The steps, in order, decoded.
pub(crate) fn steps(record: &RunRecord) -> Result<Vec<StepFigures<'_>>, ReportError> {
    record
        .steps
        .iter()
        .enumerate()
        .map(|(n, step)| StepFigures::of(step, &format!("step {}", n + 1)))
        .collect()
}

impl<'r> StepFigures<'r> {
    /// Decodes; `place` goes into the error.
    pub fn of(step: &'r Step, place: &str) -> Result<Self, ReportError> {
        let all = TypeLatency::decode(&step.totals.all, place)?;
        Ok(Self {
            step,
            achieved: per_second(all.count, step.totals.elapsed_s),
            latency: Spread::of(all.latency()),
            late: Lateness::of(&step.totals, &all)?.is_some_and(|l| l.matters),
        })
    }
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Found<'r> {
    /// A rate was kept, and kept again.
    Confirmed(&'r Step),
    /// A rate was kept, and not again.
    Refuted(&'r Step),
    /// A rate was kept, and the run ended before it was held again.
    Unconfirmed(&'r Step),
    /// No rate was kept; the lowest tried.
    None(Option<&'r Step>),
}

impl<'r> Found<'r> {
    pub fn of(record: &'r RunRecord) -> Self {
        let steps = || record.steps.iter();
        let kept = |s: &&Step| s.verdict.as_ref().is_some_and(|v| v.kept);
        let by_rate = |a: &&Step, b: &&Step| {
            let rate = |s: &Step| s.rate.unwrap_or(0.0);
            rate(a).total_cmp(&rate(b))
        };
        if let Some(last) = steps().rfind(|s| s.purpose == StepPurpose::Confirm) {
            return if kept(&last) {
                Found::Confirmed(last)
            } else {
                Found::Refuted(last)
            };
        }
        let tried = || steps().filter(|s| s.rate.is_some());
        match tried().filter(kept).max_by(by_rate) {
            Some(best) => Found::Unconfirmed(best),
            None => Found::None(tried().min_by(by_rate)),
        }
    }

    /// The rate found, if it can be relied on.
    pub fn rate(&self) -> Option<f64> {
        match self {
            Found::Confirmed(step) => step.rate,
            _ => None,
        }
    }
}

/// What was done in measured intervals without an outage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OutsideOutages {
    transactions: u64,
    length_ms: f64,
}

impl OutsideOutages {
    /// Counts an interval, if it belongs there.
    pub fn add(&mut self, interval: &Interval) {
        if interval.phase == Phase::Measure && interval.outage_ms == 0.0 {
            self.transactions += interval.types.values().map(|t| t.count).sum::<u64>();
            self.length_ms += interval.length_ms;
        }
    }

    /// Of these intervals.
    pub fn of<'i>(intervals: impl IntoIterator<Item = &'i Interval>) -> Self {
        let mut sum = Self::default();
        intervals.into_iter().for_each(|i| sum.add(i));
        sum
    }

    /// Transactions a second; `None` when no interval was without one.
    pub fn per_second(&self) -> Option<f64> {
        (self.length_ms > 0.0).then(|| self.transactions as f64 / (self.length_ms / 1000.0))
    }
}

/// The server's own limit of sessions, if its settings were read.
pub(crate) fn max_connections(record: &RunRecord) -> Option<&str> {
    let limit = record.settings.iter().find(|s| s.name == "max_connections");
    limit.map(|s| s.value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::{EncodedHistogram, StepVerdict, TypeStats};

    fn histogram(us: u64) -> Histogram {
        let mut h = Histogram::new();
        h.record(Duration::from_micros(us));
        h
    }

    fn matters(lateness_us: u64, service_us: u64) -> bool {
        let totals = Totals {
            lateness: Some(EncodedHistogram(histogram(lateness_us).encode())),
            ..Totals::default()
        };
        let all = TypeLatency {
            service: histogram(service_us),
            ..TypeLatency::default()
        };
        Lateness::of(&totals, &all).unwrap().unwrap().matters
    }

    #[test]
    fn lateness_matters_when_it_shows_in_latencies() {
        assert!(!matters(100, 50), "no timer is better");
        assert!(matters(300, 2000));
        assert!(!matters(300, 4000));
        assert!(!matters(900, 20_000));
        assert!(matters(1100, 1_000_000));
    }

    fn step(purpose: StepPurpose, rate: f64, kept: bool) -> Step {
        Step {
            purpose,
            rate: (purpose != StepPurpose::Probe).then_some(rate),
            start_ms: 0,
            totals: Totals {
                all: TypeStats::default(),
                ..Totals::default()
            },
            verdict: (purpose != StepPurpose::Probe).then(|| StepVerdict {
                kept,
                because: "p99 1 ms".into(),
            }),
        }
    }

    fn found(steps: &[Step]) -> String {
        let record = RunRecord {
            steps: steps.to_vec(),
            ..RunRecord::default()
        };
        assert_eq!(LoadKind::of(&record), LoadKind::Search);
        match Found::of(&record) {
            Found::Confirmed(s) => format!("confirmed {:?}", s.rate),
            Found::Refuted(s) => format!("refuted {:?}", s.rate),
            Found::Unconfirmed(s) => format!("unconfirmed {:?}", s.rate),
            Found::None(s) => format!("none {:?}", s.and_then(|s| s.rate)),
        }
    }

    #[test]
    fn a_search_comes_to_what_its_last_confirmation_says() {
        use StepPurpose::{Bisect, Climb, Confirm, Probe};
        let path = [
            step(Probe, 0.0, true),
            step(Climb, 100.0, true),
            step(Climb, 200.0, false),
            step(Bisect, 150.0, true),
        ];
        assert_eq!(found(&path), "unconfirmed Some(150.0)");
        let with = |more: &[Step]| found(&[&path[..], more].concat());
        assert_eq!(with(&[step(Confirm, 150.0, true)]), "confirmed Some(150.0)");
        assert_eq!(with(&[step(Confirm, 150.0, false)]), "refuted Some(150.0)");
        assert_eq!(
            with(&[step(Confirm, 150.0, false), step(Confirm, 140.0, true)]),
            "confirmed Some(140.0)"
        );
        assert_eq!(
            found(&[step(Climb, 100.0, false), step(Climb, 50.0, false)]),
            "none Some(50.0)"
        );
        assert_eq!(found(&path[..1]), "none None");
    }

    #[test]
    fn throughput_outside_outages_leaves_their_intervals_out() {
        let interval = |count, outage_ms, phase| Interval {
            length_ms: 500.0,
            outage_ms,
            phase,
            types: [(
                "t".into(),
                TypeStats {
                    count,
                    ..TypeStats::default()
                },
            )]
            .into(),
            ..Interval::default()
        };
        let intervals = [
            interval(9000, 0.0, Phase::Warmup),
            interval(50, 0.0, Phase::Measure),
            interval(3, 400.0, Phase::Measure),
            interval(60, 0.0, Phase::Measure),
        ];
        assert_eq!(OutsideOutages::of(&intervals).per_second(), Some(110.0));
        assert_eq!(OutsideOutages::of(&intervals[2..3]).per_second(), None);
    }
}
