//! A study while it is executed: how far it is, and the run in progress.

use super::chart::clock;
use super::draw::{LEAST_BODY, body, foot_line, host_line, is_too_small, share};
use super::{Asking, Picture, QueriesPicture, Scene};
use crate::texts::view as texts;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};
use std::collections::VecDeque;
use std::time::Duration;
use tidemark_core::record::Interval;
use tidemark_observe::ClientLoad;
use tidemark_report::Lang;

/// Below this nothing can be read.
const LEAST: (u16, u16) = (50, 10);
/// Lines that are kept of steps that ended; no terminal shows more.
const MOST_LINES: usize = 200;
/// Rows that the run in progress is worth before anything else has more than a line or two.
const RUNS_SHARE: u16 = 19;

/// What is known of a study when its execution begins or goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StudyInfo {
    /// Its name.
    pub name: String,
    /// Its steps.
    pub steps: usize,
    /// Steps that are over already.
    pub over: usize,
    /// Language of the view.
    pub lang: Lang,
}

/// The run in progress.
#[derive(Debug)]
pub enum NowRunning {
    /// Of transactions.
    Run(Box<Picture>),
    /// Of queries.
    Queries(Box<QueriesPicture>),
}

/// What a view of a study shows.
#[derive(Debug)]
pub struct StudyPicture {
    info: StudyInfo,
    /// The step in progress: its number from 1, what it is called, how long it will take.
    step: Option<(usize, String, Duration)>,
    /// How long it goes on.
    since: Duration,
    /// Time left for all.
    left: Option<Duration>,
    run: Option<NowRunning>,
    /// What a step without a run printed last.
    printed: Vec<String>,
    /// What became of the steps before, and whether that is bad; numbered by `ended`.
    lines: VecDeque<(u64, String, bool)>,
    troubles: VecDeque<(u64, String)>,
    /// So many steps ended while somebody looked.
    ended: u64,
    bad: u64,
    is_ending: bool,
    host: ClientLoad,
}

impl Scene for StudyPicture {
    fn set_time(&mut self, _elapsed: Duration, is_ending: bool) {
        self.is_ending = is_ending;
        match &mut self.run {
            Some(NowRunning::Run(run)) => run.set_time(self.since, is_ending),
            Some(NowRunning::Queries(run)) => run.set_time(self.since, is_ending),
            None => {}
        }
    }

    fn set_host(&mut self, host: ClientLoad) {
        self.host = host;
        match &mut self.run {
            Some(NowRunning::Run(run)) => run.set_host(host),
            Some(NowRunning::Queries(run)) => run.set_host(host),
            None => {}
        }
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let lang = self.info.lang;
        if is_too_small(frame, LEAST, lang, texts::study(lang)) {
            return;
        }
        let height = frame.area().height;
        let spare = height.saturating_sub(RUNS_SHARE);
        let (lines, troubles) = self.shown(spare / 3 + 1, spare.div_ceil(6));
        let rows = |lines: &[Line<'_>]| u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let [head, whole, step, ended, bad, below, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(rows(&lines)),
            Constraint::Length(rows(&troubles)),
            Constraint::Fill(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(self.title(), head);
        self.gauge(frame, whole);
        self.step(frame, step);
        frame.render_widget(Paragraph::new(troubles), bad);
        frame.render_widget(Paragraph::new(lines), ended);
        self.below(frame, below);
        foot_line(frame, foot, lang, texts::study(lang));
    }
}

impl StudyPicture {
    /// Of a study whose steps begin now.
    pub fn new(info: StudyInfo) -> Self {
        Self {
            info,
            step: None,
            since: Duration::ZERO,
            left: None,
            run: None,
            printed: Vec::new(),
            lines: VecDeque::new(),
            troubles: VecDeque::new(),
            ended: 0,
            bad: 0,
            is_ending: false,
            host: ClientLoad::default(),
        }
    }

    /// A step begins: its number from 1, what it is called, how long it will take.
    pub fn step_begins(&mut self, number: usize, called: String, expected: Duration) {
        self.step = Some((number, called, expected));
        self.since = Duration::ZERO;
        self.run = None;
        self.printed.clear();
    }

    /// The step in progress has gone on so long; time left for all.
    pub fn goes_on(&mut self, since: Duration, left: Duration) {
        self.since = since;
        self.left = Some(left);
    }

    /// What the step printed last, for as long as it has no run.
    pub fn printed(&mut self, lines: Vec<String>) {
        self.printed = lines;
    }

    /// The step's run is in the store.
    pub fn run_begins(&mut self, run: NowRunning) {
        self.run = Some(run);
        self.set_host(self.host);
    }

    /// What the run has written.
    pub fn intervals(&mut self, intervals: &[Interval]) {
        for interval in intervals {
            match &mut self.run {
                Some(NowRunning::Run(run)) => run.interval(interval),
                Some(NowRunning::Queries(run)) => add_query(run, interval),
                None => {}
            }
        }
    }

    /// A step has ended, so that so many are over: what is told of it, and whether it is bad.
    pub fn step_ended(&mut self, over: usize, line: String, is_bad: bool) {
        self.info.over = over;
        (self.step, self.run) = (None, None);
        self.ended += 1;
        self.bad += u64::from(is_bad);
        if is_bad {
            push(&mut self.troubles, (self.ended, line.clone()));
        }
        push(&mut self.lines, (self.ended, line, is_bad));
    }

    /// The newest lines, oldest first, and of what went wrong before these the newest.
    fn shown(&self, lines: u16, troubles: u16) -> (Vec<Line<'static>>, Vec<Line<'static>>) {
        let first = self.lines.len().saturating_sub(lines.into());
        let last = || self.lines.iter().skip(first);
        let earliest = last().next().map_or(u64::MAX, |(number, ..)| *number);
        let lines = last().map(|(_, line, is_bad)| match is_bad {
            true => Line::from(line.clone()).fg(Color::Red),
            false => Line::from(line.clone()),
        });
        let before = self.troubles.iter().filter(|(n, _)| *n < earliest);
        let first = before.clone().count().saturating_sub(troubles.into());
        let troubles = before.skip(first);
        let troubles = troubles
            .map(|(_, line)| Line::from(texts::before(self.info.lang, line)).fg(Color::Red));
        (lines.collect(), troubles.collect())
    }

    fn title(&self) -> Line<'static> {
        let lang = self.info.lang;
        let mut spans = vec![
            Span::from(texts::study_title(lang)),
            Span::from(self.info.name.clone()).bold(),
        ];
        if let Some((number, ..)) = self.step {
            spans.push(Span::from(texts::step_of(lang, number, self.info.steps)));
        }
        if self.bad > 0 {
            let text = texts::bad(lang, self.bad);
            spans.push(Span::from(text).red());
        }
        if self.is_ending {
            spans.push(Span::from(texts::study_ending(lang)).fg(Color::Yellow));
        }
        Line::from(spans)
    }

    fn gauge(&self, frame: &mut Frame<'_>, area: Rect) {
        let StudyInfo {
            steps, over, lang, ..
        } = self.info;
        let left = self.left.map(|left| clock(left.as_secs_f64().ceil()));
        let left = left.map_or(String::new(), |left| texts::left(lang, left));
        let label = texts::steps_done(lang, over, steps, left);
        share(frame, area, over as f64 / (steps as f64).max(1.0), label);
    }

    fn step(&self, frame: &mut Frame<'_>, area: Rect) {
        let Some((_, called, expected)) = &self.step else {
            return;
        };
        let expected = clock(expected.as_secs_f64().ceil());
        let time = texts::about(self.info.lang, clock(self.since.as_secs_f64()), expected);
        let line = Line::from(vec![Span::from(time).cyan(), Span::from(called.clone())]);
        frame.render_widget(line, area);
    }

    /// The run in progress, or what the step prints.
    fn below(&self, frame: &mut Frame<'_>, area: Rect) {
        match &self.run {
            Some(NowRunning::Run(run)) if area.height >= LEAST_BODY => {
                body(frame, area, run);
            }
            Some(NowRunning::Queries(run)) if area.height >= LEAST_BODY => {
                run.body(frame, area);
            }
            Some(_) => {}
            None if area.height >= 4 => {
                let parts = [Constraint::Fill(1), Constraint::Length(1)];
                let [said, host] = Layout::vertical(parts).areas(area);
                let block = Block::bordered().title(texts::output(self.info.lang));
                let room = usize::from(said.height.saturating_sub(2));
                let first = self.printed.len().saturating_sub(room);
                let lines = self.printed.iter().skip(first);
                let lines: Vec<Line<'_>> = lines.map(|l| Line::from(l.as_str())).collect();
                frame.render_widget(Paragraph::new(lines).block(block), said);
                frame.render_widget(host_line(&self.host, self.info.lang), host);
            }
            None => {}
        }
    }
}

/// One interval of the record is one query: see how TPC-H's runs are kept.
fn add_query(run: &mut QueriesPicture, interval: &Interval) {
    run.lost(interval.ignored_errors);
    for (name, one) in &interval.types {
        let took = tidemark_stats::Histogram::decode(&one.service.0);
        if let Some(took) = took.ok().filter(|took| !took.is_empty()) {
            run.ended(name, Duration::from_nanos(took.max_ns()), Asking::Done);
        }
    }
}

fn push<T>(lines: &mut VecDeque<T>, line: T) {
    if lines.len() == MOST_LINES {
        lines.pop_front();
    }
    lines.push_back(line);
}
