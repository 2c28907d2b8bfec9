//! Lines through a few measured points: over a load, over throughput.

use super::axis::Axis;
use super::canvas::{Chart, HALF, Ink, Layer, SMALL, WIDE};
use super::{ChartFigure, ChartWidth, INTERVAL_ROOM};
use crate::ReportError;

/// A named line.
#[derive(Debug, Clone)]
pub(crate) struct ChartLine {
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<LinePoint>,
}

/// A measured point.
#[derive(Debug, Clone)]
pub(crate) struct LinePoint {
    pub x: f64,
    pub y: f64,
    /// Low and high end of its confidence interval.
    pub between: Option<(f64, f64)>,
    /// Written beside it.
    pub words: String,
    /// Whether it must not be used: it is a cross, and no line goes through it.
    pub crossed: bool,
}

/// The x axis.
#[derive(Debug, Clone)]
pub(crate) enum Loads {
    /// Ticks where something was measured.
    At(Vec<(f64, String)>),
    /// Any values from zero.
    FromZero,
}

pub(crate) struct LineChart<'a> {
    pub title: String,
    pub says: String,
    /// What is said more where an interval is cut off.
    pub cut: String,
    pub span: ChartWidth,
    pub x: Loads,
    pub x_name: &'a str,
    pub y_name: &'a str,
    /// Whether the y axis is logarithmic.
    pub logarithmic: bool,
    pub lines: Vec<ChartLine>,
    /// What the y axis covers whatever is drawn, so that charts side by side have the same.
    pub beside: Option<(f64, f64)>,
    /// Dashed lines in grey: laws and limits.
    pub laws: Vec<Vec<(f64, f64)>>,
    /// Labelled upright lines.
    pub marks: Vec<(f64, String)>,
    pub head: Vec<String>,
    /// Rows of the table of values, each with its place on the x axis.
    pub rows: Vec<(f64, Vec<String>)>,
}

/// Two points on a line say no more than their figures.
const FEWEST: usize = 3;

impl LineChart<'_> {
    /// `None` where no line has points enough to show a course.
    pub fn figure(self) -> Result<Option<ChartFigure>, ReportError> {
        let points = || self.lines.iter().flat_map(|l| &l.points);
        if self.lines.iter().all(|l| l.points.len() < FEWEST) {
            return Ok(None);
        }
        let size = match self.span {
            ChartWidth::Whole => WIDE,
            ChartWidth::Half | ChartWidth::Alone => HALF,
            ChartWidth::Third | ChartWidth::FirstThird => SMALL,
        };
        let (x, x_logarithmic) = match &self.x {
            Loads::At(loads) => Axis::loads(loads, Chart::plot_width(size)),
            Loads::FromZero => {
                let high = points().map(|p| p.x).fold(0.0, f64::max);
                (Axis::from_zero(high), false)
            }
        };
        // Of a cross no interval is drawn.
        let between = |p: &LinePoint| p.between.filter(|_| !p.crossed);
        let on_laws = self.laws.iter().flatten().map(|(_, y)| *y);
        let others = self.beside.map(|(_, high)| high);
        let high = points().map(|p| p.y).chain(on_laws).chain(others);
        let high = high.fold(0.0, f64::max);
        let room = high * INTERVAL_ROOM;
        let intervals = points().filter_map(|p| Some(between(p)?.1.min(room)));
        let high = match others {
            Some(_) => high,
            None => intervals.fold(high, f64::max),
        };
        let least = self.beside.map(|(low, _)| low);
        let above_zero = points().map(|p| p.y).chain(least).filter(|y| *y > 0.0);
        let low = above_zero.fold(f64::INFINITY, f64::min);
        let y = match self.logarithmic {
            true => Axis::logarithmic(low, high),
            // Labels of marks stand at the top.
            false if !self.marks.is_empty() => Axis::from_zero(high * 1.15),
            false => Axis::from_zero(high),
        };
        let is_cut = |(low, high): (f64, f64)| high > y.end() || low < y.range_start();
        let cut = !self.logarithmic && points().filter_map(between).any(is_cut);
        let place_x = |v: f64| match x_logarithmic {
            true => v.max(f64::MIN_POSITIVE).log10(),
            false => v,
        };
        let place_y = |v: f64| match self.logarithmic {
            true => v.max(f64::MIN_POSITIVE).log10(),
            false => v,
        };
        let mut layers = Vec::new();
        for law in &self.laws {
            let points = law.iter().map(|(x, y)| (place_x(*x), Some(place_y(*y))));
            layers.push(Layer::Line {
                points: points.collect(),
                ink: Ink::Text,
                width: 4,
            });
        }
        for (n, line) in self.lines.iter().enumerate() {
            let ink = Ink::Series(n);
            let at = |p: &LinePoint| (place_x(p.x), place_y(p.y));
            let (crossed, used): (Vec<&LinePoint>, Vec<&LinePoint>) =
                line.points.iter().partition(|p| p.crossed);
            let places = |of: &[&LinePoint]| of.iter().map(|p| at(p)).collect::<Vec<_>>();
            layers.push(Layer::Line {
                points: used.iter().map(|p| (at(p).0, Some(at(p).1))).collect(),
                ink,
                width: 5,
            });
            let bars = used.iter().filter_map(|p| {
                let (low, high) = p.between?;
                Some((place_x(p.x), place_y(low), place_y(high)))
            });
            layers.push(Layer::Whiskers {
                bars: bars.collect(),
                ink,
            });
            layers.push(Layer::Points {
                at: places(&used),
                series: n,
            });
            layers.push(Layer::Crosses {
                at: places(&crossed),
                ink,
            });
            let worded = line.points.iter().filter(|p| !p.words.is_empty());
            layers.push(Layer::Words {
                at: worded
                    .map(|p| (place_x(p.x), place_y(p.y), p.words.clone()))
                    .collect(),
                ink: Ink::Text,
            });
        }
        for (x, label) in &self.marks {
            layers.push(Layer::Mark {
                x: place_x(*x),
                label: label.clone(),
                ink: Ink::Text,
            });
        }
        let drawing = Chart {
            size,
            x,
            y,
            x_name: self.x_name,
            y_name: self.y_name,
            layers,
            end_labels: Vec::new(),
            rows: self.rows.iter().map(|(x, _)| place_x(*x)).collect(),
        }
        .draw()?;
        let legend = match self.lines.len() {
            1 => Vec::new(),
            _ => self.lines.iter().map(|l| l.name.clone()).collect(),
        };
        Ok(Some(ChartFigure {
            title: self.title,
            says: match cut {
                true => self.says + &self.cut,
                false => self.says,
            },
            drawing,
            head: self.head,
            rows: self.rows.into_iter().map(|(_, row)| row).collect(),
            span: self.span,
            legend,
        }))
    }
}
