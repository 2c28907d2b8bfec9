//! One factor with two values: what the change from one to the other does, pair by pair.

use super::Many;
use super::digest::RunDigest;
use super::document::{Sources, named, runs_said};
use super::matrix::{Matrix, Order, Point, Workload};
use super::summary::{factor_name, factor_value, load_label, series_label};
pub(super) use crate::compare::change;
use crate::compare::{difference_name, listed, needed_says, values_of};
use crate::document::{Block, DocumentPart, Grid};
use crate::findings::finding_lines;
use crate::number::whole;
use crate::texts::fill;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_analysis::compare::{Basis, Compared, Difference, Measured, Metric, Needed, Verdict};
use tidemark_analysis::{Comparison, compare_measured};

/// So many pairs are named beside a finding.
const NAMED: usize = 4;

/// The only factor with two values, and every pair of points that differ in it alone.
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
    contrast(s.many, s.matrix)
}

/// `None` where no factor has two values, several have, or no pair was measured.
pub(super) fn contrast(many: &Many, matrix: &Matrix<'_>) -> Option<Contrast> {
    let order = many.order();
    let (factor, a, b) = the_factor(matrix, order)?;
    let mut pairs = Vec::new();
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
                let mut comparison = compare_measured(&of_a, &of_b);
                // What the factor changes is what is compared, and nothing else that differs.
                comparison
                    .differences
                    .retain(|d| !is_the_factors(&factor, &d.what, order));
                pairs.push(Pair {
                    workload: workload.name.clone(),
                    factors: factors(workload, &others, &factor, point),
                    at: (w, n, p),
                    comparison,
                });
            }
        }
    }
    (!pairs.is_empty()).then(|| Contrast {
        differences: differed(&pairs),
        factor,
        a,
        b,
        pairs,
    })
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
fn merged<T: PartialEq>(each: impl Iterator<Item = (usize, T)>) -> Vec<(T, Vec<usize>)> {
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

/// Whether a difference is one that the factor makes.
fn is_the_factors(factor: &str, difference: &str, order: Order<'_>) -> bool {
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
pub(super) fn measured<'d>(point: &Point<'d>) -> Vec<&'d Measured> {
    let runs = point.runs.iter().copied();
    let counted = runs.filter(|r| r.counts());
    counted
        .filter_map(|r: &'d RunDigest| r.measured.as_ref())
        .collect()
}

fn the_factor(matrix: &Matrix<'_>, order: Order<'_>) -> Option<(String, String, String)> {
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
    values.sort_by_key(|v| order.of_value(name, v));
    match values.as_slice() {
        [a, b] => Some(((*name).into(), (*a).into(), (*b).into())),
        _ => None,
    }
}

/// By how much, of those where a difference is shown; of the others what was observed, as such.
fn ratios(s: &Sources<'_>, pairs: &[&Pair]) -> Vec<String> {
    let t = s.t;
    let all_repeat = pairs.iter().all(|p| p.comparison.basis == Basis::Repeats);
    let same = match all_repeat {
        true => t.contrast_same_ratio,
        false => t.contrast_same_intervals,
    };
    let ratio = |ratio: f64| format!("{ratio:.2}");
    let of = |verdicts: &[Verdict], template, write: &dyn Fn(f64) -> String| {
        let metrics = pairs.iter().filter_map(|p| p.metric(Metric::Throughput));
        let ratios = metrics.filter(|m| verdicts.contains(&m.verdict));
        let ratios: Vec<f64> = ratios.map(|m| m.ratio).collect();
        let low = write(ratios.iter().copied().reduce(f64::min)?);
        let high = write(ratios.iter().copied().reduce(f64::max)?);
        let range = match low == high {
            true => low,
            false => fill(t.range, &[("low", &low), ("high", &high)]),
        };
        let values = [("range", &*range), ("n", &*whole(ratios.len() as u64))];
        Some(fill(template, &values))
    };
    let said = [
        of(
            &[Verdict::Faster, Verdict::Slower],
            t.contrast_most,
            &change,
        ),
        of(&[Verdict::NoDifferenceShown], same, &ratio),
        of(&[Verdict::NotEnough], t.contrast_unknown_ratio, &ratio),
    ];
    said.into_iter().flatten().collect()
}

/// The result in a sentence: of the pairs that may be used, and what became of the others.
pub(super) fn headline(s: &Sources<'_>, c: &Contrast) -> String {
    let usable = || c.pairs.iter().filter(|p| p.comparison.is_usable());
    let throughput = || usable().filter_map(|p| p.metric(Metric::Throughput));
    let all = throughput().count();
    let (a, b) = (
        factor_value(s.t, &c.factor, &c.a),
        factor_value(s.t, &c.factor, &c.b),
    );
    let pairs = whole(c.pairs.len() as u64);
    if usable().next().is_none() {
        let values = [("a", &*a), ("b", &*b), ("all", &*pairs)];
        return fill(s.t.contrast_none, &values);
    }
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
    let mut said = vec![fill(
        s.t.contrast_head,
        &[
            ("a", &a),
            ("b", &b),
            ("all", &whole(all as u64)),
            ("counts", &counts.join(s.common.comma)),
        ],
    )];
    said.extend(ratios(s, &usable().collect::<Vec<_>>()));
    let unusable = c.pairs.len() - usable().count();
    if unusable > 0 {
        let values = [("n", &*whole(unusable as u64)), ("all", &*pairs)];
        said.push(fill(s.t.contrast_unusable, &values));
    }
    said.join(s.common.gap)
}

pub(super) fn part(s: &Sources<'_>, contrast: &Option<Contrast>) -> Option<DocumentPart> {
    let c = contrast.as_ref()?;
    let t = s.t;
    let factor = factor_name(t, &c.factor);
    let title = fill(t.contrast, &[("factor", factor), ("a", &c.a), ("b", &c.b)]);
    let mut blocks = vec![Block::Say(headline(s, c))];
    for (metric, name) in [(Metric::Throughput, t.throughput), (Metric::P95, t.p95)] {
        if c.pairs.iter().any(|p| p.metric(metric).is_some()) {
            blocks.push(Block::Heading(name.into()));
            blocks.push(Block::Table(pairs(s, c, metric)));
        }
    }
    let repeats = c.pairs.iter().all(|p| p.comparison.basis == Basis::Repeats);
    let basis = match repeats {
        true => t.contrast_repeats,
        false => t.contrast_intervals,
    };
    blocks.push(Block::Fine(basis.into()));
    blocks.extend(needed(s, c).map(Block::Fine));
    let several = |p: &Pair| p.comparison.a.len() > 1 || p.comparison.b.len() > 1;
    let means = c.pairs.iter().any(several);
    blocks.extend(means.then(|| Block::Fine(t.contrast_means.into())));
    let left_out = c.pairs.iter().map(|p| p.comparison.left_out()).sum();
    if left_out > 0 {
        let values = [("runs", &*runs_said(t, left_out))];
        blocks.push(Block::Fine(fill(t.contrast_left_out, &values)));
    }
    blocks.extend(found(s, c));
    blocks.extend(differences(s, c));
    Some(DocumentPart::new(title, blocks))
}

/// What would show a difference where none is shown.
fn needed(s: &Sources<'_>, c: &Contrast) -> Option<String> {
    let throughputs = c.pairs.iter().filter_map(|p| p.metric(Metric::Throughput));
    let needed = throughputs.filter_map(|of| of.needed);
    let most = needed.reduce(|a, b| match (a, b) {
        (Needed::Repeats(a), Needed::Repeats(b)) => Needed::Repeats(a.max(b)),
        (Needed::Seconds(a), Needed::Seconds(b)) => Needed::Seconds(a.max(b)),
        (repeats @ Needed::Repeats(_), _) | (_, repeats) => repeats,
    });
    Some(needed_says(most?, s.lang))
}

/// A table for each metric: all of them side by side are wider than a page.
fn pairs(s: &Sources<'_>, c: &Contrast, metric: Metric) -> Grid {
    let t = s.t;
    let text = |head: &str| (head.to_string(), false);
    let number = |head: String| (head, true);
    let mut grid = Grid::new([
        text(t.pair),
        number(c.a.clone()),
        number(c.b.clone()),
        number(t.change.into()),
        number(t.interval.into()),
        text(t.verdict),
    ]);
    for pair in &c.pairs {
        let mut row = vec![pair_label(s, c, pair)];
        row.extend(match pair.metric(metric) {
            Some(compared) => values_of(compared, s.lang),
            None => vec!["–".to_string(); 5],
        });
        grid.rows.push(row);
    }
    grid
}

/// What the rules say of comparisons, each finding once, with the pairs that it is in.
fn found(s: &Sources<'_>, c: &Contrast) -> Vec<Block> {
    let each = c.pairs.iter().enumerate().flat_map(|(n, pair)| {
        let lines = finding_lines(&pair.comparison.findings, s.lang);
        let lines: Vec<String> = lines.lines().map(String::from).collect();
        lines.into_iter().map(move |line| (n, line))
    });
    let said = merged(each).into_iter().map(|(text, of)| {
        if of.len() == c.pairs.len() {
            return Block::Fine(text);
        }
        let labels: Vec<String> = of.iter().map(|n| pair_label(s, c, &c.pairs[*n])).collect();
        let values = [
            ("text", text.as_str()),
            ("count", &*whole(of.len() as u64)),
            ("all", &*whole(c.pairs.len() as u64)),
            ("pairs", &*named(&labels, NAMED, s.t, s.t.semicolon)),
        ];
        Block::Fine(fill(s.t.in_pairs, &values))
    });
    said.collect()
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
    let not_compared = c.pairs.iter().any(|p| !p.comparison.settings_compared);
    if c.differences.is_empty() {
        let said = match not_compared {
            true => s.common.settings_not_compared,
            false => t.nothing_else,
        };
        return vec![Block::Fine(said.into())];
    }
    let mut heads = vec![t.item, c.a.as_str(), c.b.as_str()];
    // Of one pair there is nothing to tell apart.
    heads.extend((c.pairs.len() > 1).then_some(t.pairs_differ));
    let mut grid = Grid::new(heads.iter().map(|h| (h.to_string(), false)));
    let all = whole(c.pairs.len() as u64);
    let rows = c.differences.iter().map(|of| {
        let d = &of.difference;
        let pairs = if of.pairs.len() == c.pairs.len() {
            fill(t.every_pair, &[("all", &all)])
        } else {
            let pairs = of.pairs.iter().map(|n| pair_label(s, c, &c.pairs[*n]));
            named(&pairs.collect::<Vec<_>>(), NAMED, t, t.semicolon)
        };
        let mut row = vec![
            difference_name(&d.what, s.lang),
            listed(&d.a),
            listed(&d.b),
            pairs,
        ];
        row.truncate(heads.len());
        row
    });
    grid.rows = rows.collect();
    let mut told = vec![Block::Table(grid)];
    if not_compared {
        told.push(Block::Fine(s.common.settings_not_compared.into()));
    }
    vec![Block::Fold(t.else_differed.into(), told)]
}
