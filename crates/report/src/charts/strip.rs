//! A flat chart of something observed: its times stand below those of the charts over time.

use super::axis::Axis;
use super::canvas::{Chart, Ink, Layer, STRIP};
use super::panel::escaped;
use super::timeline::Timeline;
use crate::ReportError;

/// Seconds and values, and the line's place in the legend; in grey, behind the others, without one.
pub(crate) type StripLine = (Vec<(f64, Option<f64>)>, Option<usize>);

/// The `<svg>` element. Lines break where a value is missing. The other axis goes from zero to at least
/// `least` and has a `label` at both ends. `says` is its title: text for the pointer and for readers, which
/// is escaped here.
pub(crate) fn strip(
    time: &Timeline<'_>,
    mut lines: Vec<StripLine>,
    least: f64,
    label: impl Fn(f64) -> String,
    says: &str,
) -> Result<String, ReportError> {
    let points = lines.iter().flat_map(|(points, _)| points);
    let values = points.filter_map(|(_, value)| *value);
    let y = Axis::ends(values.fold(least, f64::max), label);
    let mut layers = time.layers(&y);
    // Those without a place first.
    lines.sort_by_key(|(_, place)| *place);
    layers.extend(lines.into_iter().map(|(points, place)| Layer::Line {
        points,
        ink: place.map_or(Ink::Warmup, Ink::Series),
        width: 4,
    }));
    let drawing = Chart {
        size: STRIP,
        x: time.axis(),
        y,
        x_name: "",
        y_name: "",
        layers,
        end_labels: Vec::new(),
        rows: Vec::new(),
    }
    .draw()?;
    let title = format!("><title>{}</title>", escaped(says));
    let svg = drawing
        .svg
        .replacen("aria-hidden=\"true\"", "role=\"img\"", 1);
    Ok(svg.replacen('>', &title, 1))
}
