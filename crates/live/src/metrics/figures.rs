//! What has been counted of the run.

use super::observed::{NewestOf, ObservedValues};
use crate::{ClientNow, RunInfo};
use std::collections::BTreeMap;
use tidemark_core::ErrorClass;
use tidemark_core::record::{ErrorCount, Interval, Phase};
use tidemark_report::Merged;

/// What has been counted of the run that goes on, or of the last one. Sums of the warm-up and of
/// the measurement are apart: only the second are the record's.
#[derive(Debug, Default)]
pub struct RunMetrics {
    pub(super) run: Option<RunInfo>,
    pub(super) warmup: Merged,
    pub(super) measured: Merged,
    /// Errors by phase, class and code.
    pub(super) errors: BTreeMap<(&'static str, &'static str, String), u64>,
    pub(super) now: Now,
    pub(super) observed: ObservedValues,
    /// Those that make the load together, where there are several.
    pub(super) clients: Vec<ClientNow>,
}

/// The end of the last interval.
#[derive(Debug, Default)]
pub(super) struct Now {
    pub sessions: u64,
    pub concurrency: u64,
    pub queue_length: u64,
    pub rate: Option<f64>,
    pub is_measuring: bool,
}

/// A phase as labels name it.
pub(super) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Warmup => "warmup",
        Phase::Measure => "measure",
    }
}

fn class_name(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Retryable => "retryable",
        ErrorClass::ConnectionLost => "connection-lost",
        ErrorClass::Refused => "refused",
        ErrorClass::Constraint => "constraint",
        ErrorClass::Missing => "missing",
        ErrorClass::Fatal => "fatal",
    }
}

impl RunMetrics {
    /// A run's load begins: what was counted of another is forgotten. Its types are there with
    /// nothing counted, so that the first rate of each is right.
    pub fn started(&mut self, info: RunInfo) {
        *self = Self::default();
        for phase in [&mut self.warmup, &mut self.measured] {
            let types = info
                .types
                .iter()
                .map(|name| (name.clone(), Default::default()));
            phase.types = types.collect();
        }
        self.now.sessions = info.sessions as u64;
        self.now.is_measuring = info.warmup.is_zero();
        self.run = Some(info);
    }

    /// Adds errors.
    pub fn errors(&mut self, phase: Phase, errors: &[ErrorCount]) {
        for error in errors {
            let key = (
                phase_name(phase),
                class_name(error.class),
                error.code.clone(),
            );
            *self.errors.entry(key).or_default() += error.count;
        }
    }

    /// Adds an interval. One that can't be read is left out: nobody's run ends for it.
    pub fn interval(&mut self, interval: &Interval) {
        let sum = match interval.phase {
            Phase::Warmup => &mut self.warmup,
            Phase::Measure => &mut self.measured,
        };
        let _left_out = sum.add(interval);
        self.now = Now {
            sessions: interval.sessions,
            concurrency: interval.concurrency,
            queue_length: interval.queue_length,
            rate: interval.rate,
            is_measuring: interval.phase == Phase::Measure,
        };
    }

    /// Takes what a source has seen last.
    pub(super) fn observed(&mut self, newest: NewestOf) {
        self.observed.take(newest);
    }

    /// How the clients are that make the load together.
    pub fn clients(&mut self, clients: Vec<ClientNow>) {
        self.clients = clients;
    }

    /// The load is over: nothing goes on any more, and sums stay.
    pub fn ended(&mut self) {
        self.now = Now::default();
        self.observed.end();
        self.clients.clear();
    }

    /// The phases with what was counted in each; a run without warm-up has one.
    pub(super) fn phases(&self) -> impl Iterator<Item = (Phase, &Merged)> {
        let has_warmup = self.run.as_ref().is_some_and(|run| !run.warmup.is_zero());
        let warmup = has_warmup.then_some((Phase::Warmup, &self.warmup));
        warmup.into_iter().chain([(Phase::Measure, &self.measured)])
    }
}
