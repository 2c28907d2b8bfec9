//! Each point's runs over time, as small pictures.

use super::marks::{crossed_runs, marked};
use super::workload::MeasuredWorkload;
use crate::charts::{PanelLine, panel};
use crate::document::Panel;
use crate::number::{seconds, three, whole};
use crate::texts::fill;

/// A small picture for each point that has a series. Every run is drawn, and those that are in no
/// figure, or must not be used, are crossed out.
pub(super) fn of(m: &MeasuredWorkload<'_, '_>) -> Vec<Panel> {
    let t = m.s.t;
    let mut panels = Vec::new();
    for (series, point, cell) in m.points() {
        let runs: Vec<_> = point.runs.iter().filter(|r| r.series.len() > 1).collect();
        // Of a point without a result there is nothing else to tell of.
        let told = match point.figured() {
            none if none.is_empty() => point.runs.clone(),
            figured => figured,
        };
        let samples = || told.iter().flat_map(|r| &r.series);
        let ends = |of: &dyn Fn(&super::digest::DigestSample) -> Option<f64>| {
            let values: Vec<f64> = samples().filter_map(of).collect();
            let low = values.iter().copied().reduce(f64::min)?;
            Some((low, values.iter().copied().reduce(f64::max)?))
        };
        let Some((low, high)) = ends(&|s| Some(s.transactions_per_s)) else {
            continue;
        };
        let rates = samples().map(|s| s.transactions_per_s);
        let mean = match cell.transactions_per_s {
            Some(tps) => tps.value,
            None => rates.sum::<f64>() / samples().count() as f64,
        };
        let p95 = ends(&|s| s.p95_ms);
        let length = runs.iter().map(|r| r.elapsed_s).fold(0.0, f64::max);
        let label = marked(t, cell, m.label(series, point));
        let (p95_low, p95_high) =
            p95.map_or_else(Default::default, |ends| (three(ends.0), three(ends.1)));
        let (low, high, tps) = (three(low), three(high), three(mean));
        let crossed = crossed_runs(m, point);
        // The mean is of clients together, and each line of one: its ends are not the load's.
        let together = cell.clients() > 1;
        let clients = whole(cell.clients() as u64);
        let mut says = fill(
            match p95 {
                _ if together => t.panel_says_clients,
                Some(_) => t.panel_says,
                None => t.panel_says_rate,
            },
            &[
                ("label", &label),
                ("tps", &tps),
                ("clients", &clients),
                ("low", &low),
                ("high", &high),
                ("p95_low", &p95_low),
                ("p95_high", &p95_high),
                ("length", &format!("{} s", seconds(length))),
            ],
        );
        for sentence in &crossed {
            says += m.s.common.gap;
            says += sentence;
        }
        let mut figures = vec![fill(
            match together {
                true => t.panel_tps_clients,
                false => t.panel_tps,
            },
            &[
                ("tps", &tps),
                ("clients", &clients),
                ("low", &low),
                ("high", &high),
            ],
        )];
        let latency = || fill(t.panel_p95, &[("low", &p95_low), ("high", &p95_high)]);
        figures.extend(p95.filter(|_| !together).map(|_| latency()));
        figures.extend(crossed);
        let lines: Vec<PanelLine> = runs
            .iter()
            .map(|r| PanelLine {
                points: r
                    .series
                    .iter()
                    .map(|s| (s.at_s, s.transactions_per_s, s.p95_ms))
                    .collect(),
                crossed: !r.usable,
            })
            .collect();
        panels.push(Panel {
            svg: panel(&lines, &says),
            label,
            says,
            legend: Vec::new(),
            figures,
            wide: false,
        });
    }
    panels
}
