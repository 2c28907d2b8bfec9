//! Executing the steps that wait.

use super::child::{self, Ended, Task};
use super::ending::{is_asked_to_end, times_asked};
use super::left::left;
use super::outcome::Outcome;
use super::pace::Pace;
use super::put_back::put_back;
use super::settings;
use super::targets::Reached;
use super::view::{Look, View};
use crate::exit::{ExitCode, Failure};
use crate::jobs;
use crate::runner::Order;
use crate::secrets::redact;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tidemark_core::{StudyLoad, StudyPlace};
use tidemark_store::{StepEnd, StepRow, StepState, Store};
use tidemark_study::{Existing, OnFailure, Plan, Step, StepKind, Study};

/// How often a step is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How often its progress is read.
const LOOK: Duration = Duration::from_millis(500);

/// An execution of a study.
pub struct Execution<'a> {
    /// Where results are kept.
    pub store: Store,
    /// Its id.
    pub id: String,
    /// What the file says.
    pub study: &'a Study,
    /// Its steps.
    pub plan: &'a Plan,
    /// The databases.
    pub places: &'a [Reached],
    /// The folder in which commands are executed.
    pub folder: PathBuf,
    /// Whether a view is to fill the terminal.
    pub view: bool,
}

impl Execution<'_> {
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
        let view = View::new(&self.study.name, states.len(), over(&states), self.view);
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
                    let reason = format!("its data could not be loaded (step {})", load + 1);
                    self.skip(seq, &reason)?;
                    states[seq] = StepState::Skipped;
                    let said = format!("skipped: {reason}");
                    view.ended(over(&states), step, StepState::Skipped, &said);
                    continue;
                }
                view.begins(seq + 1, step);
                if step.kind == StepKind::Load {
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
                        if step.kind == StepKind::Load {
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
        self.finish(&states)
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
        say!(
            "\n{} of {} steps done, {}{failed} failed, {skipped} skipped, {left} left",
            count(StepState::Done),
            states.len(),
            invalid_among(invalid)
        );
        if left > 0 {
            say!("go on with: tidemark study resume {id}");
            return Ok(match is_asked_to_end() {
                true => ExitCode::Interrupted,
                false => ExitCode::Failed,
            });
        }
        self.store.end_study(id)?;
        say!("what came of it: tidemark report {id}, tidemark study status {id}");
        if invalid > 0 {
            say!("make again what must not be used: tidemark study resume {id} --retry-invalid");
        }
        if failed + skipped > 0 {
            say!("take what failed again: tidemark study resume {id} --retry-failed");
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
        view: &View,
        pace: &Pace,
    ) -> Result<Outcome, Failure> {
        let step = &self.plan.steps[seq];
        let words = self.words(step);
        self.store
            .step_begins(&self.id, number(seq), &redact(&words))?;
        let since_ms = self.begun_ms(seq)?;
        let place = self
            .places
            .get(step.place)
            .ok_or_else(|| Failure::new(ExitCode::Failed, "the step's target is not there"))?;
        if !step.global.is_empty() {
            match settings::apply(&mut self.store, &self.id, place, &step.global) {
                Ok(told) => told.iter().for_each(|line| view.say(line)),
                Err(failure) => {
                    let reason = failure.message;
                    return self.end(seq, StepState::Failed, Some(reason), None, "");
                }
            }
        }
        let task = match step.kind {
            StepKind::Run => match self.order(&words, seq, step) {
                Ok(order) => Task::Run(Box::new(order)),
                Err(failure) => {
                    let reason = failure.message;
                    return self.end(seq, StepState::Failed, Some(reason), None, "");
                }
            },
            StepKind::Load => Task::Load(words, self.load_json(seq, step)?),
        };
        let mut child = child::start(task, &self.folder, self.store.path(), place)?;
        let ended = self.wait(&mut child, step, since_ms, states, view, pace)?;
        self.judge(seq, step, since_ms, &ended)
    }

    /// The command of a step: its target as it is reached.
    fn words(&self, step: &Step) -> Vec<String> {
        let named = self
            .plan
            .places
            .get(step.place)
            .map(|p| format!("--target={}", p.url));
        let url = self
            .places
            .get(step.place)
            .map(|p| format!("--target={}", p.url));
        step.words
            .iter()
            .map(|word| match (&named, &url) {
                (Some(named), Some(url)) if word == named => url.clone(),
                _ => word.clone(),
            })
            .collect()
    }

    fn begun_ms(&self, seq: usize) -> Result<i64, Failure> {
        let rows = self.store.step(&self.id, number(seq))?;
        Ok(rows.and_then(|r| r.begun_ms).unwrap_or(0))
    }

    /// A run's job, with where it stands in the study.
    fn order(&self, words: &[String], seq: usize, step: &Step) -> Result<Order, Failure> {
        let mut order = jobs::of_words(words)?;
        order.job.study = Some(StudyPlace {
            study: self.id.clone(),
            name: self.study.name.clone(),
            cell: step.cell.clone(),
            factors: step.factors.clone(),
            repeat: step.repeat,
        });
        order.job.sum_tables = self.is_replaced(seq, step);
        Ok(order)
    }

    /// Which tables a load may replace: those that this execution has loaded, as it left them.
    fn load_json(&self, seq: usize, step: &Step) -> Result<String, Failure> {
        written(serde_json::to_string(&StudyLoad {
            study: self.id.clone(),
            left: left(&self.store, &self.id, self.plan, &step.tables)?,
            sums: self.is_replaced(seq, step),
        }))
    }

    /// Whether another load takes the place of a step's tables, and has to prove that they are the
    /// study's: loads that failed are taken again, so their order says nothing.
    fn is_replaced(&self, seq: usize, step: &Step) -> bool {
        let own = step.load.unwrap_or(seq);
        let replaces = |(at, other): (usize, &Step)| {
            at != own && other.kind == StepKind::Load && other.tables == step.tables
        };
        self.study.existing != Existing::Replace && self.plan.steps.iter().enumerate().any(replaces)
    }

    /// Waits for a step's end, and shows how it goes. The first Ctrl-C lets it end by itself, the
    /// second one ends it.
    fn wait(
        &self,
        child: &mut child::Step,
        step: &Step,
        since_ms: i64,
        states: &[StepState],
        view: &View,
        pace: &Pace,
    ) -> Result<Ended, Failure> {
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
                if run.is_none() && step.kind == StepKind::Run {
                    let (id, cell) = (&self.id, &step.cell);
                    let found = self.store.run_at(id, cell, step.repeat, since_ms);
                    run = found.ok().flatten().map(|(id, _)| id);
                }
                view.goes_on(&Look {
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
pub fn invalid_among(count: usize) -> String {
    match count {
        0 => String::new(),
        n => format!("{n} invalid, "),
    }
}

fn written(json: serde_json::Result<String>) -> Result<String, Failure> {
    json.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
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
fn in_tables(rows: &[StepRow], plan: &Plan) -> BTreeMap<String, usize> {
    let mut last: BTreeMap<&str, (i64, Option<usize>)> = BTreeMap::new();
    for (seq, (row, step)) in rows.iter().zip(&plan.steps).enumerate() {
        if step.kind != StepKind::Load {
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
