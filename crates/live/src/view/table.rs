//! Figures by transaction type.

use super::chart::latency;
use super::picture::{PERCENTILES, Picture};
use crate::texts::view as texts;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::Text;
use ratatui::widgets::{Block, Row, Table};
use tidemark_report::TypeLatency;
use tidemark_report::number::{three, whole};

/// Room for a name, frame and distances of the columns.
const NAME: u16 = 27;
/// Columns of figures: `3.10 ms`, and no wider than the eye follows.
const LEAST_FIGURE: u16 = 7;
const MOST_FIGURE: u16 = 14;
/// `12,345,678`, `p99 so far`.
const LEAST_WIDE: u16 = 10;

/// A row: of the measurement the count and the last figure, the others of the last interval.
fn row(name: &str, last: &TypeLatency, total: &TypeLatency, rate: f64) -> Row<'static> {
    let of = |l: &TypeLatency, percent: f64| match l.latency() {
        h if h.is_empty() => "–".to_string(),
        h => latency(h.percentile_ns(percent)),
    };
    let max = match last.latency() {
        h if h.is_empty() => "–".to_string(),
        h => latency(h.max_ns()),
    };
    let mut cells = vec![Text::from(name.to_string())];
    let figures = [whole(total.count), three(rate)];
    let percentiles = PERCENTILES.map(|p| of(last, p));
    let rest = [max, of(total, 99.0)];
    let figures = figures.into_iter().chain(percentiles).chain(rest);
    cells.extend(figures.map(|f| Text::from(f).right_aligned()));
    Row::new(cells)
}

/// Rows beside header and frame.
pub(super) fn rows(picture: &Picture) -> usize {
    let types = names(picture).len();
    types + usize::from(types != 1)
}

/// Types that there were any of, in the workload's order.
fn names(picture: &Picture) -> Vec<&str> {
    let seen = || {
        picture
            .measured
            .types
            .keys()
            .chain(picture.last.types.keys())
    };
    let announced = picture.info.types.iter();
    let mut names: Vec<&str> = Vec::new();
    for name in announced
        .filter(|name| seen().any(|s| s == *name))
        .chain(seen())
    {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Draws it.
pub(super) fn types(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let none = TypeLatency::default();
    let lang = picture.info.lang;
    let (last, measured) = (&picture.last, &picture.measured);
    let mut lines = Vec::new();
    let names = names(picture);
    for name in &names {
        let one = last.types.get(*name).unwrap_or(&none);
        let total = measured.types.get(*name).unwrap_or(&none);
        lines.push(row(name, one, total, last.per_second(one.count)));
    }
    if names.len() != 1 {
        let (one, total) = (last.all(), measured.all());
        lines.push(
            row(
                texts::all_types(lang),
                &one,
                &total,
                last.per_second(one.count),
            )
            .bold(),
        );
    }
    let head = [
        "",
        texts::measured(lang),
        "/s",
        "p50",
        "p95",
        "p99",
        texts::max(lang),
        texts::p99_so_far(lang),
    ];
    let head = head.map(|title| Text::from(title).right_aligned());
    let figure = (area.width.saturating_sub(NAME) / 7).clamp(LEAST_FIGURE, MOST_FIGURE);
    let [figure, wide] = [figure, figure.max(LEAST_WIDE)].map(Constraint::Length);
    let name = Constraint::Fill(1);
    let widths = [name, wide, figure, figure, figure, figure, figure, wide];
    let table = Table::new(lines, widths)
        .header(Row::new(head).style(Style::new().dark_gray()))
        .block(Block::bordered().title(texts::by_type(lang)));
    frame.render_widget(table, area);
}
