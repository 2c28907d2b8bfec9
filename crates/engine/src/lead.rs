//! Outside control of a run, for clients that make one together: it waits at a gate when it has
//! connected, starts and stops at moments that it is told, holds the rates that it is given, and tells
//! its intervals with their numbers. A run without a lead knows nothing of this.

use crate::control::StopHandle;
use crate::run::Started;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidemark_core::record::{ErrorCount, Interval, Step, StepPurpose};

/// At the gate it is looked this often whether the user has ended the run.
const LOOK: Duration = Duration::from_millis(20);
/// A thread that sleeps wakes late; the last moments before the start are waited through awake.
const AWAKE: Duration = Duration::from_millis(2);

/// What a led run tells.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one a second, moved through a channel
pub enum LeadEvent {
    /// Sessions are open and their statements prepared: it waits for its start.
    Ready(Started),
    /// Sessions were let go, so long after the moment asked for.
    Began {
        /// How long after.
        late: Duration,
    },
    /// An interval ended.
    Interval {
        /// Its number, from 0, without gaps.
        number: u64,
        /// What happened in it.
        interval: Interval,
        /// Errors counted in it.
        errors: Vec<ErrorCount>,
    },
    /// A rate was held for its time. Who leads judges it, from the sum of all clients.
    Step(Step),
    /// The load is over.
    Ended,
}

/// A rate to hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LedStep {
    /// Why it is held.
    pub purpose: StepPurpose,
    /// Arrivals a second of all clients together; `None` is no schedule.
    pub rate: Option<f64>,
    /// From when on; one that has passed is now.
    pub from: Instant,
    /// For how long.
    pub hold: Duration,
}

/// Leads a run from another thread. Moments are those of this host's monotonic clock.
#[derive(Debug, Clone)]
pub struct Lead {
    told: Arc<SharedLead>,
    tell: Sender<LeadEvent>,
}

#[derive(Debug, Default)]
struct SharedLead {
    asked: Mutex<LeadRequests>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct LeadRequests {
    start: Option<Instant>,
    stop: Option<Instant>,
    /// Not yet taken over.
    rate: Option<f64>,
    steps: VecDeque<LedStep>,
    /// Whether no more steps follow.
    is_last: bool,
}

/// A lead, and where its run tells what happens.
pub fn lead() -> (Lead, Receiver<LeadEvent>) {
    let (tell, events) = channel();
    let told = Arc::default();
    (Lead { told, tell }, events)
}

impl Lead {
    fn lock(&self) -> MutexGuard<'_, LeadRequests> {
        let asked = self.told.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut LeadRequests)) {
        change(&mut self.lock());
        self.told.changed.notify_all();
    }

    /// Lets the run begin at a moment; one that has passed is now, and the run is late by that.
    pub fn start_at(&self, at: Instant) {
        self.change(|asked| asked.start = Some(at));
    }

    /// Ends the run at a moment, as if its time were over then; it never ends later than its own time.
    pub fn stop_at(&self, at: Instant) {
        self.change(|asked| asked.stop = Some(at));
    }

    /// Another rate for a run at one rate, from now on: arrivals a second of all clients together.
    pub fn set_rate(&self, per_second: f64) {
        self.change(|asked| asked.rate = Some(per_second));
    }

    /// A rate to hold after those before it. Between steps nothing arrives.
    pub fn hold(&self, step: LedStep) {
        self.change(|asked| asked.steps.push_back(step));
    }

    /// No more steps follow: the run ends after the last.
    pub fn end_steps(&self) {
        self.change(|asked| asked.is_last = true);
    }

    /// Nobody who listens is nobody who has to know.
    pub(crate) fn tell(&self, event: LeadEvent) {
        let _ = self.tell.send(event);
    }

    /// Waits at the gate for the moment of the start; `None` when the run is to end instead, which
    /// `is_over` tells.
    pub(crate) fn wait_for_start(
        &self,
        stop: &StopHandle,
        is_over: impl Fn() -> bool,
    ) -> Option<Instant> {
        let mut asked = self.lock();
        loop {
            if stop.is_stopped() || is_over() {
                return None;
            }
            if let Some(at) = asked.start {
                return Some(at);
            }
            let waited = self.told.changed.wait_timeout(asked, LOOK);
            asked = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// When the run is to end, if that was said.
    pub(crate) fn stop(&self) -> Option<Instant> {
        self.lock().stop
    }

    /// A new rate, once.
    pub(crate) fn take_rate(&self) -> Option<f64> {
        self.lock().rate.take()
    }

    /// When the next step begins.
    pub(crate) fn next_step_at(&self) -> Option<Instant> {
        self.lock().steps.front().map(|step| step.from)
    }

    /// The next step, if its time has come.
    pub(crate) fn take_step(&self, now: Instant) -> Option<LedStep> {
        self.lock().steps.pop_front_if(|step| step.from <= now)
    }

    /// Whether all steps are done.
    pub(crate) fn has_no_more_steps(&self) -> bool {
        let asked = self.lock();
        asked.is_last && asked.steps.is_empty()
    }
}

/// Waits until `at`; false when the run is to end instead.
pub(crate) fn wait_until(at: Instant, stop: &StopHandle) -> bool {
    loop {
        let left = at.saturating_duration_since(Instant::now());
        if stop.is_stopped() {
            return false;
        }
        if left.is_zero() {
            return true;
        }
        match left.checked_sub(AWAKE) {
            Some(asleep) if !asleep.is_zero() => std::thread::sleep(asleep.min(LOOK)),
            // Other clients of this host wait for the same moment.
            _ => std::thread::yield_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_opens_for_a_start_and_for_an_end() {
        let (lead, events) = lead();
        let stop = StopHandle::new();
        let at = Instant::now() + Duration::from_millis(30);
        let other = lead.clone();
        let opener = std::thread::spawn(move || other.start_at(at));
        assert_eq!(lead.wait_for_start(&stop, || false), Some(at));
        opener.join().unwrap();
        assert!(wait_until(at, &stop) && Instant::now() >= at);
        assert_eq!(lead.wait_for_start(&stop, || true), None);
        stop.stop();
        assert_eq!(lead.wait_for_start(&stop, || false), None);
        assert!(!wait_until(at + Duration::from_secs(3600), &stop));
        // Nobody listens any more: that is no error.
        drop(events);
        lead.tell(LeadEvent::Ended);
    }

    #[test]
    fn steps_come_in_order_and_not_before_their_time() {
        let (lead, _events) = lead();
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let step = |n: u32| LedStep {
            purpose: StepPurpose::Asked,
            rate: Some(f64::from(n)),
            from: now + second * n,
            hold: second,
        };
        lead.hold(step(1));
        lead.hold(step(2));
        assert_eq!(lead.next_step_at(), Some(now + second));
        assert_eq!(lead.take_step(now), None);
        assert_eq!(lead.take_step(now + second), Some(step(1)));
        lead.end_steps();
        assert!(!lead.has_no_more_steps());
        assert_eq!(lead.take_step(now + 3 * second), Some(step(2)));
        assert!(lead.has_no_more_steps());
        lead.set_rate(5.0);
        assert_eq!((lead.take_rate(), lead.take_rate()), (Some(5.0), None));
    }
}
