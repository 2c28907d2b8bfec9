//! A point of the matrix in figures, over its repeats.

use super::digest::RunDigest;
use super::matrix::Point;
use crate::ReportError;
use crate::load::Spread;
use crate::merge::decode;
use serde::Serialize;
use tidemark_analysis::Severity;
use tidemark_stats::{Histogram, half_interval, mean};

/// Of the intervals of repeats.
const LEVEL: f64 = 0.95;

/// A figure over repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Repeated {
    /// The mean, or what all repeats together come to.
    pub value: f64,
    /// Half of the 95 % confidence interval, from the repeats; absent for one.
    pub half: Option<f64>,
}

impl Repeated {
    /// The mean of the repeats; `None` of none.
    fn mean_of(values: &[f64]) -> Option<Self> {
        (!values.is_empty()).then(|| Self {
            value: mean(values.iter().copied()),
            half: half_interval(values, LEVEL),
        })
    }

    pub fn low(&self) -> f64 {
        (self.value - self.half.unwrap_or(0.0)).max(0.0)
    }

    pub fn high(&self) -> f64 {
        self.value + self.half.unwrap_or(0.0)
    }
}

/// A point's figures: of its runs that may be used ([`Point::figured`]).
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Cell {
    /// Ids of all its runs.
    pub runs: Vec<String>,
    /// Runs that the figures are of.
    pub counted: usize,
    /// Whether the figures may be used; those of a point without a run that may are shown, and stand
    /// in no law and no comparison.
    pub usable: bool,
    /// Ids of the runs whose figures must not be used; they are in no figure where the point has
    /// others.
    pub invalid: Vec<String>,
    pub load: Option<f64>,
    pub users: usize,
    pub transactions_per_s: Option<Repeated>,
    pub mean_ms: Option<Repeated>,
    /// 50th, 95th and 99th percentile of all repeats' transactions together.
    pub p50_ms: Option<Repeated>,
    pub p95_ms: Option<Repeated>,
    pub p99_ms: Option<Repeated>,
    pub max_ms: Option<f64>,
    pub errors: u64,
    pub tpmc: Option<Repeated>,
    pub qphh: Option<Repeated>,
    /// Measured seconds.
    pub elapsed_s: Option<Repeated>,
    /// The severest finding of its runs.
    pub severity: Option<Severity>,
    /// All repeats' latencies together.
    #[serde(skip)]
    pub latency: Histogram,
}

impl Cell {
    pub fn of(point: &Point<'_>) -> Result<Self, ReportError> {
        let counted = point.figured();
        let mut latency = Histogram::new();
        for run in &counted {
            latency.merge(&decode(&run.latencies, || format!("run {}", run.id))?);
        }
        let repeated = |of: &dyn Fn(&RunDigest) -> Option<f64>| {
            let values: Vec<f64> = counted.iter().filter_map(|r| of(r)).collect();
            Repeated::mean_of(&values)
        };
        let all = Spread::of(&latency);
        let percentile = |of: fn(&Spread) -> f64| {
            let alone = repeated(&|r| r.latency.as_ref().map(of))?;
            let value = of(all.as_ref()?);
            Some(Repeated { value, ..alone })
        };
        Ok(Self {
            runs: point.runs.iter().map(|r| r.id.clone()).collect(),
            counted: counted.len(),
            usable: point.is_usable(),
            invalid: point.invalid().map(|r| r.id.clone()).collect(),
            load: point.load.as_ref().map(|(n, _)| *n),
            users: counted.first().map_or(0, |r| r.users()),
            transactions_per_s: repeated(&|r| Some(r.transactions_per_s)),
            mean_ms: repeated(&|r| r.latency.map(|l| l.mean_ms)),
            p50_ms: percentile(|l| l.p50_ms),
            p95_ms: percentile(|l| l.p95_ms),
            p99_ms: percentile(|l| l.p99_ms),
            max_ms: all.map(|l| l.max_ms),
            errors: counted
                .iter()
                .map(|r| r.errors)
                .fold(0, u64::saturating_add),
            tpmc: repeated(&|r| r.tpmc),
            qphh: repeated(&|r| r.qphh),
            elapsed_s: repeated(&|r| Some(r.elapsed_s)),
            severity: point.runs.iter().filter_map(|r| r.severity()).max(),
            latency,
        })
    }

    /// Transactions a second; 0 without a result.
    pub fn tps(&self) -> f64 {
        self.transactions_per_s.map_or(0.0, |t| t.value)
    }
}
