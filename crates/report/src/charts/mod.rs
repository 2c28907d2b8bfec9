//! The charts of a report, each with its table of values.

mod axis;
mod bars;
mod canvas;
mod hosts;
mod latency;
mod lines;
mod markers;
mod panel;
mod rate;
mod stacked;
mod strip;
mod time;
mod timeline;

pub(crate) use axis::short_label;
pub(crate) use bars::{Bar, BarChart};
pub(crate) use canvas::{Drawing, MOST_SERIES, key, line_key};
pub(crate) use hosts::{HostBox, HostsDrawing};
pub(crate) use latency::curves;
pub(crate) use latency::{curve, distribution};
pub(crate) use lines::{ChartLine, LineChart, LinePoint, Loads};
pub(crate) use panel::{PanelLine, panel};
pub(crate) use rate::by_rate;
pub(crate) use stacked::{Shade, Stack, StackChart};
pub(crate) use strip::{StripLine, strip};
pub(crate) use time::{errors, latency, queue, throughput, throughput_by_type};
pub(crate) use timeline::Timeline;

/// An interval that goes further above the highest value is cut off: the axis is the values'.
pub(crate) const INTERVAL_ROOM: f64 = 1.25;

/// How much of the page's width a chart takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChartWidth {
    Whole,
    Half,
    /// Half, with its words in the other half.
    Alone,
    /// A third: one of several small charts.
    Third,
    /// The first of them.
    FirstThird,
}

/// A chart and the same as text.
#[derive(Debug)]
pub(crate) struct ChartFigure {
    /// Heading.
    pub title: String,
    /// What the chart shows, in words.
    pub says: String,
    pub drawing: Drawing,
    /// Column heads of the table of values.
    pub head: Vec<String>,
    /// Its rows, one for each of the drawing's.
    pub rows: Vec<Vec<String>>,
    /// How much of the width it takes.
    pub span: ChartWidth,
    /// Names of its lines, where they have none on the picture.
    pub legend: Vec<String>,
}

impl ChartFigure {
    /// Each line's sign, as an `<svg>` element, and its name.
    pub fn keys(&self) -> impl Iterator<Item = (String, &String)> {
        let names = self.legend.iter().enumerate();
        names.map(|(n, name)| (key(n), name))
    }

    /// The table's rows, each with where it lies on the picture; nowhere, on one that shows its values
    /// as text.
    pub fn placed_rows(&self) -> impl Iterator<Item = (Option<&i32>, &Vec<String>)> {
        let rows = self.rows.iter().enumerate();
        rows.map(|(n, row)| (self.drawing.rows.get(n), row))
    }

    /// Its element's class.
    pub fn class(&self) -> &'static str {
        match self.span {
            ChartWidth::Whole => "",
            ChartWidth::Half => "half",
            ChartWidth::Alone => "alone",
            ChartWidth::Third => "third",
            ChartWidth::FirstThird => "third first",
        }
    }

    /// Gives a chart of half the width, beside which there is none, its words as a neighbour.
    pub fn side_by_side(figures: &mut [Self]) {
        let mut row = 0;
        for n in 0..figures.len() {
            match figures[n].span {
                ChartWidth::Half => row += 1,
                _ => row = 0,
            }
            let next = figures.get(n + 1).map(|figure| figure.span);
            if row % 2 == 1 && next != Some(ChartWidth::Half) {
                figures[n].span = ChartWidth::Alone;
            }
        }
    }
}
