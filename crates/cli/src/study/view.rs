//! What is seen of a study while it is executed: a line a step everywhere, on a terminal bars below
//! them, or a view that fills it (`--view`).

use super::interrupt::{asked, is_asked_to_end};
use super::run_follower::RunFollower;
use super::step_process::StepProcess;
use crate::columns::{left, widest};
use crate::progress::where_bars_are_drawn;
use crate::texts::{progress, runs, study as texts};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::Duration;
use tidemark_core::{printable, printable_lines};
use tidemark_live::{Controls, StudyInfo, StudyPicture};
use tidemark_report::{Lang, significant};
use tidemark_store::{RunProgress, StepState, Store};
use tidemark_study::{JobKind, PlannedStep, time_text};

/// What a step prints is shown by so many lines at most.
const MOST_PRINTED: usize = 100;

/// The view of a study.
pub struct StudyView {
    shown: RefCell<StudyDisplay>,
    /// Lines that wait until the terminal is free: one a step, and few others.
    held: RefCell<Vec<String>>,
    /// Steps in all.
    total: usize,
    over: Cell<usize>,
    /// The step in progress: what it is called, and how long it will take.
    step: RefCell<(String, Duration)>,
    lang: Lang,
}

/// What the terminal shows beside lines.
enum StudyDisplay {
    Nothing,
    Bars(Bars),
    Screen(tidemark_live::View<StudyPicture>, RunFollower),
}

struct Bars {
    all: MultiProgress,
    whole: ProgressBar,
    step: ProgressBar,
    lang: Lang,
}

/// A look at the step in progress.
pub struct StepProgress<'a> {
    /// Where its run is written.
    pub store: &'a Store,
    /// The run's id, when it has begun.
    pub run: Option<&'a str>,
    /// How long the step goes on.
    pub since: Duration,
    /// Time left for all.
    pub left: Duration,
    /// Its command.
    pub child: &'a StepProcess,
}

impl StudyView {
    /// Of so many steps, of which some are over; one that fills the terminal if that is wanted and
    /// can be had.
    pub fn new(name: &str, total: usize, over: usize, wants_view: bool, lang: Lang) -> Self {
        let view = Self {
            shown: RefCell::new(StudyDisplay::Nothing),
            held: RefCell::default(),
            total,
            over: Cell::new(over),
            step: RefCell::default(),
            lang,
        };
        let info = StudyInfo {
            name: name.into(),
            steps: total,
            over,
            lang,
        };
        let controls = || Controls {
            interrupt: Box::new(asked),
            is_ending: Box::new(is_asked_to_end),
        };
        let screen = wants_view.then(|| {
            let picture = StudyPicture::new(info);
            tidemark_live::View::open(picture, controls())
        });
        let shown = match screen.flatten() {
            Some(screen) => StudyDisplay::Screen(screen, RunFollower::default()),
            None => view.bars(),
        };
        view.shown.replace(shown);
        view
    }

    /// Bars, where there is a terminal for them.
    fn bars(&self) -> StudyDisplay {
        if !std::io::stderr().is_terminal() {
            return StudyDisplay::Nothing;
        }
        let all = MultiProgress::with_draw_target(where_bars_are_drawn());
        let whole = all.add(ProgressBar::new(self.total as u64));
        let step = all.add(ProgressBar::new(1));
        // Ours and constant; the default style is no loss. Lines fit into 80 columns, and what
        // a step is called, which may be long, ends where its line does.
        let lang = self.lang;
        let heads = [texts::bar_study(lang), texts::bar_step(lang)];
        let width = widest(heads);
        let [study, step_head] = heads.map(|head| left(head, width));
        let steps = texts::bar_steps(lang);
        let line = format!("{study}  [{{bar:30}}] {{pos}}/{{len}} {steps}  {{prefix}}");
        if let Ok(style) = ProgressStyle::with_template(&line) {
            whole.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        }
        let indent = " ".repeat(width);
        let step_lines = format!("{step_head}  {{wide_msg}}\n{indent}  [{{bar:20}}] {{prefix}}");
        if let Ok(style) = ProgressStyle::with_template(&step_lines) {
            step.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        }
        whole.set_position(self.over.get() as u64);
        let bars = Bars {
            all,
            whole,
            step,
            lang,
        };
        bars.begins(&self.step.borrow());
        StudyDisplay::Bars(bars)
    }

    /// Where the user has left the view, its lines and the bars take its place.
    fn look_whether_left(&self) {
        let is_left =
            matches!(&*self.shown.borrow(), StudyDisplay::Screen(screen, _) if !screen.is_open());
        if is_left {
            self.leave();
            self.shown.replace(self.bars());
        }
    }

    /// Gives the terminal back, and prints the lines that waited for it.
    fn leave(&self) {
        self.shown.replace(StudyDisplay::Nothing);
        for line in self.held.take() {
            say!("{line}");
        }
    }

    /// Prints a line.
    pub fn say(&self, line: &str) {
        self.look_whether_left();
        // What servers said is in it.
        let line = printable_lines(line);
        match &*self.shown.borrow() {
            StudyDisplay::Bars(bars) => bars.all.suspend(|| say!("{line}")),
            StudyDisplay::Screen(..) if std::io::stdout().is_terminal() => {
                self.held.borrow_mut().push(line.into());
            }
            StudyDisplay::Screen(..) | StudyDisplay::Nothing => say!("{line}"),
        }
    }

    /// A step begins, by its number from 1.
    pub fn begins(&self, number: usize, step: &PlannedStep) {
        self.look_whether_left();
        self.step.replace((name_of(step, self.lang), step.expected));
        match &mut *self.shown.borrow_mut() {
            StudyDisplay::Nothing => {}
            StudyDisplay::Bars(bars) => bars.begins(&self.step.borrow()),
            StudyDisplay::Screen(screen, following) => {
                *following = RunFollower::default();
                let (name, expected) = self.step.borrow().clone();
                screen.change(move |p| p.step_begins(number, name, expected));
            }
        }
    }

    /// A step goes on.
    pub fn goes_on(&self, look: &StepProgress<'_>) {
        self.look_whether_left();
        match &mut *self.shown.borrow_mut() {
            StudyDisplay::Nothing => {}
            StudyDisplay::Bars(bars) => {
                let seen = look.run.and_then(|id| look.store.progress(id).ok()?);
                bars.goes_on(look.since, seen, look.left);
            }
            StudyDisplay::Screen(screen, following) => {
                let (since, left) = (look.since, look.left);
                screen.change(move |p| p.goes_on(since, left));
                match look.run {
                    Some(run) => following.look(look.store, run, screen, self.lang),
                    None => {
                        let lines = look.child.last_lines(MOST_PRINTED);
                        screen.change(move |p| p.printed(lines));
                    }
                }
            }
        }
    }

    /// A step has ended, the `over`-th of all.
    pub fn ended(&self, over: usize, step: &PlannedStep, state: StepState, said: &str) {
        let width = self.total.to_string().len();
        let name = name_of(step, self.lang);
        let line = format!("[{over:width$}/{}] {name}: {said}", self.total);
        self.say(&line);
        self.over.set(over);
        match &*self.shown.borrow() {
            StudyDisplay::Nothing => {}
            StudyDisplay::Bars(bars) => bars.whole.set_position(over as u64),
            StudyDisplay::Screen(screen, _) => {
                let is_bad = state != StepState::Done;
                screen.change(move |p| p.step_ended(over, line, is_bad));
            }
        }
    }

    /// Takes away what is below the lines.
    pub fn close(&self) {
        if let StudyDisplay::Bars(bars) = &*self.shown.borrow() {
            bars.step.finish_and_clear();
            bars.whole.finish_and_clear();
        }
        self.leave();
    }
}

impl Drop for StudyView {
    /// Also when an error of the store ends a study in the middle.
    fn drop(&mut self) {
        self.close();
    }
}

impl Bars {
    fn begins(&self, (name, expected): &(String, Duration)) {
        self.step.set_message(printable(name).into_owned());
        self.step.set_prefix("");
        self.step.set_length(millis(*expected));
        self.step.set_position(0);
    }

    /// A step goes on since so long; what its run measured last; the time left for all.
    fn goes_on(&self, since: Duration, seen: Option<RunProgress>, left: Duration) {
        let lang = self.lang;
        self.whole
            .set_prefix(progress::left_time(lang, time_text(left)));
        self.step.set_position(millis(since));
        self.step.set_prefix(match seen {
            None => time_text(since),
            Some(seen) => {
                let phase = match seen.at_s <= 0.0 {
                    true => texts::warm_up(lang),
                    false => "",
                };
                let p95 = seen
                    .p95_ms
                    .map_or(String::new(), |ms| format!("  p95 {} ms", significant(ms)));
                format!(
                    "{}{phase}  {:.0} {}{p95}",
                    time_text(since),
                    seen.transactions_per_s,
                    runs::rate(lang)
                )
            }
        });
    }
}

/// A step as people call it.
pub fn name_of(step: &PlannedStep, lang: Lang) -> String {
    match step.kind {
        JobKind::Load => texts::load_of(lang, &step.cell),
        JobKind::Run => texts::repeat_of(lang, &step.cell, step.repeat),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}
