//! A small picture over time: throughput above, a percentile below.

use std::fmt::Write;

/// Width and height of a panel, and of its upper part; a unit is about a pixel.
const WIDTH: f64 = 320.0;
const UPPER: f64 = 72.0;
const GAP: f64 = 6.0;
const LOWER: f64 = 36.0;
/// How repeats are told apart without colour.
const DASHES: [&str; 4] = ["", "5 3", "1.5 2.5", "8 2 2 2"];

/// One run of a panel.
pub(crate) struct PanelLine {
    /// Seconds, and both values; the lower may be missing.
    pub points: Vec<(f64, f64, Option<f64>)>,
    /// Whether it is crossed out at its end.
    pub crossed: bool,
}

/// How long a line is that stands for a single point.
const ALONE: f64 = 6.0;
/// Half the size of a cross.
const CROSS: f64 = 5.0;

/// The `<svg>` element, which has `says` as its title: text for the pointer and for readers.
/// `says` is escaped here.
pub(crate) fn panel(lines: &[PanelLine], says: &str) -> String {
    let points = || lines.iter().flat_map(|l| &l.points);
    let end = points().map(|p| p.0).fold(0.0, f64::max);
    let upper = points().map(|p| p.1).fold(0.0, f64::max);
    let lower = points().filter_map(|p| p.2).fold(0.0, f64::max);
    let height = UPPER + GAP + LOWER;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\"><title>{}</title>\
         <path class=\"ground\" d=\"M0 {UPPER}H{WIDTH}M0 {height}H{WIDTH}\"/>",
        escaped(says)
    );
    for (n, line) in lines.iter().enumerate() {
        let tps = line.points.iter().map(|p| (p.0, Some(p.1)));
        let p95 = line.points.iter().map(|p| (p.0, p.2));
        let dash = DASHES[n % DASHES.len()];
        path(&mut svg, "upper", dash, tps, (end, upper), (UPPER, UPPER));
        if let (true, Some((x, y, _))) = (line.crossed, line.points.last()) {
            let (x, y) = place((*x, *y), (end, upper), (UPPER, UPPER));
            let (x, y) = (x.min(WIDTH - CROSS), y.max(CROSS));
            let (left, right, top, low) = (x - CROSS, x + CROSS, y - CROSS, y + CROSS);
            // Writing to a string cannot fail.
            let _ = write!(
                svg,
                "<path class=\"cross\" d=\"M{left:.1} {top:.1}L{right:.1} {low:.1}M{right:.1} {top:.1}L{left:.1} {low:.1}\"/>"
            );
        }
        path(&mut svg, "lower", dash, p95, (end, lower), (height, LOWER));
    }
    svg.push_str("</svg>");
    svg
}

/// A line over time; it breaks where a value is missing.
fn path(
    svg: &mut String,
    class: &str,
    dash: &str,
    points: impl Iterator<Item = (f64, Option<f64>)>,
    (end, highest): (f64, f64),
    (bottom, height): (f64, f64),
) {
    let points = points.map(|(x, y)| (x, y.filter(|_| end > 0.0 && highest > 0.0)));
    let points: Vec<(f64, Option<f64>)> = points.collect();
    let mut d = String::new();
    for piece in points.split(|(_, y)| y.is_none()) {
        for (n, (x, y)) in piece.iter().enumerate() {
            let at = (*x, y.unwrap_or(0.0));
            let (x, y) = place(at, (end, highest), (bottom, height));
            // Writing to a string cannot fail. A tenth of a pixel is all that can be seen.
            let _ = match piece.len() {
                // A line of one point would not be seen.
                1 => write!(d, "M{:.0} {y:.1}h{ALONE:.0}", x.min(WIDTH - ALONE)),
                _ => write!(d, "{}{x:.0} {y:.1}", if n > 0 { "L" } else { "M" }),
            };
        }
    }
    if !d.is_empty() {
        let dash = match dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        let _ = write!(svg, "<path class=\"{class}\"{dash} d=\"{d}\"/>");
    }
}

/// Where a point lies on the picture.
fn place(
    (x, y): (f64, f64),
    (end, highest): (f64, f64),
    (bottom, height): (f64, f64),
) -> (f64, f64) {
    let share = |of: f64, all: f64| {
        if all > 0.0 {
            (of / all).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    (
        share(x, end) * WIDTH,
        bottom - share(y, highest) * (height - 2.0),
    )
}

pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_is_small_and_its_words_are_escaped() {
        let points = (0..150).map(|n| (f64::from(n), f64::from(n % 7), None));
        let line = PanelLine {
            points: points.collect(),
            crossed: false,
        };
        let svg = panel(&[line], "</title><script>\"");
        assert!(svg.contains("&lt;/title&gt;&lt;script&gt;&quot;") && !svg.contains("<script"));
        assert!(svg.len() < 3000, "{}", svg.len());
        assert!(!panel(&[], "nothing").contains("NaN"));
    }

    #[test]
    fn a_point_alone_is_seen() {
        let line = |points: &[(f64, f64, Option<f64>)]| PanelLine {
            points: points.to_vec(),
            crossed: false,
        };
        let svg = panel(&[line(&[(0.5, 80.0, Some(2.0))])], "one");
        assert!(svg.contains("d=\"M314 2.0h6\""), "{svg}");
        assert!(svg.contains("d=\"M314 80.0h6\""), "{svg}");
        // Beside a gap, too.
        let gap = [
            (1.0, 4.0, Some(1.0)),
            (2.0, 4.0, None),
            (3.0, 4.0, Some(1.0)),
            (4.0, 4.0, Some(1.0)),
        ];
        let svg = panel(&[line(&gap)], "gap");
        assert!(svg.contains("d=\"M80 80.0h6M240 80.0L320 80.0\""), "{svg}");
    }
}
