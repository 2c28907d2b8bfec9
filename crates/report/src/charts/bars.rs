//! Bars over names, one below the other, with their values as text: names may be long, and a phone is
//! narrow.

use super::canvas::{Drawing, Ink};
use super::markers::{cross, shape};
use super::panel::escaped;
use super::{ChartFigure, ChartWidth, INTERVAL_ROOM};
use std::fmt::Write;

/// Width of the picture, and of one of several; text is as high as that of other charts of the size.
const WIDTH: f64 = 1160.0;
const SMALL: f64 = 800.0;
const FONT: f64 = 40.0;
/// A character's width: of Latin letters, and of Chinese ones.
const NARROW: f64 = 26.0;
const BROAD: f64 = 40.0;
/// Names that take a larger share of the width stand above their bars.
const BESIDE: f64 = 0.375;
/// Space between names, and between a bar and its text.
const APART: f64 = 26.0;
const GAP: f64 = 16.0;
/// Half the size of a marker.
const MARKER: i32 = 13;

/// A bar from zero.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub value: f64,
    /// Low and high end of its interval.
    pub between: Option<(f64, f64)>,
    /// Its value as text.
    pub words: String,
    /// Whether it must not be used: a cross stands at its end.
    pub crossed: bool,
}

pub(crate) struct BarChart<'a> {
    pub title: String,
    pub says: String,
    /// What is said more where an interval is cut off.
    pub cut: String,
    pub span: ChartWidth,
    /// What is measured.
    pub unit: &'a str,
    /// Names, each with a bar or none of each series.
    pub groups: Vec<(String, Vec<Option<Bar>>)>,
    /// The series; their names stand nowhere where there is only one.
    pub legend: Vec<String>,
    /// What the scale covers whatever is drawn, so that charts side by side have the same.
    pub beside: Option<f64>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl BarChart<'_> {
    /// `None` where there are no three bars: fewer say no more than their figures.
    pub fn figure(self) -> Option<ChartFigure> {
        let bars = self
            .groups
            .iter()
            .flat_map(|(_, bars)| bars.iter().flatten());
        if bars.count() < 3 {
            return None;
        }
        let (drawing, cut) = self.drawing();
        Some(ChartFigure {
            drawing,
            title: self.title,
            says: match cut {
                true => self.says + &self.cut,
                false => self.says,
            },
            head: self.head,
            rows: self.rows,
            span: self.span,
            legend: match self.legend.len() {
                1 => Vec::new(),
                _ => self.legend,
            },
        })
    }

    /// The picture, and whether an interval is cut off on it.
    fn drawing(&self) -> (Drawing, bool) {
        let bars = || {
            self.groups
                .iter()
                .flat_map(|(_, bars)| bars.iter().flatten())
        };
        let names = self.groups.iter().map(|(name, _)| width(name));
        let longest = names.fold(0.0, f64::max);
        let wide = match self.span {
            ChartWidth::Third | ChartWidth::FirstThird => SMALL,
            _ => WIDTH,
        };
        let above = longest > wide * BESIDE;
        let series = self.legend.len();
        // Markers stand before the bars.
        let markers = if series > 1 {
            f64::from(2 * MARKER) + GAP
        } else {
            0.0
        };
        let left = markers + if above { 3.0 } else { longest + GAP };
        let high = bars().map(|bar| bar.value).fold(0.0, f64::max);
        let ends = bars().filter_map(|bar| Some(bar.between?.1));
        let top = match self.beside {
            Some(beside) => high.max(beside),
            None => ends.fold(high, f64::max).min(high * INTERVAL_ROOM),
        };
        let top = if top > 0.0 { top } else { 1.0 };
        let words = bars().map(|bar| width(&bar.words)).fold(0.0, f64::max);
        let scale = Scale {
            left,
            per_unit: (wide - left - words - 3.0 * GAP).max(wide / 4.0) / top,
            top,
        };
        let thick = if series > 2 { 42.0 } else { 46.0 };
        let mut picture = String::new();
        let mut y = FONT * 1.5;
        text(&mut picture, (left, FONT), "start", self.unit);
        let first = y;
        for (name, bars) in &self.groups {
            let height = thick * bars.len() as f64;
            if above {
                text(
                    &mut picture,
                    (0.0, y + FONT),
                    "start",
                    &shortened(name, wide),
                );
                y += FONT * 1.35;
            } else {
                let middle = y + height / 2.0 + FONT * 0.35;
                text(&mut picture, (longest, middle), "end", name);
            }
            for (n, bar) in bars.iter().enumerate() {
                if let Some(bar) = bar {
                    let at = (y + thick * n as f64, thick - 6.0);
                    scale.draw(&mut picture, bar, at, (n, series));
                }
            }
            y += height + APART;
        }
        let line = Ink::Grid.hex();
        let height = y - APART / 2.0;
        // Writing to a string cannot fail.
        let _ = write!(
            picture,
            "<rect x=\"{:.1}\" y=\"{first:.1}\" width=\"3\" height=\"{:.1}\" fill=\"{line}\"/>",
            left - 3.0,
            height - first
        );
        let is_cut = |bar: &Bar| bar.between.is_some_and(|(_, high)| high > top);
        let cut = bars().any(|bar| !bar.crossed && is_cut(bar));
        (Drawing::of(&picture, wide, height), cut)
    }
}

struct Scale {
    left: f64,
    per_unit: f64,
    top: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        self.left + value.clamp(0.0, self.top) * self.per_unit
    }

    /// A bar in a lane (top, height), of a series of so many.
    fn draw(&self, out: &mut String, bar: &Bar, lane: (f64, f64), series: (usize, usize)) {
        let (y, height) = lane;
        let middle = y + height / 2.0;
        let hex = Ink::Series(series.0).hex();
        let end = self.x(bar.value);
        let opacity = if bar.crossed { 0.25 } else { 0.7 };
        let mut rect = |x: f64, y: f64, width: f64, height: f64, opacity: f64| {
            let _ = write!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
                 opacity=\"{opacity}\" fill=\"{hex}\"/>",
                width.max(2.0)
            );
        };
        rect(self.left, y, end - self.left, height, opacity);
        let mut furthest = end;
        if let Some((low, high)) = bar.between.filter(|_| !bar.crossed) {
            let (from, to) = (self.x(low), self.x(high));
            rect(from, middle - 2.0, to - from, 4.0, 1.0);
            rect(from - 2.0, middle - 10.0, 4.0, 20.0, 1.0);
            if high > self.top {
                let head = [(0, 0), (-22, -14), (-22, 14)];
                polygon(out, &hex, (to, middle), &head);
            } else {
                rect(to - 2.0, middle - 10.0, 4.0, 20.0, 1.0);
            }
            furthest = furthest.max(to);
        }
        if bar.crossed {
            polygon(out, &hex, (end, middle), &cross(MARKER + 3));
            furthest += f64::from(MARKER);
        } else if series.1 > 1 {
            // They are told apart without colour.
            let at = (self.left - f64::from(MARKER) - 12.0, middle);
            polygon(out, &hex, at, &shape(series.0, MARKER));
        }
        let at = (furthest + GAP, middle + FONT * 0.35);
        text(out, at, "start", &bar.words);
    }
}

fn polygon(out: &mut String, hex: &str, at: (f64, f64), outline: &[(i32, i32)]) {
    let points = outline
        .iter()
        .map(|(x, y)| format!("{:.0},{:.0}", at.0 + f64::from(*x), at.1 + f64::from(*y)));
    let points: Vec<String> = points.collect();
    let _ = write!(
        out,
        "<polygon fill=\"{hex}\" points=\"{}\"/>",
        points.join(" ")
    );
}

pub(super) fn text(out: &mut String, at: (f64, f64), anchor: &str, words: &str) {
    let _ = write!(
        out,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"{anchor}\" font-size=\"{FONT}\" \
         font-family=\"sans-serif\" fill=\"{}\">{}</text>",
        at.0,
        at.1,
        Ink::Text.hex(),
        escaped(words)
    );
}

/// About how wide a text is.
pub(super) fn width(text: &str) -> f64 {
    let of = |c: char| if u32::from(c) > 0x2e7f { BROAD } else { NARROW };
    text.chars().map(of).sum()
}

/// What has room, with a sign where something is left out.
pub(super) fn shortened(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.into();
    }
    let mut used = BROAD;
    let kept = text.chars().take_while(|c| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used <= room
    });
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(names: &[&str], between: Option<(f64, f64)>) -> BarChart<'static> {
        let bar = Bar {
            value: 100.0,
            between,
            words: "100".into(),
            crossed: false,
        };
        BarChart {
            title: String::new(),
            says: String::new(),
            cut: String::new(),
            span: ChartWidth::Half,
            unit: "tx/s",
            groups: names
                .iter()
                .map(|name| ((*name).to_string(), vec![Some(bar.clone())]))
                .collect(),
            legend: vec!["one".into()],
            beside: None,
            head: Vec::new(),
            rows: Vec::new(),
        }
    }

    #[test]
    fn names_are_whole_and_escaped_and_two_bars_are_no_chart() {
        let long = "a name that stands above its bar <b>";
        let figure = chart(&["x", "y", long], None).figure().unwrap();
        let svg = &figure.drawing.svg;
        assert!(svg.contains("above its bar &lt;b&gt;</text>"), "{svg}");
        assert!(figure.legend.is_empty());
        assert!(chart(&["x", "y"], None).figure().is_none());
        let endless = shortened(&"名".repeat(60), WIDTH);
        assert!(
            endless.ends_with('…') && endless.chars().count() == 29,
            "{endless}"
        );
    }

    #[test]
    fn an_interval_does_not_stretch_the_scale() {
        let with = |high: f64| {
            chart(&["x", "y", "z"], Some((90.0, high)))
                .figure()
                .unwrap()
        };
        let arrows = |high: f64| with(high).drawing.svg.matches("<polygon").count();
        assert_eq!((arrows(110.0), arrows(400.0)), (0, 3));
    }
}
