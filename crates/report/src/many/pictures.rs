//! The charts of a workload: over its load, over throughput, Little's law, distributions.

use super::cell::Cell;
use super::matrix::{Point, Series};
use super::scaling::{Peak, Scaling, accounted};
use super::summary::factor_name;
use super::workload::{Measured, over_users};
use crate::ReportError;
use crate::charts::{self, Figure, Line, LineChart, LinePoint, Loads, MOST_SERIES};
use crate::number::{three, whole};
use crate::texts::fill;
use tidemark_stats::Usl;

/// Points of a law that is drawn.
const LAW_POINTS: usize = 60;

/// A series with the figures of its points that have a result.
struct Drawn<'m> {
    name: String,
    points: Vec<(&'m Point<'m>, &'m Cell)>,
}

pub(super) fn figures(
    m: &Measured<'_, '_>,
    scaling: &[(String, Scaling)],
) -> Result<Vec<Figure>, ReportError> {
    let drawn: Vec<Drawn<'_>> = m
        .series()
        .map(|(series, cells)| Drawn {
            name: m.name(series),
            points: with_result(series, cells),
        })
        .filter(|d| !d.points.is_empty())
        .collect();
    let mut figures = Vec::new();
    let groups = drawn.len().div_ceil(MOST_SERIES);
    for (n, group) in drawn.chunks(MOST_SERIES).enumerate() {
        let several = if groups > 1 {
            let values = [("n", &*(n + 1).to_string()), ("all", &*groups.to_string())];
            format!(" {}", fill(m.s.t.shown_of, &values))
        } else {
            String::new()
        };
        let chart = Charts {
            m,
            drawn: group,
            several: &several,
        };
        if m.workload.axis.is_some() && group.iter().any(|d| d.points.len() > 1) {
            figures.extend(chart.over_load(scaling)?);
            figures.extend(chart.latency_over_load()?);
            figures.extend(chart.latency_over_throughput()?);
        }
        figures.extend(chart.distributions()?);
    }
    if over_users(m.workload) {
        figures.extend(little(m)?);
    }
    Ok(figures)
}

fn with_result<'m>(series: &'m Series<'m>, cells: &'m [Cell]) -> Vec<(&'m Point<'m>, &'m Cell)> {
    let pairs = series.points.iter().zip(cells);
    pairs.filter(|(_, cell)| cell.counted > 0).collect()
}

struct Charts<'c, 's, 'm> {
    m: &'c Measured<'s, 'm>,
    drawn: &'c [Drawn<'m>],
    /// Which of several pictures of the same kind it is.
    several: &'c str,
}

impl Charts<'_, '_, '_> {
    fn axis_name(&self) -> &str {
        let axis = self.m.workload.axis.as_ref();
        axis.map_or("", |a| factor_name(self.m.s.t, &a.name))
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
    fn rows(&self, value: impl Fn(&Cell) -> String) -> (Vec<String>, Vec<(f64, Vec<String>)>) {
        let names = self.drawn.iter().map(|d| d.name.clone());
        let head = std::iter::once(self.axis_name().to_string())
            .chain(names)
            .collect();
        let rows = self.loads().into_iter().map(|(load, text)| {
            let cells = self.drawn.iter().map(|d| {
                let at = |(p, _): &&(&Point<'_>, &Cell)| p.load.as_ref().map(|l| l.0) == Some(load);
                d.points
                    .iter()
                    .find(at)
                    .map_or("–".into(), |(_, c)| value(c))
            });
            (load, std::iter::once(text).chain(cells).collect())
        });
        (head, rows.collect())
    }

    fn lines(&self, value: impl Fn(&Cell) -> Option<(f64, Option<(f64, f64)>)>) -> Vec<Line> {
        let line = |d: &Drawn<'_>| {
            let points = d.points.iter().filter_map(|(point, cell)| {
                let (y, between) = value(cell)?;
                Some(LinePoint {
                    x: point.load.as_ref()?.0,
                    y,
                    between,
                    words: String::new(),
                })
            });
            Line {
                name: d.name.clone(),
                points: points.collect(),
            }
        };
        self.drawn.iter().map(line).collect()
    }

    /// Throughput, with the law where it is sound.
    fn over_load(&self, scaling: &[(String, Scaling)]) -> Result<Option<Figure>, ReportError> {
        let t = self.m.s.t;
        let lines = self.lines(|c| {
            let tps = c.transactions_per_s?;
            Some((tps.value, tps.half.map(|_| (tps.low(), tps.high()))))
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
        let of = |d: &Drawn<'_>| scaling.iter().find(|(name, _)| *name == d.name);
        let fitted: Vec<&Scaling> = self
            .drawn
            .iter()
            .filter_map(|d| of(d).map(|(_, s)| s))
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
        let mut says: Vec<String> = self
            .drawn
            .iter()
            .filter_map(|d| {
                let most = |a: &&(&Point<'_>, &Cell), b: &&(&Point<'_>, &Cell)| {
                    a.1.tps().total_cmp(&b.1.tps())
                };
                let (point, cell) = d.points.iter().max_by(most)?;
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
        says.extend(whiskers.then(|| t.whiskers.into()));
        says.extend((!laws.is_empty()).then(|| t.law_drawn.into()));
        let (head, rows) = self.rows(|c| three(c.tps()));
        LineChart {
            title: self.title(t.over_load),
            says: says.join(self.m.s.common.gap),
            x: Loads::At(loads),
            x_name: self.axis_name(),
            y_name: self.m.s.common.axis_tps,
            logarithmic: false,
            lines,
            laws,
            marks,
            head,
            rows,
        }
        .figure()
    }

    /// Of one series its percentiles, of several their p95.
    fn latency_over_load(&self) -> Result<Option<Figure>, ReportError> {
        let t = self.m.s.t;
        let (lines, which, head, rows) = match self.drawn {
            [one] => {
                type Of = fn(&Cell) -> Option<f64>;
                let of: [(&str, Of); 3] = [
                    ("p50", |c| c.p50_ms.map(|v| v.value)),
                    ("p95", |c| c.p95_ms.map(|v| v.value)),
                    ("p99", |c| c.p99_ms.map(|v| v.value)),
                ];
                let lines: Vec<Line> = of
                    .iter()
                    .map(|(name, value)| Line {
                        name: (*name).into(),
                        points: self
                            .lines(|c| value(c).map(|v| (v, None)))
                            .into_iter()
                            .flat_map(|l| l.points)
                            .collect(),
                    })
                    .collect();
                let names = of.iter().map(|(name, _)| format!("{name} (ms)"));
                let head = std::iter::once(self.axis_name().to_string())
                    .chain(names)
                    .collect();
                let rows = one.points.iter().filter_map(|(point, cell)| {
                    let (load, text) = point.load.clone()?;
                    let values = of
                        .iter()
                        .map(|(_, value)| value(cell).map_or("–".into(), three));
                    Some((load, std::iter::once(text).chain(values).collect()))
                });
                (lines, "p50, p95, p99", head, rows.collect())
            }
            _ => {
                let lines = self.lines(|c| c.p95_ms.map(|v| (v.value, None)));
                let (head, rows) = self.rows(|c| c.p95_ms.map_or("–".into(), |v| three(v.value)));
                (lines, "p95", head, rows)
            }
        };
        LineChart {
            title: self.title(t.latency_over_load),
            says: fill(t.latency_over_load_says, &[("which", which)]),
            x: Loads::At(self.loads()),
            x_name: self.axis_name(),
            y_name: self.m.s.common.axis_ms,
            logarithmic: true,
            lines,
            laws: Vec::new(),
            marks: Vec::new(),
            head,
            rows,
        }
        .figure()
    }

    fn latency_over_throughput(&self) -> Result<Option<Figure>, ReportError> {
        let (t, c) = (self.m.s.t, self.m.s.common);
        // Of several series the loads' labels would cover each other.
        let alone = self.drawn.len() == 1;
        let mut rows = Vec::new();
        let lines: Vec<Line> = self
            .drawn
            .iter()
            .map(|d| {
                let points = d.points.iter().filter_map(|(point, cell)| {
                    let p95 = cell.p95_ms?.value;
                    let (_, load) = point.load.as_ref()?;
                    rows.push((
                        cell.tps(),
                        vec![d.name.clone(), load.clone(), three(cell.tps()), three(p95)],
                    ));
                    Some(LinePoint {
                        x: cell.tps(),
                        y: p95,
                        between: None,
                        words: if alone { load.clone() } else { String::new() },
                    })
                });
                Line {
                    name: d.name.clone(),
                    points: points.collect(),
                }
            })
            .collect();
        let load = self.axis_name().to_lowercase();
        LineChart {
            title: format!("{}{}", t.latency_over_throughput, self.several),
            says: fill(t.latency_over_throughput_says, &[("load", &load)]),
            x: Loads::FromZero,
            x_name: c.axis_tps,
            y_name: c.axis_ms,
            logarithmic: true,
            lines,
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

    /// Of one series its loads, of several the best point of each.
    fn distributions(&self) -> Result<Option<Figure>, ReportError> {
        let t = self.m.s.t;
        let named: Vec<(String, &tidemark_stats::Histogram)> = match self.drawn {
            [one] => {
                let points = evenly(&one.points, MOST_SERIES);
                let named = points.into_iter().map(|(point, cell)| {
                    let name = match self.m.load(point).as_str() {
                        "" => one.name.clone(),
                        load => load.into(),
                    };
                    (name, &cell.latency)
                });
                named.collect()
            }
            _ => {
                let best = self.drawn.iter().filter_map(|d| {
                    let best = d
                        .points
                        .iter()
                        .max_by(|a, b| a.1.tps().total_cmp(&b.1.tps()));
                    let (point, cell) = best?;
                    let load = self.m.load(point);
                    let name = match load.as_str() {
                        "" => d.name.clone(),
                        load => format!("{}, {load}", d.name),
                    };
                    Some((name, &cell.latency))
                });
                best.collect()
            }
        };
        let title = format!("{}{}", t.distributions, self.several);
        let says = (title.as_str(), t.distributions_says);
        charts::curves(&named, self.m.s.common, says)
    }
}

/// The first, the last, and some between.
fn evenly<T: Copy>(all: &[T], most: usize) -> Vec<T> {
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

/// Sessions that ran beside those that the figures account for.
fn little(m: &Measured<'_, '_>) -> Result<Option<Figure>, ReportError> {
    let t = m.s.t;
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    let mut furthest: Option<super::scaling::Accounted> = None;
    for (series, cells) in m.series().take(MOST_SERIES) {
        let name = m.name(series);
        let accounted = accounted(series, cells);
        for a in &accounted {
            let off = |a: &super::scaling::Accounted| (a.by_figures / a.users - 1.0).abs();
            if furthest.is_none_or(|f| off(a) > off(&f)) {
                furthest = Some(*a);
            }
            rows.push((
                a.users,
                vec![name.clone(), whole(a.users as u64), three(a.by_figures)],
            ));
        }
        let points = accounted.iter().map(|a| LinePoint {
            x: a.users,
            y: a.by_figures,
            between: None,
            words: String::new(),
        });
        lines.push(Line {
            name,
            points: points.collect(),
        });
    }
    lines.retain(|l| !l.points.is_empty());
    let Some(furthest) = furthest else {
        return Ok(None);
    };
    let mut users: Vec<f64> = rows.iter().map(|(u, _)| *u).collect();
    users.sort_by(f64::total_cmp);
    users.dedup();
    let loads = users.iter().map(|u| (*u, whole(*u as u64))).collect();
    let same = users.iter().map(|u| (*u, *u)).collect();
    let axis = m.workload.axis.as_ref();
    LineChart {
        title: t.little.into(),
        says: fill(
            t.little_says,
            &[
                ("furthest", &three(furthest.by_figures)),
                ("users", &whole(furthest.users as u64)),
            ],
        ),
        x: Loads::At(loads),
        x_name: axis.map_or("", |a| factor_name(t, &a.name)),
        y_name: t.little_axis,
        logarithmic: users
            .first()
            .zip(users.last())
            .is_some_and(|(a, b)| b / a >= 16.0),
        lines,
        laws: vec![same],
        marks: Vec::new(),
        head: vec![t.series.into(), t.asked.into(), t.little_axis.into()],
        rows,
    }
    .figure()
}
