//! Little's law beside the measured figures.

use super::cell::PointResults;
use super::labels::factor_name;
use super::marks::crossed;
use super::matrix::LoadCurve;
use super::pictures::which_of;
use super::scaling::{Accounted, accounted};
use super::workload::MeasuredWorkload;
use crate::ReportError;
use crate::charts::{ChartFigure, ChartLine, ChartWidth, LineChart, LinePoint, Loads, MOST_SERIES};
use crate::number::{three, whole};
use crate::texts::fill;

/// A chart for as many series as can be told apart.
pub(super) fn figures(m: &MeasuredWorkload<'_, '_>) -> Result<Vec<ChartFigure>, ReportError> {
    let series: Vec<_> = m.series().collect();
    let groups = series.chunks(MOST_SERIES);
    let all = groups.len();
    let figures = groups
        .enumerate()
        .map(|(n, group)| figure(m, &which_of(m.s.t, n, all), group));
    let figures: Vec<Option<ChartFigure>> = figures.collect::<Result<_, _>>()?;
    Ok(figures.into_iter().flatten().collect())
}

/// Sessions that ran beside those that the figures account for.
fn figure(
    m: &MeasuredWorkload<'_, '_>,
    several: &str,
    group: &[(&LoadCurve<'_>, &[PointResults])],
) -> Result<Option<ChartFigure>, ReportError> {
    let t = m.s.t;
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    let mut all: Vec<Accounted> = Vec::new();
    let mut says: Vec<String> = Vec::new();
    for (series, cells) in group {
        let name = m.name(series);
        let accounted = accounted(series, cells);
        for a in &accounted {
            let by_figures = match a.usable {
                true => three(a.by_figures),
                false => fill(t.mark, &[("text", &three(a.by_figures))]),
            };
            let row = vec![name.clone(), whole(a.users as u64), by_figures];
            rows.push((a.users, row));
        }
        all.extend(&accounted);
        let points = accounted.iter().map(|a| LinePoint {
            x: a.users,
            y: a.by_figures,
            between: None,
            words: String::new(),
            crossed: !a.usable,
        });
        lines.push(ChartLine {
            name,
            points: points.collect(),
        });
    }
    lines.retain(|l| !l.points.is_empty());
    if all.is_empty() {
        return Ok(None);
    }
    let off = |a: &&Accounted| (a.by_figures / a.users - 1.0).abs();
    let usable = all.iter().filter(|a| a.usable);
    if let Some(furthest) = usable.max_by(|a, b| off(a).total_cmp(&off(b))) {
        let by_figures = three(furthest.by_figures);
        let users = whole(furthest.users as u64);
        let values = [("furthest", &*by_figures), ("users", &*users)];
        says.push(fill(t.little_furthest, &values));
    }
    let repeats = group.iter().flat_map(|(_, cells)| *cells);
    let mut repeats = repeats.flat_map(|cell| &cell.repeats);
    if repeats.any(|repeat| repeat.between > 0.0) {
        says.insert(0, t.little_between.into());
    }
    says.insert(0, t.little_says.into());
    let points = group.iter().flat_map(|(series, cells)| {
        let pairs = series.points.iter().zip(*cells);
        pairs.map(|(point, cell)| (m.label(series, point), point, cell))
    });
    says.extend(crossed(m, points));
    let mut users: Vec<f64> = rows.iter().map(|(u, _)| *u).collect();
    users.sort_by(f64::total_cmp);
    users.dedup();
    let loads = users.iter().map(|u| (*u, whole(*u as u64))).collect();
    let same = users.iter().map(|u| (*u, *u)).collect();
    let axis = m.workload.axis.as_ref();
    LineChart {
        cut: String::new(),
        span: ChartWidth::Half,
        title: format!("{}{several}", t.little),
        says: says.join(m.s.common.gap),
        x: Loads::At(loads),
        x_name: axis.map_or("", |a| factor_name(t, &a.name)),
        y_name: t.little_axis,
        logarithmic: users
            .first()
            .zip(users.last())
            .is_some_and(|(a, b)| b / a >= 16.0),
        lines,
        beside: None,
        laws: vec![same],
        marks: Vec::new(),
        head: vec![t.series.into(), t.asked.into(), t.little_axis.into()],
        rows,
    }
    .figure()
}
