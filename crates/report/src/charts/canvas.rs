//! Drawing with plotters, in colours that the page's style sheet replaces.
//!
//! plotters writes SVG with colours as attributes. Each colour here stands for a part of a chart
//! and appears nowhere else, so the style sheet finds it with an attribute selector and gives it
//! its shade for light or dark, and its line a dash pattern.

use super::axis::Axis;
use super::markers::{MARKER, cross, shape};
use crate::ReportError;
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A drawn chart.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    /// The `<svg>` element.
    pub svg: String,
    /// Where on the picture each row of the chart's table lies, from the left.
    pub rows: Vec<i32>,
    /// Top and bottom of the plot on the picture.
    pub plot: (i32, i32),
}

impl Drawing {
    /// What is drawn by hand on a picture of this size, which shows its values as text.
    pub(super) fn of(picture: &str, wide: f64, tall: f64) -> Self {
        Self {
            svg: format!(
                "<svg aria-hidden=\"true\" viewBox=\"0 0 {wide} {tall:.0}\" \
                 xmlns=\"http://www.w3.org/2000/svg\">{picture}</svg>"
            ),
            rows: Vec::new(),
            plot: (0, 0),
        }
    }
}

/// What a colour stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Text,
    Grid,
    Warmup,
    Outage,
    /// The series of a chart, from 0; beyond the last they repeat.
    Series(usize),
}

const SERIES: [RGBColor; 6] = [
    RGBColor(0x0a, 0x6c, 0x8f),
    RGBColor(0xb0, 0x5a, 0x06),
    RGBColor(0xb3, 0x26, 0x3a),
    RGBColor(0x5f, 0x6d, 0x7a),
    RGBColor(0x6b, 0x4f, 0xa0),
    RGBColor(0x2e, 0x7d, 0x4f),
];

impl Ink {
    fn colour(self) -> RGBColor {
        match self {
            Ink::Text => RGBColor(0x4d, 0x5c, 0x69),
            Ink::Grid => RGBColor(0xdd, 0xe4, 0xea),
            Ink::Warmup => RGBColor(0x9a, 0xa8, 0xb4),
            Ink::Outage => RGBColor(0xc9, 0x4f, 0x7c),
            Ink::Series(n) => SERIES[n % SERIES.len()],
        }
    }

    /// As an attribute of an element, which the style sheet looks for.
    pub(super) fn hex(self) -> String {
        let RGBColor(red, green, blue) = self.colour();
        format!("#{red:02X}{green:02X}{blue:02X}")
    }
}

/// Something in a chart.
pub(super) enum Layer {
    /// A shaded span of the x axis; one of an outage stands between upright lines.
    Band(f64, f64, Ink),
    /// A line; where a value is missing it breaks.
    Line {
        points: Vec<(f64, Option<f64>)>,
        ink: Ink,
        width: u32,
    },
    /// The area between a line and zero.
    Area { points: Vec<(f64, f64)>, ink: Ink },
    /// Bars from zero: from, to, height.
    Bars {
        bars: Vec<(f64, f64, f64)>,
        ink: Ink,
    },
    /// A labelled upright line.
    Mark { x: f64, label: String, ink: Ink },
    /// Points of a shape of the series' own, so that lines are told apart without colour.
    Points { at: Vec<(f64, f64)>, series: usize },
    /// Crosses where points are that must not be used.
    Crosses { at: Vec<(f64, f64)>, ink: Ink },
    /// Upright bars around points: place, low, high.
    Whiskers {
        bars: Vec<(f64, f64, f64)>,
        ink: Ink,
    },
    /// Words above points.
    Words {
        at: Vec<(f64, f64, String)>,
        ink: Ink,
    },
}

/// Text written behind a line's end.
pub(super) struct EndLabel {
    pub y: f64,
    pub text: String,
    pub ink: Ink,
}

pub(super) struct Chart<'a> {
    pub size: (u32, u32),
    pub x: Axis,
    pub y: Axis,
    /// What the axes measure.
    pub x_name: &'a str,
    pub y_name: &'a str,
    pub layers: Vec<Layer>,
    pub end_labels: Vec<EndLabel>,
    /// The x value of each row of the chart's table.
    pub rows: Vec<f64>,
}

/// Twice and more what is shown, because plotters places points on whole units.
pub(super) const WIDE: (u32, u32) = (2400, 800);
pub(super) const HALF: (u32, u32) = (1160, 800);
/// One of several: a third of the width.
pub(super) const SMALL: (u32, u32) = (800, 660);
/// One of many, flat, at the same times as the wide ones.
pub(super) const STRIP: (u32, u32) = (2400, 260);
const FONT: u32 = 40;
const LINE_HEIGHT: i32 = 42;

type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;
type Root<'b> = DrawingArea<SVGBackend<'b>, Shift>;
type Drawn<T> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

impl Chart<'_> {
    /// About how wide the plot is on a picture: what labels below it have.
    pub fn plot_width(size: (u32, u32)) -> f64 {
        f64::from(size.0) - 280.0
    }

    pub fn draw(&self) -> Result<Drawing, ReportError> {
        let mut svg = String::new();
        let placed = self
            .draw_into(&mut svg)
            .map_err(|e| ReportError::Chart(e.to_string()))?;
        // Sized by the page; the picture only has its proportions.
        let size = format!("width=\"{}\" height=\"{}\" ", self.size.0, self.size.1);
        let svg = svg.replacen(&size, "aria-hidden=\"true\" ", 1);
        Ok(Drawing {
            svg,
            rows: placed.0,
            plot: placed.1,
        })
    }

    fn draw_into(&self, svg: &mut String) -> Drawn<(Vec<i32>, (i32, i32))> {
        let root = SVGBackend::with_string(svg, self.size).into_drawing_area();
        // The same on all wide charts, so that their times stand one below the other.
        let labels_right = match (self.is_wide(), self.end_labels.is_empty()) {
            (true, _) => 270,
            (false, true) => 90,
            (false, false) => 150,
        };
        let (above, below) = match self.is_flat() {
            true => (28, 64),
            false => (80, 120),
        };
        let mut plot = ChartBuilder::on(&root)
            .margin_top(above)
            .margin_right(labels_right)
            .set_label_area_size(LabelAreaPosition::Left, self.labels_left())
            .set_label_area_size(LabelAreaPosition::Bottom, below)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        for layer in &self.layers {
            if matches!(layer, Layer::Band(..)) {
                self.draw_layer(&mut plot, layer)?;
            }
        }
        plot.configure_mesh()
            .disable_x_mesh()
            .bold_line_style(ShapeStyle::from(Ink::Grid.colour()).stroke_width(2))
            .axis_style(ShapeStyle::from(Ink::Grid.colour()).stroke_width(2))
            .label_style(text(Ink::Text))
            .x_label_formatter(&|v| self.x.label(*v))
            .y_label_formatter(&|v| self.y.label(*v))
            .draw()?;
        for layer in &self.layers {
            if !matches!(layer, Layer::Band(..)) {
                self.draw_layer(&mut plot, layer)?;
            }
        }
        let (across, down) = plot.plotting_area().get_pixel_range();
        if !self.is_flat() {
            self.name_axes(&root, across.end)?;
        }
        self.draw_marks(&root, &plot, (down.start, down.end))?;
        self.draw_end_labels(&root, &plot, across.end)?;
        let rows = self
            .rows
            .iter()
            .map(|x| plot.backend_coord(&(*x, 0.0)).0)
            .collect();
        root.present()?;
        Ok((rows, (down.start, down.end)))
    }

    /// Whether its times stand below those of other charts.
    fn is_wide(&self) -> bool {
        self.size.0 == WIDE.0
    }

    /// Whether it has no room for names of its axes.
    fn is_flat(&self) -> bool {
        self.size == STRIP
    }

    /// Room for the y axis' labels: all wide charts have the same, and narrow ones what they need.
    fn labels_left(&self) -> u32 {
        const LEAST: u32 = 150;
        if self.is_wide() {
            return LEAST + 60;
        }
        let (low, high) = (self.y.range_start(), self.y.end());
        let lengths = [low, high].map(|y| self.y.label(y).chars().count());
        let longest = lengths.into_iter().max().unwrap_or(0);
        // A digit is half as wide as it is high, and a little.
        (u32::try_from(longest).unwrap_or(0) * 23 + 20).max(LEAST)
    }

    fn draw_layer(&self, plot: &mut Plot<'_, '_>, layer: &Layer) -> Drawn<()> {
        let (bottom, top) = (self.y.range_start(), self.y.end());
        match layer {
            Layer::Band(from, to, ink) => {
                let style = ink.colour().mix(0.18).filled();
                let band = Rectangle::new([(*from, bottom), (*to, top)], style);
                plot.draw_series([band])?;
                if *ink == Ink::Outage {
                    let style = ShapeStyle::from(ink.colour()).stroke_width(3);
                    let edge = |x: f64| PathElement::new([(x, bottom), (x, top)], style);
                    plot.draw_series([edge(*from), edge(*to)])?;
                }
            }
            Layer::Area { points, ink } => {
                let (Some(first), Some(last)) = (points.first(), points.last()) else {
                    return Ok(());
                };
                let mut outline = points.clone();
                outline.extend([(last.0, bottom), (first.0, bottom)]);
                let style = ink.colour().mix(0.12).filled();
                plot.draw_series([Polygon::new(outline, style)])?;
            }
            Layer::Line { points, ink, width } => {
                let style = ShapeStyle::from(ink.colour()).stroke_width(*width);
                for piece in points.split(|(_, y)| y.is_none()) {
                    let piece: Vec<_> = piece
                        .iter()
                        .filter_map(|(x, y)| Some((*x, (*y)?)))
                        .collect();
                    match piece.as_slice() {
                        [] => {}
                        [alone] => {
                            let dot = Circle::new(*alone, *width + 3, ink.colour().filled());
                            plot.draw_series([dot])?;
                        }
                        _ => {
                            plot.draw_series([PathElement::new(piece, style)])?;
                        }
                    }
                }
            }
            Layer::Bars { bars, ink } => {
                // Lighter than a line, so that marks are seen on it.
                let style = ink.colour().mix(0.7).filled();
                plot.draw_series(bars.iter().map(|(from, to, height)| {
                    Rectangle::new([(*from, *height), (*to, bottom)], style)
                }))?;
            }
            Layer::Points { at, series } => {
                let style = Ink::Series(*series).colour().filled();
                plot.draw_series(at.iter().map(|at| {
                    EmptyElement::at(*at) + Polygon::new(shape(*series, MARKER), style)
                }))?;
            }
            Layer::Crosses { at, ink } => {
                let style = ink.colour().filled();
                plot.draw_series(
                    at.iter()
                        .map(|at| EmptyElement::at(*at) + Polygon::new(cross(MARKER + 3), style)),
                )?;
            }
            Layer::Whiskers { bars, ink } => {
                // Filled and not stroked: a line's dashes would hide a short one.
                let style = ink.colour().filled();
                let wide = (self.x.end() - self.x.range_start()) / 600.0;
                let tall = (top - bottom) / 250.0;
                plot.draw_series(bars.iter().flat_map(|(x, low, high)| {
                    let bar = |across: f64, from: f64, to: f64| {
                        Rectangle::new([(x - across, from), (x + across, to)], style)
                    };
                    // What is cut off has an arrow's head instead of a foot.
                    let (from, to) = (low.max(bottom), high.min(top));
                    let foot = (*low >= bottom).then(|| bar(wide * 3.0, *low, low + tall));
                    let head = (*high <= top).then(|| bar(wide * 3.0, high - tall, *high));
                    [Some(bar(wide / 2.0, from, to)), foot, head]
                        .into_iter()
                        .flatten()
                }))?;
                let cut = bars.iter().flat_map(|(x, low, high)| {
                    let above = (*high > top).then_some(((*x, top), 1));
                    let below = (*low < bottom).then_some(((*x, bottom), -1));
                    [above, below].into_iter().flatten()
                });
                plot.draw_series(cut.map(|(at, down)| {
                    let outline = vec![(0, 0), (14, 22 * down), (-14, 22 * down)];
                    EmptyElement::at(at) + Polygon::new(outline, style)
                }))?;
            }
            Layer::Words { at, ink } => {
                let style = text(*ink).pos(Pos::new(HPos::Right, VPos::Bottom));
                plot.draw_series(at.iter().map(|(x, y, words)| {
                    EmptyElement::at((*x, *y)) + Text::new(words.clone(), (-16, -8), style.clone())
                }))?;
            }
            Layer::Mark { .. } => {}
        }
        Ok(())
    }

    fn name_axes(&self, root: &Root<'_>, right: i32) -> Drawn<()> {
        let style = text(Ink::Text);
        root.draw_text(
            self.y_name,
            &style.pos(Pos::new(HPos::Left, VPos::Top)),
            (20, 12),
        )?;
        let bottom = i32::try_from(self.size.1).unwrap_or(0) - 8;
        root.draw_text(
            self.x_name,
            &style.pos(Pos::new(HPos::Right, VPos::Bottom)),
            (right, bottom),
        )
    }

    /// Upright lines, from left to right, with a label beside the top of each. A line starts a row
    /// below the last one's label, so that none runs through another's label.
    fn draw_marks(&self, root: &Root<'_>, plot: &Plot<'_, '_>, down: (i32, i32)) -> Drawn<()> {
        let marks: Vec<_> = self
            .layers
            .iter()
            .filter_map(|layer| match layer {
                Layer::Mark { x, label, ink } => {
                    Some((plot.backend_coord(&(*x, 0.0)).0, label, *ink))
                }
                _ => None,
            })
            .collect();
        let right = marks.iter().map(|(at, ..)| *at).max().unwrap_or(0);
        // Labels stand on the side that has room; on the left, the order of rows turns round.
        let to_right = right < i32::try_from(self.size.0).unwrap_or(0) - 420;
        for (n, (at, label, ink)) in marks.iter().enumerate() {
            let row = if to_right { n } else { marks.len() - 1 - n };
            let top = down.0 + 4 + i32::try_from(row).unwrap_or(0) * LINE_HEIGHT;
            let style = ShapeStyle::from(ink.colour()).stroke_width(4);
            root.draw(&PathElement::new([(*at, top), (*at, down.1)], style))?;
            let (side, gap) = if to_right {
                (HPos::Left, 14)
            } else {
                (HPos::Right, -14)
            };
            let beside = text(*ink).pos(Pos::new(side, VPos::Top));
            root.draw_text(label, &beside, (*at + gap, top))?;
        }
        Ok(())
    }

    fn draw_end_labels(&self, root: &Root<'_>, plot: &Plot<'_, '_>, right: i32) -> Drawn<()> {
        let (_, down) = plot.plotting_area().get_pixel_range();
        let mut labels: Vec<(i32, &EndLabel)> = self
            .end_labels
            .iter()
            .map(|l| (plot.backend_coord(&(self.x.end(), l.y)).1, l))
            .collect();
        labels.sort_by_key(|(y, _)| *y);
        let at = spread(labels.iter().map(|(y, _)| *y), down.end);
        for (y, (_, label)) in at.into_iter().zip(labels) {
            root.draw_text(
                &label.text,
                &text(label.ink).pos(Pos::new(HPos::Left, VPos::Center)),
                (right + 16, y),
            )?;
        }
        Ok(())
    }
}

/// A series' line and marker, for a legend.
pub(crate) fn key(series: usize) -> String {
    let hex = Ink::Series(series).hex();
    let outline: Vec<String> = shape(series, 13)
        .iter()
        .map(|(x, y)| format!("{},{}", x + 60, y + 20))
        .collect();
    format!(
        "<svg viewBox=\"0 0 120 40\" aria-hidden=\"true\"><polyline fill=\"none\" \
         stroke=\"{hex}\" stroke-width=\"5\" points=\"0,20 120,20\"/><polygon fill=\"{hex}\" \
         points=\"{}\"/></svg>",
        outline.join(" ")
    )
}

/// A series' line without a marker, for a legend; that of the others, in grey, for none.
pub(crate) fn line_key(series: Option<usize>) -> String {
    let hex = series.map_or(Ink::Warmup, Ink::Series).hex();
    format!(
        "<svg viewBox=\"0 0 120 40\" aria-hidden=\"true\"><polyline fill=\"none\" \
         stroke=\"{hex}\" stroke-width=\"6\" points=\"0,20 120,20\"/></svg>"
    )
}

/// How many series a chart can have that are told apart.
pub(crate) const MOST_SERIES: usize = SERIES.len();

/// Moves labels apart to a line's height of distance, none below `lowest`; they come and stay in
/// order from the top.
fn spread(wanted: impl Iterator<Item = i32>, lowest: i32) -> Vec<i32> {
    let mut places: Vec<i32> = Vec::new();
    for y in wanted {
        let free = places.last().map_or(i32::MIN, |last| last + LINE_HEIGHT);
        places.push(y.max(free));
    }
    let mut limit = lowest;
    for y in places.iter_mut().rev() {
        *y = (*y).min(limit);
        limit = *y - LINE_HEIGHT;
    }
    places
}

fn text(ink: Ink) -> TextStyle<'static> {
    ("sans-serif", FONT).into_font().color(&ink.colour())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance_and_stay_above_the_axis() {
        assert_eq!(spread([100, 300].into_iter(), 680), [100, 300]);
        assert_eq!(spread([100, 101, 110].into_iter(), 680), [100, 142, 184]);
        assert_eq!(
            spread([10, 679, 680, 680].into_iter(), 680),
            [10, 596, 638, 680]
        );
        assert!(spread(std::iter::empty(), 680).is_empty());
    }
}
