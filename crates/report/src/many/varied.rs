//! Charts over what was varied: each factor of a study, and the load where its lines are many. Numbers
//! stand on an axis, names in the order of the file; a third factor makes small charts side by side.

use super::cell::PointResults;
use super::labels::{factor_name, factor_value};
use super::marks::{crossed, marked};
use super::matrix::{CurvePoint, numbers};
use super::pictures::evenly;
use super::workload::MeasuredWorkload;
use crate::ReportError;
use crate::charts::{
    Bar, BarChart, ChartFigure, ChartLine, ChartWidth, INTERVAL_ROOM, LineChart, LinePoint, Loads,
    MOST_SERIES,
};
use crate::number::three;
use crate::texts::fill;

/// Fewer values show no course: the comparison of two says it all.
const FEWEST: usize = 3;
/// So many small charts stand side by side.
const MOST_PANELS: usize = 12;

/// What points differ in: a factor, or the load.
struct Dimension {
    /// As people call it.
    name: String,
    values: Vec<DimensionValue>,
    is_load: bool,
}

struct DimensionValue {
    text: String,
    /// With the dimension's name.
    label: String,
    /// Where all values are numbers of one unit.
    number: Option<f64>,
}

/// A point with a result, and its value of each dimension.
struct VariedPoint<'m> {
    at: Vec<usize>,
    point: &'m CurvePoint<'m>,
    cell: &'m PointResults,
}

pub(super) struct Varied<'c, 's, 'm> {
    m: &'c MeasuredWorkload<'s, 'm>,
    dimensions: Vec<Dimension>,
    places: Vec<VariedPoint<'m>>,
}

/// What a chart shows of a point.
#[derive(Clone, Copy, PartialEq)]
enum Shows {
    Throughput,
    /// Of one line its percentiles, of several their p95.
    Latency,
}

type Of = fn(&PointResults) -> Option<(f64, Option<(f64, f64)>)>;

const THROUGHPUT: Of = |c| {
    let tps = c.transactions_per_s?;
    Some((tps.value, tps.ends()))
};
/// The throughput of TPC-C.
const TPMC: Of = |c| {
    let tpmc = c.tpmc?;
    Some((tpmc.value, tpmc.ends()))
};
const PERCENTILES: [(&str, Of); 3] = [
    ("p50", |c| Some((c.p50_ms?.value, None))),
    ("p95", |c| Some((c.p95_ms?.value, None))),
    ("p99", |c| Some((c.p99_ms?.value, None))),
];

/// Where a point lies on a dimension, the point, its value, and the ends of its interval.
type Shown<'p, 'm> = (usize, &'p VariedPoint<'m>, f64, Option<(f64, f64)>);

/// A line of a chart: its name, its value of the dimension of lines, and what is shown of a cell.
type LineOf = (String, Option<usize>, Of);

impl<'c, 's, 'm> Varied<'c, 's, 'm> {
    pub fn of(m: &'c MeasuredWorkload<'s, 'm>) -> Self {
        let (t, w, order) = (m.s.t, m.workload, m.s.many.order());
        let mut dimensions = Vec::new();
        for (n, name) in w.factors.iter().enumerate() {
            let mut values: Vec<&str> = Vec::new();
            for value in w.series.iter().filter_map(|s| s.values.get(n)) {
                if !values.contains(&value.as_str()) {
                    values.push(value);
                }
            }
            values.sort_by_key(|value| order.of_value(name, value));
            let numbers = numbers(&values);
            let values = values
                .into_iter()
                .enumerate()
                .map(|(n, text)| DimensionValue {
                    text: text.into(),
                    label: factor_value(t, name, text),
                    number: numbers.as_ref().and_then(|all| all.get(n).copied()),
                });
            dimensions.push(Dimension {
                name: factor_name(t, name).into(),
                values: values.collect(),
                is_load: false,
            });
        }
        if let Some(axis) = &w.axis {
            let mut values: Vec<DimensionValue> = Vec::new();
            for (_, point, _) in m.points() {
                let Some((number, text)) = &point.load else {
                    continue;
                };
                if !values.iter().any(|v| v.number == Some(*number)) {
                    values.push(DimensionValue {
                        text: text.clone(),
                        label: m.load(point),
                        number: Some(*number),
                    });
                }
            }
            let number = |v: &DimensionValue| v.number.unwrap_or_default();
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
            dimensions.push(Dimension {
                name: factor_name(t, &axis.name).into(),
                values,
                is_load: true,
            });
        }
        let place = |series: &super::matrix::LoadCurve<'_>, point: &CurvePoint<'_>| {
            let at = dimensions.iter().enumerate().map(|(n, of)| {
                of.values
                    .iter()
                    .position(|v| match (of.is_load, &point.load) {
                        (true, Some((number, _))) => v.number == Some(*number),
                        (true, None) => false,
                        (false, _) => series.values.get(n) == Some(&v.text),
                    })
            });
            at.collect::<Option<Vec<usize>>>()
        };
        let places = m.points().filter(|(_, _, cell)| cell.counted > 0);
        let places = places.filter_map(|(series, point, cell)| {
            let at = place(series, point)?;
            Some(VariedPoint { at, point, cell })
        });
        let places = places.collect();
        Self {
            m,
            dimensions,
            places,
        }
    }

    /// Over each factor with values enough; the load has charts of its own.
    pub fn over_factors(&self) -> Result<Vec<ChartFigure>, ReportError> {
        let mut figures = Vec::new();
        for (n, of) in self.dimensions.iter().enumerate() {
            if !of.is_load {
                figures.extend(self.over(n)?);
            }
        }
        Ok(figures)
    }

    /// Over the load, in small charts.
    pub fn over_load(&self) -> Result<Vec<ChartFigure>, ReportError> {
        match self.dimensions.iter().position(|of| of.is_load) {
            Some(load) => self.over(load),
            None => Ok(Vec::new()),
        }
    }

    fn over(&self, x: usize) -> Result<Vec<ChartFigure>, ReportError> {
        if self.dimensions[x].values.len() < FEWEST {
            return Ok(Vec::new());
        }
        let others = |n: &usize| *n != x && self.dimensions[*n].values.len() > 1;
        let others: Vec<usize> = (0..self.dimensions.len()).filter(others).collect();
        let is_load = |n: &&usize| self.dimensions[**n].is_load;
        let few = |n: &&usize| self.dimensions[**n].values.len() <= MOST_SERIES;
        // The last varies fastest in the tables, too.
        let lines = others.iter().find(is_load);
        let lines = lines.or_else(|| others.iter().rev().find(few)).copied();
        let beside: Vec<usize> = others.into_iter().filter(|n| Some(*n) != lines).collect();
        let mut panels: Vec<Vec<usize>> = Vec::new();
        for place in &self.places {
            let panel: Vec<usize> = beside.iter().map(|n| place.at[*n]).collect();
            if !panels.contains(&panel) {
                panels.push(panel);
            }
        }
        panels.sort();
        let all = panels.len();
        let shown = evenly(&panels.iter().collect::<Vec<_>>(), MOST_PANELS);
        let mut figures = Vec::new();
        for shows in [Shows::Throughput, Shows::Latency] {
            let charts = Charts {
                varied: self,
                x,
                lines: self.lines(lines, shows),
                line_dimension: lines,
                beside: &beside,
                shows,
                // Rows of three, unless two fill them.
                small: !matches!(shown.len(), 0 | 1 | 2 | 4),
            };
            let (low, high) = charts.ends(&shown);
            let mut first = true;
            for panel in &shown {
                let some = (first && all > shown.len()).then_some((shown.len(), all));
                let figure = charts.figure(panel, (low, high), first, some)?;
                first &= figure.is_none();
                figures.extend(figure);
            }
        }
        Ok(figures)
    }

    /// Whether every point has it.
    fn has_tpmc(&self) -> bool {
        let mut places = self.places.iter();
        !self.places.is_empty() && places.all(|place| place.cell.tpmc.is_some())
    }

    fn lines(&self, dimension: Option<usize>, shows: Shows) -> Vec<LineOf> {
        let of = match shows {
            Shows::Throughput if self.has_tpmc() => TPMC,
            Shows::Throughput => THROUGHPUT,
            Shows::Latency => PERCENTILES[1].1,
        };
        match (dimension, shows) {
            (Some(n), _) => {
                let values = self.dimensions[n].values.iter().enumerate();
                let values: Vec<(usize, &DimensionValue)> = values.collect();
                let some = evenly(&values, MOST_SERIES).into_iter();
                let some = some.map(|(at, value)| (value.label.clone(), Some(at), of));
                some.collect()
            }
            (None, Shows::Throughput) => vec![(self.m.workload.name.clone(), None, of)],
            (None, Shows::Latency) => PERCENTILES
                .iter()
                .map(|(name, of)| ((*name).to_string(), None, *of))
                .collect(),
        }
    }
}

/// Charts of one dimension, which have the same lines.
struct Charts<'v, 'c, 's, 'm> {
    varied: &'v Varied<'c, 's, 'm>,
    x: usize,
    lines: Vec<LineOf>,
    line_dimension: Option<usize>,
    /// Dimensions that differ from chart to chart.
    beside: &'v [usize],
    shows: Shows,
    /// Whether three of them stand beside each other.
    small: bool,
}

impl<'m> Charts<'_, '_, '_, 'm> {
    fn dimension(&self) -> &Dimension {
        &self.varied.dimensions[self.x]
    }

    fn place(&self, panel: &[usize], line: &LineOf, x: usize) -> Option<&VariedPoint<'m>> {
        let is = |place: &&VariedPoint<'m>| {
            let mut beside = self.beside.iter().zip(panel);
            place.at[self.x] == x
                && beside.all(|(n, at)| place.at[*n] == *at)
                && self.line_dimension.map(|n| place.at[n]) == line.1
        };
        self.varied.places.iter().find(is)
    }

    /// Values of a line in a chart, each with its place.
    fn values(&self, panel: &[usize], line: &LineOf) -> Vec<Shown<'_, 'm>> {
        let each = 0..self.dimension().values.len();
        let each = each.filter_map(|x| {
            let place = self.place(panel, line, x)?;
            let (value, between) = (line.2)(place.cell)?;
            Some((x, place, value, between))
        });
        each.collect()
    }

    /// The least above zero and the most that any of the charts shows, with room for intervals.
    fn ends(&self, panels: &[&Vec<usize>]) -> (f64, f64) {
        let all = panels.iter().flat_map(|panel| {
            let lines = self.lines.iter();
            lines.flat_map(|line| self.values(panel, line))
        });
        let all: Vec<_> = all.collect();
        let values = || all.iter().map(|(_, _, value, _)| *value);
        let high = values().fold(0.0, f64::max);
        let intervals = all.iter().filter(|(_, place, ..)| place.cell.usable);
        let intervals = intervals.filter_map(|(_, _, _, between)| Some((*between)?.1));
        let room = intervals.map(|end| end.min(high * INTERVAL_ROOM));
        (
            values().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min),
            room.fold(high, f64::max),
        )
    }

    fn figure(
        &self,
        panel: &[usize],
        ends: (f64, f64),
        first: bool,
        some: Option<(usize, usize)>,
    ) -> Result<Option<ChartFigure>, ReportError> {
        let (m, x) = (self.varied.m, self.dimension());
        let (t, c) = (m.s.t, m.s.common);
        let over = x.name.to_lowercase();
        let (template, unit) = match self.shows {
            Shows::Throughput if self.varied.has_tpmc() => (t.tpmc_over_load, t.tpmc),
            Shows::Throughput => (t.over_load, c.axis_tps),
            Shows::Latency => (t.latency_over_load, c.axis_ms),
        };
        let mut title = fill(template, &[("load", &over)]);
        if !panel.is_empty() {
            let of = self.beside.iter().zip(panel);
            let of = of.map(|(n, at)| self.varied.dimensions[*n].values[*at].label.as_str());
            let of: Vec<&str> = of.collect();
            title = format!("{title}{}{}", c.colon, of.join(c.comma));
        }
        let numbers: Option<Vec<(f64, String)>> = x
            .values
            .iter()
            .map(|v| Some((v.number?, v.text.clone())))
            .collect();
        let says = self.says(panel, numbers.is_some(), some);
        let cut = format!("{}{}", c.gap, t.interval_cut);
        let span = match (self.small, first) {
            (false, _) => ChartWidth::Half,
            (true, true) => ChartWidth::FirstThird,
            (true, false) => ChartWidth::Third,
        };
        let (head, rows) = self.rows(panel);
        let Some(loads) = numbers else {
            let chart = BarChart {
                title,
                says,
                cut,
                span,
                unit,
                groups: self.groups(panel),
                legend: self.lines.iter().map(|line| line.0.clone()).collect(),
                beside: Some(ends.1),
                head,
                rows: rows.into_iter().map(|(_, row)| row).collect(),
            };
            return Ok(chart.figure());
        };
        let lines = self.lines.iter().map(|line| ChartLine {
            name: line.0.clone(),
            points: self
                .values(panel, line)
                .into_iter()
                .map(|(at, place, y, between)| LinePoint {
                    x: loads[at].0,
                    y,
                    between,
                    words: String::new(),
                    crossed: !place.cell.usable,
                })
                .collect(),
        });
        LineChart {
            title,
            says,
            cut,
            span,
            lines: lines.filter(|line| !line.points.is_empty()).collect(),
            x: Loads::At(loads),
            x_name: &x.name,
            y_name: unit,
            logarithmic: self.shows == Shows::Latency,
            beside: Some(ends),
            laws: Vec::new(),
            marks: Vec::new(),
            head,
            rows,
        }
        .figure()
    }

    fn groups(&self, panel: &[usize]) -> Vec<(String, Vec<Option<Bar>>)> {
        let t = self.varied.m.s.t;
        let values = self.dimension().values.iter().enumerate();
        let groups = values.map(|(x, value)| {
            let bars = self.lines.iter().map(|line| {
                let place = self.place(panel, line, x)?;
                let (value, between) = (line.2)(place.cell)?;
                Some(Bar {
                    value,
                    between,
                    words: marked(t, place.cell, three(value)),
                    crossed: !place.cell.usable,
                })
            });
            (value.text.clone(), bars.collect())
        });
        let any = |(_, bars): &(String, Vec<Option<Bar>>)| bars.iter().any(Option::is_some);
        groups.filter(any).collect()
    }

    /// A row a value and a column a line, each row with its place on the axis.
    fn rows(&self, panel: &[usize]) -> (Vec<String>, Vec<(f64, Vec<String>)>) {
        let t = self.varied.m.s.t;
        let names = self.lines.iter().map(|line| line.0.clone());
        let head = std::iter::once(self.dimension().name.clone()).chain(names);
        let values = self.dimension().values.iter().enumerate();
        let rows = values.map(|(x, value)| {
            let cells = self.lines.iter().map(|line| {
                let cell = self.place(panel, line, x).map(|place| place.cell);
                let figure = cell.and_then(|cell| Some((cell, (line.2)(cell)?.0)));
                figure.map_or("–".into(), |(cell, value)| marked(t, cell, three(value)))
            });
            let row = std::iter::once(value.text.clone()).chain(cells);
            (value.number.unwrap_or_default(), row.collect())
        });
        (head.collect(), rows.collect())
    }

    fn says(&self, panel: &[usize], on_axis: bool, some: Option<(usize, usize)>) -> String {
        let (m, t) = (self.varied.m, self.varied.m.s.t);
        let mut said = Vec::new();
        let label = |x: usize, line: &LineOf| {
            let value = self.dimension().values[x].label.clone();
            match line.1 {
                Some(_) => [value, line.0.clone()].join(m.s.common.comma),
                None => value,
            }
        };
        let each = || {
            let lines = self.lines.iter();
            lines.flat_map(|line| {
                let values = self.values(panel, line).into_iter();
                values.map(move |value| (line, value))
            })
        };
        if self.shows == Shows::Throughput {
            let usable = each().filter(|(_, (_, place, _, _))| place.cell.usable);
            let most = usable.max_by(|a, b| a.1.2.total_cmp(&b.1.2));
            said.extend(most.map(|(line, (x, _, tps, _))| {
                let values = [("tps", &*three(tps)), ("at", &*label(x, line))];
                let template = match self.varied.has_tpmc() {
                    true => t.over_factor_says_tpmc,
                    false => t.over_factor_says,
                };
                fill(template, &values)
            }));
            let whiskers = each().any(|(_, (_, _, _, between))| between.is_some());
            said.extend(whiskers.then(|| t.whiskers.into()));
        } else {
            let names = match self.line_dimension {
                None => t.latencies_say,
                Some(_) => t.latency_says,
            };
            said.push(match on_axis {
                true => fill(t.latency_over_load_says, &[("which", names)]),
                false => fill(t.latency_over_names_says, &[("which", names)]),
            });
        }
        if let Some((shown, all)) = some {
            let values = [("shown", &*shown.to_string()), ("all", &*all.to_string())];
            said.push(fill(t.panels_shown, &values));
        }
        let points =
            each().map(|(line, (x, place, _, _))| (label(x, line), place.point, place.cell));
        // Once each: percentiles are of the same points.
        let points = points.take(if self.line_dimension.is_none() {
            self.dimension().values.len()
        } else {
            usize::MAX
        });
        said.extend(crossed(m, points));
        said.join(m.s.common.gap)
    }
}
