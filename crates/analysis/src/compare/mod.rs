//! Two groups of runs beside each other: how much faster or slower, how sure that is, and what else
//! was different.

pub(crate) mod difference;
mod limit;
mod metric;
mod usable;

pub use difference::Difference;
pub use limit::{LimitError, RegressionLimit};
pub use metric::{ComparedRun, Metric};
pub(crate) use usable::repeats;
pub use usable::{Side, Unusable};

use crate::costs::{ComparedCost, compared};
use crate::repeat_costs;
use crate::rules::{findings, findings_of_groups};
use crate::{AnalysisError, Finding};
use serde::Serialize;
use std::borrow::Cow;
use tidemark_core::record::RunRecord;
use tidemark_stats::{Estimate, SHORTEST_SERIES, step_variance};
use usable::{Sorted, invalid_rules};

/// Confidence of the intervals: of a hundred comparisons of equal runs, five at most are said to
/// differ, of each metric.
pub const LEVEL: f64 = 0.95;

/// What a metric's ratio says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The second group is faster: more throughput, or less latency.
    Faster,
    /// The second group is slower.
    Slower,
    /// What was measured is no proof of a difference; nor is it one of equality.
    NoDifferenceShown,
    /// There is nothing to tell how sure the ratio is: a single run of fewer than twenty whole
    /// intervals, or with one in which nothing ended, or one of streams of queries.
    NotEnough,
    /// A side has no run whose figures may be used, so nothing can be concluded.
    Invalid,
}

/// Where a confidence interval comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// From repeats: what differs from one start to the next is in it.
    Repeats,
    /// From the intervals within the runs, with their autocorrelation: what differs from one start
    /// to the next is not in it.
    Intervals,
}

/// One metric of both groups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Compared {
    /// Which.
    pub metric: Metric,
    /// Of the first group: the geometric mean of its runs.
    pub a: f64,
    /// Of the second, likewise.
    pub b: f64,
    /// `b` as a multiple of `a`.
    pub ratio: f64,
    /// Its confidence interval; absent where nothing tells it.
    pub interval: Option<(f64, f64)>,
    /// What it says.
    pub verdict: Verdict,
    /// Where no difference is shown, or there is not enough data: what would show one of [`TELLING`] in
    /// four of five comparisons, if the runs go on varying as these did. Absent where the interval lies within that: then it is
    /// shown that there is no such difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<Needed>,
}

/// An interval whose upper end is more times its lower one (a quarter to four times) says nothing.
const WIDEST: f64 = 16.0;

impl Compared {
    /// Whether the interval is so wide that it says nothing.
    pub fn is_too_wide(&self) -> bool {
        self.interval.is_some_and(|(low, high)| high > low * WIDEST)
    }
}

/// How much would have to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needed {
    /// So many repeats of each side.
    Repeats(u64),
    /// So many seconds of each side, in a single run.
    Seconds(f64),
}

/// The difference that people ask for: [`Compared::needed`] is what would show it.
pub const TELLING: f64 = 0.05;
/// Standard errors between two equal values' difference and one that is shown in four of five
/// comparisons: 1.96 of the 95 % interval and 0.84 of the 80 %.
const TELLING_SURE: f64 = 2.8;
/// Nobody makes more repeats than that.
const MOST_REPEATS: u64 = 1_000_000;
/// Fewer parts of a run do not tell how they vary.
const FEWEST_PARTS: usize = 4;

/// Two groups of runs beside each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Ids of the first group's runs that the figures are of.
    pub a: Vec<String>,
    /// Of the second's.
    pub b: Vec<String>,
    /// Runs whose figures must not be used.
    pub unusable: Vec<Unusable>,
    /// Where the confidence intervals come from.
    pub basis: Basis,
    /// Throughput, then latencies; a metric that a run lacks is left out.
    pub metrics: Vec<Compared>,
    /// What a transaction took on either side, as far as both sides' sources told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<ComparedCost>,
    /// What else was different.
    pub differences: Vec<Difference>,
    /// Whether the settings of the servers are among it: those of engines
    /// that have little in common are not, and of two that have much only what both have.
    pub settings_compared: bool,
    /// What the rules of comparisons say.
    pub findings: Vec<Finding>,
}

impl Comparison {
    /// Whether each side has a run whose figures may be used.
    pub fn is_usable(&self) -> bool {
        self.unusable.iter().all(|run| run.left_out)
    }

    /// Runs that are in no figure.
    pub fn left_out(&self) -> usize {
        self.unusable.iter().filter(|run| run.left_out).count()
    }
}

/// Compares two groups of runs. Each group is what one would repeat: equal but for chance. A run
/// with a finding that says not to use its figures is left out, unless its group has no other.
///
/// # Errors
/// [`AnalysisError::Histogram`] when a latency distribution can't be read, and
/// [`AnalysisError::NothingMeasured`] for a run without an end or without a transaction, or a group
/// without a run, and [`AnalysisError::Failed`] for a run that an error ended.
pub fn compare(a: &[RunRecord], b: &[RunRecord]) -> Result<Comparison, AnalysisError> {
    let (found_a, found_b) = (findings_of(a)?, findings_of(b)?);
    let figured = |found: &[Vec<Finding>]| {
        let usable = found.iter().filter(|f| invalid_rules(f).is_empty());
        Some(usable.count())
            .filter(|n| *n > 0)
            .unwrap_or(found.len())
    };
    let repeats = figured(&found_a) > 1 && figured(&found_b) > 1;
    let of_a = measured(a, &found_a, !repeats)?;
    let of_b = measured(b, &found_b, !repeats)?;
    let mut comparison = compare_measured(
        &of_a.iter().collect::<Vec<_>>(),
        &of_b.iter().collect::<Vec<_>>(),
    );
    let is_figured = |side: usize, run: &RunRecord| match side {
        0 => comparison.a.contains(&run.id),
        _ => comparison.b.contains(&run.id),
    };
    let [of_a, of_b] = repeat_costs::of_records(a, b, is_figured);
    comparison.costs = compared(&of_a, &of_b);
    Ok(comparison)
}

/// Compares two groups of runs that were measured before ([`ComparedRun::of`]).
pub fn compare_measured(a: &[&ComparedRun], b: &[&ComparedRun]) -> Comparison {
    let (of_a, of_b) = (Sorted::out(a, Side::A), Sorted::out(b, Side::B));
    let figured_a: Vec<&ComparedRun> = of_a.figured.iter().map(Cow::as_ref).collect();
    let figured_b: Vec<&ComparedRun> = of_b.figured.iter().map(Cow::as_ref).collect();
    let (a, b) = (figured_a.as_slice(), figured_b.as_slice());
    let repeats = a.len() > 1 && b.len() > 1;
    let mut metrics = Vec::new();
    for metric in Metric::ALL {
        metrics.extend(one(metric, a, b, repeats));
    }
    if !(of_a.is_usable && of_b.is_usable) {
        for metric in &mut metrics {
            metric.verdict = Verdict::Invalid;
        }
    }
    let ids = |runs: &[&ComparedRun]| runs.iter().flat_map(|r| r.ids.clone()).collect();
    let facts_a: Vec<_> = a.iter().flat_map(|r| &r.facts).collect();
    let facts_b: Vec<_> = b.iter().flat_map(|r| &r.facts).collect();
    Comparison {
        a: ids(a),
        b: ids(b),
        unusable: [of_a.unusable, of_b.unusable].concat(),
        basis: if repeats {
            Basis::Repeats
        } else {
            Basis::Intervals
        },
        metrics,
        costs: Vec::new(),
        differences: difference::between(&facts_a, &facts_b),
        settings_compared: difference::have_common_settings(&facts_a, &facts_b),
        findings: findings_of_groups(a, b),
    }
}

fn findings_of(runs: &[RunRecord]) -> Result<Vec<Vec<Finding>>, AnalysisError> {
    if runs.is_empty() {
        return Err(AnalysisError::NothingMeasured { run: String::new() });
    }
    runs.iter().map(findings).collect()
}

fn measured(
    runs: &[RunRecord],
    found: &[Vec<Finding>],
    with_parts: bool,
) -> Result<Vec<ComparedRun>, AnalysisError> {
    let each = runs.iter().zip(found);
    let each = each.map(|(run, found)| ComparedRun::with(run, found, with_parts));
    each.collect()
}

/// `None` where a run has no such figure, or one of 0, which has no ratio.
fn one(metric: Metric, a: &[&ComparedRun], b: &[&ComparedRun], repeats: bool) -> Option<Compared> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let values = |runs: &[&ComparedRun]| -> Option<Vec<f64>> {
        let values = runs.iter().map(|run| run.whole.get(metric));
        values.map(|v| Some(v).filter(|v| *v > 0.0)).collect()
    };
    let (values_a, values_b) = (values(a)?, values(b)?);
    let step = |runs: &[&ComparedRun]| {
        let steps = runs.iter().map(|run| run.step(metric));
        steps.fold(0.0, f64::max)
    };
    let estimate = |runs: &[&ComparedRun], values: &[f64]| {
        if repeats {
            return Estimate::of_repeats(values, step(runs));
        }
        let each = runs.iter().map(|run| {
            let parts: Vec<f64> = run.parts.iter().map(|p| p.get(metric)).collect();
            Estimate::of_series(run.whole.get(metric), &parts)
        });
        Estimate::mean_of(&each.collect::<Option<Vec<_>>>()?)
    };
    let of_a = estimate(a, &values_a);
    let of_b = estimate(b, &values_b);
    let interval = of_a.zip(of_b).map(|(a, b)| {
        let ratio = a.ratio_to(&b, LEVEL);
        (ratio.low, ratio.high)
    });
    let sides = (a, b);
    let (a, b) = (geometric_mean(&values_a), geometric_mean(&values_b));
    let verdict = match interval {
        None => Verdict::NotEnough,
        Some((low, high)) if low > 1.0 || high < 1.0 => {
            if (low > 1.0) == metric.more_is_better() {
                Verdict::Faster
            } else {
                Verdict::Slower
            }
        }
        Some(_) => Verdict::NoDifferenceShown,
    };
    Some(Compared {
        metric,
        a,
        b,
        ratio: b / a,
        interval,
        verdict,
        needed: match interval {
            None => seconds_of_parts(metric, sides.0, sides.1),
            Some(within) if verdict == Verdict::NoDifferenceShown && !is_within_telling(within) => {
                match repeats {
                    true => {
                        let sides = [(&values_a, step(sides.0)), (&values_b, step(sides.1))];
                        repeats_needed(sides.map(|(values, step)| (&**values, step)))
                    }
                    false => Some(seconds_needed(within, sides.0, sides.1)),
                }
            }
            Some(_) => None,
        },
    })
}

/// Whether an interval of a ratio leaves no room for a difference of [`TELLING`].
fn is_within_telling((low, high): (f64, f64)) -> bool {
    low >= 1.0 / (1.0 + TELLING) && high <= 1.0 + TELLING
}

/// Of the repeats' own spread on the logarithmic scale, and of the steps in which they are told, which more
/// repeats don't make finer: `None` where those alone hide the difference. These did not show it: it takes more.
fn repeats_needed(sides: [(&[f64], f64); 2]) -> Option<Needed> {
    let times = TELLING_SURE / (1.0 + TELLING).ln();
    let variances = sides.map(|(values, step)| (log_variance(values), step_variance(step)));
    // As of an estimate of so many.
    let is_shown = |repeats: u64| {
        let of_side = variances.map(|(spread, step)| (spread / repeats as f64).max(step));
        times * times * of_side.iter().sum::<f64>() <= 1.0
    };
    let most = sides.iter().map(|(values, _)| values.len()).max();
    // Of fewer than three, Student's distribution is much wider than the normal one.
    let mut low = (most.unwrap_or(0) as u64 + 1).max(3);
    let mut high = low;
    while !is_shown(high) {
        if high > MOST_REPEATS {
            return None;
        }
        (low, high) = (high, high * 2);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match is_shown(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(Needed::Repeats(high))
}

/// An interval narrows with the square root of the time.
fn seconds_needed(interval: (f64, f64), a: &[&ComparedRun], b: &[&ComparedRun]) -> Needed {
    let half = (interval.1.ln() - interval.0.ln()) / 2.0;
    let times = half / 1.96 * TELLING_SURE / (1.0 + TELLING).ln();
    let measured = a.iter().chain(b).map(|run| run.elapsed_s);
    let seconds = measured.sum::<f64>() / (a.len() + b.len()) as f64;
    Needed::Seconds(seconds * (times * times).max(1.0))
}

/// Of runs too short for an interval, by the spread of the few parts that they have. `None` where they
/// have fewer than [`FEWEST_PARTS`], or one without a transaction.
fn seconds_of_parts(metric: Metric, a: &[&ComparedRun], b: &[&ComparedRun]) -> Option<Needed> {
    // The variance of a part, and the seconds of one.
    let of_run = |run: &&ComparedRun| {
        let parts: Vec<f64> = run.parts.iter().map(|p| p.get(metric)).collect();
        let told = parts.len() >= FEWEST_PARTS && parts.iter().all(|v| *v > 0.0);
        told.then(|| (log_variance(&parts), run.elapsed_s / parts.len() as f64))
    };
    let of_side = |runs: &[&ComparedRun]| {
        let each: Option<Vec<(f64, f64)>> = runs.iter().map(of_run).collect();
        each.map(|each| {
            let (variances, seconds): (Vec<f64>, Vec<f64>) = each.into_iter().unzip();
            let most = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
            (most(variances), most(seconds))
        })
    };
    let ((variance_a, seconds_a), (variance_b, seconds_b)) = (of_side(a)?, of_side(b)?);
    let times = TELLING_SURE / (1.0 + TELLING).ln();
    let parts = (times * times * (variance_a + variance_b)).max(SHORTEST_SERIES as f64);
    Some(Needed::Seconds(parts * seconds_a.max(seconds_b)))
}

/// The sample variance on the logarithmic scale, of two values or more.
fn log_variance(values: &[f64]) -> f64 {
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|v| (v - mean) * (v - mean)).sum();
    squares / (logs.len() as f64 - 1.0)
}

fn geometric_mean(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|v| v.ln()).sum();
    (sum / values.len() as f64).exp()
}
