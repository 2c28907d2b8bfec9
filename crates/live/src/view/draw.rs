//! The picture on a terminal of any size.

use super::chart::{clock, latencies, rates};
use super::picture::Picture;
use super::table;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, LineGauge, Paragraph, Wrap};
use tidemark_core::record::Phase;
use tidemark_report::number::{bytes, three, whole};

/// Below this nothing can be read.
const LEAST: (u16, u16) = (50, 14);
/// Charts below each other need this much room; else they stand side by side.
const TALL: u16 = 40;
/// Rows of the charts that the table leaves at least.
const LEAST_CHART: u16 = 7;

/// Draws all that the frame has room for.
pub fn draw(frame: &mut Frame<'_>, picture: &Picture) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let (width, height) = LEAST;
        let text = format!(
            "too small: the view needs {width} × {height}; q leaves it, and the run goes on"
        );
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        return;
    }
    let status = status(picture);
    let status_rows = status.len() as u16 + 2;
    // Head, time and foot are a row each.
    let left = area.height - 3;
    let table_rows = u16::try_from(table::rows(picture) + 3).unwrap_or(u16::MAX);
    let has_status = left >= LEAST_CHART + status_rows;
    let left = left - if has_status { status_rows } else { 0 };
    let table_rows = table_rows.min(left.saturating_sub(LEAST_CHART));
    // A frame without a row in it is none.
    let table_rows = if table_rows < 4 { 0 } else { table_rows };
    let [head, time, charts, by_type, now, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(LEAST_CHART),
        Constraint::Length(table_rows),
        Constraint::Length(if has_status { status_rows } else { 0 }),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(title(picture), head);
    gauge(frame, time, picture);
    let halves = [Constraint::Fill(1), Constraint::Fill(1)];
    let [first, second] = match area.height >= TALL {
        true => Layout::vertical(halves),
        false => Layout::horizontal(halves),
    }
    .areas(charts);
    rates(frame, first, picture);
    latencies(frame, second, picture);
    if table_rows > 0 {
        table::types(frame, by_type, picture);
    }
    if has_status {
        let block = Block::bordered().title(" Now ");
        frame.render_widget(Paragraph::new(status).block(block), now);
    }
    let keys = "q leaves the view, the run goes on · Ctrl-C ends the run";
    frame.render_widget(Line::from(keys).dark_gray(), foot);
}

fn title(picture: &Picture) -> Line<'static> {
    let info = &picture.info;
    let (phase, color) = match (picture.is_ending, picture.phase) {
        (true, _) => ("ending", Color::Yellow),
        (false, Phase::Warmup) => ("warm-up", Color::Yellow),
        (false, Phase::Measure) => ("measuring", Color::Green),
    };
    let what = format!(" on {} {}  ", info.engine, info.version);
    Line::from(vec![
        Span::from(info.workload.clone()).bold(),
        Span::from(what),
        Span::from(phase).fg(color),
    ])
}

/// How far the run is; one without a known end only tells its time.
fn gauge(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let elapsed = picture.elapsed.as_secs_f64();
    let Some(length) = picture.info.length else {
        let text = format!("{} since the load began", clock(elapsed));
        frame.render_widget(Line::from(text), area);
        return;
    };
    let total = (picture.info.warmup + length).as_secs_f64();
    let left = (total - elapsed).max(0.0);
    let label = format!(
        "{} of {}, {} left",
        clock(elapsed),
        clock(total),
        clock(left.ceil())
    );
    let gauge = LineGauge::default()
        .ratio((elapsed / total.max(1e-9)).clamp(0.0, 1.0))
        .filled_style(Style::new().cyan())
        .unfilled_style(Style::new().dark_gray())
        .label(label);
    frame.render_widget(gauge, area);
}

/// Sessions, errors, hosts: a line each.
fn status(picture: &Picture) -> Vec<Line<'static>> {
    let last = &picture.last;
    let mut sessions = format!(
        "Sessions {} · in progress {}",
        whole(last.sessions),
        whole(last.concurrency)
    );
    if picture.info.terminals != picture.info.sessions {
        let terminals = whole(picture.info.terminals as u64);
        sessions = format!("Terminals {terminals} · {sessions}");
    }
    if picture.info.open_loop {
        sessions += &format!(
            " · waiting arrivals {} · dropped {}",
            whole(last.queue_length),
            whole(picture.measured.dropped_arrivals)
        );
    }
    let errors: u64 = picture.errors.iter().map(|e| e.count).sum();
    let mut troubles = format!(
        "Errors {} · passed over or tried again {} · reconnects {}",
        whole(errors),
        whole(picture.ignored_errors),
        whole(picture.reconnects)
    );
    if picture.outage_s > 0.0 {
        troubles += &format!(" · a host unreachable for {} s", three(picture.outage_s));
    }
    let any = errors + picture.reconnects > 0 || picture.outage_s > 0.0;
    let troubles = Line::from(troubles);
    let mut lines = vec![
        Line::from(sessions),
        if any {
            troubles.fg(Color::Red)
        } else {
            troubles
        },
    ];
    if let Some(most) = picture.errors.iter().max_by_key(|e| e.count) {
        let count = whole(most.count);
        lines.push(Line::from(format!(
            "  {count} × {}: {}",
            most.code, most.first_message
        )));
    }
    let host = &picture.host;
    lines.push(Line::from(format!(
        "Client {} of {} processors · host {} % busy · load {:.2} · {} in use",
        three(host.process_cpus),
        picture.cores,
        (host.cpu_busy * 100.0).round(),
        host.load_average,
        bytes(host.memory_used_bytes)
    )));
    lines
}
