//! A drawing of hosts as boxes, with what runs on each.

use super::bars::{shortened, text};
use super::canvas::{Drawing, Ink};
use super::{ChartFigure, ChartWidth};
use std::fmt::Write;

/// Width of the picture, as of other wide charts, and of a box; four stand in a row.
const WIDTH: f64 = 2400.0;
const IN_A_ROW: usize = 4;
const GAP: f64 = 40.0;
/// Height of a line, and of a component's own box.
const LINE: f64 = 58.0;
const THICK: f64 = 72.0;
const PAD: f64 = 24.0;
/// So many components of a host are drawn.
const MOST: usize = 12;

/// A host.
pub(crate) struct HostBox {
    pub name: String,
    /// Its CPUs and memory.
    pub machine: String,
    /// What runs there, and whether that is in doubt.
    pub components: Vec<(String, bool)>,
}

pub(crate) struct HostsDrawing {
    pub title: String,
    pub says: String,
    pub boxes: Vec<HostBox>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl HostsDrawing {
    /// The drawing, with its table.
    pub fn figure(self) -> ChartFigure {
        let columns = self.boxes.len().clamp(1, IN_A_ROW);
        let wide = (WIDTH - GAP * (columns - 1) as f64) / columns as f64;
        let mut picture = String::new();
        let mut y = 0.0;
        for row in self.boxes.chunks(columns) {
            let tall = row.iter().map(height).fold(0.0, f64::max);
            for (n, host) in row.iter().enumerate() {
                let x = n as f64 * (wide + GAP);
                draw(&mut picture, host, (x, y), (wide, tall));
            }
            y += tall + GAP;
        }
        ChartFigure {
            title: self.title,
            says: self.says,
            drawing: Drawing::of(&picture, WIDTH, y),
            head: self.head,
            rows: self.rows,
            span: ChartWidth::Whole,
            legend: Vec::new(),
        }
    }
}

fn height(host: &HostBox) -> f64 {
    let drawn = host.components.len().min(MOST);
    let more = usize::from(host.components.len() > MOST);
    LINE * 2.0 + PAD + (THICK + PAD / 2.0) * drawn as f64 + LINE * more as f64
}

fn draw(out: &mut String, host: &HostBox, (x, y): (f64, f64), (wide, tall): (f64, f64)) {
    outline(
        out,
        (x + 2.0, y + 2.0),
        (wide - 4.0, tall - 4.0),
        Ink::Grid,
        4,
    );
    let room = wide - PAD * 2.0;
    text(
        out,
        (x + PAD, y + LINE),
        "start",
        &shortened(&host.name, room),
    );
    let machine = shortened(&host.machine, room);
    text(out, (x + PAD, y + LINE * 2.0), "start", &machine);
    let mut below = y + LINE * 2.0 + PAD;
    for (name, is_doubted) in host.components.iter().take(MOST) {
        // The style sheet's dashes tell it without colour.
        let (ink, weight) = match is_doubted {
            true => (Ink::Outage, 2),
            false => (Ink::Series(0), 6),
        };
        outline(out, (x + PAD, below), (room, THICK), ink, weight);
        let at = (x + PAD * 2.0, below + THICK * 0.7);
        text(out, at, "start", &shortened(name, room - PAD * 2.0));
        below += THICK + PAD / 2.0;
    }
    if host.components.len() > MOST {
        let others = format!("+ {}", host.components.len() - MOST);
        text(out, (x + PAD, below + LINE * 0.8), "start", &others);
    }
}

fn outline(out: &mut String, at: (f64, f64), size: (f64, f64), ink: Ink, weight: u32) {
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<rect x=\"{:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{:.0}\" fill=\"none\" stroke=\"{}\" \
         stroke-width=\"{weight}\"/>",
        at.0,
        at.1,
        size.0,
        size.1,
        ink.hex()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_a_box_and_names_are_escaped() {
        let host = |n: usize| HostBox {
            name: format!("<b>{n}"),
            machine: "16 CPU".into(),
            components: (0..n).map(|c| (format!("tikv:{c}"), c == 0)).collect(),
        };
        let drawing = |hosts: usize| HostsDrawing {
            title: String::new(),
            says: String::new(),
            boxes: (0..hosts).map(host).collect(),
            head: Vec::new(),
            rows: Vec::new(),
        };
        let svg = drawing(6).figure().drawing.svg;
        // Six hosts with fifteen components.
        assert_eq!(svg.matches("<rect").count(), 6 + 15);
        assert!(svg.contains("&lt;b&gt;5") && !svg.contains("<b>"), "{svg}");
        assert!(drawing(15).figure().drawing.svg.contains(">+ 2</text>"));
        assert!(drawing(1).figure().drawing.svg.contains("width=\"2396\""));
    }
}
