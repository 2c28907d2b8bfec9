//! The charts of a workload: over its load, over throughput, distributions.

mod distributions;

use super::cell::PointResults;
use super::labels::factor_name;
use super::law::Fit;
use super::limits;
use super::littles_law;
use super::marks::{crossed, marked};
use super::matrix::{AxisKind, CurvePoint, LoadCurve};
use super::scaling::{Peak, Scaling};
use super::texts::Texts;
use super::varied::Varied;
use super::workload::{MeasuredWorkload, over_users};
use crate::ReportError;
use crate::charts::{ChartFigure, ChartLine, ChartWidth, LineChart, LinePoint, Loads, MOST_SERIES};
use crate::number::{three, whole};
use crate::texts::{fill, percentile};
use tidemark_stats::Usl;

/// Points of a law that is drawn.
const LAW_POINTS: usize = 60;

/// A series with the figures of its points that have a result.
struct Drawn<'m> {
    name: String,
    series: &'m LoadCurve<'m>,
    points: Vec<(&'m CurvePoint<'m>, &'m PointResults)>,
}

pub(super) fn figures(
    m: &MeasuredWorkload<'_, '_>,
    fits: &[Fit],
) -> Result<Vec<ChartFigure>, ReportError> {
    let drawn: Vec<Drawn<'_>> = m
        .series()
        .map(|(series, cells)| Drawn {
            name: m.name(series),
            series,
            points: with_result(series, cells),
        })
        .filter(|d| !d.points.is_empty())
        .collect();
    let mut figures = Vec::new();
    let varied = Varied::of(m);
    // Lines of two factors that no picture holds stand in small ones.
    let small = m.workload.factors.len() > 1 && drawn.len() > MOST_SERIES;
    if small {
        figures.extend(varied.over_load()?);
        figures.extend(varied.over_factors()?);
    }
    let groups = drawn.len().div_ceil(MOST_SERIES);
    let mut others = Vec::new();
    for (n, group) in drawn.chunks(MOST_SERIES).enumerate() {
        let several = which_of(m.s.t, n, groups);
        let chart = Charts {
            m,
            drawn: group,
            several: &several,
        };
        if m.workload.axis.is_some() && group.iter().any(|d| d.points.len() > 1) {
            if !small {
                figures.extend(chart.over_load(fits)?);
                figures.extend(chart.latency_over_load()?);
            }
            // A size or a distance is no load that is driven up.
            if m.workload
                .axis
                .as_ref()
                .is_some_and(|a| a.kind != AxisKind::Other)
            {
                others.extend(chart.latency_over_throughput()?);
            }
        }
        others.extend(chart.distributions()?);
    }
    if !small {
        figures.extend(varied.over_factors()?);
    }
    figures.extend(others);
    if over_users(m.workload) {
        figures.extend(littles_law::figures(m)?);
    }
    ChartFigure::side_by_side(&mut figures);
    Ok(figures)
}

/// Which of several pictures of a kind one is, for its title; nothing of the only one.
pub(super) fn which_of(t: &Texts, n: usize, all: usize) -> String {
    if all < 2 {
        return String::new();
    }
    let values = [("n", &*(n + 1).to_string()), ("all", &*all.to_string())];
    format!(" {}", fill(t.shown_of, &values))
}

fn with_result<'m>(
    series: &'m LoadCurve<'m>,
    cells: &'m [PointResults],
) -> Vec<(&'m CurvePoint<'m>, &'m PointResults)> {
    let pairs = series.points.iter().zip(cells);
    pairs.filter(|(_, cell)| cell.counted > 0).collect()
}

struct Charts<'c, 's, 'm> {
    m: &'c MeasuredWorkload<'s, 'm>,
    drawn: &'c [Drawn<'m>],
    /// Which of several pictures of the same kind it is.
    several: &'c str,
}

impl Charts<'_, '_, '_> {
    fn axis_name(&self) -> &str {
        let axis = self.m.workload.axis.as_ref();
        axis.map_or("", |a| factor_name(self.m.s.t, &a.name))
    }

    /// Which points are crossed out, and why.
    fn crossed(&self) -> Option<String> {
        let points = self.drawn.iter().flat_map(|d| {
            d.points.iter().map(|(point, cell)| {
                let load = self.m.load(point);
                let label = match self.drawn.len() {
                    1 if !load.is_empty() => load,
                    _ => [d.name.clone(), load].join(", "),
                };
                (label, *point, *cell)
            })
        });
        crossed(self.m, points)
    }

    fn with_crossed(&self, says: String) -> String {
        match self.crossed() {
            Some(crossed) => format!("{says}{}{crossed}", self.m.s.common.gap),
            None => says,
        }
    }

    fn cut(&self) -> String {
        format!("{}{}", self.m.s.common.gap, self.m.s.t.interval_cut)
    }

    fn title(&self, template: &str) -> String {
        // In the middle of a title, English writes small.
        let load = self.axis_name().to_lowercase();
        fill(template, &[("load", &load)]) + self.several
    }

    /// Every load that was measured, once.
    fn loads(&self) -> Vec<(f64, String)> {
        let mut loads: Vec<(f64, String)> = Vec::new();
        let points = self.drawn.iter().flat_map(|d| &d.points);
        for load in points.filter_map(|(p, _)| p.load.as_ref()) {
            if !loads.iter().any(|(n, _)| *n == load.0) {
                loads.push(load.clone());
            }
        }
        loads.sort_by(|a, b| a.0.total_cmp(&b.0));
        loads
    }

    /// A table with a row a load and a column a series.
    fn rows(
        &self,
        value: impl Fn(&PointResults) -> String,
    ) -> (Vec<String>, Vec<(f64, Vec<String>)>) {
        let t = self.m.s.t;
        let names = self.drawn.iter().map(|d| d.name.clone());
        let head = std::iter::once(self.axis_name().to_string())
            .chain(names)
            .collect();
        let rows = self.loads().into_iter().map(|(load, text)| {
            let cells = self.drawn.iter().map(|d| {
                let at = |(p, _): &&(&CurvePoint<'_>, &PointResults)| {
                    p.load.as_ref().map(|l| l.0) == Some(load)
                };
                d.points
                    .iter()
                    .find(at)
                    .map_or("–".into(), |(_, c)| marked(t, c, value(c)))
            });
            (load, std::iter::once(text).chain(cells).collect())
        });
        (head, rows.collect())
    }

    fn lines(
        &self,
        value: impl Fn(&PointResults) -> Option<(f64, Option<(f64, f64)>)>,
    ) -> Vec<ChartLine> {
        let line = |d: &Drawn<'_>| {
            let points = d.points.iter().filter_map(|(point, cell)| {
                let (y, between) = value(cell)?;
                Some(LinePoint {
                    x: point.load.as_ref()?.0,
                    y,
                    between,
                    words: String::new(),
                    crossed: !cell.usable,
                })
            });
            ChartLine {
                name: d.name.clone(),
                points: points.collect(),
            }
        };
        self.drawn.iter().map(line).collect()
    }

    /// Throughput, with the law where it is sound.
    fn over_load(&self, fits: &[Fit]) -> Result<Option<ChartFigure>, ReportError> {
        let t = self.m.s.t;
        let mut lines = self.lines(|c| {
            let tps = c.transactions_per_s?;
            Some((tps.value, tps.ends()))
        });
        let whiskers = lines
            .iter()
            .flat_map(|l| &l.points)
            .any(|p| p.between.is_some());
        let loads = self.loads();
        let ends = (
            loads.first().map_or(1.0, |(n, _)| *n),
            loads.last().map_or(1.0, |(n, _)| *n),
        );
        let of = |d: &Drawn<'_>| fits.iter().find(|fit| fit.name == d.name);
        let fitted: Vec<&Scaling> = self
            .drawn
            .iter()
            .filter_map(|d| of(d).map(|fit| &fit.scaling))
            .filter(|s| matches!(s, Scaling::Fitted { .. }))
            .collect();
        let mut laws = Vec::new();
        let mut marks = Vec::new();
        for one in &fitted {
            let Scaling::Fitted { usl, peak, knee } = one else {
                continue;
            };
            laws.push(law(usl, ends));
            // Of several series, marks could not be told apart.
            if self.drawn.len() == 1 {
                let users = |v: f64| whole(v.round() as u64);
                if let Some(knee) = knee {
                    marks.push((knee.load, fill(t.knee_mark, &[("load", &users(knee.load))])));
                }
                if let Peak::At { point, .. } = peak {
                    let label = fill(t.peak_mark, &[("load", &users(point.load))]);
                    marks.push((point.load, label));
                }
            }
        }
        let limited = self.mark_limits(&mut lines, &mut marks);
        let mut says: Vec<String> = self
            .drawn
            .iter()
            .filter_map(|d| {
                let most = |a: &&(&CurvePoint<'_>, &PointResults),
                            b: &&(&CurvePoint<'_>, &PointResults)| {
                    a.1.tps().total_cmp(&b.1.tps())
                };
                let usable = d.points.iter().filter(|(_, cell)| cell.usable);
                let (point, cell) = usable.max_by(most)?;
                Some(fill(
                    t.over_load_says,
                    &[
                        ("series", &d.name),
                        ("tps", &three(cell.tps())),
                        ("load", &self.m.load(point)),
                    ],
                ))
            })
            .collect();
        says.extend(self.crossed());
        says.extend(whiskers.then(|| t.whiskers.into()));
        says.extend((!laws.is_empty()).then(|| t.law_drawn.into()));
        says.extend(limited.then(|| t.limits_marked.into()));
        let (head, rows) = self.rows(|c| three(c.tps()));
        LineChart {
            cut: self.cut(),
            span: ChartWidth::Half,
            title: self.title(t.over_load),
            says: says.join(self.m.s.common.gap),
            x: Loads::At(loads),
            x_name: self.axis_name(),
            y_name: self.m.s.common.axis_tps,
            logarithmic: false,
            lines,
            beside: None,
            laws,
            marks,
            head,
            rows,
        }
        .figure()
    }

    /// Names the limit where it changes along the load: on upright lines of the only series, beside the
    /// points of several. Whether it named any.
    fn mark_limits(&self, lines: &mut [ChartLine], marks: &mut Vec<(f64, String)>) -> bool {
        let alone = self.drawn.len() == 1;
        let mut any = false;
        for (d, line) in self.drawn.iter().zip(lines) {
            for (load, cause) in limits::marks(d.series, self.m) {
                any = true;
                if alone {
                    marks.push((load, cause.into()));
                } else if let Some(point) = line.points.iter_mut().find(|p| p.x == load) {
                    point.words = cause.into();
                }
            }
        }
        any
    }

    /// Of one series its percentiles, of several their p95.
    fn latency_over_load(&self) -> Result<Option<ChartFigure>, ReportError> {
        let t = self.m.s.t;
        let (lines, which, head, rows) = match self.drawn {
            [one] => {
                type Of = fn(&PointResults) -> Option<f64>;
                let of: [(&str, Of); 3] = [
                    ("p50", |c| c.p50_ms.map(|v| v.value)),
                    ("p95", |c| c.p95_ms.map(|v| v.value)),
                    ("p99", |c| c.p99_ms.map(|v| v.value)),
                ];
                let lines: Vec<ChartLine> = of
                    .iter()
                    .map(|(name, value)| ChartLine {
                        name: percentile(name, self.m.s.lang),
                        points: self
                            .lines(|c| value(c).map(|v| (v, None)))
                            .into_iter()
                            .flat_map(|l| l.points)
                            .collect(),
                    })
                    .collect();
                let in_ms = |name: &str| {
                    let what = percentile(name, self.m.s.lang);
                    fill(self.m.s.common.in_ms, &[("what", &what)])
                };
                let names = of.iter().map(|(name, _)| in_ms(name));
                let head = std::iter::once(self.axis_name().to_string())
                    .chain(names)
                    .collect();
                let rows = one.points.iter().filter_map(|(point, cell)| {
                    let (load, text) = point.load.clone()?;
                    let values = of.iter().map(|(_, value)| match value(cell) {
                        Some(ms) => marked(t, cell, three(ms)),
                        None => "–".into(),
                    });
                    Some((load, std::iter::once(text).chain(values).collect()))
                });
                (lines, t.latencies_say, head, rows.collect())
            }
            _ => {
                let lines = self.lines(|c| c.p95_ms.map(|v| (v.value, None)));
                let (head, rows) = self.rows(|c| c.p95_ms.map_or("–".into(), |v| three(v.value)));
                (lines, t.latency_says, head, rows)
            }
        };
        LineChart {
            cut: String::new(),
            span: ChartWidth::Half,
            title: self.title(t.latency_over_load),
            says: self.with_crossed(fill(t.latency_over_load_says, &[("which", which)])),
            x: Loads::At(self.loads()),
            x_name: self.axis_name(),
            y_name: self.m.s.common.axis_ms,
            logarithmic: true,
            lines,
            beside: None,
            laws: Vec::new(),
            marks: Vec::new(),
            head,
            rows,
        }
        .figure()
    }

    fn latency_over_throughput(&self) -> Result<Option<ChartFigure>, ReportError> {
        let (t, c) = (self.m.s.t, self.m.s.common);
        // Of several series the loads' labels would cover each other.
        let alone = self.drawn.len() == 1;
        let mut rows = Vec::new();
        let lines: Vec<ChartLine> = self
            .drawn
            .iter()
            .map(|d| {
                let points = d.points.iter().filter_map(|(point, cell)| {
                    let p95 = cell.p95_ms?.value;
                    let (_, load) = point.load.as_ref()?;
                    let shown = |value| marked(t, cell, three(value));
                    let figures = vec![d.name.clone(), load.clone(), shown(cell.tps()), shown(p95)];
                    rows.push((cell.tps(), figures));
                    Some(LinePoint {
                        x: cell.tps(),
                        y: p95,
                        between: None,
                        words: if alone { load.clone() } else { String::new() },
                        crossed: !cell.usable,
                    })
                });
                ChartLine {
                    name: d.name.clone(),
                    points: points.collect(),
                }
            })
            .collect();
        let load = self.axis_name().to_lowercase();
        LineChart {
            cut: String::new(),
            span: ChartWidth::Half,
            title: format!("{}{}", t.latency_over_throughput, self.several),
            says: self.with_crossed(fill(t.latency_over_throughput_says, &[("load", &load)])),
            x: Loads::FromZero,
            x_name: c.axis_tps,
            y_name: c.axis_ms,
            logarithmic: true,
            lines,
            beside: None,
            laws: Vec::new(),
            marks: Vec::new(),
            head: vec![
                t.series.into(),
                self.axis_name().into(),
                t.throughput.into(),
                t.p95.into(),
            ],
            rows,
        }
        .figure()
    }
}

/// The first, the last, and some between.
pub(super) fn evenly<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    if all.len() <= most {
        return all.to_vec();
    }
    let at = |n: usize| n * (all.len() - 1) / (most - 1);
    (0..most).filter_map(|n| all.get(at(n)).copied()).collect()
}

fn law(usl: &Usl, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let low = low.max(1.0);
    let each = (0..=LAW_POINTS).map(|n| {
        // Evenly on a logarithmic axis, and close enough together on a linear one.
        let load = low * (high / low).powf(n as f64 / LAW_POINTS as f64);
        (load, usl.throughput(load))
    });
    each.collect()
}
