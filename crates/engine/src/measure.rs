//! The measurement: intervals, checkpoints, rates that follow each other, the end.

mod outcome;

use crate::clock::Clock;
use crate::control::StopHandle;
use crate::interval::{Names, host_loads, notes, part_stats, type_stats};
use crate::launch::Crew;
use crate::lead::{Lead, LeadEvent};
use crate::pulse::Pulse;
use crate::recorder::{Counters, SessionTally};
use crate::run::{RunObserver, RunResult};
use crate::steps::{Conductor, StepPlan};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use tidemark_core::record::{Interval, Phase, Step, StepVerdict};
use tidemark_core::{Pacing, RunSpec};

/// A controller that waits looks this often whether the user stopped the run.
const STOP_CHECK: Duration = Duration::from_millis(100);
/// One that is led looks this often for what it was told.
const LEAD_CHECK: Duration = Duration::from_millis(20);
/// A run that has not ended so long after its time waits for something, and says so.
const NOTICED: Duration = Duration::from_secs(2);
/// What is in progress is cut off so long after the user asked for the end: a server that hangs
/// must not keep what was measured.
const PATIENCE: Duration = Duration::from_secs(3);
/// A shorter last interval without statements and transactions is not told.
const SHORTEST_INTERVAL_MS: f64 = 50.0;
/// How long the next rate waits for what the last one began.
const LONGEST_DRAIN: Duration = Duration::from_secs(5);

/// What was counted since a moment.
#[derive(Clone)]
struct CountedSpan {
    counters: Counters,
    start: Instant,
    /// What each session had done then; empty for nothing.
    sessions: Vec<SessionTally>,
}

/// A rate that is being held.
struct HeldStep {
    plan: StepPlan,
    end: Instant,
    span: CountedSpan,
}

/// The controller's side of a run.
pub(crate) struct Measurement<'a> {
    spec: &'a RunSpec,
    names: Names,
    crew: Crew,
    opened: usize,
    clock: Clock,
    spare: Counters,
    /// Cleared, to be exchanged for an executor's.
    part: Counters,
    totals: CountedSpan,
    /// Since the last checkpoint; nothing where none was asked for.
    checkpoint: Option<CountedSpan>,
    /// Who leads it from outside, and how many intervals that one was told of.
    lead: Option<&'a Lead>,
    intervals_told: u64,
    /// Chooses the rates here, where nobody does outside.
    conductor: Option<Conductor>,
    held: Option<HeldStep>,
    steps: Vec<Step>,
    /// Sessions connected at the end of the last interval, by host.
    connected: Vec<u64>,
    /// When the user asked for the end.
    asked_at: Option<Instant>,
    /// Since when the run ends, and whether it was told that something keeps it from that.
    stopped_at: Option<Instant>,
    told_of_waiting: bool,
    pulse: Pulse,
}

impl<'a> Measurement<'a> {
    /// A run that begins at a moment.
    pub fn new(
        spec: &'a RunSpec,
        names: Names,
        crew: Crew,
        opened: usize,
        begun: Instant,
        lead: Option<&'a Lead>,
    ) -> Self {
        let clock = Clock::new(begun + spec.warmup, begun);
        let hosts = crew.hosts.len();
        let since = |start| CountedSpan {
            counters: Counters::new(names.types.len(), hosts),
            start,
            sessions: Vec::new(),
        };
        Self {
            spec,
            names,
            opened,
            spare: Counters::new(names.types.len(), hosts),
            part: Counters::new(names.types.len(), hosts),
            totals: since(clock.measure_start),
            checkpoint: None,
            clock,
            conductor: Conductor::new(&spec.pacing).filter(|_| lead.is_none()),
            lead,
            intervals_told: 0,
            held: None,
            steps: Vec::new(),
            connected: vec![0; hosts.max(1)],
            asked_at: None,
            stopped_at: None,
            told_of_waiting: false,
            pulse: Pulse::new(Arc::clone(&crew.recorders)),
            crew,
        }
    }

    pub fn run(
        &mut self,
        checkpoints: &[Duration],
        stop: &StopHandle,
        observer: &mut dyn RunObserver,
    ) -> RunResult {
        let begun = self.clock.interval_start;
        let mut in_warmup = !self.spec.warmup.is_zero();
        self.begin_load(begun, in_warmup);
        if let Some(lead) = self.lead {
            let late = begun.elapsed();
            lead.tell(LeadEvent::Began { late });
        }
        let planned = self.clock.measure_start;
        if !checkpoints.is_empty() {
            self.checkpoint = Some(self.totals.clone());
        }
        let mut checkpoints = checkpoints.iter().map(|c| planned + *c).peekable();
        let mut running = self.crew.threads;
        while running > 0 {
            let mut due = self.clock.next_due(self.spec.interval);
            if in_warmup {
                due = due.min(self.clock.measure_start);
            }
            if let Some(checkpoint) = checkpoints.peek() {
                due = due.min(*checkpoint);
            }
            if let Some(held) = &self.held {
                due = due.min(held.end);
            }
            if let Some(next) = self.next_led_step(in_warmup) {
                due = due.min(next);
            }
            running -= self.wait(due, running, stop);
            let mut now = Instant::now();
            if now < due && running > 0 {
                continue;
            }
            let step_is_over = self.held.as_ref().is_some_and(|h| now >= h.end);
            if step_is_over {
                self.end_arrivals(now, stop);
                now = Instant::now();
            }
            self.tell_of_waiting(now, running, observer);
            self.end_interval(now, in_warmup, observer);
            if in_warmup && now >= self.clock.measure_start {
                in_warmup = false;
                self.begin_measurement(now);
            }
            while checkpoints.next_if(|c| *c <= now).is_some() {
                self.end_checkpoint(now, observer);
            }
            if step_is_over {
                self.end_step(now, observer);
            } else if self.next_led_step(in_warmup).is_some_and(|at| at <= now) {
                self.begin_step(now);
            }
        }
        if let Some(lead) = self.lead {
            lead.tell(LeadEvent::Ended);
        }
        self.result()
    }

    /// Gives the schedule its first rate and lets the sessions begin.
    fn begin_load(&mut self, now: Instant, in_warmup: bool) {
        let control = &self.crew.control;
        control.measuring.store(!in_warmup, Ordering::Relaxed);
        if let Some(arrivals) = &control.arrivals {
            match &self.spec.pacing {
                Pacing::Rate(rate) => arrivals.set_rate(*rate, now),
                Pacing::Steps(steps) if in_warmup => {
                    if let Some(first) = steps.first() {
                        arrivals.set_rate(first.per_second, now);
                    }
                }
                _ => {
                    arrivals.clear(now, true);
                }
            }
        }
        if !in_warmup {
            self.begin_step(now);
        }
        self.crew.control.start();
    }

    fn begin_measurement(&mut self, now: Instant) {
        self.clock.measure_start = now;
        self.totals.start = now;
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.start = now;
        }
        self.crew.control.measuring.store(true, Ordering::Relaxed);
        self.pulse.restart();
        self.begin_step(now);
    }

    /// Whether somebody outside chooses the rates that follow each other.
    fn is_led(&self) -> bool {
        self.lead.is_some() && matches!(self.spec.pacing, Pacing::Steps(_) | Pacing::FindMax(_))
    }

    /// When the next step of a led run begins, while none is held.
    fn next_led_step(&self, in_warmup: bool) -> Option<Instant> {
        let waits = self.is_led() && !in_warmup && self.held.is_none();
        self.lead.filter(|_| waits)?.next_step_at()
    }

    /// The next rate to hold, and until when; `None` where there is none now. After the last the run ends.
    fn next_plan(&mut self, now: Instant) -> Option<(StepPlan, Instant)> {
        let control = &self.crew.control;
        if let Some(conductor) = &mut self.conductor {
            let plan = conductor.next();
            if plan.is_none() {
                control.stop();
            }
            return plan.map(|plan| (plan, now + plan.hold));
        }
        let lead = self.lead?;
        if let Some(step) = lead.take_step(now) {
            let (purpose, rate, hold) = (step.purpose, step.rate, step.hold);
            let plan = StepPlan {
                purpose,
                rate,
                hold,
            };
            // All clients end it together, also one that was late.
            return Some((plan, step.from.max(self.clock.measure_start) + hold));
        }
        match lead.has_no_more_steps() {
            true => control.stop(),
            // Nothing arrives until it is told what does.
            false => {
                let forgotten = control.arrivals.as_ref().map(|a| a.clear(now, false));
                self.spare.unserved += forgotten.unwrap_or(0);
                control.signal();
            }
        }
        None
    }

    /// Holds the next rate, where rates follow each other; without one the run ends.
    fn begin_step(&mut self, now: Instant) {
        if self.conductor.is_none() && !self.is_led() {
            return;
        }
        self.held = None;
        let Some((plan, end)) = self.next_plan(now) else {
            return;
        };
        let control = &self.crew.control;
        if let Some(arrivals) = &control.arrivals {
            match plan.rate {
                Some(rate) => arrivals.set_rate(rate, now),
                // What an earlier rate left has been counted at its end.
                None => {
                    arrivals.clear(now, true);
                }
            }
            control.signal();
        }
        self.held = Some(HeldStep {
            plan,
            end,
            span: CountedSpan {
                counters: Counters::new(self.names.types.len(), self.crew.hosts.len()),
                start: now,
                sessions: self.tallies(),
            },
        });
    }

    fn end_step(&mut self, now: Instant, observer: &mut dyn RunObserver) {
        let Some(held) = self.held.take() else { return };
        let step = self.step_of(held);
        observer.step(&step);
        if let Some(lead) = self.lead {
            lead.tell(LeadEvent::Step(step.clone()));
        }
        self.steps.push(step);
        if self.crew.control.is_stopping() {
            return;
        }
        self.begin_step(now);
    }

    /// What came of a rate: of the time that it was held, and of what that had begun.
    fn step_of(&mut self, held: HeldStep) -> Step {
        let end = held.end.min(self.clock.interval_start);
        let totals = self.totals_of(&held.span, end);
        let verdict: Option<StepVerdict> = self
            .conductor
            .as_mut()
            .and_then(|c| c.judge(&held.plan, &totals));
        Step {
            purpose: held.plan.purpose,
            rate: held.plan.rate,
            start_ms: self.clock.signed_ms(held.span.start),
            totals,
            verdict,
            cut_short: false,
        }
    }

    /// Ends a rate: what is due and not begun counts as unserved, what is in progress may end, so
    /// that neither is the next rate's.
    fn end_arrivals(&mut self, now: Instant, stop: &StopHandle) {
        let control = &self.crew.control;
        let Some(arrivals) = &control.arrivals else {
            return;
        };
        self.spare.unserved += arrivals.clear(now, false);
        control.signal();
        let deadline = now + LONGEST_DRAIN;
        // A session that has taken its arrival and not begun yet is not in progress either.
        while control.holding.load(Ordering::Acquire) < self.opened
            && Instant::now() < deadline
            && !(control.is_stopping() || stop.is_stopped())
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Once, when transactions in progress keep a run that is over from its end.
    fn tell_of_waiting(&mut self, now: Instant, running: usize, observer: &mut dyn RunObserver) {
        let waits = self.stopped_at.is_some_and(|at| now >= at + NOTICED);
        if waits && running > 0 && self.asked_at.is_none() && !self.told_of_waiting {
            self.told_of_waiting = true;
            observer.waiting();
        }
    }

    /// Waits until `due`, stopping the run at its end or when the user asks; gives how many
    /// executors have ended meanwhile.
    fn wait(&mut self, due: Instant, running: usize, stop: &StopHandle) -> usize {
        // Rates that follow each other end the run themselves.
        let is_stepped = self.conductor.is_some() || self.is_led();
        let limit = self.spec.time.filter(|_| !is_stepped);
        let limit = limit.map(|t| self.clock.measure_start + t);
        let mut ended = 0;
        loop {
            let now = Instant::now();
            let end = match self.lead.and_then(Lead::stop) {
                Some(told) => Some(limit.map_or(told, |limit| limit.min(told))),
                None => limit,
            };
            self.follow(now);
            let control = &self.crew.control;
            if end.is_some_and(|e| now >= e) && !control.is_stopping() {
                control.stop();
            }
            if stop.is_stopped() && self.asked_at.is_none() {
                self.asked_at = Some(now);
                control.stop();
            }
            if control.is_stopping() && self.stopped_at.is_none() {
                self.stopped_at = Some(now);
                self.pulse.closing();
                // What comes due from now on is not this run's.
                if let Some(arrivals) = &control.arrivals {
                    self.spare.unserved += arrivals.clear(now, false);
                }
            }
            let is_over = |since: Option<Instant>, grace| since.is_some_and(|at| now >= at + grace);
            let grace = self.spec.forced_shutdown;
            if grace.is_some_and(|grace| is_over(self.stopped_at, grace))
                || is_over(self.asked_at, PATIENCE)
            {
                control.abort();
            }
            if now >= due || ended == running || self.is_called(due, now) {
                return ended;
            }
            let check = self.lead.map_or(STOP_CHECK, |_| LEAD_CHECK);
            let mut wait = (due - now).min(check);
            if let Some(end) = end.filter(|e| *e > now) {
                wait = wait.min(end - now);
            }
            match self.crew.ended.recv_timeout(wait) {
                // A failure is kept in the control; here only the end counts.
                Ok(_) => ended += 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return running,
            }
        }
    }

    /// Takes over what was told from outside meanwhile.
    fn follow(&mut self, now: Instant) {
        let Some(lead) = self.lead else { return };
        let control = &self.crew.control;
        if matches!(self.spec.pacing, Pacing::Rate(_))
            && let Some(rate) = lead.take_rate()
            && let Some(arrivals) = &control.arrivals
        {
            arrivals.set_rate(rate, now);
            control.signal();
        }
        // Nothing more to hold.
        if self.is_led() && self.held.is_none() && lead.has_no_more_steps() {
            control.stop();
        }
    }

    /// Whether a step that was told while waiting begins before `due`.
    fn is_called(&self, due: Instant, now: Instant) -> bool {
        let in_warmup = now < self.clock.measure_start;
        self.next_led_step(in_warmup).is_some_and(|at| at < due)
    }

    /// Swaps the counters of all executors, tells the interval, and adds it to what is summed up.
    fn end_interval(&mut self, now: Instant, in_warmup: bool, observer: &mut dyn RunObserver) {
        let interval = self.close_interval(now, in_warmup);
        if !in_warmup {
            self.totals.counters.merge(&self.spare);
            if let Some(checkpoint) = &mut self.checkpoint {
                checkpoint.counters.merge(&self.spare);
            }
            if let Some(held) = &mut self.held {
                held.span.counters.merge(&self.spare);
            }
        }
        let errors = self.spare.errors.counts();
        if !errors.is_empty() {
            observer.errors(interval.phase, errors);
        }
        // What is left when the last session ends within moments of an interval is nothing.
        let is_empty = interval.statements.total() == 0 && interval.types.is_empty();
        let tells = interval.length_ms >= SHORTEST_INTERVAL_MS || !is_empty;
        if let Some(lead) = self.lead.filter(|_| tells || !errors.is_empty()) {
            lead.tell(LeadEvent::Interval {
                number: self.intervals_told,
                interval: interval.clone(),
                errors: errors.to_vec(),
            });
            self.intervals_told += 1;
        }
        self.spare.clear();
        if tells {
            observer.interval(&interval);
        }
    }

    fn close_interval(&mut self, now: Instant, in_warmup: bool) -> Interval {
        let mut concurrency = 0;
        // What is counted from here on is measured.
        let begins = in_warmup && now >= self.clock.measure_start;
        self.connected.fill(0);
        for recorder in self.crew.recorders.iter() {
            concurrency += recorder.swap(&mut self.part, &mut self.connected, begins);
            self.spare.merge(&self.part);
            self.part.clear();
        }
        let arrivals = self.crew.control.arrivals.as_ref();
        self.spare.dropped += arrivals.map_or(0, |a| a.take_dropped());
        if let [only] = self.spare.hosts.as_mut_slice() {
            *only = self.spare.statements.total();
        }
        let start = self.clock.interval_start;
        self.clock.interval_start = now;
        let outage = self.crew.control.outages.within(start, now);
        Interval {
            start_ms: self.clock.signed_ms(start),
            length_ms: (now - start).as_secs_f64() * 1000.0,
            phase: if in_warmup {
                Phase::Warmup
            } else {
                Phase::Measure
            },
            sessions: self.connected.iter().sum(),
            statements: self.spare.statements,
            ignored_errors: self.spare.ignored_errors,
            reconnects: self.spare.reconnects,
            queue_length: arrivals.map_or(0, |a| a.backlog(now)),
            concurrency,
            rate: arrivals.and_then(|a| a.rate()),
            delayed_arrivals: self.spare.delayed,
            dropped_arrivals: self.spare.dropped,
            outage_ms: outage.as_secs_f64() * 1000.0,
            hosts: host_loads(&self.crew.hosts, &self.spare.hosts, &self.connected),
            types: type_stats(self.names.types, &self.spare),
            parts: part_stats(self.names.types, &self.spare),
            notes: notes(self.names.notes, &self.spare),
        }
    }

    fn end_checkpoint(&mut self, now: Instant, observer: &mut dyn RunObserver) {
        let seconds = now - self.clock.measure_start;
        let Some(mut span) = self.checkpoint.take() else {
            return;
        };
        observer.checkpoint(seconds.as_secs_f64(), &self.totals_of(&span, now));
        span.counters.clear();
        span.start = now;
        span.sessions = self.tallies();
        self.checkpoint = Some(span);
    }
}
