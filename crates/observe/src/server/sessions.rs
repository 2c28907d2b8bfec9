//! Sums what sessions were seen at, look by look.

use crate::source::{Metric, Samples};
use std::collections::BTreeMap;

/// Sessions that were in a state on average over a second's looks.
pub(super) const SESSIONS: Metric = Metric::gauge("sessions", "sessions", 2);
/// The same of sessions that are none of the run's.
pub(super) const OTHERS: Metric = Metric::gauge("sessions.others", "sessions", 2);
/// So many states are told apart; what else there is counts as one.
const MOST_STATES: usize = 48;

/// What a session is at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Doing {
    /// `active`, `idle`, `idle-in-transaction` or `background`.
    pub state: &'static str,
    /// What it waits for or does; `CPU` of one that waits for nothing.
    pub wait: String,
}

/// Looks since the last sample.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    looks: u64,
    seen: BTreeMap<Doing, u64>,
}

impl Sessions {
    /// A look begins.
    pub fn look(&mut self) {
        self.looks += 1;
    }

    /// So many sessions are at it in this look.
    pub fn add(&mut self, state: &'static str, wait: &str, count: u64) {
        let mut doing = Doing {
            state,
            wait: wait.into(),
        };
        if !self.seen.contains_key(&doing) && self.seen.len() >= MOST_STATES {
            doing.wait = "other".into();
        }
        *self.seen.entry(doing).or_default() += count;
    }

    /// The means over the looks; one that was not seen is at 0. Without a look nothing is known.
    pub fn tell(&mut self, metric: &Metric, samples: &mut Samples) {
        if self.looks == 0 {
            return;
        }
        for (doing, count) in &mut self.seen {
            let mean = std::mem::take(count) as f64 / self.looks as f64;
            let wait = ("wait", doing.wait.as_str());
            let labels = [("state", doing.state), wait];
            let labels = if doing.wait.is_empty() {
                &labels[..1]
            } else {
                &labels
            };
            samples.tell(metric, labels, mean);
        }
        self.looks = 0;
    }
}
