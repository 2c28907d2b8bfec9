//! A point of the matrix in figures, over its repeats.

use super::matrix::CurvePoint;
use super::repeat::Repeat;
use crate::ReportError;
use serde::{Serialize, Serializer};
use tidemark_analysis::Severity;
use tidemark_core::record::RateUnit;
use tidemark_stats::{Histogram, half_interval, mean};

/// Of the intervals of repeats.
const LEVEL: f64 = 0.95;
/// An interval whose half is a larger share of its mean than this says nothing of it, and half of it
/// may lie below 0: the repeats' own ends are told instead.
const TELLING: f64 = 0.5;

/// A figure over repeats: the mean of each repeat's own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Repeated {
    /// The mean.
    pub value: f64,
    /// Half of the 95 % confidence interval of the mean, by Student's distribution; absent for one.
    pub half: Option<f64>,
    /// The least of the repeats.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

/// How far a figure may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Within {
    /// Half of the confidence interval.
    Half(f64),
    /// The interval tells nothing: from the least of the repeats to the greatest.
    Repeats(f64, f64),
}

impl Repeated {
    /// The mean of the repeats; `None` of none.
    fn of(values: &[f64]) -> Option<Self> {
        let least = values.iter().copied().reduce(f64::min)?;
        Some(Self {
            value: mean(values.iter().copied()),
            half: half_interval(values, LEVEL),
            least,
            most: values.iter().copied().fold(least, f64::max),
        })
    }

    /// How far the figure may be off; `None` of a single run.
    pub fn within(&self) -> Option<Within> {
        let half = self.half?;
        Some(match half <= self.value.abs() * TELLING {
            true => Within::Half(half),
            false => Within::Repeats(self.least, self.most),
        })
    }

    /// Both ends of [`Repeated::within`].
    pub fn ends(&self) -> Option<(f64, f64)> {
        Some(match self.within()? {
            Within::Half(half) => (self.value - half, self.value + half),
            Within::Repeats(least, most) => (least, most),
        })
    }

    /// Whether this one is larger than the other for certain, as far as repeats of both tell.
    pub fn is_surely_above(&self, other: &Self) -> bool {
        match (self.within(), other.within()) {
            (Some(Within::Half(half)), Some(Within::Half(others))) => {
                self.value - half > other.value + others
            }
            _ => false,
        }
    }
}

/// A point's figures: of its runs that may be used ([`CurvePoint::figured`]), which are means of its
/// repeats' own, all of them, so that they go together.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PointResults {
    /// Ids of all its runs.
    pub runs: Vec<String>,
    /// Runs that the figures are of.
    pub counted: usize,
    /// Repeats that they make: several runs at one time are clients of one load, and one repeat.
    #[serde(rename = "repeats")]
    pub repeats_count: usize,
    /// Whether the figures may be used; those of a point without a run that may are shown, and stand
    /// in no law and no comparison.
    pub usable: bool,
    /// Ids of the runs whose figures must not be used; they are in no figure where the point has
    /// others.
    pub invalid: Vec<String>,
    pub load: Option<f64>,
    /// Of all clients of a repeat; 0 where a document states none.
    #[serde(serialize_with = "above_zero")]
    pub users: usize,
    /// What its throughput counts.
    pub rate_unit: RateUnit,
    /// The throughput.
    #[serde(rename = "throughput")]
    pub transactions_per_s: Option<Repeated>,
    /// It, where it is of transactions.
    #[serde(rename = "transactions_per_s")]
    pub only_transactions_per_s: Option<Repeated>,
    pub statements_per_s: Option<Repeated>,
    pub mean_ms: Option<Repeated>,
    pub p50_ms: Option<Repeated>,
    pub p95_ms: Option<Repeated>,
    pub p99_ms: Option<Repeated>,
    /// Of all repeats.
    pub max_ms: Option<f64>,
    /// Of all repeats, where they were counted.
    pub errors: Option<u64>,
    /// Over all repeats.
    pub errors_per_s: Option<f64>,
    /// Of the client host's processors, by the client itself.
    pub client_cpu_percent: Option<Repeated>,
    pub tpmc: Option<Repeated>,
    pub tpm: Option<Repeated>,
    pub efficiency_percent: Option<Repeated>,
    pub price_per_tpmc: Option<Repeated>,
    pub qphh: Option<Repeated>,
    /// Measured seconds.
    pub elapsed_s: Option<Repeated>,
    /// The severest finding of its runs.
    pub severity: Option<Severity>,
    /// Each repeat by itself.
    #[serde(skip)]
    pub repeats: Vec<Repeat>,
    /// All repeats' latencies together, to draw.
    #[serde(skip)]
    pub latency: Histogram,
}

impl PointResults {
    pub fn of(point: &CurvePoint<'_>) -> Result<Self, ReportError> {
        let repeats = Repeat::of(point)?;
        let mut latency = Histogram::new();
        for repeat in &repeats {
            latency.merge(&repeat.decoded()?);
        }
        let repeated = |of: &dyn Fn(&Repeat) -> Option<f64>| {
            let values: Vec<f64> = repeats.iter().filter_map(of).collect();
            Repeated::of(&values)
        };
        let errors = repeats.iter().map(|r| r.errors);
        let all_known = repeats.iter().all(|r| r.errors_known);
        let rate_unit = point
            .runs
            .first()
            .map_or(RateUnit::Transactions, |run| run.rate_unit);
        let known = |value: f64| Some(value).filter(|v| v.is_finite());
        let rate = repeated(&|r| known(r.transactions_per_s));
        Ok(Self {
            runs: point.runs.iter().map(|r| r.id.clone()).collect(),
            counted: repeats.iter().map(|r| r.clients).sum(),
            repeats_count: repeats.len(),
            usable: point.is_usable(),
            invalid: point.invalid().map(|r| r.id.clone()).collect(),
            load: point.load.as_ref().map(|(n, _)| *n),
            users: repeats.first().map_or(0, |r| r.users),
            rate_unit,
            transactions_per_s: rate,
            only_transactions_per_s: rate.filter(|_| rate_unit == RateUnit::Transactions),
            statements_per_s: repeated(&|r| known(r.statements_per_s)),
            mean_ms: repeated(&|r| r.latency.and_then(|l| l.mean_ms)),
            p50_ms: repeated(&|r| r.latency.and_then(|l| l.p50_ms)),
            p95_ms: repeated(&|r| r.latency.and_then(|l| l.p95_ms)),
            p99_ms: repeated(&|r| r.latency.and_then(|l| l.p99_ms)),
            max_ms: repeats
                .iter()
                .filter_map(|r| r.latency.and_then(|l| l.max_ms))
                .reduce(f64::max),
            errors: all_known.then(|| errors.fold(0, u64::saturating_add)),
            errors_per_s: errors_per_s(&repeats),
            client_cpu_percent: repeated(&|r| r.client_cpu_percent),
            tpmc: repeated(&|r| r.tpmc),
            tpm: repeated(&|r| r.tpm),
            efficiency_percent: repeated(&|r| r.efficiency_percent),
            price_per_tpmc: repeated(&|r| r.per_tpmc),
            qphh: repeated(&|r| r.qphh),
            elapsed_s: repeated(&|r| known(r.elapsed_s)),
            severity: point.runs.iter().filter_map(|r| r.severity()).max(),
            repeats,
            latency,
        })
    }

    /// Transactions a second; 0 without a result.
    pub fn tps(&self) -> f64 {
        self.transactions_per_s.map_or(0.0, |t| t.value)
    }

    /// Clients of a repeat: 1, unless several runs made one load.
    pub fn clients(&self) -> usize {
        self.repeats.iter().map(|r| r.clients).max().unwrap_or(1)
    }
}

/// A number that is known; null else.
fn above_zero<S: Serializer>(n: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    Some(*n).filter(|n| *n > 0).serialize(serializer)
}

fn errors_per_s(repeats: &[Repeat]) -> Option<f64> {
    let seconds: f64 = repeats.iter().map(|r| r.elapsed_s).sum();
    let errors: f64 = repeats.iter().map(|r| r.errors as f64).sum();
    let known = repeats.iter().all(|r| r.errors_known);
    (known && seconds > 0.0).then(|| errors / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_says_nothing_gives_way_to_the_repeats() {
        let sure = Repeated::of(&[98.0, 100.0, 102.0]).unwrap();
        assert!(matches!(sure.within(), Some(Within::Half(half)) if half < 6.0));
        let apart = Repeated::of(&[103_649.0, 110_588.0, 16_466.0]).unwrap();
        assert_eq!(apart.within(), Some(Within::Repeats(16_466.0, 110_588.0)));
        assert!(apart.ends().unwrap().0 > 0.0);
        assert!(apart.half.unwrap() > apart.value);
        assert_eq!(Repeated::of(&[5.0]).unwrap().within(), None);
        assert!(Repeated::of(&[]).is_none());
        let higher = Repeated::of(&[120.0, 121.0, 119.0]).unwrap();
        assert!(higher.is_surely_above(&sure) && !sure.is_surely_above(&higher));
        assert!(!apart.is_surely_above(&sure));
    }
}
