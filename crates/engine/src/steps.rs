//! Rates that follow each other: those asked for, or those that a search chooses.

use std::collections::VecDeque;
use std::time::Duration;
use tidemark_core::record::{StepPurpose, StepVerdict, Totals, TypeStats};
use tidemark_core::{FindMax, Limit, Measure, Pacing};
use tidemark_stats::Histogram;

/// A rate to hold next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepPlan {
    /// Why it is held.
    pub purpose: StepPurpose,
    /// Arrivals a second; `None` is no schedule: as fast as replies come.
    pub rate: Option<f64>,
    /// For how long.
    pub hold: Duration,
}

/// Chooses the rates of a run. Where several clients make it, one conductor leads them all by the sum of
/// what they measured.
#[derive(Debug)]
pub struct Conductor(Plans);

#[derive(Debug)]
enum Plans {
    Asked(VecDeque<StepPlan>),
    Search(Search),
}

impl Conductor {
    /// `None` for a run at one load level.
    pub fn new(pacing: &Pacing) -> Option<Self> {
        let plans = match pacing {
            Pacing::Closed | Pacing::Rate(_) => return None,
            Pacing::Steps(steps) => Plans::Asked(
                steps
                    .iter()
                    .map(|step| StepPlan {
                        purpose: StepPurpose::Asked,
                        rate: Some(step.per_second),
                        hold: step.hold,
                    })
                    .collect(),
            ),
            Pacing::FindMax(search) => Plans::Search(Search::new(search.clone())),
        };
        Some(Self(plans))
    }

    /// The next rate; `None` at the end.
    #[allow(clippy::should_implement_trait)] // what comes next depends on the verdict
    pub fn next(&mut self) -> Option<StepPlan> {
        match &mut self.0 {
            Plans::Asked(steps) => steps.pop_front(),
            Plans::Search(search) => search.next(),
        }
    }

    /// Judges what came of a rate.
    pub fn judge(&mut self, plan: &StepPlan, totals: &Totals) -> Option<StepVerdict> {
        match &mut self.0 {
            Plans::Asked(_) => None,
            Plans::Search(search) => search.judge(plan, totals),
        }
    }
}

/// A search for the highest rate that keeps an objective: up by half until it is broken, then
/// halving the distance, then the rate found is held again.
#[derive(Debug)]
struct Search {
    asked: FindMax,
    /// The highest rate that kept the objective.
    kept: Option<f64>,
    /// The lowest rate that did not.
    broken: Option<f64>,
    next: NextStep,
    confirmations: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum NextStep {
    Probe,
    Try(f64, StepPurpose),
    Done,
}

/// The first rate is this part of what sessions reach without a schedule.
const START_OF_PROBE: f64 = 0.5;
/// Each rate of the climb over the one before it.
const CLIMB: f64 = 1.5;
/// A rate counts as sent when this part of it was.
const SENT: f64 = 0.98;
/// A confirmation that fails lowers the rate by this, so often.
const STEP_BACK: f64 = 0.95;
const CONFIRMATIONS: u32 = 5;
/// Fewer arrivals than this in the time that a rate is held say nothing of its percentiles.
const FEWEST_ARRIVALS: f64 = 100.0;

impl Search {
    fn new(asked: FindMax) -> Self {
        let next = match asked.first_rate {
            Some(rate) => NextStep::Try(rate, StepPurpose::Climb),
            None => NextStep::Probe,
        };
        Self {
            asked,
            kept: None,
            broken: None,
            next,
            confirmations: 0,
        }
    }

    fn next(&self) -> Option<StepPlan> {
        match self.next {
            NextStep::Done => None,
            NextStep::Probe => Some(StepPlan {
                purpose: StepPurpose::Probe,
                rate: None,
                hold: self.asked.hold,
            }),
            NextStep::Try(rate, purpose) => Some(StepPlan {
                purpose,
                rate: Some(rate),
                hold: match purpose {
                    StepPurpose::Confirm => self.asked.confirm,
                    _ => self.asked.hold,
                },
            }),
        }
    }

    fn judge(&mut self, plan: &StepPlan, totals: &Totals) -> Option<StepVerdict> {
        let reached = totals.all.count as f64 / totals.elapsed_s.max(1e-9);
        let Some(rate) = plan.rate else {
            self.next = if self.is_too_low(reached * START_OF_PROBE) {
                NextStep::Done
            } else {
                NextStep::Try(round(reached * START_OF_PROBE), StepPurpose::Climb)
            };
            return None;
        };
        let verdict = self.verdict(rate, reached, totals);
        if plan.purpose == StepPurpose::Confirm {
            self.confirmations += 1;
            if verdict.kept || self.confirmations >= CONFIRMATIONS {
                self.next = NextStep::Done;
            } else {
                self.next = NextStep::Try(round(rate * STEP_BACK), StepPurpose::Confirm);
            }
            return Some(verdict);
        }
        if verdict.kept {
            self.kept = Some(self.kept.map_or(rate, |k| k.max(rate)));
        } else {
            self.broken = Some(self.broken.map_or(rate, |b| b.min(rate)));
        }
        self.next = match (self.kept, self.broken) {
            (Some(kept), None) => NextStep::Try(round(kept * CLIMB), StepPurpose::Climb),
            (None, Some(broken)) if self.is_too_low(broken / 2.0) => NextStep::Done,
            (None, Some(broken)) => NextStep::Try(round(broken / 2.0), StepPurpose::Climb),
            (Some(kept), Some(broken)) if broken - kept > self.asked.precision * kept => {
                NextStep::Try(round((kept + broken) / 2.0), StepPurpose::Bisect)
            }
            (Some(kept), _) => NextStep::Try(kept, StepPurpose::Confirm),
            (None, None) => NextStep::Done,
        };
        // Rounding must not try a rate twice.
        if let (NextStep::Try(next, StepPurpose::Bisect), Some(kept)) = (self.next, self.kept)
            && (Some(next) == self.broken || next == kept)
        {
            self.next = NextStep::Try(kept, StepPurpose::Confirm);
        }
        Some(verdict)
    }

    fn is_too_low(&self, rate: f64) -> bool {
        rate * self.asked.hold.as_secs_f64() < FEWEST_ARRIVALS
    }

    fn verdict(&self, rate: f64, reached: f64, totals: &Totals) -> StepVerdict {
        let broken = |because: String| StepVerdict {
            kept: false,
            because,
        };
        if totals.dropped_arrivals > 0 {
            return broken(format!(
                "{} arrivals were dropped: the backlog was full",
                totals.dropped_arrivals
            ));
        }
        let limits = self.asked.objective.limits();
        let values = limits.iter().map(|l| value(l, totals, rate));
        let values: Vec<Option<f64>> = values.collect();
        let shown = |limit: &Limit, value: Option<f64>| show(limit, value);
        for (limit, value) in limits.iter().zip(&values) {
            if *value == Some(f64::INFINITY) {
                return broken(format!(
                    "{} above {:.3} ms: {} arrivals were still waiting at the end",
                    measured_by(limit),
                    limit.below * 1000.0,
                    totals.unserved_arrivals
                ));
            }
            if !value.is_some_and(|v| limit.is_kept(v)) {
                return broken(shown(limit, *value));
            }
        }
        // Poisson arrivals of a short step scatter by their root.
        let asked = rate * totals.elapsed_s;
        let scatter = 4.0 * asked.sqrt() / asked.max(1.0);
        if reached < rate * (SENT - scatter) {
            return broken(format!(
                "only {reached:.0} of {rate:.0} per second were served, {} were waiting at the \
                 end",
                totals.unserved_arrivals
            ));
        }
        let because: Vec<String> = limits
            .iter()
            .zip(values)
            .map(|(l, v)| shown(l, v))
            .collect();
        StepVerdict {
            kept: true,
            because: because.join(", "),
        }
    }
}

/// Three digits: nobody needs to type more.
fn round(rate: f64) -> f64 {
    let scale = 10f64.powf(rate.log10().floor() - 2.0);
    let rounded = (rate / scale).round() * scale;
    // 0.1 and its kin are not what they seem.
    (rounded * 1e6).round() / 1e6
}

/// What a limit limits, in its unit; `None` when nothing was measured. What was due at this rate and still
/// waited at the end counts as well: it was due one after the other until then, so that the first has waited
/// for all that time, and those that were due longer ago than the limit are beyond it.
fn value(limit: &Limit, totals: &Totals, rate: f64) -> Option<f64> {
    if limit.measure == Measure::ErrorPercent {
        let done = totals.all.count + totals.ignored_errors;
        return (done > 0).then(|| totals.ignored_errors as f64 / done as f64 * 100.0);
    }
    let times = response(&totals.all)?;
    if times.is_empty() {
        return None;
    }
    let unserved = totals.unserved_arrivals as f64;
    let longest_s = unserved / rate.max(1e-9);
    let count = totals.all.count.max(1) as f64;
    Some(match limit.measure {
        Measure::Percentile(p) => {
            let beyond = (unserved - rate * limit.below).max(0.0);
            // Rounding must not change the percentile where nothing waited.
            let share = match beyond > 0.0 {
                true => p * (count + beyond) / count,
                false => p,
            };
            match share > 100.0 {
                true => f64::INFINITY,
                false => times.percentile_ns(share) as f64 / 1e9,
            }
        }
        Measure::Mean => {
            let waited_s = unserved * longest_s / 2.0;
            (times.mean_ns() / 1e9 * count + waited_s) / (count + unserved)
        }
        Measure::Max | Measure::ErrorPercent => (times.max_ns() as f64 / 1e9).max(longest_s),
    })
}

fn response(stats: &TypeStats) -> Option<Histogram> {
    let encoded = stats.response.as_ref().unwrap_or(&stats.service);
    Histogram::decode(&encoded.0).ok()
}

fn measured_by(limit: &Limit) -> String {
    match limit.measure {
        Measure::Percentile(p) => format!("p{p}"),
        Measure::Mean => "avg".into(),
        Measure::Max => "max".into(),
        Measure::ErrorPercent => "errors".into(),
    }
}

fn show(limit: &Limit, value: Option<f64>) -> String {
    let name = measured_by(limit);
    match value {
        None => format!("{name} unknown: no transaction completed"),
        Some(v) if limit.measure == Measure::ErrorPercent => format!("{name} {v:.3} %"),
        Some(v) => format!("{name} {:.3} ms", v * 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::RateStep;
    use tidemark_core::record::EncodedHistogram;

    /// An M/M/1 queue of this capacity: response times are exponential with mean 1 / (c - r).
    fn queue(capacity: f64, rate: Option<f64>, seconds: f64) -> Totals {
        let mut times = Histogram::new();
        let rate = rate.unwrap_or(capacity);
        let mean = if rate < capacity {
            1.0 / (capacity - rate)
        } else {
            10.0
        };
        for n in 0..1000 {
            let u = (f64::from(n) + 0.5) / 1000.0;
            times.record(Duration::from_secs_f64(-u.ln() * mean));
        }
        Totals {
            elapsed_s: seconds,
            all: TypeStats {
                count: (rate.min(capacity) * seconds) as u64,
                service: EncodedHistogram(times.encode()),
                ..TypeStats::default()
            },
            ..Totals::default()
        }
    }

    fn search(objective: &str, first_rate: Option<f64>) -> Conductor {
        let Some(conductor) = Conductor::new(&Pacing::FindMax(FindMax {
            objective: objective.parse().unwrap(),
            first_rate,
            hold: Duration::from_secs(10),
            confirm: Duration::from_secs(30),
            precision: 0.05,
        })) else {
            panic!("a search has steps");
        };
        conductor
    }

    fn path(mut conductor: Conductor, capacity: f64) -> Vec<(StepPurpose, Option<f64>, bool)> {
        let mut steps = Vec::new();
        while let Some(plan) = conductor.next() {
            let totals = queue(capacity, plan.rate, plan.hold.as_secs_f64());
            let verdict = conductor.judge(&plan, &totals);
            steps.push((plan.purpose, plan.rate, verdict.is_some_and(|v| v.kept)));
            assert!(steps.len() < 60, "{steps:?}");
        }
        steps
    }

    #[test]
    fn what_still_waits_at_the_end_is_in_every_latency() {
        // The server stands still for the last 300 ms of 10 s at 1,000/s: 64 of what it was sent took long, and
        // 236 were due and not begun.
        let verdict = |objective: &str, unserved: u64| {
            let mut times = Histogram::new();
            for n in 0..9_764 {
                let ms = if n < 9_700 { 5 } else { 300 };
                times.record(Duration::from_millis(ms));
            }
            let totals = Totals {
                elapsed_s: 10.0,
                unserved_arrivals: unserved,
                all: TypeStats {
                    count: 9_764,
                    service: EncodedHistogram(times.encode()),
                    ..TypeStats::default()
                },
                ..Totals::default()
            };
            let search = Search::new(FindMax {
                objective: objective.parse().unwrap(),
                first_rate: None,
                hold: Duration::from_secs(10),
                confirm: Duration::from_secs(30),
                precision: 0.05,
            });
            search.verdict(1000.0, 976.4, &totals)
        };
        assert!(verdict("p99 < 20ms", 0).kept);
        // Those were due in the last 20 ms.
        assert!(verdict("p99 < 20ms", 20).kept);
        let broken = verdict("p99 < 20ms", 236);
        assert!(
            !broken.kept && broken.because.contains("236 arrivals"),
            "{broken:?}"
        );
        assert!(verdict("p90 < 20ms", 236).kept);
        assert!(verdict("avg < 9ms", 0).kept && !verdict("avg < 9ms", 236).kept);
        assert!(verdict("max < 310ms", 236).kept && !verdict("max < 310ms", 350).kept);
    }

    /// p99 of the queue is ln(100) / (c - r): 20 ms are kept up to c - 230.
    #[test]
    fn a_search_ends_within_its_precision_of_the_truth() {
        for capacity in [400.0, 1_000.0, 12_345.0, 200_000.0] {
            for first in [None, Some(50.0), Some(2.0 * capacity)] {
                let steps = path(search("p99 < 20ms", first), capacity);
                let (purpose, rate, kept) = steps[steps.len() - 1];
                assert_eq!((purpose, kept), (StepPurpose::Confirm, true));
                let truth = capacity - 100f64.ln() / 0.02;
                let found = rate.unwrap() / truth;
                assert!(
                    (0.93..1.005).contains(&found),
                    "{capacity}: {found} {steps:?}"
                );
            }
        }
    }

    #[test]
    fn a_search_gives_up_where_no_rate_keeps_the_objective() {
        let steps = path(search("p99 < 1us", None), 100.0);
        assert!(steps.iter().all(|(_, _, kept)| !kept), "{steps:?}");
        assert_ne!(steps[steps.len() - 1].0, StepPurpose::Confirm);
    }

    #[test]
    fn an_overloaded_step_is_broken_whatever_its_latencies() {
        let mut conductor = search("p99 < 1h", Some(1000.0));
        let plan = conductor.next().unwrap();
        let mut totals = queue(500.0, Some(400.0), 10.0);
        let verdict = conductor.judge(&plan, &totals).unwrap();
        assert!(!verdict.kept && verdict.because.contains("only 400 of 1000"));
        totals.dropped_arrivals = 3;
        let verdict = conductor.judge(&plan, &totals).unwrap();
        assert!(verdict.because.contains("3 arrivals were dropped"));
    }

    #[test]
    fn asked_rates_come_in_order_and_are_not_judged() {
        let hold = Duration::from_secs(3);
        let step = |per_second| RateStep { per_second, hold };
        let mut conductor = Conductor::new(&Pacing::Steps(vec![step(10.0), step(5.0)])).unwrap();
        let first = conductor.next().unwrap();
        assert_eq!((first.rate, first.hold), (Some(10.0), hold));
        assert_eq!(conductor.judge(&first, &Totals::default()), None);
        assert_eq!(conductor.next().unwrap().rate, Some(5.0));
        assert_eq!(conductor.next(), None);
    }
}
