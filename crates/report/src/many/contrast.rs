//! One factor with two values: what the change from one to the other does, pair by pair.

use super::block::{Block, Grid, Part};
use super::digest::RunDigest;
use super::document::Sources;
use super::matrix::{Matrix, Point, Workload, number};
use super::summary::{changes, factor_name, factor_value, load_label, series_label};
pub(super) use crate::compare::change;
use crate::compare::{listed, values_of};
use crate::findings::finding_lines;
use crate::number::whole;
use crate::texts::fill;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_analysis::compare::{Basis, Compared, Difference, Measured, Metric, Verdict};
use tidemark_analysis::{Comparison, compare_measured};

/// The only factor with two values, and every pair of points that differ in it alone.
#[derive(Debug, Serialize)]
pub(crate) struct Contrast {
    pub factor: String,
    pub a: String,
    pub b: String,
    pub pairs: Vec<Pair>,
    /// What else was different, over all pairs.
    pub differences: Vec<Difference>,
}

/// A pair of points.
#[derive(Debug, Serialize)]
pub(crate) struct Pair {
    pub workload: String,
    /// The other factors, and the load.
    pub factors: BTreeMap<String, String>,
    #[serde(skip)]
    at: (usize, usize, usize),
    pub comparison: Comparison,
}

impl Pair {
    fn metric(&self, metric: Metric) -> Option<&Compared> {
        let mut metrics = self.comparison.metrics.iter();
        metrics.find(|m| m.metric == metric)
    }
}

pub(super) fn of(s: &Sources<'_>) -> Option<Contrast> {
    contrast(s.matrix)
}

/// `None` where no factor has two values, several have, or no pair was measured.
pub(super) fn contrast(matrix: &Matrix<'_>) -> Option<Contrast> {
    let (factor, a, b) = the_factor(matrix)?;
    let mut pairs = Vec::new();
    let (mut all_a, mut all_b): (Vec<&Measured>, Vec<&Measured>) = (Vec::new(), Vec::new());
    for (w, workload) in matrix.workloads.iter().enumerate() {
        let Some(column) = workload.factors.iter().position(|f| *f == factor) else {
            continue;
        };
        for (n, series) in workload.series.iter().enumerate() {
            if series.values.get(column) != Some(&b) {
                continue;
            }
            let mut others = series.values.clone();
            others[column] = a.clone();
            let Some(beside) = workload.series.iter().find(|s| s.values == others) else {
                continue;
            };
            for (p, point) in series.points.iter().enumerate() {
                let Some(other) = beside.points.iter().find(|o| o.load == point.load) else {
                    continue;
                };
                let (of_a, of_b) = (measured(other), measured(point));
                if of_a.is_empty() || of_b.is_empty() {
                    continue;
                }
                pairs.push(Pair {
                    workload: workload.name.clone(),
                    factors: factors(workload, &others, &factor, point),
                    at: (w, n, p),
                    comparison: compare_measured(&of_a, &of_b),
                });
                all_a.extend(of_a);
                all_b.extend(of_b);
            }
        }
    }
    (!pairs.is_empty()).then(|| Contrast {
        differences: compare_measured(&all_a, &all_b).differences,
        factor,
        a,
        b,
        pairs,
    })
}

fn factors(
    workload: &Workload<'_>,
    values: &[String],
    without: &str,
    point: &Point<'_>,
) -> BTreeMap<String, String> {
    let pairs = workload.factors.iter().zip(values);
    let mut factors: BTreeMap<String, String> = pairs
        .filter(|(name, _)| *name != without)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let (Some(axis), Some((_, load))) = (&workload.axis, &point.load) {
        factors.insert(axis.name.clone(), load.clone());
    }
    factors
}

fn measured<'d>(point: &Point<'d>) -> Vec<&'d Measured> {
    let runs = point.runs.iter().copied();
    let counted = runs.filter(|r| r.counts());
    counted
        .filter_map(|r: &'d RunDigest| r.measured.as_ref())
        .collect()
}

fn the_factor(matrix: &Matrix<'_>) -> Option<(String, String, String)> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for workload in &matrix.workloads {
        for series in &workload.series {
            for (name, value) in workload.factors.iter().zip(&series.values) {
                values.entry(name).or_default().insert(value);
            }
        }
    }
    let mut two = values
        .iter()
        .filter(|(_, v)| v.len() == 2 && !v.contains("–"));
    let (name, values) = two.next()?;
    if two.next().is_some() {
        return None;
    }
    let mut values: Vec<&str> = values.iter().copied().collect();
    let key = |v: &&str| number(v).map_or(u64::MAX, |(n, _)| n.to_bits());
    values.sort_by_key(key);
    match values.as_slice() {
        [a, b] => Some(((*name).into(), (*a).into(), (*b).into())),
        _ => None,
    }
}

/// The result in a sentence.
pub(super) fn headline(s: &Sources<'_>, c: &Contrast) -> String {
    let throughput = || c.pairs.iter().filter_map(|p| p.metric(Metric::Throughput));
    let all = throughput().count();
    let counts: Vec<String> = [
        (Verdict::Faster, s.t.contrast_faster),
        (Verdict::Slower, s.t.contrast_slower),
        (Verdict::NoDifferenceShown, s.t.contrast_same),
        (Verdict::NotEnough, s.t.contrast_unknown),
    ]
    .into_iter()
    .filter_map(|(verdict, template)| {
        let n = throughput().filter(|m| m.verdict == verdict).count();
        (n > 0).then(|| fill(template, &[("n", &whole(n as u64))]))
    })
    .collect();
    let said = fill(
        s.t.contrast_head,
        &[
            ("a", &factor_value(s.t, &c.factor, &c.a)),
            ("b", &factor_value(s.t, &c.factor, &c.b)),
            ("all", &whole(all as u64)),
            ("counts", &counts.join(s.common.comma)),
        ],
    );
    let ratios: Vec<f64> = throughput().map(|m| m.ratio).collect();
    match changes(s.t, &ratios) {
        Some(changes) => format!("{said}{}{changes}", s.common.gap),
        None => said,
    }
}

pub(super) fn part(s: &Sources<'_>, contrast: &Option<Contrast>) -> Option<Part> {
    let c = contrast.as_ref()?;
    let t = s.t;
    let factor = factor_name(t, &c.factor);
    let title = fill(t.contrast, &[("factor", factor), ("a", &c.a), ("b", &c.b)]);
    let mut blocks = vec![Block::Say(headline(s, c)), Block::Table(pairs(s, c))];
    let repeats = c.pairs.iter().all(|p| p.comparison.basis == Basis::Repeats);
    let basis = match repeats {
        true => t.contrast_repeats,
        false => t.contrast_intervals,
    };
    blocks.push(Block::Fine(basis.into()));
    if let Some(first) = c.pairs.first() {
        let found = finding_lines(&first.comparison.findings, s.lang);
        blocks.extend(found.lines().map(|line| Block::Fine(line.into())));
    }
    blocks.extend(differences(s, c));
    Some(Part::new(title, blocks))
}

fn pairs(s: &Sources<'_>, c: &Contrast) -> Grid {
    let t = s.t;
    let text = |head: &str| (head.to_string(), false);
    let number = |head: String| (head, true);
    let mut grid = Grid::new([
        text(t.pair),
        number(format!("{}{}{}", t.throughput, t.colon, c.a)),
        number(c.b.clone()),
        number(t.change.into()),
        number(t.interval.into()),
        text(t.verdict),
        number(format!("{}{}{}", t.p95, t.colon, c.a)),
        number(c.b.clone()),
        number(t.change.into()),
        number(t.interval.into()),
        text(t.verdict),
    ]);
    for pair in &c.pairs {
        let mut row = vec![pair_label(s, c, pair)];
        for metric in [Metric::Throughput, Metric::P95] {
            row.extend(match pair.metric(metric) {
                Some(compared) => values_of(compared, s.lang),
                None => vec!["–".to_string(); 5],
            });
        }
        grid.rows.push(row);
    }
    grid
}

fn pair_label(s: &Sources<'_>, c: &Contrast, pair: &Pair) -> String {
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
    let load = load_label(s.t, workload.axis.as_ref(), point);
    let parts = [pair.workload.as_str(), &others.join(", "), &load];
    let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    parts.join(", ")
}

fn differences(s: &Sources<'_>, c: &Contrast) -> Vec<Block> {
    let t = s.t;
    if c.differences.is_empty() {
        return vec![Block::Fine(t.nothing_else.into())];
    }
    let heads = [t.item, c.a.as_str(), c.b.as_str()];
    let mut grid = Grid::new(heads.map(|h| (h.to_string(), false)));
    let rows = c.differences.iter();
    grid.rows = rows
        .map(|d| vec![d.what.clone(), listed(&d.a), listed(&d.b)])
        .collect();
    vec![Block::Fold(
        t.else_differed.into(),
        vec![Block::Table(grid)],
    )]
}
