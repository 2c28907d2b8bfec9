//! Queries of a benchmark that asks questions: what a point's came to, and each by itself.

use super::RunDigest;
use super::cell::PointResults;
use super::document::Sources;
use super::marks::{crossed, marked};
use super::matrix::CurvePoint;
use super::pictures::which_of;
use super::texts::Texts;
use super::workload::{MeasuredWorkload, shown};
use crate::charts::{Bar, BarChart, ChartFigure, ChartWidth};
use crate::document::Grid;
use crate::number::three;
use tidemark_core::record::QueryOutcome;

/// So many points have their bars beside each other.
const MOST_POINTS: usize = 3;

/// Queries done, seconds of all, geometric mean of those done, QphH.
pub(super) fn figures(s: &Sources<'_>, point: &CurvePoint<'_>, cell: &PointResults) -> Vec<String> {
    let runs = point.figured();
    let Some(first) = runs.first() else {
        return vec!["–".to_string(); 4];
    };
    let done = |r: &RunDigest| -> Vec<f64> {
        let done = r.queries.iter().filter(|q| q.outcome == QueryOutcome::Done);
        done.map(|q| q.took_s).collect()
    };
    let counts: Vec<String> = runs
        .iter()
        .map(|r| format!("{} / {}", done(r).len(), r.queries.len()))
        .collect();
    let same = counts.iter().all(|c| c == &counts[0]);
    let all_done: Vec<f64> = runs
        .iter()
        .flat_map(|r| done(r))
        .filter(|t| *t > 0.0)
        .collect();
    let logs: f64 = all_done.iter().map(|t| t.ln()).sum();
    let geometric = (logs / all_done.len().max(1) as f64).exp();
    vec![
        if same {
            counts[0].clone()
        } else {
            format!("{} …", done(first).len())
        },
        shown(s, cell.elapsed_s),
        if all_done.is_empty() {
            "–".into()
        } else {
            three(geometric)
        },
        shown(s, cell.qphh),
    ]
}

/// The queries of all points, Q2 before Q10.
fn names(m: &MeasuredWorkload<'_, '_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, point, _) in m.points() {
        for query in point.figured().into_iter().flat_map(|r| &r.queries) {
            if !names.contains(&query.name) {
                names.push(query.name.clone());
            }
        }
    }
    names.sort_by_key(|n| {
        let digits: String = n.chars().filter(char::is_ascii_digit).collect();
        (
            n.starts_with("RF"),
            digits.parse::<u64>().unwrap_or(0),
            n.clone(),
        )
    });
    names
}

/// What a point's runs of a query took on average, or what is said instead.
fn took(t: &'static Texts, point: &CurvePoint<'_>, name: &str) -> Result<f64, &'static str> {
    let of = point.figured().into_iter().flat_map(|r| &r.queries);
    let of: Vec<_> = of.filter(|q| q.name == name).collect();
    let failed = of.iter().find(|q| q.outcome != QueryOutcome::Done);
    match failed.map(|q| &q.outcome) {
        Some(QueryOutcome::TimedOut) => Err(t.timed_out),
        Some(_) => Err(t.query_failed),
        None if of.is_empty() => Err("–"),
        None => Ok(of.iter().map(|q| q.took_s).sum::<f64>() / of.len() as f64),
    }
}

/// A row a query, a column a point: means over streams and repeats, in seconds. What
/// must not be used is in a column only where the point has nothing else, and is marked.
pub(super) fn table(m: &MeasuredWorkload<'_, '_>) -> Grid {
    let t = m.s.t;
    let points = m.points();
    let points = points.map(|(series, point, cell)| marked(t, cell, m.label(series, point)));
    let head = std::iter::once((t.query.to_string(), false));
    let mut grid = Grid::new(head.chain(points.map(|label| (label, true))));
    for name in names(m) {
        let cells = m.points().map(|(_, point, _)| match took(t, point, &name) {
            Ok(seconds) => three(seconds),
            Err(said) => said.into(),
        });
        let row = std::iter::once(name.clone()).chain(cells).collect();
        grid.rows.push(row);
    }
    grid
}

/// A bar a query, of some points beside each other.
pub(super) fn figures_of(m: &MeasuredWorkload<'_, '_>) -> Vec<ChartFigure> {
    let t = m.s.t;
    let names = names(m);
    let points: Vec<_> = m.points().filter(|(_, _, cell)| cell.counted > 0).collect();
    let groups = points.chunks(MOST_POINTS);
    let all = groups.len();
    let charts = groups.enumerate().filter_map(|(n, group)| {
        let bar = |name: &str, point: &CurvePoint<'_>, cell: &PointResults| {
            let seconds = took(t, point, name).ok()?;
            Some(Bar {
                value: seconds,
                between: None,
                words: three(seconds),
                crossed: !cell.usable,
            })
        };
        let rows = names.iter().map(|name| {
            let bars = group.iter().map(|(_, point, cell)| bar(name, point, cell));
            (name.clone(), bars.collect::<Vec<_>>())
        });
        let groups: Vec<_> = rows.collect();
        let legend = group
            .iter()
            .map(|(series, point, _)| m.label(series, point));
        let legend: Vec<String> = legend.collect();
        let head = [vec![t.query.to_string()], legend.clone()].concat();
        let values = names.iter().map(|name| {
            let values = group
                .iter()
                .map(|(_, point, cell)| match took(t, point, name) {
                    Ok(seconds) => marked(t, cell, three(seconds)),
                    Err(said) => said.into(),
                });
            std::iter::once(name.clone()).chain(values).collect()
        });
        let labelled = group.iter().map(|(series, point, cell)| {
            let label = m.label(series, point);
            (label, *point, *cell)
        });
        let mut says = t.query_bars_say.to_string();
        if let Some(crossed) = crossed(m, labelled) {
            says += m.s.common.gap;
            says += &crossed;
        }
        BarChart {
            title: format!("{}{}", t.query_bars, which_of(t, n, all)),
            says,
            cut: String::new(),
            span: ChartWidth::Half,
            unit: t.seconds,
            groups,
            legend,
            beside: None,
            head,
            rows: values.collect(),
        }
        .figure()
    });
    let mut charts: Vec<ChartFigure> = charts.collect();
    ChartFigure::side_by_side(&mut charts);
    charts
}
