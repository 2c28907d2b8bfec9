//! How long a study still takes, by what its steps took until now.

use std::time::Duration;
use tidemark_store::{StepRow, StepState};
use tidemark_study::{PlannedStep, StudyPlan};

/// How long steps take in truth, of what was expected.
pub struct Pace {
    expected: Duration,
    took: Duration,
}

impl Pace {
    /// Of the steps that are done.
    pub fn of(rows: &[StepRow], plan: &StudyPlan) -> Self {
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

    /// A step took so long.
    pub fn took(&mut self, step: &PlannedStep, took: Duration) {
        self.expected = self.expected.saturating_add(step.expected);
        self.took += took;
    }

    /// Time left for everything, while a step goes on since so long.
    pub fn left(
        &self,
        plan: &StudyPlan,
        states: &[StepState],
        now: &PlannedStep,
        since: Duration,
    ) -> Duration {
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
