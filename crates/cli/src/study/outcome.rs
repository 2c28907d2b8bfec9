//! How a step came out: by its command's end, its run in the store, and what must not be used.

use super::advice;
use super::execute::{StudyExecution, number};
use super::interrupt::is_asked_to_end;
use super::invalid_runs::why_unusable;
use super::step_process::ProcessEnd;
use crate::exit::Failure;
use crate::messages;
use crate::texts::{runs, study as texts};
use tidemark_report::{Lang, significant};
use tidemark_store::{ListedState, RunListing, StepEnd, StepState};
use tidemark_study::{JobKind, PlannedStep};

/// What is noted at a run that was cut off.
pub const HALF_MADE: &str = "ended early; its study repeats the run";
/// What is noted at a run that ended, must not be used, and is made again.
pub const MADE_AGAIN: &str = "is invalid; its study repeats the run";

/// How a step came out.
pub struct StepVerdict {
    /// How it stands.
    pub state: StepState,
    /// What is told of it.
    pub said: String,
}

impl StudyExecution<'_> {
    /// What came of a step whose command has ended.
    pub(super) fn judge(
        &mut self,
        seq: usize,
        step: &PlannedStep,
        since_ms: i64,
        ended: &ProcessEnd,
    ) -> Result<StepVerdict, Failure> {
        let run = match step.kind {
            JobKind::Load => None,
            JobKind::Run => self
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
            return Ok(StepVerdict {
                state: StepState::Waiting,
                said: texts::interrupted(self.lang).into(),
            });
        }
        let failure = match (ended.failure(), step.kind, &run) {
            (Some(failure), JobKind::Load, _) => Some(advice::of_load(&failure)),
            (Some(failure), ..) => Some(failure),
            (None, JobKind::Run, Some((_, ListedState::Finished))) => None,
            (None, JobKind::Run, _) => Some(match ended.complaint() {
                Some(said) => format!("its run is not in the store: {said}"),
                None => "its run is not in the store".into(),
            }),
            (None, JobKind::Load, _) => None,
        };
        let (state, reason) = match (failure, id) {
            (Some(failure), _) => (StepState::Failed, Some(failure)),
            (None, Some(id)) => judged(why_unusable(&self.store, id, Lang::En)),
            (None, None) => (StepState::Done, None),
        };
        self.end(seq, state, reason, id, &ended.output)
    }

    pub(super) fn end(
        &mut self,
        seq: usize,
        state: StepState,
        reason: Option<String>,
        run_id: Option<&str>,
        output: &str,
    ) -> Result<StepVerdict, Failure> {
        let end = StepEnd {
            state,
            reason: reason.as_deref(),
            run_id,
            output,
        };
        self.store.step_ends(&self.id, number(seq), end)?;
        let said = match (&reason, run_id) {
            (Some(reason), Some(id)) if state == StepState::Invalid => {
                // The store keeps it in English.
                let own = why_unusable(&self.store, id, self.lang);
                let own = own.as_ref().unwrap_or(reason);
                texts::invalid_because(self.lang, self.result(id)?, own)
            }
            (Some(reason), _) => {
                texts::failed_because(self.lang, messages::reason(reason, self.lang))
            }
            (None, Some(id)) => self.result(id)?,
            (None, None) => texts::step_done(self.lang).into(),
        };
        Ok(StepVerdict { state, said })
    }

    /// A run's result in a few words.
    fn result(&self, id: &str) -> Result<String, Failure> {
        let found = self.store.runs_of(&self.id)?;
        let Some(found) = found.iter().find(|r| r.run.id == id) else {
            return Ok(texts::step_done(self.lang).into());
        };
        Ok(figures(&found.run, self.lang))
    }
}

/// A run's throughput and latency, to three digits.
pub fn figures(run: &RunListing, lang: Lang) -> String {
    let p95 = run
        .p95_ms
        .map_or(String::new(), |ms| format!(", p95 {} ms", significant(ms)));
    let unit = runs::rate(lang);
    format!("{} {unit}{p95}", significant(run.transactions_per_s()))
}

/// How a step stands whose run has ended, by why that must not be used, if it must not.
pub fn judged(unusable: Option<String>) -> (StepState, Option<String>) {
    match unusable {
        None => (StepState::Done, None),
        why => (StepState::Invalid, why),
    }
}
