//! Rates that all clients hold: the next one, and what came of the last.

use super::super::reported::ClientReport;
use super::{Gathering, Listener, unreadable};
use crate::exit::Failure;
use std::time::Duration;
use tidemark_clients::{ClientsRun, HeldRate, now_ns};
use tidemark_core::Pacing;
use tidemark_core::record::{RunRecord, Step};
use tidemark_engine::StepPlan;

/// The next rate begins so long after the last one was judged: all must have heard of it.
const NEXT_RATE: Duration = Duration::from_millis(400);

/// A rate that clients hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientsRate {
    pub plan: StepPlan,
    /// So many clients make the rate together.
    pub clients: usize,
}

/// The part of a rate that some of the clients make that make it together.
pub(super) fn part_of(rate: Option<f64>, some: usize, all: usize) -> Option<f64> {
    match some == all {
        true => rate,
        false => rate.map(|rate| rate * some as f64 / all.max(1) as f64),
    }
}

impl Gathering {
    /// Judges a rate that all have held, and lets them hold the next.
    pub(super) fn judge(&mut self, run: &ClientsRun, to: &mut dyn Listener) -> Result<(), Failure> {
        let Some(step) = self.judged()? else {
            return Ok(());
        };
        to.step(&step);
        self.steps.push(step);
        let next = i64::try_from(NEXT_RATE.as_nanos()).unwrap_or(0);
        self.next_step(now_ns().saturating_add(next), run);
        Ok(())
    }

    /// The rate that all have held, when they have.
    pub(super) fn judged(&mut self) -> Result<Option<Step>, Failure> {
        let Some(held) = self.held else {
            return Ok(None);
        };
        let has_held = |told: &ClientReport| !told.steps.is_empty() || told.is_over();
        if !self.told.iter().all(has_held) {
            return Ok(None);
        }
        // Each that has ended meanwhile tells it in its record, cut short.
        if self.told.iter().all(|told| told.steps.is_empty()) {
            return Ok(None);
        }
        let steps: Vec<(Step, u64)> = self
            .told
            .iter_mut()
            .filter_map(|told| Some((told.steps.pop_front()?, told.sessions() as u64)))
            .collect();
        self.held = None;
        let mut step = merged(&steps, held)?;
        let plan = StepPlan {
            rate: step.rate,
            ..held.plan
        };
        let conductor = self.conductor.as_mut();
        step.verdict = conductor.and_then(|c| c.judge(&plan, &step.totals));
        Ok(Some(step))
    }

    /// The rate that was held when the run ended, of those that told what came of it.
    pub(super) fn cut_short(&mut self) -> Result<Option<Step>, Failure> {
        let Some(held) = self.held.take() else {
            return Ok(None);
        };
        let at = self.steps.len();
        let steps: Vec<(Step, u64)> = self
            .told
            .iter_mut()
            .filter_map(|told| {
                let of_record = |record: &RunRecord| record.steps.get(at).cloned();
                let step = told.steps.pop_front();
                let step = step.or_else(|| of_record(told.record.as_deref()?))?;
                Some((step, told.sessions() as u64))
            })
            .collect();
        if steps.is_empty() {
            return Ok(None);
        }
        let mut step = merged(&steps, held)?;
        step.cut_short = true;
        Ok(Some(step))
    }

    /// Lets the clients hold the next rate from this moment on, or ends the steps.
    pub(super) fn next_step(&mut self, from_ns: i64, run: &ClientsRun) {
        let Some(conductor) = &mut self.conductor else {
            return;
        };
        match conductor.next() {
            Some(plan) => {
                let all = self.told.len();
                // A search asks how much the target can do, and asks it of those that are left. Of rates
                // that were asked for, each client makes its own share.
                let clients = match self.spec.pacing {
                    Pacing::FindMax(_) => self.told.iter().filter(|told| !told.is_over()).count(),
                    _ => all,
                };
                self.held = Some(ClientsRate { plan, clients });
                run.hold(HeldRate {
                    purpose: plan.purpose,
                    // Each takes its share of what all would make.
                    rate: part_of(plan.rate, all, clients),
                    from_ns,
                    hold_ns: u64::try_from(plan.hold.as_nanos()).unwrap_or(u64::MAX),
                });
            }
            None => run.end_steps(),
        }
    }
}

/// What came of a rate, of those that held it. What it was is known from those: others were lost meanwhile,
/// or before.
fn merged(steps: &[(Step, u64)], held: ClientsRate) -> Result<Step, Failure> {
    let parts: Vec<(&Step, u64)> = steps.iter().map(|(step, n)| (step, *n)).collect();
    let mut step = tidemark_merge::step(&parts).map_err(unreadable)?;
    // Each client has told its share.
    step.rate = part_of(held.plan.rate, parts.len(), held.clients);
    Ok(step)
}
