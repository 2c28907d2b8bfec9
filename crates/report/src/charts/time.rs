//! Charts over time.

use super::axis::Axis;
use super::canvas::{Chart, EndLabel, Ink, Layer, WIDE};
use super::timeline::Timeline;
use super::{ChartFigure, ChartWidth};
use crate::ReportError;
use crate::digest::{ChartPoint, Digest};
use crate::load::LoadKind;
use crate::number::{three, whole};
use crate::texts::{Texts, fill};
use tidemark_core::record::Phase;

/// Longest name of a transaction type beside its line.
const NAME_LENGTH: usize = 14;
/// Types drawn; with more lines nobody can follow one.
const MOST_TYPES: usize = 6;

/// One line of a chart.
struct ChartSeries<'a> {
    name: &'a str,
    values: Vec<Option<f64>>,
}

/// What the charts over time have in common.
struct OverTime<'a> {
    d: &'a Digest<'a>,
    t: &'static Texts,
    title: &'static str,
    says: String,
    y_name: &'a str,
    series: Vec<ChartSeries<'a>>,
    /// Whether the y axis is logarithmic.
    logarithmic: bool,
    /// Whether the area below the first line is tinted.
    area: bool,
    /// Drawn across the measured time.
    mean: Option<f64>,
}

impl OverTime<'_> {
    fn figure(self) -> Result<ChartFigure, ReportError> {
        let points = &self.d.points;
        let time = Timeline::of(self.d);
        let values = || self.series.iter().flat_map(|s| s.values.iter().flatten());
        let high = values().copied().fold(0.0, f64::max);
        let low = values().copied().fold(f64::INFINITY, f64::min);
        let y = if self.logarithmic {
            Axis::logarithmic(low, high)
        } else {
            Axis::from_zero(high)
        };
        let place = |v: f64| if self.logarithmic { v.log10() } else { v };

        let mut layers = time.layers(&y);
        let at = |s: &ChartSeries<'_>| -> Vec<(f64, Option<f64>)> {
            let middles = points.iter().map(ChartPoint::middle_s);
            middles.zip(s.values.iter().map(|v| v.map(place))).collect()
        };
        if self.area
            && let Some(first) = self.series.first()
        {
            layers.push(Layer::Area {
                points: at(first)
                    .into_iter()
                    .map(|(x, y)| (x, y.unwrap_or(0.0)))
                    .collect(),
                ink: Ink::Series(0),
            });
        }
        let mut end_labels = Vec::new();
        let measured_from = self.d.measured().map(|p| p.start_s).reduce(f64::min);
        if let (Some(mean), Some(from)) = (self.mean, measured_from) {
            layers.push(Layer::Line {
                points: vec![(from, Some(place(mean))), (time.end_s(), Some(place(mean)))],
                ink: Ink::Text,
                width: 3,
            });
            end_labels.push(EndLabel {
                y: place(mean),
                text: fill(self.t.mean, &[("value", &three(mean))]),
                ink: Ink::Text,
            });
        }
        for (n, series) in self.series.iter().enumerate() {
            let ink = Ink::Series(n);
            layers.push(Layer::Line {
                points: at(series),
                ink,
                width: 5,
            });
            if let (true, Some(last)) = (
                self.series.len() > 1,
                series.values.iter().rev().flatten().next(),
            ) {
                end_labels.push(EndLabel {
                    y: place(*last),
                    text: shortened(series.name),
                    ink,
                });
            }
        }
        let drawing = Chart {
            size: WIDE,
            x: time.axis(),
            y,
            x_name: time.axis_name(self.t),
            y_name: self.y_name,
            layers,
            end_labels,
            rows: points.iter().map(ChartPoint::middle_s).collect(),
        }
        .draw()?;

        let mut head = vec![self.t.time.to_string()];
        head.extend(self.series.iter().map(|s| s.name.to_string()));
        let rows = points
            .iter()
            .enumerate()
            .map(|(n, p)| {
                let cells = self.series.iter().map(|s| {
                    let value = s.values.get(n).copied().flatten();
                    value.map_or("–".into(), three)
                });
                std::iter::once(self.time_cell(p)).chain(cells).collect()
            })
            .collect();
        Ok(ChartFigure {
            title: self.title.into(),
            says: self.caption(&time),
            drawing,
            head,
            rows,
            span: ChartWidth::Whole,
            legend: Vec::new(),
        })
    }

    fn time_cell(&self, p: &ChartPoint) -> String {
        let span = format!("{:.0} – {}", p.start_s, self.t.moment(p.end_s));
        match p.phase {
            Phase::Warmup => format!("{span} ({})", self.t.warmup),
            Phase::Measure => span,
        }
    }

    fn caption(&self, time: &Timeline<'_>) -> String {
        let mut says = vec![self.says.clone()];
        let count = self.d.intervals_per_point;
        if count > 1 {
            let length = self.d.points.first().map_or(0.0, |p| p.end_s - p.start_s);
            says.push(fill(
                self.t.summed,
                &[
                    ("count", &whole(count as u64)),
                    ("length", &self.t.duration(length)),
                ],
            ));
        }
        says.extend(time.says(self.t).into_iter().map(String::from));
        says.join(self.t.gap)
    }
}

/// A name as it fits beside a line.
fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME_LENGTH {
        name.into()
    } else {
        name.chars().take(NAME_LENGTH - 1).chain(['…']).collect()
    }
}

/// A value of a measured point, and when.
fn extreme<'d>(
    (d, t): (&'d Digest<'_>, &Texts),
    value: impl Fn(&ChartPoint) -> Option<f64> + 'd,
    largest: bool,
) -> Option<(f64, String)> {
    let sign = if largest { 1.0 } else { -1.0 };
    d.measured()
        .filter_map(|p| Some((value(p)?, p)))
        .max_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)))
        .map(|(v, p)| (v, t.moment(p.start_s)))
}

/// Transactions a second over the whole chart: a search's totals are of its confirmation alone.
fn mean_of(d: &Digest<'_>) -> f64 {
    if d.kind != LoadKind::Search {
        return d.transactions_per_s();
    }
    let length = |p: &ChartPoint| p.end_s - p.start_s;
    let all: f64 = d.measured().map(|p| p.transactions_per_s * length(p)).sum();
    let time: f64 = d.measured().map(length).sum();
    if time > 0.0 { all / time } else { 0.0 }
}

/// Transactions a second.
pub(crate) fn throughput(d: &Digest<'_>, t: &'static Texts) -> Result<ChartFigure, ReportError> {
    let tps = |p: &ChartPoint| Some(p.transactions_per_s);
    let mean = mean_of(d);
    let says = match (extreme((d, t), tps, false), extreme((d, t), tps, true)) {
        (Some((low, low_at)), Some((high, high_at))) => fill(
            t.throughput_says,
            &[
                ("mean", &three(mean)),
                ("low", &three(low)),
                ("low_at", &low_at),
                ("high", &three(high)),
                ("high_at", &high_at),
            ],
        ),
        _ => t.no_chart.into(),
    };
    let stepped = matches!(d.kind, LoadKind::Steps | LoadKind::Search);
    let mut series = vec![ChartSeries {
        name: t.transactions_per_s,
        values: d.points.iter().map(tps).collect(),
    }];
    if stepped {
        series.push(ChartSeries {
            name: t.asked_rate,
            values: d.points.iter().map(|p| p.rate).collect(),
        });
    }
    OverTime {
        d,
        t,
        title: t.throughput_chart,
        says,
        y_name: t.axis_tps,
        series,
        logarithmic: false,
        area: true,
        // Where the rate changes, a mean across it all says nothing.
        mean: (!stepped).then_some(mean),
    }
    .figure()
}

/// Transactions a second of each type.
pub(crate) fn throughput_by_type(
    d: &Digest<'_>,
    t: &'static Texts,
) -> Result<ChartFigure, ReportError> {
    let shown = d.types.len().min(MOST_TYPES);
    let series = d.types.iter().take(shown).enumerate();
    OverTime {
        d,
        t,
        title: t.types_chart,
        says: fill(t.types_says, &[("count", &shown.to_string())]),
        y_name: t.axis_tps,
        series: series
            .map(|(n, (name, _))| ChartSeries {
                name,
                values: d.points.iter().map(|p| p.by_type.get(n).copied()).collect(),
            })
            .collect(),
        logarithmic: false,
        area: false,
        mean: None,
    }
    .figure()
}

/// Percentiles of latency in each interval.
pub(crate) fn latency(d: &Digest<'_>, t: &'static Texts) -> Result<ChartFigure, ReportError> {
    let of = |n: usize| move |p: &ChartPoint| p.latency_ms.and_then(|l| l.get(n).copied());
    let says = match (
        extreme((d, t), of(1), false),
        extreme((d, t), of(1), true),
        extreme((d, t), of(3), true),
    ) {
        (Some((low, _)), Some((high, _)), Some((max, max_at))) => fill(
            t.latency_says,
            &[
                ("low", &three(low)),
                ("high", &three(high)),
                ("max", &three(max)),
                ("max_at", &max_at),
            ],
        ),
        _ => t.no_chart.into(),
    };
    let names = ["p50", "p95", "p99", t.max];
    OverTime {
        d,
        t,
        title: t.latency_chart,
        says,
        y_name: t.axis_ms,
        series: names
            .iter()
            .enumerate()
            .map(|(n, name)| ChartSeries {
                name,
                values: d.points.iter().map(of(n)).collect(),
            })
            .collect(),
        logarithmic: true,
        area: false,
        mean: None,
    }
    .figure()
}

/// Errors and reconnects a second.
pub(crate) fn errors(d: &Digest<'_>, t: &'static Texts) -> Result<ChartFigure, ReportError> {
    OverTime {
        d,
        t,
        title: t.errors_chart,
        says: fill(
            t.errors_says,
            &[
                ("errors", &whole(d.totals.ignored_errors)),
                ("reconnects", &whole(d.totals.reconnects)),
            ],
        ),
        y_name: t.axis_errors,
        series: vec![
            ChartSeries {
                name: t.errors_per_s,
                values: d.points.iter().map(|p| Some(p.errors_per_s)).collect(),
            },
            ChartSeries {
                name: t.reconnects_per_s,
                values: d.points.iter().map(|p| Some(p.reconnects_per_s)).collect(),
            },
        ],
        logarithmic: false,
        area: false,
        mean: None,
    }
    .figure()
}

/// Arrivals that wait for a session.
pub(crate) fn queue(d: &Digest<'_>, t: &'static Texts) -> Result<ChartFigure, ReportError> {
    let high = d.measured().map(|p| p.queue_length).max().unwrap_or(0);
    OverTime {
        d,
        t,
        title: t.queue_chart,
        says: fill(t.queue_says, &[("high", &whole(high))]),
        y_name: t.axis_queue,
        series: vec![ChartSeries {
            name: t.waiting,
            values: d
                .points
                .iter()
                .map(|p| Some(p.queue_length as f64))
                .collect(),
        }],
        logarithmic: false,
        area: true,
        mean: None,
    }
    .figure()
}
