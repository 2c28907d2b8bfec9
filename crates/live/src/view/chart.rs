//! Rate and latency over time.

use super::picture::{PERCENTILES, Picture, WINDOW_S};
use crate::texts::view as texts;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType};
use tidemark_core::record::Phase;
use tidemark_report::number::three;

/// Charts are at least as wide in time, so that the first seconds don't jump.
const SHORTEST_SPAN_S: f64 = 60.0;

/// Colours of the percentiles; without colours p99 is the uppermost line and p50 the lowest.
const COLORS: [Color; 3] = [Color::Green, Color::Yellow, Color::Red];

/// A title with the percentiles has room for a name, too.
const WIDE_TITLE: u16 = 54;

type Points = Vec<(f64, f64)>;

/// `812 µs`, `3.10 ms`, `1.20 s`.
pub(super) fn latency(ns: u64) -> String {
    let ns = ns as f64;
    if ns < 1e6 {
        format!("{} µs", three(ns / 1e3))
    } else if ns < 1e9 {
        format!("{} ms", three(ns / 1e6))
    } else {
        format!("{} s", three(ns / 1e9))
    }
}

/// `4:05`, `1:02:03`.
pub(super) fn clock(seconds: f64) -> String {
    let s = seconds.max(0.0) as u64;
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// A round number that is not below this one: 1, 2, 2.5 or 5 times a power of ten.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    let step = steps.iter().find(|s| *s * power >= value * 0.999_999);
    step.unwrap_or(&10.0) * power
}

fn time_axis(picture: &Picture) -> Axis<'static> {
    let end = picture.last_s();
    let start = (end - WINDOW_S).max(0.0);
    let end = end.max(start + SHORTEST_SPAN_S);
    Axis::default()
        .bounds([start, end])
        .labels([clock(start), clock((start + end) / 2.0), clock(end)])
        .style(Style::new().dark_gray())
}

fn line<'a>(points: &'a [(f64, f64)], color: Color) -> Dataset<'a> {
    Dataset::default()
        .marker(Marker::Braille)
        .graph_type(GraphType::Line)
        .style(Style::new().fg(color))
        .data(points)
}

/// Transactions a second; those of the warm-up are grey.
pub(super) fn rates(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let of = |phase: Phase| -> Points {
        let points = picture.points.iter().filter(|p| p.phase == phase);
        points.map(|p| (p.at_s, p.rate)).collect()
    };
    let (warmup, measured) = (of(Phase::Warmup), of(Phase::Measure));
    let highest = picture.points.iter().map(|p| p.rate).fold(0.0, f64::max);
    let top = round_up(highest.max(picture.last.rate.unwrap_or(0.0)));
    let mut title = vec![Span::from(texts::rate(picture.info.lang))];
    if let Some(last) = picture.points.back() {
        title.push(Span::from(format!("{} ", three(last.rate))).bold().cyan());
    }
    if let Some(asked) = picture.last.rate {
        let said = texts::rate_asked(picture.info.lang, three(asked));
        title.push(Span::from(said));
    }
    let axis = Axis::default()
        .bounds([0.0, top])
        .labels(["0".to_string(), three(top / 2.0), three(top)])
        .style(Style::new().dark_gray());
    let datasets = vec![line(&warmup, Color::DarkGray), line(&measured, Color::Cyan)];
    let chart = Chart::new(datasets)
        .block(Block::bordered().title(Line::from(title)))
        .x_axis(time_axis(picture))
        .y_axis(axis)
        .legend_position(None);
    frame.render_widget(chart, area);
}

/// Percentiles on a logarithmic scale, so that a stall does not flatten the rest.
pub(super) fn latencies(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let lines: [Points; 3] = std::array::from_fn(|n| {
        let points = picture.points.iter();
        let points = points.filter_map(|p| Some((p.at_s, *p.latency_ns?.get(n)?)));
        points.map(|(at, ns)| (at, decades(ns))).collect()
    });
    let values = || lines.iter().flatten().map(|(_, y)| *y);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = match low <= high {
        true => (low.floor(), high.ceil().max(low.floor() + 1.0)),
        // Nothing ended yet: 1 to 10 ms.
        false => (6.0, 7.0),
    };
    let labels = (low as i32..=high as i32).map(|y| latency(10f64.powi(y) as u64));
    let axis = Axis::default()
        .bounds([low, high])
        .labels(labels.map(short).collect::<Vec<_>>())
        .style(Style::new().dark_gray());
    let what = match (area.width >= WIDE_TITLE, picture.info.open_loop) {
        (false, _) => " ",
        (true, true) => texts::response_time(picture.info.lang),
        (true, false) => texts::latency(picture.info.lang),
    };
    let mut title = vec![Span::from(what)];
    if let Some(last) = picture.points.back().and_then(|p| p.latency_ns) {
        for ((percent, ns), color) in PERCENTILES.iter().zip(last).zip(COLORS) {
            let text = format!("p{percent} {} ", latency(ns));
            title.push(Span::from(text).fg(color));
        }
    }
    let datasets = lines.iter().zip(COLORS).map(|(l, color)| line(l, color));
    let chart = Chart::new(datasets.collect())
        .block(Block::bordered().title(Line::from(title)))
        .x_axis(time_axis(picture))
        .y_axis(axis)
        .legend_position(None);
    frame.render_widget(chart, area);
}

fn decades(ns: u64) -> f64 {
    (ns.max(1) as f64).log10()
}

/// `1.00 ms` is `1 ms` on an axis.
fn short(label: String) -> String {
    label.replace(".00 ", " ").replace(".0 ", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_and_times_have_fitting_units() {
        for (ns, text) in [
            (812_400, "812 µs"),
            (3_100_000, "3.10 ms"),
            (1_200_000_000, "1.20 s"),
        ] {
            assert_eq!(latency(ns), text);
        }
        assert_eq!(short(latency(10_000_000)), "10 ms");
        for (s, text) in [(0.0, "0:00"), (245.9, "4:05"), (3723.0, "1:02:03")] {
            assert_eq!(clock(s), text);
        }
    }

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, up) in [
            (0.0, 1.0),
            (1.0, 1.0),
            (11.0, 20.0),
            (2400.0, 2500.0),
            (5001.0, 10_000.0),
        ] {
            assert!((round_up(value) - up).abs() < 1e-6, "{value}");
        }
    }
}
