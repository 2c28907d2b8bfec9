//! Executing the steps that wait.

use super::advice;
use super::child::{self, Ended};
use super::put_back::put_back;
use super::settings;
use super::targets::Reached;
use super::unusable::why_unusable;
use super::view::View;
use crate::exit::{ExitCode, Failure};
use crate::secrets::redact;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tidemark_core::StudyPlace;
use tidemark_report::significant;
use tidemark_store::{ListedState, RunListing, StepEnd, StepRow, StepState, Store};
use tidemark_study::{OnFailure, Plan, Step, StepKind, Study};

/// How often a step is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How often its progress is read.
const LOOK: Duration = Duration::from_millis(500);

/// How often the user asked to end.
static ASKED: AtomicU32 = AtomicU32::new(0);

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
}

/// How a step came out.
struct Outcome {
    state: StepState,
    /// What is told of it.
    said: String,
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
        let view = View::new(states.len(), over(&states));
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
                    view.ended(over(&states), step, &format!("skipped: {reason}"));
                    continue;
                }
                view.begins(step);
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
                view.ended(over(&states), step, &outcome.said);
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
        let words = self.words(step, states);
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
        let stands = self.place_json(step)?;
        let store = self.store.path();
        let mut child = child::start(&words, &self.folder, store, place, stands.as_deref())?;
        let ended = self.wait(&mut child, step, since_ms, states, view, pace)?;
        self.judge(seq, step, since_ms, &ended)
    }

    /// The command of a step: its target as it is reached, and replacing what this study has loaded.
    fn words(&self, step: &Step, states: &[StepState]) -> Vec<String> {
        let is_there = |(other, state): (&Step, &StepState)| {
            other.kind == StepKind::Load && other.tables == step.tables && *state == StepState::Done
        };
        let loaded = self.plan.steps.iter().zip(states).any(is_there);
        let words = match step.kind {
            StepKind::Load if loaded => &step.replacing,
            _ => &step.words,
        };
        let named = self
            .plan
            .places
            .get(step.place)
            .map(|p| format!("--target={}", p.url));
        let url = self
            .places
            .get(step.place)
            .map(|p| format!("--target={}", p.url));
        words
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

    /// Where a run stands, for its record.
    fn place_json(&self, step: &Step) -> Result<Option<String>, Failure> {
        if step.kind == StepKind::Load {
            return Ok(None);
        }
        let place = StudyPlace {
            study: self.id.clone(),
            name: self.study.name.clone(),
            cell: step.cell.clone(),
            factors: step.factors.clone(),
            repeat: step.repeat,
        };
        let json = serde_json::to_string(&place);
        json.map(Some)
            .map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
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
            let now = ASKED.load(Ordering::Relaxed);
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
                let seen = run.as_ref().and_then(|id| self.store.progress(id).ok()?);
                let left = pace.left(self.plan, states, step, begun.elapsed());
                view.goes_on(begun.elapsed(), seen, left);
            }
            std::thread::sleep(POLL);
        }
    }

    /// What came of a step whose command has ended.
    fn judge(
        &mut self,
        seq: usize,
        step: &Step,
        since_ms: i64,
        ended: &Ended,
    ) -> Result<Outcome, Failure> {
        let run = match step.kind {
            StepKind::Load => None,
            StepKind::Run => self
                .store
                .run_at(&self.id, &step.cell, step.repeat, since_ms)?,
        };
        let id = run.as_ref().map(|(id, _)| id.as_str());
        if is_asked_to_end() && ended.failure().is_some() {
            if let Some(id) = id {
                self.store.note_half_made(id, HALF_MADE)?;
            }
            self.store
                .step_waits(&self.id, number(seq), "it was interrupted")?;
            return Ok(Outcome {
                state: StepState::Waiting,
                said: "interrupted".into(),
            });
        }
        let failure = match (ended.failure(), step.kind, &run) {
            (Some(failure), StepKind::Load, _) => Some(advice::of_load(&failure)),
            (Some(failure), ..) => Some(failure),
            (None, StepKind::Run, Some((_, ListedState::Finished))) => None,
            (None, StepKind::Run, _) => Some(match ended.complaint() {
                Some(said) => format!("its run is not in the store: {said}"),
                None => "its run is not in the store".into(),
            }),
            (None, StepKind::Load, _) => None,
        };
        let (state, reason) = match (failure, id) {
            (Some(failure), _) => (StepState::Failed, Some(failure)),
            (None, Some(id)) => judged(why_unusable(&self.store, id)),
            (None, None) => (StepState::Done, None),
        };
        self.end(seq, state, reason, id, &ended.output)
    }

    fn end(
        &mut self,
        seq: usize,
        state: StepState,
        reason: Option<String>,
        run_id: Option<&str>,
        output: &str,
    ) -> Result<Outcome, Failure> {
        let end = StepEnd {
            state,
            reason: reason.as_deref(),
            run_id,
            output,
        };
        self.store.step_ends(&self.id, number(seq), end)?;
        let said = match (&reason, run_id) {
            (Some(reason), Some(id)) if state == StepState::Invalid => {
                format!("{}, which must not be used: {reason}", self.result(id)?)
            }
            (Some(reason), _) => format!("FAILED: {reason}"),
            (None, Some(id)) => self.result(id)?,
            (None, None) => "done".into(),
        };
        Ok(Outcome { state, said })
    }

    /// A run's result in a few words.
    fn result(&self, id: &str) -> Result<String, Failure> {
        let found = self.store.runs_of(&self.id)?;
        let Some(found) = found.iter().find(|r| r.run.id == id) else {
            return Ok("done".into());
        };
        Ok(figures(&found.run))
    }
}

/// A run's throughput and latency, to three digits.
pub fn figures(run: &RunListing) -> String {
    let p95 = run
        .p95_ms
        .map_or(String::new(), |ms| format!(", p95 {} ms", significant(ms)));
    format!("{} tx/s{p95}", significant(run.transactions_per_s()))
}

/// How a step stands whose run has ended, by why that must not be used, if it must not.
pub fn judged(unusable: Option<String>) -> (StepState, Option<String>) {
    match unusable {
        None => (StepState::Done, None),
        why => (StepState::Invalid, why),
    }
}

/// Among other counts: nothing where there are none, which is usual.
pub fn invalid_among(count: usize) -> String {
    match count {
        0 => String::new(),
        n => format!("{n} invalid, "),
    }
}

/// What is noted at a run that was cut off.
pub const HALF_MADE: &str = "ended before its time; its study makes the run again";
/// What is noted at a run that ended, must not be used, and is made again.
pub const MADE_AGAIN: &str = "must not be used; its study makes the run again";

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

/// How long steps take in truth, of what was expected.
struct Pace {
    expected: Duration,
    took: Duration,
}

impl Pace {
    fn of(rows: &[StepRow], plan: &Plan) -> Self {
        let mut pace = Self {
            expected: Duration::ZERO,
            took: Duration::ZERO,
        };
        for (row, step) in rows.iter().zip(&plan.steps) {
            if let (StepState::Done, Some(begun), Some(ended)) =
                (row.state, row.begun_ms, row.ended_ms)
            {
                let took = u64::try_from(ended - begun).unwrap_or(0);
                pace.took(step, Duration::from_millis(took));
            }
        }
        pace
    }

    fn took(&mut self, step: &Step, took: Duration) {
        self.expected = self.expected.saturating_add(step.expected);
        self.took += took;
    }

    /// Time left for everything, while a step goes on since so long.
    fn left(&self, plan: &Plan, states: &[StepState], now: &Step, since: Duration) -> Duration {
        let waiting = plan.steps.iter().zip(states).filter(|(_, s)| !s.is_over());
        let expected: f64 = waiting.map(|(step, _)| step.expected.as_secs_f64()).sum();
        let gone = since.as_secs_f64().min(now.expected.as_secs_f64());
        let ratio = match self.expected.as_secs_f64() {
            known if known > 3.0 => (self.took.as_secs_f64() / known).clamp(0.1, 10.0),
            _ => 1.0,
        };
        Duration::try_from_secs_f64(((expected - gone) * ratio).max(0.0)).unwrap_or_default()
    }
}

/// Whether the user asked to end.
pub fn is_asked_to_end() -> bool {
    ASKED.load(Ordering::Relaxed) > 0
}

/// Begins to listen for SIGINT and SIGTERM.
pub fn listen() {
    let _unheard = ctrlc::set_handler(|| {
        let before = ASKED.fetch_add(1, Ordering::Relaxed);
        eprintln!(
            "{}",
            match before {
                0 => "ending the step in progress; once more ends it at once",
                _ => "ending at once; settings of servers are put back",
            }
        );
    });
}
