//! Charts of the whole run's latencies.

use super::axis::Axis;
use super::canvas::{Chart, HALF, Ink, Layer};
use super::{ChartFigure, ChartWidth};
use crate::ReportError;
use crate::digest::Digest;
use crate::number::{percent, three, whole};
use crate::texts::{Texts, fill};
use tidemark_stats::Histogram;

/// Bars over the whole range of latencies.
const BARS: usize = 70;
/// Points of the percentile curve.
const CURVE_POINTS: usize = 240;

/// Percentiles in tables of values, as shares.
const LISTED: [f64; 11] = [
    0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 0.999999,
];

/// How many transactions took how long; `None` when none ended.
pub(crate) fn distribution(
    d: &Digest<'_>,
    t: &'static Texts,
) -> Result<Option<ChartFigure>, ReportError> {
    let h = d.all.latency();
    if h.is_empty() {
        return Ok(None);
    }
    let x = Axis::logarithmic(ms(h.min_ns()), ms(h.max_ns()));
    let (start, width) = bars_of(&x);
    let mut counts = vec![0u64; BARS];
    for (ns, count) in h.occupied() {
        let position = (ms(ns.min(h.max_ns())).log10() - start) / width;
        // Below the axis for the shortest and at its end for the longest.
        let bar = (position.max(0.0) as usize).min(BARS - 1);
        counts[bar] += count;
    }
    let share = |count: u64| count as f64 / h.count() as f64 * 100.0;
    let highest = counts.iter().copied().map(share).fold(0.0, f64::max);
    let y = Axis::from_zero(highest);
    // A bar too low to be seen would hide the tail.
    let visible = y.end() / 150.0;
    let filled = || counts.iter().enumerate().filter(|(_, n)| **n > 0);
    let edges = |bar: usize| {
        let from = start + bar as f64 * width;
        (from, from + width)
    };
    let mut layers = vec![Layer::Bars {
        bars: filled()
            .map(|(bar, n)| {
                let (from, to) = edges(bar);
                (from, to, share(*n).max(visible))
            })
            .collect(),
        ink: Ink::Series(0),
    }];
    let percentiles = [("p50", 50.0), ("p95", 95.0), ("p99", 99.0)];
    for (n, (name, p)) in percentiles.iter().enumerate() {
        let value = ms(h.percentile_ns(*p));
        layers.push(Layer::Mark {
            x: value.log10(),
            label: format!("{name}  {} ms", three(value)),
            // The median's own colour is that of the bars.
            ink: if n == 0 { Ink::Text } else { Ink::Series(n) },
        });
    }
    let at = |p| three(ms(h.percentile_ns(p)));
    let drawing = Chart {
        size: HALF,
        x,
        y,
        x_name: t.axis_ms,
        y_name: t.axis_share,
        layers,
        end_labels: Vec::new(),
        rows: filled()
            .map(|(bar, _)| {
                let (from, to) = edges(bar);
                (from + to) / 2.0
            })
            .collect(),
    }
    .draw()?;
    Ok(Some(ChartFigure {
        title: t.distribution_chart.into(),
        says: fill(
            t.distribution_says,
            &[("p50", &at(50.0)), ("p95", &at(95.0)), ("p99", &at(99.0))],
        ),
        drawing,
        head: [t.latency_column, t.transactions, t.share]
            .map(String::from)
            .to_vec(),
        rows: filled()
            .map(|(bar, n)| {
                let (from, to) = edges(bar);
                vec![
                    format!("{} – {} ms", three(10f64.powf(from)), three(10f64.powf(to))),
                    whole(*n),
                    percent(*n as f64, h.count() as f64),
                ]
            })
            .collect(),
        span: ChartWidth::Half,
        legend: Vec::new(),
    }))
}

/// Start of the first bar and width of each, in logarithms.
fn bars_of(x: &Axis) -> (f64, f64) {
    let start = x.range_start();
    (start, (x.end() - start) / BARS as f64)
}

/// Latency against percentile, each nine as wide as the last; `None` when no transaction ended.
pub(crate) fn curve(d: &Digest<'_>, t: &'static Texts) -> Result<Option<ChartFigure>, ReportError> {
    let h = d.all.latency();
    let max = three(ms(h.max_ns()));
    let says = fill(t.curve_says, &[("count", &whole(h.count())), ("max", &max)]);
    curves(&[(t.axis_ms.into(), h)], t, (t.curve_chart, &says))
}

/// Curves of several, named, beside each other; `None` where none has a transaction. Markers tell
/// them apart, at the percentiles that the table has; of one alone it has the maximum, too.
pub(crate) fn curves(
    named: &[(String, &Histogram)],
    t: &'static Texts,
    (title, says): (&str, &str),
) -> Result<Option<ChartFigure>, ReportError> {
    let named: Vec<_> = named.iter().filter(|(_, h)| !h.is_empty()).collect();
    let most = named.iter().map(|(_, h)| h.count()).max().unwrap_or(0);
    if most == 0 {
        return Ok(None);
    }
    let alone = named.len() == 1;
    // Beyond one in the number of transactions there is nothing to tell apart.
    let highest = 1.0 - 1.0 / most as f64;
    let x = Axis::percentiles(highest);
    let low = named.iter().map(|(_, h)| ms(h.min_ns()));
    let high = named.iter().map(|(_, h)| ms(h.max_ns()));
    let y = Axis::logarithmic(low.fold(f64::INFINITY, f64::min), high.fold(0.0, f64::max));
    let listed: Vec<f64> = LISTED.into_iter().filter(|s| *s <= highest).collect();
    let at = |h: &Histogram, share: f64| ms(h.percentile_ns(share * 100.0));
    let mut layers = Vec::new();
    for (n, (_, h)) in named.iter().enumerate() {
        let own_end = Axis::nines(1.0 - 1.0 / h.count() as f64).min(x.end());
        let points = cumulative(h, own_end).into_iter();
        layers.push(Layer::Line {
            points: points.map(|(x, ms)| (x, Some(ms.log10()))).collect(),
            ink: Ink::Series(n),
            width: 5,
        });
        let marked = listed.iter().map(|s| (Axis::nines(*s), at(h, *s).log10()));
        layers.push(Layer::Points {
            at: marked.filter(|(x, _)| *x <= own_end && !alone).collect(),
            series: n,
        });
    }
    let drawing = Chart {
        size: HALF,
        x,
        y,
        x_name: t.axis_percentile,
        y_name: t.axis_ms,
        layers,
        end_labels: Vec::new(),
        rows: listed
            .iter()
            .map(|share| Axis::nines(*share))
            .chain(alone.then_some(f64::MAX))
            .collect(),
    }
    .draw()?;
    let names = || named.iter().map(|(name, _)| name.clone());
    let row = |share: &f64| {
        let values = named.iter().map(|(_, h)| three(at(h, *share)));
        let name = format!("p{}", trimmed(share * 100.0));
        std::iter::once(name).chain(values).collect()
    };
    let longest = named.iter().map(|(_, h)| three(ms(h.max_ns())));
    let longest = std::iter::once(t.max.to_string()).chain(longest).collect();
    Ok(Some(ChartFigure {
        title: title.into(),
        says: says.into(),
        drawing,
        head: std::iter::once(t.axis_percentile.to_string())
            .chain(names())
            .collect(),
        rows: listed
            .iter()
            .map(row)
            .chain(alone.then_some(longest))
            .collect(),
        span: ChartWidth::Half,
        legend: match alone {
            true => Vec::new(),
            false => names().collect(),
        },
    }))
}

/// The curve from the left edge to `end`, thinned to what can be seen.
fn cumulative(h: &Histogram, end: f64) -> Vec<(f64, f64)> {
    let all = h.count() as f64;
    let mut below = 0u64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (ns, count) in h.occupied() {
        let latency_ms = ms(ns.clamp(h.min_ns(), h.max_ns()));
        let from = Axis::nines(below as f64 / all).min(end);
        below += count;
        let to = Axis::nines(below as f64 / all).min(end);
        for x in [from, to] {
            let near = |last: &(f64, f64)| x - last.0 < end / CURVE_POINTS as f64;
            // The last point always stays, so that the curve ends at the maximum.
            if points.last().is_none_or(|last| !near(last)) || below == h.count() {
                points.push((x, latency_ms));
            }
        }
    }
    points
}

fn ms(ns: u64) -> f64 {
    ns.max(1) as f64 / 1e6
}

/// `99.9`, not `99.90000000000001`.
fn trimmed(percent: f64) -> String {
    let text = format!("{percent:.4}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_curve_ends_at_the_maximum_and_never_falls() {
        let mut h = Histogram::new();
        (1..=10_000u64).for_each(|us| h.record(Duration::from_micros(us)));
        let points = cumulative(&h, 4.0);
        assert!(points.len() < 3 * CURVE_POINTS, "{}", points.len());
        assert!(
            points
                .windows(2)
                .all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1)
        );
        let last = points.last().unwrap();
        assert_eq!(*last, (4.0, 10.0));
        let p90 = points.iter().find(|(x, _)| *x >= 1.0).unwrap().1;
        assert!((p90 - 9.0).abs() < 0.15, "{p90}");
    }
}
