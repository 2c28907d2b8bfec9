//! The charts of a report, each with its table of values.

mod axis;
mod canvas;
mod latency;
mod rate;
mod time;

pub(crate) use canvas::Drawing;
pub(crate) use latency::{curve, distribution};
pub(crate) use rate::by_rate;
pub(crate) use time::{errors, latency, queue, throughput, throughput_by_type};

/// A chart and the same as text.
pub(crate) struct Figure {
    /// Heading.
    pub title: &'static str,
    /// What the chart shows, in words.
    pub says: String,
    pub drawing: Drawing,
    /// Column heads of the table of values.
    pub head: Vec<String>,
    /// Its rows, one for each of the drawing's.
    pub rows: Vec<Vec<String>>,
    /// Whether it takes half the width.
    pub half: bool,
}

impl Figure {
    /// The table's rows, each with where it lies on the picture.
    pub fn placed_rows(&self) -> impl Iterator<Item = (&i32, &Vec<String>)> {
        self.drawing.rows.iter().zip(&self.rows)
    }
}
