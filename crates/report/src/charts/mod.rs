//! The charts of a report, each with its table of values.

mod axis;
mod canvas;
mod latency;
mod lines;
mod panel;
mod rate;
mod time;

pub(crate) use canvas::{Drawing, MOST_SERIES, key};
pub(crate) use latency::curves;
pub(crate) use latency::{curve, distribution};
pub(crate) use lines::{Line, LineChart, LinePoint, Loads};
pub(crate) use panel::{PanelLine, panel, sparkline};
pub(crate) use rate::by_rate;
pub(crate) use time::{errors, latency, queue, throughput, throughput_by_type};

/// A chart and the same as text.
#[derive(Debug)]
pub(crate) struct Figure {
    /// Heading.
    pub title: String,
    /// What the chart shows, in words.
    pub says: String,
    pub drawing: Drawing,
    /// Column heads of the table of values.
    pub head: Vec<String>,
    /// Its rows, one for each of the drawing's.
    pub rows: Vec<Vec<String>>,
    /// Whether it takes half the width.
    pub half: bool,
    /// Names of its lines, where they have none on the picture.
    pub legend: Vec<String>,
}

impl Figure {
    /// Each line's sign, as an `<svg>` element, and its name.
    pub fn keys(&self) -> impl Iterator<Item = (String, &String)> {
        let names = self.legend.iter().enumerate();
        names.map(|(n, name)| (key(n), name))
    }

    /// The table's rows, each with where it lies on the picture.
    pub fn placed_rows(&self) -> impl Iterator<Item = (&i32, &Vec<String>)> {
        self.drawing.rows.iter().zip(&self.rows)
    }
}
