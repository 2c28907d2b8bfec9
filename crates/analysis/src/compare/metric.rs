//! What is compared, of a whole run and of its parts.

use super::difference::Facts;
use super::usable::invalid_rules;
use crate::concurrent_runs::are_one_load;
use crate::run::{Run, whole_intervals};
use crate::{AnalysisError, Finding, Presence, Setup};
use serde::Serialize;
use tidemark_core::record::{
    EncodedHistogram, Interval, Quantiles, RunRecord, RunState, StatedFigure, TableState,
};
use tidemark_stats::Histogram;

/// A run's series is compared in at most so many parts: each holds transactions enough for a
/// percentile, and there are enough of them to tell how they vary.
const MOST_PARTS: usize = 30;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Transactions a second.
    Throughput,
    /// Mean latency in milliseconds: response times where there are any, service times else.
    Mean,
    /// Its median.
    P50,
    /// Its 95th percentile.
    P95,
    /// Its 99th percentile.
    P99,
}

impl Metric {
    /// Every metric, in the order in which they are told.
    pub const ALL: [Metric; 5] = [
        Metric::Throughput,
        Metric::Mean,
        Metric::P50,
        Metric::P95,
        Metric::P99,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Mean => "mean",
            Metric::P50 => "p50",
            Metric::P95 => "p95",
            Metric::P99 => "p99",
        }
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        self == Metric::Throughput
    }
}

/// The metrics of a run, or of a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MetricValues([f64; 5]);

impl MetricValues {
    fn of(count: u64, seconds: f64, latency: &Histogram) -> Self {
        Self::at(count as f64 / seconds, latency)
    }

    fn at(per_s: f64, latency: &Histogram) -> Self {
        let ms = |percent| latency.percentile_ns(percent) as f64 / 1e6;
        Self([per_s, latency.mean_ns() / 1e6, ms(50.0), ms(95.0), ms(99.0)])
    }

    /// What a source gave without a distribution; 0 is what it did not give.
    fn given(per_s: f64, latency: &Quantiles) -> Self {
        let ms = |percent| latency.percentile_ms(percent).unwrap_or_default();
        let mean = latency.mean_ms.unwrap_or_default();
        Self([per_s, mean, ms(50.0), ms(95.0), ms(99.0)])
    }

    pub fn get(&self, metric: Metric) -> f64 {
        self.0[metric as usize]
    }
}

/// What a comparison needs of a run: a few kilobytes, so that many runs can be compared whose
/// records are read one by one.
#[derive(Debug, Clone)]
pub struct ComparedRun {
    /// The run's id; those of all clients of one load.
    pub(crate) ids: Vec<String>,
    pub(crate) whole: MetricValues,
    /// How finely each is told, as a part of it.
    steps: MetricValues,
    /// In the order of time; none where they were not asked for.
    pub(super) parts: Vec<MetricValues>,
    pub(crate) facts: Vec<Facts>,
    pub(crate) setup: Setup,
    /// When and where its load was, if that is known; of each client.
    pub(crate) presences: Vec<Presence>,
    /// Transactions, seconds, and the distribution of latencies, to add to those of other clients.
    count: u64,
    pub(super) elapsed_s: f64,
    latency: EncodedHistogram,
    pub(crate) tables_before: Vec<TableState>,
    /// Rules that say not to use its figures.
    pub(super) invalid: Vec<&'static str>,
}

impl ComparedRun {
    /// Of a run with an end, and what the rules say of it ([`crate::findings`]).
    ///
    /// # Errors
    /// As [`super::compare`].
    pub fn of(record: &RunRecord, found: &[Finding]) -> Result<Self, AnalysisError> {
        Self::with(record, found, true)
    }

    /// Parts are not needed where there are repeats.
    pub(super) fn with(
        record: &RunRecord,
        found: &[Finding],
        with_parts: bool,
    ) -> Result<Self, AnalysisError> {
        if record.is_watch() {
            return Err(AnalysisError::Watch {
                run: record.id.clone(),
            });
        }
        if let RunState::Failed(why) = &record.state {
            return Err(AnalysisError::Failed {
                run: record.id.clone(),
                why: why.clone(),
            });
        }
        let Some(run) = Run::of(record)? else {
            return Err(AnalysisError::NothingMeasured {
                run: record.id.clone(),
            });
        };
        let counted = run.totals.all.count as f64 / run.totals.elapsed_s;
        let stated = record.stated_rate();
        if stated.is_none() && record.is_derived("elapsed_s") {
            return Err(AnalysisError::NothingMeasured {
                run: record.id.clone(),
            });
        }
        let per_s = stated.unwrap_or(counted);
        let quantiles = run.totals.all.quantiles.as_ref();
        let given = quantiles.filter(|_| run.latency.is_empty());
        let whole = match given {
            Some(given) => MetricValues::given(per_s, given),
            None => MetricValues::at(per_s, &run.latency),
        };
        // An interval of a stream of queries is one query, none like the other.
        let intervals = if with_parts && record.queries.is_empty() {
            whole_intervals(record)
        } else {
            Vec::new()
        };
        let size = intervals.len().div_ceil(MOST_PARTS).max(1);
        // A last part of fewer intervals would vary more.
        let parts = intervals.chunks_exact(size).map(|part| of_part(&run, part));
        Ok(Self {
            ids: vec![record.id.clone()],
            steps: steps(record, &run, &whole, given.is_some()),
            whole,
            setup: Setup::of(record),
            presences: Presence::of(record).into_iter().collect(),
            count: run.totals.all.count,
            elapsed_s: run.totals.elapsed_s,
            latency: EncodedHistogram(run.latency.encode()),
            parts: parts.collect::<Result<_, _>>()?,
            facts: vec![Facts::of(record)],
            tables_before: record.tables_before.clone(),
            invalid: invalid_rules(found),
        })
    }
}

/// Where it is not known how a figure was rounded: tools print two digits behind the point.
const PRINTED: f64 = 0.01;
/// Whose percentiles are sysbench's, or may be: a document's table rarely says by which tool it was filled.
const OF_SYSBENCH: [&str; 2] = ["sysbench", "table"];
/// sysbench's percentiles are bounds of 1,024 buckets from 0.001 to 100,000 ms (`--histogram`): each is so much
/// wider than the one before.
const SYSBENCH_BUCKET: f64 = 0.0182;
/// Histograms keep three digits.
const KEPT: f64 = 0.001;

/// How finely each figure of a run is told, as a part of it.
fn steps(record: &RunRecord, run: &Run<'_>, whole: &MetricValues, are_given: bool) -> MetricValues {
    let of = |metric: Metric, figure: Option<&StatedFigure>| {
        let rounded = figure.filter(|f| f.rounding > 0.0 && f.value > 0.0);
        match rounded {
            Some(figure) => 2.0 * figure.rounding / figure.value,
            None => PRINTED / whole.get(metric).max(PRINTED),
        }
    };
    let imported = record.imported.as_ref();
    let rate = imported.and_then(|i| i.rate_figure());
    let throughput = match rate {
        Some(rate) => of(Metric::Throughput, Some(rate)),
        None => 1.0 / run.totals.all.count.max(1) as f64,
    };
    let Some(imported) = imported.filter(|_| are_given) else {
        return MetricValues([throughput, 0.0, KEPT, KEPT, KEPT]);
    };
    let bucket = match OF_SYSBENCH.contains(&imported.tool.as_str()) {
        true => SYSBENCH_BUCKET,
        false => 0.0,
    };
    let percentile = |metric, name| of(metric, imported.figure(name)).max(bucket);
    MetricValues([
        throughput,
        of(Metric::Mean, imported.figure("mean_ms")),
        percentile(Metric::P50, "p50_ms"),
        percentile(Metric::P95, "p95_ms"),
        percentile(Metric::P99, "p99_ms"),
    ])
}

impl ComparedRun {
    /// How finely a figure is told, as a part of it.
    pub(super) fn step(&self, metric: Metric) -> f64 {
        self.steps.get(metric)
    }

    /// When and where its load was, if that is known.
    pub fn presence(&self) -> Option<&Presence> {
        self.presences.first()
    }

    /// What makes it another run than a second one.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Clients of one load as one: rates are added, and latencies are those of all transactions
    /// together. `None` where they are no such clients: they ran together for a part of their time
    /// only, one of them must not be used, or their transactions are not the same.
    pub(super) fn of_clients(clients: &[&Self]) -> Option<Self> {
        let (first, others) = clients.split_first()?;
        let presences: Vec<&Presence> = clients.iter().filter_map(|c| c.presence()).collect();
        let same = |client: &&&Self| client.setup.get("workload") == first.setup.get("workload");
        let are = are_one_load(&presences)
            && others.iter().all(|client| same(&client))
            && clients.iter().all(|client| client.invalid.is_empty());
        if !are {
            return None;
        }
        let mut latency = Histogram::new();
        for client in clients {
            latency.add_encoded(&client.latency.0).ok()?;
        }
        let rates = clients.iter().map(|c| c.whole.get(Metric::Throughput));
        let per_s: f64 = rates.sum();
        let longest = clients.iter().map(|c| c.elapsed_s).fold(0.0, f64::max);
        let count = clients.iter().map(|c| c.count).fold(0, u64::saturating_add);
        Some(Self {
            ids: clients.iter().flat_map(|c| c.ids.clone()).collect(),
            whole: MetricValues::at(per_s, &latency),
            // A part's latencies are not kept as a distribution, so they can't be put together.
            parts: Vec::new(),
            facts: clients.iter().flat_map(|c| c.facts.clone()).collect(),
            setup: Setup::of_clients(clients.iter().map(|c| &c.setup)),
            presences: presences.into_iter().cloned().collect(),
            count,
            elapsed_s: match count {
                // None of them stated how many there were.
                0 => longest,
                count => count as f64 / per_s,
            },
            latency: EncodedHistogram(latency.encode()),
            ..(*first).clone()
        })
    }
}

fn of_part(run: &Run<'_>, part: &[&Interval]) -> Result<MetricValues, AnalysisError> {
    let mut latency = Histogram::new();
    let mut count = 0;
    for interval in part {
        for stats in interval.types.values() {
            count += stats.count;
            run.add_latency(stats, &mut latency)?;
        }
    }
    let seconds = part.iter().map(|i| i.length_ms).sum::<f64>() / 1000.0;
    Ok(MetricValues::of(count, seconds, &latency))
}
