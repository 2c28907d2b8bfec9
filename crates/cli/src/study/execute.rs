//! Executing the steps that wait.

use super::diagnosing::AskedExperiments;
use super::interrupt::{is_asked_to_end, times_asked};
use super::machine::test_machine;
use super::outcome::StepVerdict;
use super::put_back::put_back;
use super::settings;
use super::step_process::{self, ProcessEnd, StepProcess};
use super::tables_left::tables_left;
use super::targets::Reached;
use super::time_left::Pace;
use super::view::{StepProgress, StudyView};
use super::vocabulary;
use crate::exit::{ExitCode, Failure};
use crate::runner::JobOrder;
use crate::texts::study as texts;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tidemark_core::job::TargetAddress;
use tidemark_core::record::MachineFigures;
use tidemark_core::{LeftBehind, StudyPlace};
use tidemark_report::Lang;
use tidemark_store::{StepEnd, StepRow, StepState, Store};
use tidemark_study::{Existing, JobKind, OnFailure, PlannedStep, Study, StudyPlan};

/// How often a step is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How often its progress is read.
const LOOK: Duration = Duration::from_millis(500);

/// An execution of a study.
pub struct StudyExecution<'a> {
    /// Where results are kept.
    pub store: Store,
    /// Its id.
    pub id: String,
    /// What the file says.
    pub study: &'a Study,
    /// Its steps.
    pub plan: &'a StudyPlan,
    /// The databases.
    pub places: &'a [Reached],
    /// The folder in which commands are executed.
    pub folder: PathBuf,
    /// What tests of this machine showed, where the study asks for them.
    pub machine: Option<MachineFigures>,
    /// Whether a view is to fill the terminal.
    pub view: bool,
    /// The experiments at each throughput curve; without it none are made.
    pub diagnose: Option<AskedExperiments>,
    /// Language of what is printed.
    pub lang: Lang,
}

impl StudyExecution<'_> {
    /// Executes every step that waits; puts every setting back, whatever happens.
    ///
    /// # Errors
    /// [`Failure`] when the store or a server's settings can't be written; steps that fail are
    /// recorded, and told by the exit code.
    pub fn execute(&mut self) -> Result<ExitCode, Failure> {
        put_back(&mut self.store, &self.id, self.places)?;
        let rows = self.store.steps(&self.id)?;
        let mut states: Vec<StepState> = rows.iter().map(|r| r.state).collect();
        let mut pace = Pace::of(&rows, self.plan);
        let mut in_tables = in_tables(&rows, self.plan);
        for step in &self.plan.steps {
            if self.places.get(step.place).is_some_and(Reached::is_new) {
                in_tables.remove(&step.tables);
            }
        }
        if self.study.host_tests && states.contains(&StepState::Waiting) {
            self.machine = test_machine(&self.folder, self.lang);
        }
        let view = StudyView::new(
            &self.study.name,
            states.len(),
            over(&states),
            self.view,
            self.lang,
        );
        let mut stopped = false;
        for seq in 0..self.plan.steps.len() {
            stopped |= is_asked_to_end();
            if states[seq] != StepState::Waiting || stopped {
                continue;
            }
            let step = &self.plan.steps[seq];
            // What a run needs may have been replaced by a step that was taken again.
            let needed = step.load.filter(|l| in_tables.get(&step.tables) != Some(l));
            let again = needed.filter(|l| states[*l] != StepState::Failed);
            let mut todo: Vec<usize> = again.into_iter().collect();
            todo.push(seq);
            for seq in todo {
                let step = &self.plan.steps[seq];
                if let Some(load) = step.load
                    && in_tables.get(&step.tables) != Some(&load)
                {
                    let reason = |lang| texts::not_loaded(lang, load + 1);
                    self.skip(seq, &reason(Lang::En))?;
                    states[seq] = StepState::Skipped;
                    let said = texts::skipped_because(self.lang, reason(self.lang));
                    view.ended(over(&states), step, StepState::Skipped, &said);
                    continue;
                }
                view.begins(seq + 1, step);
                if step.kind == JobKind::Load {
                    in_tables.remove(&step.tables);
                }
                let begun = Instant::now();
                let outcome = self.take(seq, &states, &view, &pace);
                // Also after an error of the store.
                put_back(&mut self.store, &self.id, self.places)?;
                let outcome = outcome?;
                states[seq] = outcome.state;
                match outcome.state {
                    StepState::Waiting => {
                        stopped = true;
                        view.say(&outcome.said);
                        break;
                    }
                    StepState::Done | StepState::Invalid => {
                        pace.took(step, begun.elapsed());
                        if step.kind == JobKind::Load {
                            in_tables.insert(step.tables.clone(), seq);
                        }
                    }
                    _ => {}
                }
                view.ended(over(&states), step, outcome.state, &outcome.said);
                if outcome.state == StepState::Failed && self.study.on_failure == OnFailure::Stop {
                    stopped = true;
                    break;
                }
            }
        }
        view.close();
        let diagnosed = match self.diagnose.filter(|_| !stopped) {
            Some(asked) => self.diagnose(asked, &in_tables)?,
            None => ExitCode::Success,
        };
        let code = self.finish(&states)?;
        Ok(match code {
            ExitCode::Success => diagnosed,
            other => other,
        })
    }

    /// What is told at the end.
    ///
    /// # Errors
    /// [`Failure`] when the store can't be written.
    pub fn finish(&mut self, states: &[StepState]) -> Result<ExitCode, Failure> {
        let count = |state: StepState| states.iter().filter(|s| **s == state).count();
        let (failed, skipped) = (count(StepState::Failed), count(StepState::Skipped));
        let invalid = count(StepState::Invalid);
        let left = states.iter().filter(|s| !s.is_over()).count();
        let id = &self.id;
        let lang = self.lang;
        let said = texts::finished(
            lang,
            count(StepState::Done),
            states.len(),
            invalid_among(invalid, lang),
            failed,
            skipped,
            left,
        );
        say!("\n{said}");
        if left > 0 {
            say!("{}", texts::resume_with(lang, id));
            return Ok(match is_asked_to_end() {
                true => ExitCode::Interrupted,
                false => ExitCode::Failed,
            });
        }
        self.store.end_study(id)?;
        say!("{}", texts::results(lang, id));
        if invalid > 0 {
            say!("{}", texts::repeat_invalid(lang, id));
        }
        if failed + skipped > 0 {
            say!("{}", texts::retry_failed(lang, id));
            return Ok(ExitCode::Failed);
        }
        if invalid > 0 {
            return Ok(ExitCode::Check);
        }
        Ok(ExitCode::Success)
    }

    fn skip(&mut self, seq: usize, reason: &str) -> Result<(), Failure> {
        let end = StepEnd {
            state: StepState::Skipped,
            reason: Some(reason),
            run_id: None,
            output: "",
        };
        Ok(self.store.step_ends(&self.id, number(seq), end)?)
    }

    /// Takes one step, with its settings.
    fn take(
        &mut self,
        seq: usize,
        states: &[StepState],
        view: &StudyView,
        pace: &Pace,
    ) -> Result<StepVerdict, Failure> {
        let step = &self.plan.steps[seq];
        let place = self
            .places
            .get(step.place)
            .ok_or_else(|| Failure::new(ExitCode::Failed, "the step's target does not exist"))?;
        let words = step.command.words(&place.url);
        self.store.step_begins(&self.id, number(seq), &words)?;
        let since_ms = self.begun_ms(seq)?;
        if !step.global.is_empty() {
            match settings::apply(&mut self.store, &self.id, place, &step.global) {
                Ok(told) => told.iter().for_each(|line| view.say(line)),
                Err(failure) => {
                    let reason = failure.message;
                    return self.end(seq, StepState::Failed, Some(reason), None, "");
                }
            }
        }
        let left = match step.kind {
            JobKind::Load => Some(tables_left(&self.store, &self.id, self.plan, &step.tables)?),
            JobKind::Run => None,
        };
        let order = match self.order(seq, step, place, left) {
            Ok(order) => order,
            Err(failure) => {
                let reason = failure.message;
                return self.end(seq, StepState::Failed, Some(reason), None, "");
            }
        };
        let mut child = step_process::start(&order, &self.folder, self.store.path())?;
        let ended = self.wait(&mut child, step, since_ms, states, view, pace)?;
        self.judge(seq, step, since_ms, &ended)
    }

    fn begun_ms(&self, seq: usize) -> Result<i64, Failure> {
        let rows = self.store.step(&self.id, number(seq))?;
        Ok(rows.and_then(|r| r.begun_ms).unwrap_or(0))
    }

    /// A step's job, with where it stands in the study; of a load with which tables it may replace:
    /// those that this execution has loaded, as it `left` them.
    pub(super) fn order(
        &self,
        seq: usize,
        step: &PlannedStep,
        place: &Reached,
        left: Option<LeftBehind>,
    ) -> Result<JobOrder, Failure> {
        let mut order = vocabulary::order(&step.command, &place.url)?;
        order.target.password = place.target.password.clone();
        order.job.target = TargetAddress::from(&order.target);
        order.job.study = Some(StudyPlace {
            study: self.id.clone(),
            name: self.study.name.clone(),
            cell: step.cell.clone(),
            factors: step.factors.clone(),
            repeat: step.repeat,
        });
        order.job.machine.clone_from(&self.machine);
        order.job.sum_tables = self.is_replaced(seq, step);
        if let Some(prepare) = &mut order.job.prepare {
            prepare.left = left;
        }
        Ok(order)
    }

    /// Whether another load takes the place of a step's tables, and has to prove that they are the
    /// study's: loads that failed are taken again, so their order says nothing.
    fn is_replaced(&self, seq: usize, step: &PlannedStep) -> bool {
        let own = step.load.unwrap_or(seq);
        let replaces = |(at, other): (usize, &PlannedStep)| {
            at != own && other.kind == JobKind::Load && other.tables == step.tables
        };
        self.study.existing != Existing::Replace && self.plan.steps.iter().enumerate().any(replaces)
    }

    /// Waits for a step's end, and shows how it goes. The first Ctrl-C lets it end by itself, the
    /// second one ends it.
    fn wait(
        &self,
        child: &mut StepProcess,
        step: &PlannedStep,
        since_ms: i64,
        states: &[StepState],
        view: &StudyView,
        pace: &Pace,
    ) -> Result<ProcessEnd, Failure> {
        let begun = Instant::now();
        let (mut asked, mut looked) = (0, Instant::now());
        let mut run = None;
        loop {
            if let Some(ended) = child.ended()? {
                return Ok(ended);
            }
            let now = times_asked();
            if now > asked {
                child.signal(if now == 1 {
                    Signal::SIGINT
                } else {
                    Signal::SIGKILL
                });
                asked = now;
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                // What is only shown ends no study.
                if run.is_none() && step.kind == JobKind::Run {
                    let (id, cell) = (&self.id, &step.cell);
                    let found = self.store.run_at(id, cell, step.repeat, since_ms);
                    run = found.ok().flatten().map(|(id, _)| id);
                }
                view.goes_on(&StepProgress {
                    store: &self.store,
                    run: run.as_deref(),
                    since: begun.elapsed(),
                    left: pace.left(self.plan, states, step, begun.elapsed()),
                    child,
                });
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Among other counts: nothing where there are none, which is usual.
pub fn invalid_among(count: usize, lang: Lang) -> String {
    match count {
        0 => String::new(),
        n => texts::invalid_among(lang, n),
    }
}

/// Steps are numbered in 32 bits in the store.
pub fn number(seq: usize) -> u32 {
    u32::try_from(seq).unwrap_or(u32::MAX)
}

fn over(states: &[StepState]) -> usize {
    states.iter().filter(|s| s.is_over()).count()
}

/// Which load's rows are in which tables: the last one that ended, unless another was begun after it
/// and did not end.
fn in_tables(rows: &[StepRow], plan: &StudyPlan) -> BTreeMap<String, usize> {
    let mut last: BTreeMap<&str, (i64, Option<usize>)> = BTreeMap::new();
    for (seq, (row, step)) in rows.iter().zip(&plan.steps).enumerate() {
        if step.kind != JobKind::Load {
            continue;
        }
        let Some(at) = row.ended_ms.max(row.begun_ms) else {
            continue;
        };
        let what = (row.state == StepState::Done).then_some(seq);
        let entry = last.entry(&step.tables).or_insert((at, what));
        if at >= entry.0 {
            *entry = (at, what);
        }
    }
    let known = last.into_iter();
    known
        .filter_map(|(tables, (_, seq))| Some((tables.to_string(), seq?)))
        .collect()
}
