//! The picture on a terminal of any size.

use super::chart::{clock, latencies, latency, rates};
use super::picture::Picture;
use super::table;
use crate::clients::{ClientNow, ClientStage, shown};
use crate::texts::view as texts;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, LineGauge, Paragraph, Wrap};
use tidemark_core::record::{ErrorCount, Phase};
use tidemark_observe::ClientLoad;
use tidemark_report::Lang;
use tidemark_report::number::{bytes, three, whole};

/// Below this nothing can be read.
pub(super) const LEAST: (u16, u16) = (50, 14);
/// Charts below each other need this much room; else they stand side by side.
const TALL: u16 = 40;
/// Rows of the charts that the table leaves at least.
const LEAST_CHART: u16 = 7;
/// Of several clients so many have a line, and more on a tall terminal.
const MOST_CLIENTS: usize = 3;
const MOST_CLIENTS_TALL: usize = 8;
/// Rows of a run's picture at least: its title and the charts.
pub(super) const LEAST_BODY: u16 = 1 + LEAST_CHART;

/// Draws all that the frame has room for.
pub fn draw(frame: &mut Frame<'_>, picture: &Picture) {
    let area = frame.area();
    let lang = picture.info.lang;
    if is_too_small(frame, LEAST, lang, texts::run(lang)) {
        return;
    }
    let [head, time, below, foot] = bands(area);
    frame.render_widget(title(picture), head);
    gauge(frame, time, picture);
    figures(frame, below, picture, area.height >= TALL);
    foot_line(frame, foot, lang, texts::run(lang));
}

/// A run's title, its time, what it does, and what keys do.
pub(super) fn bands(area: Rect) -> [Rect; 4] {
    let rows = [
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ];
    Layout::vertical(rows).areas(area)
}

/// Says so where a view needs more room.
pub(super) fn is_too_small(
    frame: &mut Frame<'_>,
    least: (u16, u16),
    lang: Lang,
    what: &str,
) -> bool {
    let area = frame.area();
    let (width, height) = least;
    if area.width >= width && area.height >= height {
        return false;
    }
    let text = texts::too_small(lang, width, height, what);
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
    true
}

/// What keys do.
pub(super) fn foot_line(frame: &mut Frame<'_>, area: Rect, lang: Lang, what: &str) {
    let keys = texts::keys(lang, what);
    frame.render_widget(Line::from(keys).dark_gray(), area);
}

/// A run's picture as a part of another one: without its time, which that tells.
pub(super) fn body(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let rows = [Constraint::Length(1), Constraint::Fill(1)];
    let [head, below] = Layout::vertical(rows).areas(area);
    frame.render_widget(title(picture), head);
    figures(frame, below, picture, area.height >= TALL);
}

/// Charts, and below them what there is room for: figures by type, and how things are now.
fn figures(frame: &mut Frame<'_>, area: Rect, picture: &Picture, is_tall: bool) {
    let most = match is_tall {
        true => MOST_CLIENTS_TALL,
        false => MOST_CLIENTS,
    };
    let status = status(picture, most);
    let left = area.height;
    let table_rows = u16::try_from(table::rows(picture) + 3).unwrap_or(u16::MAX);
    let lines = status.len() as u16;
    // Beside a study there is less room: rather no frame than no table.
    let is_tight = left < LEAST_CHART.saturating_add(table_rows) + lines + 2;
    let frame_rows = if picture.is_elsewhere && is_tight {
        0
    } else {
        2
    };
    let status_rows = lines + frame_rows;
    let has_status = left >= LEAST_CHART + status_rows;
    let left = left - if has_status { status_rows } else { 0 };
    let table_rows = table_rows.min(left.saturating_sub(LEAST_CHART));
    // A frame without a row in it is none.
    let table_rows = if table_rows < 4 { 0 } else { table_rows };
    let [charts, by_type, now] = Layout::vertical([
        Constraint::Min(LEAST_CHART),
        Constraint::Length(table_rows),
        Constraint::Length(if has_status { status_rows } else { 0 }),
    ])
    .areas(area);
    let halves = [Constraint::Fill(1), Constraint::Fill(1)];
    let [first, second] = match is_tall {
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
        let block = match frame_rows {
            0 => Block::new(),
            _ => Block::bordered().title(texts::now(picture.info.lang)),
        };
        frame.render_widget(Paragraph::new(status).block(block), now);
    }
}

fn title(picture: &Picture) -> Line<'static> {
    let info = &picture.info;
    let is_unknown = picture.is_elsewhere && picture.points.is_empty();
    let (phase, color) = match (picture.is_ending, picture.phase) {
        (true, _) => (texts::ending(info.lang), Color::Yellow),
        (false, _) if is_unknown => (texts::begins(info.lang), Color::Yellow),
        (false, Phase::Warmup) => (texts::warm_up(info.lang), Color::Yellow),
        (false, Phase::Measure) => (texts::measuring(info.lang), Color::Green),
    };
    let what = texts::on_server(info.lang, &info.engine, &info.version);
    Line::from(vec![
        Span::from(info.workload.clone()).bold(),
        Span::from(what),
        Span::from(phase).fg(color),
    ])
}

/// How far the run is; one without a known end only tells its time.
fn gauge(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let elapsed = picture.elapsed.as_secs_f64();
    let lang = picture.info.lang;
    let Some(length) = picture.info.length else {
        let text = texts::since_start(lang, clock(elapsed));
        frame.render_widget(Line::from(text), area);
        return;
    };
    let total = (picture.info.warmup + length).as_secs_f64();
    let left = (total - elapsed).max(0.0);
    let label = texts::time_of(lang, clock(elapsed), clock(total), clock(left.ceil()));
    share(frame, area, elapsed / total.max(1e-9), label);
}

/// A bar with its words before it.
pub(super) fn share(frame: &mut Frame<'_>, area: Rect, of_one: f64, label: String) {
    let gauge = LineGauge::default()
        .ratio(of_one.clamp(0.0, 1.0))
        .filled_style(Style::new().cyan())
        .unfilled_style(Style::new().dark_gray())
        .label(label);
    frame.render_widget(gauge, area);
}

/// Sessions, errors, hosts, and so many clients at most: a line each.
fn status(picture: &Picture, most_clients: usize) -> Vec<Line<'static>> {
    let last = &picture.last;
    let lang = picture.info.lang;
    let mut sessions = texts::sessions(lang, whole(last.sessions), whole(last.concurrency));
    if picture.info.terminals != picture.info.sessions {
        let terminals = whole(picture.info.terminals as u64);
        sessions = texts::terminals(lang, terminals, sessions);
    }
    if picture.info.open_loop {
        let dropped = whole(picture.measured.dropped_arrivals);
        sessions += &texts::arrivals(lang, whole(last.queue_length), dropped);
    }
    let errors: u64 = picture.errors.iter().map(|e| e.count).sum();
    let (ignored, reconnects) = (picture.ignored_errors, picture.reconnects);
    let passed_over = texts::ignored(lang, whole(ignored), whole(reconnects));
    let mut troubles = match picture.is_elsewhere {
        // Its store has no others.
        true => texts::errors_alone(lang, passed_over),
        false => texts::errors(lang, whole(errors), passed_over),
    };
    if picture.outage_s > 0.0 {
        troubles += &texts::outage(lang, three(picture.outage_s));
    }
    let any = errors + picture.reconnects > 0 || picture.outage_s > 0.0;
    let mut lines = vec![Line::from(sessions), in_red(troubles, any)];
    lines.extend(most_frequent(&picture.errors));
    let host = &picture.host;
    lines.push(match picture.is_elsewhere {
        true => host_line(host, lang),
        false => client_line(host, picture.cores, lang),
    });
    lines.extend(picture.newest.lines(lang).into_iter().map(Line::from));
    let (shown, rest) = shown(&picture.clients, most_clients);
    lines.extend(shown.into_iter().map(|client| of_client(client, lang)));
    if !rest.is_empty() {
        let rate = rest.iter().map(|client| client.rate).sum();
        lines.push(Line::from(texts::more_clients(
            lang,
            whole(rest.len() as u64),
            three(rate),
        )));
    }
    lines
}

/// One of several clients.
fn of_client(client: &ClientNow, lang: Lang) -> Line<'static> {
    let stage = match client.stage {
        ClientStage::Preparing => texts::client_preparing(lang),
        ClientStage::Running => texts::client_running(lang),
        ClientStage::Ended => texts::client_ended(lang),
        ClientStage::Failed => texts::client_failed(lang),
        ClientStage::Lost => texts::client_lost(lang),
    };
    let cpu = match client.cpus.zip(client.host_busy) {
        Some((cpus, busy)) => texts::client_cpu(lang, three(cpus), (busy * 100.0).round()),
        None => String::new(),
    };
    let said = texts::one_client(
        lang,
        &client.name,
        stage,
        three(client.rate),
        client.p95_ns.map_or_else(|| "–".into(), latency),
        cpu,
        three(client.clock_error_ms),
    );
    in_red(said, client.is_gone())
}

pub(super) fn in_red(text: String, is_red: bool) -> Line<'static> {
    let line = Line::from(text);
    if is_red { line.fg(Color::Red) } else { line }
}

/// The error that came most often.
pub(super) fn most_frequent(errors: &[ErrorCount]) -> Option<Line<'static>> {
    let most = errors.iter().max_by_key(|e| e.count)?;
    let count = whole(most.count);
    Some(Line::from(format!(
        "  {count} × {}: {}",
        most.code, most.first_message
    )))
}

/// What this process and its machine have to do.
pub(super) fn client_line(host: &ClientLoad, cores: usize, lang: Lang) -> Line<'static> {
    let awake = match host.awake_cpus >= 0.005 {
        true => texts::busy_polling(lang, three(host.awake_cpus)),
        false => String::new(),
    };
    let cpus = three(host.process_cpus);
    Line::from(texts::client(lang, cpus, awake, cores, machine(host, lang)))
}

/// What the machine has to do, where the load is another process's.
pub(super) fn host_line(host: &ClientLoad, lang: Lang) -> Line<'static> {
    Line::from(texts::host(lang, machine(host, lang)))
}

fn machine(host: &ClientLoad, lang: Lang) -> String {
    texts::machine(
        lang,
        (host.cpu_busy * 100.0).round(),
        format_args!("{:.2}", host.load_average),
        bytes(host.memory_used_bytes),
    )
}
