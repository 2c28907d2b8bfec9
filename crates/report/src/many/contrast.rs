//! What the change from the first value of a factor to each other does, pair by pair.

use super::Many;
use super::costs::{RepeatOfRuns, repeats_of};
use super::document::Sources;
use super::labels::{factor_value, load_label, series_label};
use super::matrix::{AxisKind, CurvePoint, FactorOrder, LoadCurve, Matrix, Workload};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_analysis::compare::{Compared, ComparedRun, Difference, Metric, Needed, Verdict};
use tidemark_analysis::costs::{Cost, compared};
use tidemark_analysis::{Comparison, compare_measured};
use tidemark_diagnosis::{Changes, Diagnosis};

/// A factor of more values is a course, which a chart shows.
const MOST_VALUES: usize = 12;

/// A factor's first value beside another, and every pair of points that differ in it alone.
#[derive(Debug, Serialize)]
pub(crate) struct Contrast {
    pub factor: String,
    pub a: String,
    pub b: String,
    pub pairs: Vec<Pair>,
    /// What else was different within pairs, each once.
    pub differences: Vec<Differed>,
}

/// What was different within some of the pairs.
#[derive(Debug, Serialize)]
pub(crate) struct Differed {
    #[serde(flatten)]
    pub difference: Difference,
    /// In which pairs, by their place in [`Contrast::pairs`].
    pub pairs: Vec<usize>,
}

/// A pair of points.
#[derive(Debug, Serialize)]
pub(crate) struct Pair {
    pub workload: String,
    /// The other factors, and the load.
    pub factors: BTreeMap<String, String>,
    /// Workload, series, point of the second.
    #[serde(skip)]
    at: (usize, usize, usize),
    /// Whether arrivals were on a schedule, so that latency is what may differ.
    #[serde(skip)]
    pub open_loop: bool,
    pub comparison: Comparison,
    /// What limits either side, and which parts of the latency changed.
    pub bottleneck: Changes,
}

impl Pair {
    pub fn metric(&self, metric: Metric) -> Option<&Compared> {
        let mut metrics = self.comparison.metrics.iter();
        metrics.find(|m| m.metric == metric)
    }
}

impl Contrast {
    /// Pairs of which both sides may be used.
    pub fn usable(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|p| p.comparison.is_usable())
    }

    /// What the comparison is about: latency where arrivals were on a schedule.
    pub fn metric(&self) -> Metric {
        match self.pairs.iter().all(|pair| pair.open_loop) {
            true => Metric::P95,
            false => Metric::Throughput,
        }
    }

    /// What would show a difference of throughput in every pair where none is shown.
    pub fn needed(&self) -> Option<Needed> {
        let throughputs = self
            .pairs
            .iter()
            .filter_map(|p| p.metric(Metric::Throughput));
        throughputs.filter_map(|of| of.needed).reduce(most)
    }
}

/// What is enough for both.
pub(super) fn most(a: Needed, b: Needed) -> Needed {
    match (a, b) {
        (Needed::Repeats(a), Needed::Repeats(b)) => Needed::Repeats(a.max(b)),
        (Needed::Seconds(a), Needed::Seconds(b)) => Needed::Seconds(a.max(b)),
        (repeats @ Needed::Repeats(_), _) | (_, repeats) => repeats,
    }
}

/// Of every factor each value beside the first, factor by factor, as far as pairs were measured.
pub(super) fn contrasts(many: &Many, matrix: &Matrix<'_>) -> Vec<Contrast> {
    let order = many.order();
    let repeats = repeats_of(matrix);
    let mut contrasts = Vec::new();
    for (factor, values) in compared_factors(matrix, order) {
        let Some((a, others)) = values.split_first() else {
            continue;
        };
        let each = others
            .iter()
            .map(|b| contrast(matrix, &repeats, order, (&factor, a, b)));
        contrasts.extend(each.filter(|contrast| !contrast.pairs.is_empty()));
    }
    contrasts
}

/// The only one of a factor with two values, as documents of version 2 have it.
pub(super) fn the_only(contrasts: &[Contrast]) -> Option<&Contrast> {
    let alone = |of: &&Contrast| contrasts.iter().filter(|c| c.factor == of.factor).count() == 1;
    let mut two = contrasts.iter().filter(alone);
    two.next().filter(|_| two.next().is_none())
}

/// Factors and numbers that vary and are no load, with their values in the order of the file.
fn compared_factors(matrix: &Matrix<'_>, order: FactorOrder<'_>) -> Vec<(String, Vec<String>)> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for workload in &matrix.workloads {
        for (series, point) in workload.points() {
            for (name, value) in workload.factors.iter().zip(&series.values) {
                values.entry(name).or_default().insert(value);
            }
            if let (Some(axis), Some((_, load))) = (&workload.axis, &point.load)
                && axis.kind == AxisKind::Other
            {
                values.entry(&axis.name).or_default().insert(load);
            }
        }
    }
    let mut factors: Vec<(String, Vec<String>)> = Vec::new();
    for (name, of) in values {
        if (2..=MOST_VALUES).contains(&of.len()) && !of.contains("–") {
            let mut of: Vec<&str> = of.into_iter().collect();
            of.sort_by_key(|value| order.of_value(name, value));
            let of = of.into_iter().map(String::from);
            factors.push((name.into(), of.collect()));
        }
    }
    factors.sort_by_key(|(name, _)| order.of_name(name));
    factors
}

fn contrast(
    matrix: &Matrix<'_>,
    repeats: &[RepeatOfRuns<'_>],
    order: FactorOrder<'_>,
    of: (&str, &str, &str),
) -> Contrast {
    let (factor, a, b) = of;
    let mut pairs = Vec::new();
    for (w, workload) in matrix.workloads.iter().enumerate() {
        for (n, series) in workload.series.iter().enumerate() {
            for (p, point) in series.points.iter().enumerate() {
                if value_of(workload, series, point, factor) != Some(b) {
                    continue;
                }
                let Some(other) = beside(workload, series, point, (factor, a)) else {
                    continue;
                };
                let (of_a, of_b) = (measured(other), measured(point));
                if of_a.is_empty() || of_b.is_empty() {
                    continue;
                }
                let mut comparison = compare_measured(&of_a, &of_b);
                // What the factor changes is what is compared, and nothing else that differs.
                comparison
                    .differences
                    .retain(|d| !is_the_factors(factor, &d.what, order));
                // Of the runs that the figures are of.
                let (ids_a, ids_b) = (&comparison.a, &comparison.b);
                let costs = compared(&costs(repeats, ids_a), &costs(repeats, ids_b));
                let bottleneck =
                    Changes::between(&diagnoses(other, ids_a), &diagnoses(point, ids_b));
                comparison.costs = costs;
                let mut runs = point.runs.iter().chain(&other.runs);
                pairs.push(Pair {
                    workload: workload.name.clone(),
                    factors: factors(workload, series, factor, point),
                    at: (w, n, p),
                    open_loop: runs.all(|run| run.open_loop),
                    comparison,
                    bottleneck,
                });
            }
        }
    }
    Contrast {
        differences: differed(&pairs),
        factor: factor.into(),
        a: a.into(),
        b: b.into(),
        pairs,
    }
}

/// A point's value of a factor, or its load.
fn value_of<'v>(
    workload: &Workload<'_>,
    series: &'v LoadCurve<'_>,
    point: &'v CurvePoint<'_>,
    factor: &str,
) -> Option<&'v str> {
    if workload
        .axis
        .as_ref()
        .is_some_and(|axis| axis.name == factor)
    {
        return point.load.as_ref().map(|(_, text)| text.as_str());
    }
    let column = workload.factors.iter().position(|f| f == factor)?;
    series.values.get(column).map(String::as_str)
}

/// The point that differs in a factor's value alone.
fn beside<'m, 'd>(
    workload: &'m Workload<'d>,
    series: &LoadCurve<'_>,
    point: &CurvePoint<'_>,
    (factor, value): (&str, &str),
) -> Option<&'m CurvePoint<'d>> {
    let mut points = workload.points();
    let found = points.find(|(other_series, other)| {
        let same = |name: &str| {
            let own = value_of(workload, series, point, name);
            let others = value_of(workload, other_series, other, name);
            match name == factor {
                true => others == Some(value),
                false => own == others,
            }
        };
        let axis = workload.axis.iter().map(|axis| &axis.name);
        workload.factors.iter().chain(axis).all(|name| same(name))
    });
    found.map(|(_, point)| point)
}

/// The first pair's differences first.
fn differed(pairs: &[Pair]) -> Vec<Differed> {
    let each = pairs.iter().enumerate();
    let each = each.flat_map(|(n, pair)| pair.comparison.differences.iter().map(move |d| (n, d)));
    let merged = merged(each);
    let differed = merged.into_iter().map(|(difference, pairs)| Differed {
        difference: difference.clone(),
        pairs,
    });
    differed.collect()
}

/// What several pairs have in common, once, with the pairs that have it.
pub(super) fn merged<T: PartialEq>(each: impl Iterator<Item = (usize, T)>) -> Vec<(T, Vec<usize>)> {
    let mut merged: Vec<(T, Vec<usize>)> = Vec::new();
    for (pair, thing) in each {
        match merged.iter_mut().find(|(known, _)| *known == thing) {
            Some((_, pairs)) => pairs.push(pair),
            None => merged.push((thing, vec![pair])),
        }
    }
    merged
}

fn factors(
    workload: &Workload<'_>,
    series: &LoadCurve<'_>,
    without: &str,
    point: &CurvePoint<'_>,
) -> BTreeMap<String, String> {
    let axis = workload.axis.iter().map(|axis| &axis.name);
    let names = workload.factors.iter().chain(axis);
    let others = names.filter(|name| *name != without);
    let pairs = others.filter_map(|name| {
        let value = value_of(workload, series, point, name)?;
        Some((name.clone(), value.to_string()))
    });
    pairs.collect()
}

/// Whether a difference is one that the factor makes.
fn is_the_factors(factor: &str, difference: &str, order: FactorOrder<'_>) -> bool {
    let known: &[&str] = match factor {
        "target" => &["target", "server", "server version"],
        "version" => &["server version"],
        "rtt" => &["option inject-rtt"],
        "workload" => &["workload"],
        _ => &[],
    };
    let named = ["option ", "setting ", ""]
        .iter()
        .any(|kind| difference.strip_prefix(kind) == Some(factor));
    let changes = order.changes(factor);
    let isolation = || {
        let levels = ["setting tx_isolation", "setting transaction_isolation"];
        difference == "isolation" && changes.iter().any(|c| levels.contains(&c.as_str()))
    };
    named
        || known.contains(&difference)
        || changes.iter().any(|changed| changed == difference)
        || isolation()
}

/// The runs of a point that may be compared.
pub(super) fn measured<'d>(point: &CurvePoint<'d>) -> Vec<&'d ComparedRun> {
    let runs = point.runs.iter().copied();
    let counted = runs.filter(|r| r.counts());
    counted
        .filter_map(|r: &'d super::RunDigest| r.measured.as_ref())
        .collect()
}

/// The runs of a point with one of these ids.
fn of_ids<'p, 'd>(
    point: &'p CurvePoint<'d>,
    ids: &'p [String],
) -> impl Iterator<Item = &'d super::RunDigest> + use<'p, 'd> {
    let runs = point.runs.iter().copied();
    runs.filter(|run| ids.iter().any(|id| id == run.id()))
}

/// Of the repeats of all runs, those that are made of these.
fn costs(repeats: &[RepeatOfRuns<'_>], ids: &[String]) -> Vec<Vec<Cost>> {
    let is_of = |repeat: &&RepeatOfRuns<'_>| {
        let mut runs = repeat.runs.iter();
        runs.all(|run| ids.iter().any(|id| id == run.id()))
    };
    let repeats = repeats.iter().filter(is_of);
    repeats.map(|repeat| repeat.costs.clone()).collect()
}

fn diagnoses<'d>(point: &CurvePoint<'d>, ids: &[String]) -> Vec<&'d Diagnosis> {
    let runs = of_ids(point, ids);
    runs.filter_map(|run| run.diagnosis.as_ref()).collect()
}

/// What a pair has in common: its workload, other factors, load.
pub(super) fn pair_label(s: &Sources<'_>, c: &Contrast, pair: &Pair) -> String {
    let (w, n, p) = pair.at;
    let found = || {
        let workload = s.matrix.workloads.get(w)?;
        let series = workload.series.get(n)?;
        Some((workload, series, series.points.get(p)?))
    };
    let Some((workload, series, point)) = found() else {
        return pair.workload.clone();
    };
    let own = factor_value(s.t, &c.factor, &c.b);
    let label = series_label(s.t, workload, series);
    let others: Vec<&str> = label.split(", ").filter(|l| *l != own).collect();
    let axis = workload.axis.as_ref().filter(|axis| axis.name != c.factor);
    let load = match axis {
        Some(axis) => load_label(s.t, Some(axis), point),
        None => String::new(),
    };
    let parts = [pair.workload.as_str(), &others.join(", "), &load];
    let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    parts.join(", ")
}

/// The verdicts of a metric, of pairs that may be used.
pub(super) fn ratios(c: &Contrast, metric: Metric, verdicts: &[Verdict]) -> Vec<f64> {
    let metrics = c.usable().filter_map(|p| p.metric(metric));
    let those = metrics.filter(|m| verdicts.contains(&m.verdict));
    those.map(|m| m.ratio).collect()
}
