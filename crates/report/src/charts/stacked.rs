//! Bars of parts: where a mean latency passes.

use super::bars::{text, width};
use super::canvas::{Drawing, Ink};
use super::{ChartFigure, ChartWidth};
use std::fmt::Write;

/// Width of the picture, as of other wide charts, and the height of its text.
const WIDTH: f64 = 2400.0;
const FONT: f64 = 40.0;
const LINE: f64 = 58.0;
const THICK: f64 = 64.0;
/// Between parts: they are told apart without colour.
const GAP: f64 = 4.0;
const KEY: f64 = 30.0;

/// What a part is drawn with: a colour for each kind, and a weight for kinds that come several times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shade {
    /// A series' colour, and its opacity.
    Of(usize, f64),
    /// Nothing is known of it.
    Unknown,
}

/// One bar.
pub(crate) struct Stack {
    /// Above it.
    pub label: String,
    /// How long each part is; its number in the key.
    pub parts: Vec<(usize, f64)>,
}

pub(crate) struct StackChart {
    pub title: String,
    pub says: String,
    pub stacks: Vec<Stack>,
    /// What parts are called, and their shades.
    pub key: Vec<(String, Shade)>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl StackChart {
    /// `None` without a bar of any length.
    pub fn figure(self) -> Option<ChartFigure> {
        let total = |stack: &Stack| stack.parts.iter().map(|(_, value)| value).sum::<f64>();
        let longest = self.stacks.iter().map(total).fold(0.0, f64::max);
        if longest <= 0.0 {
            return None;
        }
        let mut picture = String::new();
        let mut y = 0.0;
        for stack in &self.stacks {
            text(&mut picture, (0.0, y + FONT), "start", &stack.label);
            y += LINE;
            let mut x = 0.0;
            for (part, value) in &stack.parts {
                let wide = value / longest * WIDTH;
                let shade = self
                    .key
                    .get(*part)
                    .map_or(Shade::Unknown, |(_, shade)| *shade);
                rect(&mut picture, (x, y), (wide - GAP, THICK), shade);
                x += wide;
            }
            y += THICK + LINE / 2.0;
        }
        let mut x = 0.0;
        for (name, shade) in &self.key {
            let wide = KEY + FONT / 2.0 + width(name) + FONT * 1.5;
            if x > 0.0 && x + wide > WIDTH {
                (x, y) = (0.0, y + LINE);
            }
            rect(&mut picture, (x, y + FONT - KEY), (KEY, KEY), *shade);
            let at = (x + KEY + FONT / 2.0, y + FONT);
            text(&mut picture, at, "start", name);
            x += wide;
        }
        let height = y + LINE;
        Some(ChartFigure {
            title: self.title,
            says: self.says,
            drawing: Drawing::of(&picture, WIDTH, height),
            head: self.head,
            rows: self.rows,
            span: ChartWidth::Whole,
            legend: Vec::new(),
        })
    }
}

fn rect(out: &mut String, at: (f64, f64), size: (f64, f64), shade: Shade) {
    let (ink, opacity) = match shade {
        Shade::Of(series, opacity) => (Ink::Series(series), opacity),
        Shade::Unknown => (Ink::Grid, 1.0),
    };
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" opacity=\"{opacity}\" \
         fill=\"{}\"/>",
        at.0,
        at.1,
        size.0.max(2.0),
        size.1,
        ink.hex()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_is_as_wide_as_the_picture_and_names_are_escaped() {
        let chart = |value: f64| StackChart {
            title: String::new(),
            says: String::new(),
            stacks: vec![Stack {
                label: "<b>".into(),
                parts: vec![(0, value), (1, value)],
            }],
            key: vec![
                ("one".into(), Shade::Of(0, 1.0)),
                ("two".into(), Shade::Unknown),
            ],
            head: Vec::new(),
            rows: Vec::new(),
        };
        let svg = chart(3.0).figure().unwrap().drawing.svg;
        assert!(svg.contains("&lt;b&gt;"), "{svg}");
        assert!(
            svg.contains("x=\"1200.0\" y=\"58.0\" width=\"1196.0\""),
            "{svg}"
        );
        assert!(chart(0.0).figure().is_none());
    }
}
