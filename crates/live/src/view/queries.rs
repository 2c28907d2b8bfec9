//! Streams of queries: what each query took, and what each stream does now.

use super::Scene;
use super::chart::{clock, latency};
use super::draw::{
    LEAST, bands, client_line, foot_line, host_line, in_red, is_too_small, most_frequent, share,
};
use crate::RunInfo;
use crate::texts::view as texts;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Paragraph, Row, Table};
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::record::ErrorCount;
use tidemark_observe::ClientLoad;
use tidemark_report::Lang;
use tidemark_report::number::whole;
use tidemark_stats::Histogram;

/// `Q22`, and so many runs; a time is `12.3 ms`.
const NAME: u16 = 3;
const RUNS: u16 = 4;
const TIME: u16 = 7;
/// A column of queries with the room before the next one.
const COLUMN: u16 = NAME + RUNS + 2 * TIME + 3;
const BETWEEN: u16 = 2;
/// The table of streams with its frame.
const STREAMS: u16 = 24;

/// What came of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// It was answered.
    Done,
    /// It took longer than it may.
    TimedOut,
    /// It failed.
    Failed,
}

/// What a view of streams of queries shows.
#[derive(Debug)]
pub struct QueriesPicture {
    info: RunInfo,
    /// Queries in all, where that is known.
    total: Option<u64>,
    /// In the order in which they were first heard of.
    queries: Vec<(String, Query)>,
    /// What each stream asks now, and since when.
    streams: BTreeMap<u64, Stream>,
    ended: u64,
    timed_out: u64,
    failed: u64,
    errors: Vec<ErrorCount>,
    elapsed: Duration,
    is_ending: bool,
    host: ClientLoad,
    cores: usize,
    is_elsewhere: bool,
}

#[derive(Debug, Default)]
struct Query {
    /// Times of those that were answered.
    times: Histogram,
    last: Option<(Asking, Duration)>,
    /// So many that were not answered.
    lost: u64,
}

#[derive(Debug)]
struct Stream {
    called: String,
    now: Option<(String, Duration)>,
}

impl Scene for QueriesPicture {
    fn set_time(&mut self, elapsed: Duration, is_ending: bool) {
        (self.elapsed, self.is_ending) = (elapsed, is_ending);
    }

    fn set_host(&mut self, host: ClientLoad) {
        self.host = host;
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let lang = self.info.lang;
        if is_too_small(frame, LEAST, lang, texts::run(lang)) {
            return;
        }
        let [head, time, below, foot] = bands(frame.area());
        frame.render_widget(self.title(), head);
        self.gauge(frame, time);
        self.figures(frame, below);
        foot_line(frame, foot, lang, texts::run(lang));
    }
}

impl QueriesPicture {
    /// Of streams that begin now, which ask so many queries in all where that is known.
    pub fn new(info: RunInfo, total: Option<u64>) -> Self {
        let queries = info.types.iter();
        Self {
            queries: queries
                .map(|name| (name.clone(), Query::default()))
                .collect(),
            total,
            streams: BTreeMap::new(),
            ended: 0,
            timed_out: 0,
            failed: 0,
            errors: Vec::new(),
            elapsed: Duration::ZERO,
            is_ending: false,
            host: ClientLoad::default(),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            is_elsewhere: false,
            info,
        }
    }

    /// Of streams of another process, of which only the queries that ended are known.
    pub fn of_other_process(info: RunInfo) -> Self {
        Self {
            is_elsewhere: true,
            ..Self::new(info, None)
        }
    }

    /// Processors that the process may use.
    pub fn set_cores(&mut self, cores: usize) {
        self.cores = cores;
    }

    /// A stream, called so, asks a query, this long after the view was opened.
    pub fn begins(&mut self, stream: u64, called: &str, query: &str, at: Duration) {
        let stream = self.streams.entry(stream).or_insert_with(|| Stream {
            called: called.into(),
            now: None,
        });
        stream.now = Some((query.into(), at));
    }

    /// What a stream asked has ended.
    pub fn ends(&mut self, stream: u64, query: &str, took: Duration, how: Asking) {
        if let Some(stream) = self.streams.get_mut(&stream) {
            stream.now = None;
        }
        self.ended(query, took, how);
    }

    /// A query has ended.
    pub fn ended(&mut self, query: &str, took: Duration, how: Asking) {
        self.ended += 1;
        let at = self.queries.iter().position(|(name, _)| name == query);
        let at = at.unwrap_or_else(|| {
            self.queries.push((query.into(), Query::default()));
            self.queries.len() - 1
        });
        let (_, known) = &mut self.queries[at];
        known.last = Some((how, took));
        match how {
            Asking::Done => known.times.record(took),
            Asking::TimedOut | Asking::Failed => known.lost += 1,
        }
        self.timed_out += u64::from(how == Asking::TimedOut);
        self.failed += u64::from(how == Asking::Failed);
    }

    /// So many queries of another process ended without an answer.
    pub fn lost(&mut self, count: u64) {
        self.ended += count;
        self.failed += count;
    }

    /// Adds errors.
    pub fn errors(&mut self, errors: &[ErrorCount]) {
        super::picture::add_errors(&mut self.errors, errors);
    }

    /// As a part of another picture: without its time, which that tells.
    pub(super) fn body(&self, frame: &mut Frame<'_>, area: Rect) {
        let rows = [Constraint::Length(1), Constraint::Fill(1)];
        let [head, below] = Layout::vertical(rows).areas(area);
        frame.render_widget(self.title(), head);
        self.figures(frame, below);
    }

    fn title(&self) -> Line<'static> {
        let info = &self.info;
        let (phase, color) = match self.is_ending {
            true => (texts::ending(info.lang), Color::Yellow),
            false => (texts::asking(info.lang), Color::Green),
        };
        Line::from(vec![
            Span::from(info.workload.clone()).bold(),
            Span::from(texts::on_server(info.lang, &info.engine, &info.version)),
            Span::from(phase).fg(color),
        ])
    }

    fn gauge(&self, frame: &mut Frame<'_>, area: Rect) {
        let time = clock(self.elapsed.as_secs_f64());
        let ended = whole(self.ended);
        match self.total {
            Some(total) => {
                let label = texts::queries_of(self.info.lang, ended, whole(total), time);
                share(
                    frame,
                    area,
                    self.ended as f64 / (total as f64).max(1.0),
                    label,
                );
            }
            None => {
                let text = texts::queries_since(self.info.lang, ended, time);
                frame.render_widget(Line::from(text), area);
            }
        }
    }

    /// Queries and streams beside each other, and how things are below them.
    fn figures(&self, frame: &mut Frame<'_>, area: Rect) {
        let status = self.status();
        let rows = status.len() as u16 + 2;
        let rows = if area.height >= rows + 4 { rows } else { 0 };
        let parts = [Constraint::Fill(1), Constraint::Length(rows)];
        let [main, now] = Layout::vertical(parts).areas(area);
        let streams = if self.streams.is_empty() { 0 } else { STREAMS };
        let parts = [Constraint::Fill(1), Constraint::Length(streams)];
        let [left, right] = Layout::horizontal(parts).areas(main);
        self.queries(frame, left);
        if streams > 0 {
            self.streams(frame, right);
        }
        if rows > 0 {
            let block = Block::bordered().title(texts::now(self.info.lang));
            frame.render_widget(Paragraph::new(status).block(block), now);
        }
    }

    /// In as many columns as the rows need and there is room for.
    fn queries(&self, frame: &mut Frame<'_>, area: Rect) {
        let block = Block::bordered().title(texts::queries(self.info.lang));
        let inner = block.inner(area);
        frame.render_widget(block, area);
        let rows = usize::from(inner.height.saturating_sub(1)).max(1);
        let most = usize::from((inner.width + BETWEEN) / (COLUMN + BETWEEN)).max(1);
        let columns = self.queries.len().div_ceil(rows).clamp(1, most);
        let widths = vec![Constraint::Length(COLUMN); columns];
        let places = Layout::horizontal(widths).spacing(BETWEEN).split(inner);
        let in_column = self.queries.len().div_ceil(columns).min(rows).max(1);
        for (of_column, place) in self.queries.chunks(in_column).zip(places.iter()) {
            let lang = self.info.lang;
            let head = [
                "",
                texts::query_runs(lang),
                texts::query_last(lang),
                texts::query_median(lang),
            ];
            let head = head.map(|t| Text::from(t).right_aligned());
            let widths = [NAME, RUNS, TIME, TIME].map(Constraint::Length);
            let lines = of_column.iter().map(|(name, query)| query.row(name, lang));
            let table =
                Table::new(lines, widths).header(Row::new(head).style(Style::new().dark_gray()));
            frame.render_widget(table, *place);
        }
        let shown = in_column * columns;
        if let Some(left_out) = self.queries.len().checked_sub(shown).filter(|n| *n > 0) {
            let text = texts::more(self.info.lang, left_out);
            let at = Rect {
                y: area.bottom().saturating_sub(1),
                x: area.x + 1,
                width: area.width.saturating_sub(2),
                height: 1,
            };
            frame.render_widget(Line::from(text), at);
        }
    }

    fn streams(&self, frame: &mut Frame<'_>, area: Rect) {
        let room = usize::from(area.height.saturating_sub(3));
        let mut block = Block::bordered().title(texts::streams(self.info.lang));
        if self.streams.len() > room {
            let left_out = self.streams.len() - room;
            block = block.title_bottom(texts::more(self.info.lang, left_out));
        }
        let lines = self.streams.values().take(room).map(|stream| {
            let (now, since) = match &stream.now {
                None => ("–".into(), String::new()),
                Some((query, at)) => {
                    let since = self.elapsed.saturating_sub(*at).as_secs_f64();
                    (query.clone(), clock(since))
                }
            };
            let right = [now, since].map(|t| Text::from(t).right_aligned());
            Row::new([Text::from(stream.called.clone())].into_iter().chain(right))
        });
        let head = [
            Text::from(""),
            Text::from(texts::stream_now(self.info.lang)).right_aligned(),
            Text::from(texts::stream_for(self.info.lang)).right_aligned(),
        ];
        let widths = [
            Constraint::Fill(1),
            Constraint::Length(4),
            Constraint::Length(7),
        ];
        let table = Table::new(lines, widths)
            .header(Row::new(head).style(Style::new().dark_gray()))
            .block(block);
        frame.render_widget(table, area);
    }

    fn status(&self) -> Vec<Line<'static>> {
        let lang = self.info.lang;
        let (failed, timed_out) = (whole(self.failed), whole(self.timed_out));
        let counts = match self.is_elsewhere {
            true => texts::no_result(lang, failed),
            false => texts::failed(lang, failed, timed_out),
        };
        let mut lines = vec![in_red(counts, self.failed + self.timed_out > 0)];
        lines.extend(most_frequent(&self.errors));
        lines.push(match self.is_elsewhere {
            true => host_line(&self.host, lang),
            false => client_line(&self.host, self.cores, lang),
        });
        lines
    }
}

impl Query {
    fn row(&self, name: &str, lang: Lang) -> Row<'static> {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (last, is_lost) = match self.last {
            None => ("–".into(), false),
            Some((Asking::Done, took)) => (latency(ns(took)), false),
            Some((Asking::TimedOut, _)) => (texts::query_timeout(lang).into(), true),
            Some((Asking::Failed, _)) => (texts::query_failed(lang).into(), true),
        };
        let median = match self.times.is_empty() {
            true => "–".into(),
            false => latency(self.times.percentile_ns(50.0)),
        };
        let runs = whole(self.times.count() + self.lost);
        let figures = [runs, last, median].map(|t| Text::from(t).right_aligned());
        let name = Text::from(name.to_string());
        let row = Row::new([name].into_iter().chain(figures));
        if is_lost { row.fg(Color::Red) } else { row }
    }
}
