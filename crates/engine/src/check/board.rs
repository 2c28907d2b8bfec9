//! What is still to be asked, and what was found; shared by the sessions of one thread.

use super::{CheckEvent, ConditionReport, ConditionVerdict, ViolatingRow};
use crate::error::EngineError;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass};
use tidemark_runtime::Remote;
use tidemark_workloads::Check;

/// One statement to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Question {
    /// Index of the condition.
    pub condition: usize,
    /// Its block.
    pub block: u64,
}

/// What one statement found.
pub(super) enum CheckAnswer {
    /// No row.
    Nothing,
    /// So many rows, and the first.
    Rows(u64, ViolatingRow),
    /// The target's error.
    Failed(DbError),
}

#[derive(Clone)]
pub(super) struct Board(Rc<RefCell<BoardState>>);

struct BoardState {
    events: Sender<CheckEvent>,
    checks: Rc<Vec<Check>>,
    found: Vec<ConditionState>,
    queue: VecDeque<Question>,
    sessions: usize,
    failure: Option<EngineError>,
    /// Why a session gave up; told of conditions that nobody could ask any more.
    lost: Option<DbError>,
}

/// What is known of one condition.
struct ConditionState {
    open: u64,
    seconds: f64,
    violations: u64,
    /// The violation of the lowest block.
    first: Option<(u64, ViolatingRow)>,
    error: Option<DbError>,
}

impl Board {
    pub fn new(events: Sender<CheckEvent>) -> Self {
        Self(Rc::new(RefCell::new(BoardState {
            events,
            checks: Rc::new(Vec::new()),
            found: Vec::new(),
            queue: VecDeque::new(),
            sessions: 0,
            failure: None,
            lost: None,
        })))
    }

    /// Puts the conditions up. The first statements of each come first, so that a condition that
    /// can't be asked or is broken everywhere shows early.
    pub fn post(&self, checks: Vec<Check>, remote: Remote) {
        let mut state = self.0.borrow_mut();
        let most = checks.iter().map(Check::blocks).max().unwrap_or(0);
        for block in 0..most {
            let asked = checks
                .iter()
                .enumerate()
                .filter(|(_, c)| block < c.blocks());
            let questions = asked.map(|(condition, _)| Question { condition, block });
            state.queue.extend(questions);
        }
        state.found = checks
            .iter()
            .map(|c| ConditionState::new(c.blocks()))
            .collect();
        state.checks = Rc::new(checks);
        let total = state.queue.len() as u64;
        // Nobody listens any more when the caller has gone.
        let _ = state.events.send(CheckEvent::Begun(remote, total));
    }

    /// The conditions.
    pub fn checks(&self) -> Rc<Vec<Check>> {
        Rc::clone(&self.0.borrow().checks)
    }

    /// Sessions that could be used: no more than there are statements.
    pub fn useful_sessions(&self, asked: usize) -> usize {
        asked.clamp(1, self.0.borrow().queue.len().max(1))
    }

    /// A session asks from now on.
    pub fn joined(&self) {
        self.0.borrow_mut().sessions += 1;
    }

    /// The next statement.
    pub fn next(&self) -> Option<Question> {
        self.0.borrow_mut().queue.pop_front()
    }

    /// Puts a statement back, for other sessions to ask.
    pub fn put_back(&self, question: Question) {
        self.0.borrow_mut().queue.push_front(question);
    }

    /// A statement was answered.
    pub fn answered(&self, question: Question, answer: CheckAnswer, took: Duration) {
        let mut guard = self.0.borrow_mut();
        let state = &mut *guard;
        let _ = state.events.send(CheckEvent::Answered);
        let Some(found) = state.found.get_mut(question.condition) else {
            return;
        };
        found.take(question.block, answer, took);
        if found.error.is_some() {
            // The other blocks would say the same.
            let before = state.queue.len();
            state.queue.retain(|q| q.condition != question.condition);
            let skipped = before - state.queue.len();
            found.open -= skipped as u64;
            (0..skipped).for_each(|_| drop(state.events.send(CheckEvent::Answered)));
        }
        if found.open == 0
            && let Some(check) = state.checks.get(question.condition)
        {
            let _ = state.events.send(CheckEvent::Settled(found.report(check)));
        }
    }

    /// Nothing can be asked.
    pub fn fail(&self, error: EngineError) {
        self.0.borrow_mut().failure.get_or_insert(error);
    }

    /// A session was lost and is not to be had again.
    pub fn lost(&self, error: DbError) {
        self.0.borrow_mut().lost.get_or_insert(error);
    }

    /// The reports, and the number of sessions that asked. What is still to be asked then is told
    /// with the reason of the sessions that were lost.
    pub fn finish(&self) -> Result<(Vec<ConditionReport>, usize), EngineError> {
        let left: Vec<_> = self.0.borrow_mut().queue.drain(..).collect();
        let lost = self.0.borrow().lost.clone();
        let lost = lost.unwrap_or_else(|| {
            DbError::new(
                ErrorClass::ConnectionLost,
                "check",
                "no session was left to check it",
            )
        });
        for question in left {
            self.answered(question, CheckAnswer::Failed(lost.clone()), Duration::ZERO);
        }
        let mut state = self.0.borrow_mut();
        if let Some(error) = state.failure.take() {
            return Err(error);
        }
        let reports = state.found.iter().zip(state.checks.iter());
        Ok((reports.map(|(f, c)| f.report(c)).collect(), state.sessions))
    }
}

impl ConditionState {
    fn new(open: u64) -> Self {
        Self {
            open,
            seconds: 0.0,
            violations: 0,
            first: None,
            error: None,
        }
    }

    fn take(&mut self, block: u64, answer: CheckAnswer, took: Duration) {
        self.open -= 1;
        self.seconds += took.as_secs_f64();
        match answer {
            CheckAnswer::Nothing => {}
            CheckAnswer::Rows(rows, first) => {
                self.violations += rows;
                if self.first.as_ref().is_none_or(|(b, _)| block < *b) {
                    self.first = Some((block, first));
                }
            }
            CheckAnswer::Failed(error) => drop(self.error.get_or_insert(error)),
        }
    }

    /// A violation that was seen is one, whatever could not be asked beside it.
    fn report(&self, check: &Check) -> ConditionReport {
        let verdict = match (&self.first, &self.error) {
            (Some((_, first)), _) => ConditionVerdict::Violated {
                violations: self.violations,
                first: first.clone(),
            },
            (None, Some(error)) => ConditionVerdict::NotAsked(error.clone()),
            (None, None) => ConditionVerdict::Holds,
        };
        ConditionReport {
            name: check.name,
            says: check.says,
            verdict,
            seconds: self.seconds,
        }
    }
}
