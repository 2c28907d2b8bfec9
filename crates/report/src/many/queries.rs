//! Queries of a benchmark that asks questions: what a point's came to, and each by itself.

use super::RunDigest;
use super::cell::Cell;
use super::document::Sources;
use super::marks::marked;
use super::matrix::Point;
use super::workload::{Measured, shown};
use crate::document::Grid;
use crate::number::three;
use tidemark_core::record::QueryOutcome;

/// Queries done, seconds of all, geometric mean of those done, QphH.
pub(super) fn figures(s: &Sources<'_>, point: &Point<'_>, cell: &Cell) -> Vec<String> {
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

/// A row a query, a column a point: means over streams and repeats, in seconds. What
/// must not be used is in a column only where the point has nothing else, and is marked.
pub(super) fn table(m: &Measured<'_, '_>) -> Grid {
    let t = m.s.t;
    let mut names: Vec<String> = Vec::new();
    let mut head = vec![(t.query.to_string(), false)];
    for (series, point, cell) in m.points() {
        head.push((marked(t, cell, m.label(series, point)), true));
        for query in point.figured().into_iter().flat_map(|r| &r.queries) {
            if !names.contains(&query.name) {
                names.push(query.name.clone());
            }
        }
    }
    // Q2 before Q10.
    names.sort_by_key(|n| {
        let digits: String = n.chars().filter(char::is_ascii_digit).collect();
        (
            n.starts_with("RF"),
            digits.parse::<u64>().unwrap_or(0),
            n.clone(),
        )
    });
    let mut grid = Grid::new(head);
    for name in names {
        let cells = m.points().map(|(_, point, _)| {
            let of = point.figured().into_iter().flat_map(|r| &r.queries);
            let of: Vec<_> = of.filter(|q| q.name == name).collect();
            let failed = of.iter().find(|q| q.outcome != QueryOutcome::Done);
            match failed.map(|q| &q.outcome) {
                Some(QueryOutcome::TimedOut) => t.timed_out.to_string(),
                Some(_) => t.query_failed.into(),
                None if of.is_empty() => "–".into(),
                None => three(of.iter().map(|q| q.took_s).sum::<f64>() / of.len() as f64),
            }
        });
        let row = std::iter::once(name.clone()).chain(cells).collect();
        grid.rows.push(row);
    }
    grid
}
