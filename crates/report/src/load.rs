//! How the load was made and what came of it beyond latencies: rates, lateness of the generator,
//! steps, searches, outages.

use crate::ReportError;
use crate::merge::{TypeLatency, decode, per_second};
use std::time::Duration;
pub(crate) use tidemark_analysis::{LoadKind, option};
use tidemark_core::record::{RunRecord, Step, StepPurpose, Totals};
use tidemark_stats::Histogram;

/// A generator whose lateness has a 99th percentile above this is told of, whatever the latencies.
const LATE: Duration = Duration::from_millis(1);
/// So is one whose lateness is above this share of the median service time,
const LATE_SHARE: f64 = 0.1;
/// unless it is below this, which timers and the scheduler take on an idle machine.
const NEVER_LATE: Duration = Duration::from_micros(200);
/// More arrivals than this share that were due and not served at the end are told of.
const UNSERVED_SHARE: f64 = 0.001;

/// A distribution in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
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

/// Where a service time passed.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub(crate) struct ServiceSplit {
    /// At the server and on the way, until replies had come to the client's host.
    pub server: Spread,
    /// The rest, on average: waiting for the client host's processors, reading.
    pub client_mean_ms: f64,
    /// Its share of the service time, 0 to 1.
    pub client_share: f64,
    /// What the transaction's own script paused, on average; absent where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_mean_ms: Option<f64>,
}

impl ServiceSplit {
    /// `None` where it was not measured.
    pub fn of(latency: &TypeLatency) -> Option<Self> {
        let measured = latency.server.as_ref();
        let server = measured.filter(|s| s.count() == latency.service.count())?;
        let [whole, part] = [latency.service.mean_ns(), server.mean_ns()].map(|ns| ns / 1e6);
        let paused = latency.paused_ms / latency.service.count() as f64;
        // A pause's end and a reply may be of one moment.
        let client = (whole - part - paused).max(0.0);
        Some(Self {
            server: Spread::of(server)?,
            client_mean_ms: client,
            client_share: client / whole,
            paused_mean_ms: (paused > 0.0).then_some(paused),
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
    /// `None` where a transaction is never due before it is sent, and when no free session awaited
    /// one.
    pub fn of(totals: &Totals, all: &TypeLatency) -> Result<Option<Self>, ReportError> {
        let Some(encoded) = &totals.lateness else {
            return Ok(None);
        };
        let late = decode(encoded, || "the client's scheduling delay".into())?;
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
pub(crate) enum SearchOutcome<'r> {
    /// A rate was kept, and kept again.
    Confirmed(&'r Step),
    /// A rate was kept, and not again.
    Refuted(&'r Step),
    /// A rate was kept, and the run ended before it was held again.
    Unconfirmed(&'r Step),
    /// No rate was kept; the lowest tried.
    None(Option<&'r Step>),
}

/// Whose figures the totals of a search are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FiguresOf {
    /// The rate's confirmation.
    Confirmation,
    /// The last rate tried.
    LastTried,
    /// Neither: it ended before a rate was tried.
    Nothing,
}

impl<'r> SearchOutcome<'r> {
    pub fn of(record: &'r RunRecord) -> Self {
        let steps = || record.steps.iter();
        let kept = |s: &&Step| s.verdict.as_ref().is_some_and(|v| v.kept);
        let by_rate = |a: &&Step, b: &&Step| {
            let rate = |s: &Step| s.rate.unwrap_or(0.0);
            rate(a).total_cmp(&rate(b))
        };
        if let Some(last) = steps().rfind(|s| s.purpose == StepPurpose::Confirm) {
            return if kept(&last) {
                SearchOutcome::Confirmed(last)
            } else {
                SearchOutcome::Refuted(last)
            };
        }
        let tried = || steps().filter(|s| s.rate.is_some());
        match tried().filter(kept).max_by(by_rate) {
            Some(best) => SearchOutcome::Unconfirmed(best),
            None => SearchOutcome::None(tried().min_by(by_rate)),
        }
    }

    /// The rate found, if it can be relied on.
    pub fn rate(&self) -> Option<f64> {
        match self {
            SearchOutcome::Confirmed(step) => step.rate,
            _ => None,
        }
    }

    /// Whose figures the record's totals are, and the rate they were measured at.
    pub fn figures(record: &'r RunRecord) -> (FiguresOf, Option<f64>) {
        match (SearchOutcome::of(record), record.steps.last()) {
            (SearchOutcome::Confirmed(step), _) => (FiguresOf::Confirmation, step.rate),
            (SearchOutcome::None(None), _) | (_, None) => (FiguresOf::Nothing, None),
            (_, Some(last)) => (FiguresOf::LastTried, last.rate),
        }
    }
}

/// Arrivals that came due, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DueArrivals {
    /// All of them: served, dropped or skipped, and not served at the end.
    pub all: u64,
    pub delayed: u64,
    pub dropped: u64,
    pub unserved: u64,
}

impl DueArrivals {
    /// Of totals in which `served` transactions ended.
    pub fn of(totals: &Totals, served: u64) -> Self {
        Self {
            all: served + totals.dropped_arrivals + totals.unserved_arrivals,
            delayed: totals.delayed_arrivals,
            dropped: totals.dropped_arrivals,
            unserved: totals.unserved_arrivals,
        }
    }

    /// Milliseconds after which an arrival was not begun any more, in a run that skips such.
    pub fn skip_late_ms(record: &RunRecord) -> Option<f64> {
        let limit = record.job.as_ref()?.load.skip_late?;
        Some(limit.as_secs_f64() * 1000.0)
    }

    /// Whether more were left than those that any end cuts off.
    pub fn too_many_unserved(&self) -> bool {
        self.unserved as f64 > self.all as f64 * UNSERVED_SHARE
    }
}

/// Transactions a second of the time in which every host could be reached, arrivals that waited
/// and were served then among them. `None` when there was no such time, and with several hosts:
/// then the others went on meanwhile, and totals don't tell how much.
pub(crate) fn outside_outages(totals: &Totals) -> Option<f64> {
    let seconds = totals.elapsed_s - totals.outage_s;
    (seconds > 0.001 && totals.hosts.len() < 2).then(|| per_second(totals.all.count, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::{EncodedHistogram, HostLoad, StepVerdict, TypeStats};

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
            cut_short: false,
        }
    }

    fn found(steps: &[Step]) -> String {
        let record = RunRecord {
            steps: steps.to_vec(),
            ..RunRecord::default()
        };
        assert_eq!(LoadKind::of(&record), LoadKind::Search);
        match SearchOutcome::of(&record) {
            SearchOutcome::Confirmed(s) => format!("confirmed {:?}", s.rate),
            SearchOutcome::Refuted(s) => format!("refuted {:?}", s.rate),
            SearchOutcome::Unconfirmed(s) => format!("unconfirmed {:?}", s.rate),
            SearchOutcome::None(s) => format!("none {:?}", s.and_then(|s| s.rate)),
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
    fn a_searchs_figures_are_of_a_confirmation_only_when_it_was_kept() {
        use StepPurpose::{Climb, Confirm, Probe};
        let figures = |steps: &[Step]| {
            let record = RunRecord {
                steps: steps.to_vec(),
                ..RunRecord::default()
            };
            SearchOutcome::figures(&record)
        };
        let path = [step(Probe, 0.0, true), step(Climb, 100.0, true)];
        let with = |kept| figures(&[&path[..], &[step(Confirm, 90.0, kept)]].concat());
        assert_eq!(with(true), (FiguresOf::Confirmation, Some(90.0)));
        assert_eq!(with(false), (FiguresOf::LastTried, Some(90.0)));
        assert_eq!(figures(&path), (FiguresOf::LastTried, Some(100.0)));
        assert_eq!(figures(&path[..1]), (FiguresOf::Nothing, None));
    }

    #[test]
    fn throughput_outside_outages_is_of_the_time_that_is_left() {
        let mut totals = Totals {
            elapsed_s: 10.0,
            outage_s: 2.0,
            all: TypeStats {
                count: 800,
                ..TypeStats::default()
            },
            hosts: vec![HostLoad::default()],
            ..Totals::default()
        };
        assert_eq!(outside_outages(&totals), Some(100.0));
        totals.hosts.push(HostLoad::default());
        assert_eq!(outside_outages(&totals), None, "the other host went on");
        totals.hosts.clear();
        totals.outage_s = 10.0;
        assert_eq!(outside_outages(&totals), None);
    }

    #[test]
    fn arrivals_due_are_all_that_a_share_is_of() {
        let due = |unserved| {
            let totals = Totals {
                dropped_arrivals: 100,
                unserved_arrivals: unserved,
                ..Totals::default()
            };
            DueArrivals::of(&totals, 9_890)
        };
        assert_eq!(due(10).all, 10_000);
        assert!(!due(10).too_many_unserved());
        assert!(due(12).too_many_unserved());
        assert!(!DueArrivals::default().too_many_unserved());
    }
}
