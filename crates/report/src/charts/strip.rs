//! A flat chart of something observed: its times stand below those of the charts over time.

use super::axis::Axis;
use super::canvas::{Chart, Ink, Layer, STRIP};
use super::panel::escaped;
use super::timeline::Timeline;
use crate::ReportError;

/// The `<svg>` element. Lines are of seconds and values; they break where a value is missing. The other
/// axis goes from zero to at least `least` and has a `label` at both ends. `says` is its title: text for
/// the pointer and for readers, which is escaped here.
pub(crate) fn strip(
    time: &Timeline<'_>,
    lines: Vec<Vec<(f64, Option<f64>)>>,
    least: f64,
    label: impl Fn(f64) -> String,
    says: &str,
) -> Result<String, ReportError> {
    let values = lines.iter().flatten().filter_map(|(_, value)| *value);
    let y = Axis::ends(values.fold(least, f64::max), label);
    let mut layers = time.layers(&y);
    let lines = lines.into_iter().enumerate();
    layers.extend(lines.map(|(n, points)| Layer::Line {
        points,
        ink: Ink::Series(n),
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
