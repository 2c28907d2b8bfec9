//! Latency at each rate that was held.

use super::Figure;
use super::axis::Axis;
use super::canvas::{Chart, EndLabel, Ink, Layer, WIDE};
use crate::ReportError;
use crate::digest::Digest;
use crate::load::{Found, LoadKind, Spread, StepFigures};
use crate::number::three;
use crate::texts::{Texts, fill};

/// A line: its name, and its value in milliseconds.
type Line = (&'static str, fn(&Spread) -> f64);

const LINES: [Line; 3] = [
    ("p50", |l| l.p50_ms),
    ("p95", |l| l.p95_ms),
    ("p99", |l| l.p99_ms),
];

/// Response times over the rates asked for; `None` where fewer than two were held.
pub(crate) fn by_rate(d: &Digest<'_>, t: &'static Texts) -> Result<Option<Figure>, ReportError> {
    let mut held: Vec<(f64, &StepFigures<'_>)> = d
        .steps
        .iter()
        .filter_map(|s| Some((s.step.rate?, s)))
        .collect();
    held.sort_by(|a, b| a.0.total_cmp(&b.0));
    let values = || held.iter().filter_map(|(_, s)| s.latency.as_ref());
    let low = values().map(|l| l.p50_ms).fold(f64::INFINITY, f64::min);
    let high = values().map(|l| l.p99_ms).fold(0.0, f64::max);
    let (Some((first, _)), Some((last, _))) = (held.first(), held.last()) else {
        return Ok(None);
    };
    if first == last || high == 0.0 {
        return Ok(None);
    }
    let mut layers = Vec::new();
    let mut end_labels = Vec::new();
    for (n, (name, of)) in LINES.iter().enumerate() {
        let ink = Ink::Series(n);
        let place = |s: &StepFigures<'_>| s.latency.as_ref().map(|l| of(l).max(1e-6).log10());
        layers.push(Layer::Line {
            points: held.iter().map(|(rate, s)| (*rate, place(s))).collect(),
            ink,
            width: 5,
        });
        if let Some(y) = held.iter().rev().find_map(|(_, s)| place(s)) {
            end_labels.push(EndLabel {
                y,
                text: (*name).into(),
                ink,
            });
        }
    }
    if d.kind == LoadKind::Search
        && let Some(rate) = Found::of(d.record).rate()
    {
        layers.push(Layer::Mark {
            x: rate,
            label: fill(t.rates_found, &[("rate", &three(rate))]),
            ink: Ink::Text,
        });
    }
    let drawing = Chart {
        size: WIDE,
        // From zero: how far apart rates are is what the chart is about.
        x: Axis::from_zero(*last),
        y: Axis::logarithmic(low, high),
        x_name: t.axis_rate,
        y_name: t.axis_ms,
        layers,
        end_labels,
        rows: held.iter().map(|(rate, _)| *rate).collect(),
    }
    .draw()?;
    let mut head = vec![t.step_rate.to_string(), t.step_served.to_string()];
    head.extend(LINES.iter().map(|(name, _)| format!("{name} (ms)")));
    Ok(Some(Figure {
        title: t.rates_chart.into(),
        says: fill(
            t.rates_says,
            &[("low", &three(*first)), ("high", &three(*last))],
        ),
        drawing,
        head,
        rows: held
            .iter()
            .map(|(rate, s)| {
                let ms = |of: &fn(&Spread) -> f64| match &s.latency {
                    Some(spread) => three(of(spread)),
                    None => "–".into(),
                };
                let values = LINES.iter().map(|(_, of)| ms(of));
                [three(*rate), three(s.achieved)]
                    .into_iter()
                    .chain(values)
                    .collect()
            })
            .collect(),
        half: false,
        legend: Vec::new(),
    }))
}
