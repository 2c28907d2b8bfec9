//! Latency at each rate that was held.

use super::lines::{ChartLine, LineChart, LinePoint, Loads};
use super::{ChartFigure, ChartWidth};
use crate::ReportError;
use crate::digest::Digest;
use crate::load::{LoadKind, SearchOutcome, Spread, StepFigures};
use crate::number::three;
use crate::texts::{Texts, fill};

/// A line: its name, and its value in milliseconds.
type Percentile = (&'static str, fn(&Spread) -> f64);

const LINES: [Percentile; 3] = [
    ("p50", |l| l.p50_ms),
    ("p95", |l| l.p95_ms),
    ("p99", |l| l.p99_ms),
];

/// Response times over the rates asked for; `None` where fewer than two were held.
pub(crate) fn by_rate(
    d: &Digest<'_>,
    t: &'static Texts,
) -> Result<Option<ChartFigure>, ReportError> {
    let held = d.steps.iter().filter_map(|s| Some((s.step.rate?, s)));
    let mut held: Vec<(f64, &StepFigures<'_>)> = held.collect();
    held.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some((first, _)), Some((last, _))) = (held.first(), held.last()) else {
        return Ok(None);
    };
    if first == last {
        return Ok(None);
    }
    let line = |(name, of): &Percentile| ChartLine {
        name: (*name).into(),
        points: held
            .iter()
            .filter_map(|(rate, s)| Some((*rate, of(s.latency.as_ref()?))))
            .map(|(x, y)| LinePoint {
                x,
                y,
                between: None,
                words: String::new(),
                crossed: false,
            })
            .collect(),
    };
    let row = |(rate, s): &(f64, &StepFigures<'_>)| {
        let spread = s.latency.as_ref();
        let values = LINES.iter().map(|(_, of)| spread.map(of).map(three));
        let values = values.map(|value| value.unwrap_or("–".into()));
        let rates = [three(*rate), three(s.achieved)].into_iter();
        (*rate, rates.chain(values).collect())
    };
    let found = SearchOutcome::of(d.record).rate();
    let found = found.filter(|_| d.kind == LoadKind::Search);
    let mut head = vec![t.step_rate.to_string(), t.step_served.to_string()];
    let in_ms = |name: &str| fill(t.in_ms, &[("what", name)]);
    head.extend(LINES.iter().map(|(name, _)| in_ms(name)));
    LineChart {
        title: t.rates_chart.into(),
        says: fill(
            t.rates_says,
            &[("low", &three(*first)), ("high", &three(*last))],
        ),
        cut: String::new(),
        span: ChartWidth::Whole,
        // From zero: how far apart rates are is what the chart is about.
        x: Loads::FromZero,
        x_name: t.axis_rate,
        y_name: t.axis_ms,
        logarithmic: true,
        beside: None,
        lines: LINES.iter().map(line).collect(),
        laws: Vec::new(),
        marks: found
            .map(|rate| (rate, fill(t.rates_found, &[("rate", &three(rate))])))
            .into_iter()
            .collect(),
        head,
        rows: held.iter().map(row).collect(),
    }
    .figure()
}
