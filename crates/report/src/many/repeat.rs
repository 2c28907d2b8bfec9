//! One repeat of a point: a run, or all clients of one load.

use super::digest::RunDigest;
use super::latencies::Latencies;
use super::matrix::CurvePoint;
use crate::ReportError;
use crate::merge::decode;
use tidemark_analysis::concurrent_runs::{Load, loads};
use tidemark_core::record::EncodedHistogram;
use tidemark_stats::Histogram;

/// The figures of one repeat. Of clients of one load they are sums, and latencies are those of all
/// their transactions together.
#[derive(Debug, Clone)]
pub(crate) struct Repeat {
    /// Runs that it is made of.
    pub clients: usize,
    pub users: usize,
    pub count: u64,
    pub transactions_per_s: f64,
    pub statements_per_s: f64,
    /// Of all its transactions together.
    pub latency: Option<Latencies>,
    pub latencies: EncodedHistogram,
    pub errors: u64,
    /// Whether they were counted; a document may not say.
    pub errors_known: bool,
    /// Of its host's processors; `None` of several clients, which may share a host.
    pub client_cpu_percent: Option<f64>,
    /// Sessions that the clients' own time between transactions keeps busy, where no latency has it.
    pub between: f64,
    pub tpmc: Option<f64>,
    pub tpm: Option<f64>,
    /// `None` of several clients, each of which knows its own warehouses.
    pub efficiency_percent: Option<f64>,
    pub per_tpmc: Option<f64>,
    pub qphh: Option<f64>,
    pub elapsed_s: f64,
}

impl Repeat {
    /// The repeats that a point's figures are of.
    pub fn of(point: &CurvePoint<'_>) -> Result<Vec<Self>, ReportError> {
        let runs = point.figured();
        let presences: Vec<_> = runs.iter().map(|run| run.presence.as_ref()).collect();
        let of = |n: &usize| runs.get(*n).copied();
        let mut repeats = Vec::new();
        for load in loads(&presences) {
            match load {
                Load::Run(n) => repeats.extend(of(&n).map(Self::of_run)),
                Load::Clients(group) => {
                    let clients: Vec<&RunDigest> = group.iter().filter_map(of).collect();
                    repeats.push(Self::of_clients(&clients)?);
                }
                // They are shown, crossed out, where there is nothing else.
                Load::Disturbed(group) => {
                    repeats.extend(group.iter().filter_map(of).map(Self::of_run));
                }
            }
        }
        Ok(repeats)
    }

    fn of_run(run: &RunDigest) -> Self {
        Self {
            clients: 1,
            users: run.users(),
            count: run.transactions,
            transactions_per_s: run.transactions_per_s,
            statements_per_s: run.statements_per_s,
            latency: run.latency,
            latencies: run.latencies.clone(),
            errors: run.errors,
            errors_known: run.errors_stated.is_some(),
            client_cpu_percent: run.client_cpu_percent,
            between: run.between,
            tpmc: run.metrics.tpmc,
            tpm: run.metrics.tpm,
            efficiency_percent: run.metrics.efficiency_percent,
            per_tpmc: run.metrics.price.as_ref().and_then(|price| price.per_tpmc),
            qphh: run.metrics.qphh,
            elapsed_s: run.elapsed().unwrap_or(f64::NAN),
        }
    }

    fn of_clients(runs: &[&RunDigest]) -> Result<Self, ReportError> {
        let mut latency = Histogram::new();
        for run in runs {
            latency.merge(&run.decoded()?);
        }
        let sum = |of: fn(&RunDigest) -> Option<f64>| -> Option<f64> {
            runs.iter().map(|run| of(run)).sum()
        };
        let tpmc = sum(|run| run.metrics.tpmc);
        let price = runs.first().and_then(|run| run.metrics.price.as_ref());
        let count = runs.iter().map(|run| run.transactions);
        let errors = runs.iter().map(|run| run.errors);
        Ok(Self {
            clients: runs.len(),
            users: runs.iter().map(|run| run.users()).sum(),
            count: count.fold(0, u64::saturating_add),
            transactions_per_s: runs.iter().map(|run| run.transactions_per_s).sum(),
            statements_per_s: runs.iter().map(|run| run.statements_per_s).sum(),
            latency: Latencies::measured(&latency).or_else(|| stated(runs)),
            latencies: EncodedHistogram(latency.encode()),
            errors: errors.fold(0, u64::saturating_add),
            errors_known: runs.iter().all(|run| run.errors_stated.is_some()),
            client_cpu_percent: None,
            between: runs.iter().map(|run| run.between).sum(),
            tpmc,
            tpm: sum(|run| run.metrics.tpm),
            efficiency_percent: None,
            per_tpmc: price
                .zip(tpmc.filter(|n| *n > 0.0))
                .map(|(p, n)| p.amount / n),
            // Streams of queries of several clients are no one test.
            qphh: None,
            elapsed_s: runs.iter().map(|run| run.elapsed_s).fold(0.0, f64::max),
        })
    }

    /// All its transactions' latencies.
    pub fn decoded(&self) -> Result<Histogram, ReportError> {
        decode(&self.latencies, || "a repeat".into())
    }

    /// Users that its figures account for (Little 1961); `None` without a measured latency.
    pub fn accounted(&self) -> Option<f64> {
        let latency = self.latency.filter(|latency| latency.measured)?;
        Some(self.transactions_per_s * latency.mean_ms? / 1000.0 + self.between)
    }
}

/// The latencies of clients of which only figures are stated. Percentiles of several have none in
/// common; means are weighted with the transactions.
fn stated(runs: &[&RunDigest]) -> Option<Latencies> {
    let all = |of: fn(&Latencies) -> Option<f64>| -> Option<Vec<f64>> {
        runs.iter()
            .map(|run| run.latency.as_ref().and_then(of))
            .collect()
    };
    let rates = runs.iter().map(|run| run.transactions_per_s);
    let rate: f64 = rates.clone().sum();
    let mean_ms = all(|l| l.mean_ms).filter(|_| rate > 0.0).map(|means| {
        let weighted = means.iter().zip(rates).map(|(mean, rate)| mean * rate);
        weighted.sum::<f64>() / rate
    });
    let max_ms = all(|l| l.max_ms).and_then(|all| all.into_iter().reduce(f64::max));
    (mean_ms.is_some() || max_ms.is_some()).then_some(Latencies {
        mean_ms,
        p50_ms: None,
        p95_ms: None,
        p99_ms: None,
        max_ms,
        measured: false,
    })
}

impl RunDigest {
    fn decoded(&self) -> Result<Histogram, ReportError> {
        decode(&self.latencies, || format!("run {}", self.id))
    }
}
