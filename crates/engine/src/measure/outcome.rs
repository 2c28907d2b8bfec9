//! What a run came to: its totals, and those of a part of it.

use super::{CountedSpan, Measurement};
use crate::error::EngineError;
use crate::interval::{
    all_types, encoded, fairness, host_loads, latency_parts, notes, part_stats, type_stats,
};
use crate::recorder::SessionTally;
use crate::run::RunResult;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tidemark_core::Pacing;
use tidemark_core::record::{DeadTime, Outage, RunState, Step, StepPurpose, Totals};

impl Measurement<'_> {
    /// Each session's share of the measurement, in order; none of a run that ended in its warm-up.
    pub(super) fn tallies(&self) -> Vec<SessionTally> {
        let mut all = self.crew.recorders.tallies(self.crew.sessions);
        if !self.crew.control.measuring.load(Ordering::Relaxed) {
            for of_session in &mut all {
                *of_session = SessionTally {
                    opened: of_session.opened,
                    ..SessionTally::default()
                };
            }
        }
        all
    }

    pub(super) fn totals_of(&self, span: &CountedSpan, end: Instant) -> Totals {
        let mut sessions = self.tallies();
        for (now, before) in sessions.iter_mut().zip(&span.sessions) {
            now.events -= before.events;
            now.busy = now.busy.saturating_sub(before.busy);
            now.between = now.between.saturating_sub(before.between);
        }
        let counters = &span.counters;
        let outage = self.crew.control.outages.within(span.start, end);
        // Nothing but its last reply made a session's next transaction due.
        let clients_own = counters.types.iter().all(|l| l.response.is_empty());
        Totals {
            elapsed_s: end.saturating_duration_since(span.start).as_secs_f64(),
            statements: counters.statements,
            ignored_errors: counters.ignored_errors,
            reconnects: counters.reconnects,
            types: type_stats(self.names.types, counters),
            parts: part_stats(self.names.types, counters),
            notes: notes(self.names.notes, counters),
            all: all_types(counters),
            latency_parts: latency_parts(counters),
            fairness: fairness(&sessions, clients_own),
            delayed_arrivals: counters.delayed,
            dropped_arrivals: counters.dropped,
            unserved_arrivals: counters.unserved,
            lateness: encoded(&counters.lateness),
            outage_s: outage.as_secs_f64(),
            hosts: host_loads(&self.crew.hosts, &counters.hosts, &self.connected),
        }
    }

    fn dead_times(&self) -> Vec<DeadTime> {
        let stretches = self.pulse.end().into_iter();
        stretches
            .map(|stretch| DeadTime {
                start_ms: self.clock.signed_ms(stretch.start),
                length_ms: stretch.length.as_secs_f64() * 1000.0,
                side: stretch.side,
                deadlocks: stretch.deadlocks,
            })
            .collect()
    }

    fn outages(&self, end: Instant) -> Vec<Outage> {
        let spans = self.crew.control.outages.spans();
        spans
            .into_iter()
            .map(|span| Outage {
                host: self
                    .crew
                    .hosts
                    .get(span.host)
                    .map_or_else(String::new, |(host, _)| host.clone()),
                start_ms: self.clock.signed_ms(span.start),
                length_ms: (span.end.unwrap_or(end) - span.start).as_secs_f64() * 1000.0,
                ended: span.end.is_some(),
                first_error: span.first_error,
            })
            .collect()
    }

    pub(super) fn result(&mut self) -> RunResult {
        self.crew.recorders.iter().for_each(|r| r.end_samples());
        // Whoever asked for the end knows why it was cut off.
        if self.crew.control.cut_off.load(Ordering::Relaxed) && self.asked_at.is_none() {
            self.crew.control.fail(EngineError::ForcedShutdown);
        }
        let failure = self.crew.control.failure();
        let state = match &failure {
            Some(error) => RunState::Failed(error.to_string()),
            None if self.asked_at.is_some() => RunState::Interrupted,
            None => RunState::Finished,
        };
        let now = self.clock.interval_start;
        // Cut off before its time, it is told all the same, and judged by nobody.
        if let Some(held) = self.held.take() {
            self.conductor = None;
            let mut step = self.step_of(held);
            step.cut_short = true;
            self.steps.push(step);
        }
        let searched = matches!(self.spec.pacing, Pacing::FindMax(_));
        let confirmed = |s: &&Step| s.purpose == StepPurpose::Confirm;
        let found = self.steps.iter().rev().find(confirmed);
        let totals = match found.or(self.steps.last()).filter(|_| searched) {
            Some(step) => step.totals.clone(),
            None => self.totals_of(&self.totals, now),
        };
        RunResult {
            state,
            failure,
            executors: self.crew.recorders.len(),
            sessions_opened: self.opened,
            totals,
            since_checkpoint: self.totals_of(self.checkpoint.as_ref().unwrap_or(&self.totals), now),
            outages: self.outages(now),
            dead_times: Some(self.dead_times()),
            errors: self.totals.counters.errors.clone(),
            waiting_threads: self.crew.control.waiting_threads(),
            sessions: self.tallies().iter().map(|t| (t.events, t.busy)).collect(),
            steps: std::mem::take(&mut self.steps),
        }
    }
}
