//! How latencies are distributed.

use super::super::cell::PointResults;
use super::super::marks::marked;
use super::super::matrix::CurvePoint;
use super::super::summary::common_load;
use super::{Charts, Drawn, evenly};
use crate::ReportError;
use crate::charts::{self, ChartFigure, MOST_SERIES};
use tidemark_stats::Histogram;

impl Charts<'_, '_, '_> {
    /// Of one series its loads, of several each at one load that all have, or its best point where they
    /// have none in common; what must not be used only where there is nothing else.
    pub(super) fn distributions(&self) -> Result<Option<ChartFigure>, ReportError> {
        let t = self.m.s.t;
        let mut remark = None;
        let named: Vec<(String, &PointResults)> = match self.drawn {
            [one] => {
                let points = evenly(&figured(one), MOST_SERIES);
                let named = points.into_iter().map(|(point, cell)| {
                    let name = match self.m.load(point).as_str() {
                        "" => one.name.clone(),
                        load => load.into(),
                    };
                    (name, cell)
                });
                named.collect()
            }
            several => {
                let cells = several.iter();
                let cells = cells.map(|d| d.points.iter().map(|(_, cell)| *cell).collect());
                let common = common_load(cells);
                remark = (self.m.workload.axis.is_some() && common.is_none())
                    .then(|| t.distributions_apart.to_string());
                let chosen = several.iter().filter_map(|d| {
                    let points = figured(d);
                    let at = |(_, cell): &&(&CurvePoint<'_>, &PointResults)| {
                        common.is_some() && cell.load == common
                    };
                    let best = || {
                        let best = points.iter();
                        best.max_by(|a, b| a.1.tps().total_cmp(&b.1.tps()))
                    };
                    let (point, cell) = points.iter().find(at).or_else(best)?;
                    let load = self.m.load(point);
                    let name = match load.as_str() {
                        "" => d.name.clone(),
                        load => format!("{}, {load}", d.name),
                    };
                    Some((name, *cell))
                });
                chosen.collect()
            }
        };
        let title = format!("{}{}", t.distributions, self.several);
        let mut says = t.distributions_says.to_string();
        let repeated = named.iter().any(|(_, cell)| cell.repeats_count > 1);
        let together = repeated.then(|| t.distributions_together.to_string());
        for sentence in [remark, together].into_iter().flatten() {
            says += self.m.s.common.gap;
            says += &sentence;
        }
        if named.iter().any(|(_, cell)| !cell.usable) {
            says += self.m.s.common.gap;
            says += t.crossed_curves;
        }
        let curves: Vec<(String, &Histogram)> = named
            .into_iter()
            .map(|(name, cell)| (marked(t, cell, name), &cell.latency))
            .collect();
        charts::curves(&curves, self.m.s.common, (&title, &says))
    }
}

/// The points of a series that may be used; all where none may.
fn figured<'m>(d: &Drawn<'m>) -> Vec<(&'m CurvePoint<'m>, &'m PointResults)> {
    let usable = d.points.iter().copied().filter(|(_, cell)| cell.usable);
    match usable.collect::<Vec<_>>() {
        none if none.is_empty() => d.points.clone(),
        usable => usable,
    }
}
