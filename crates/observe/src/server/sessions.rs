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
struct Doing {
    /// The transaction's type, where that is told.
    kind: Option<&'static str>,
    /// `active`, `idle`, `idle-in-transaction` or `background`.
    state: &'static str,
    /// What it waits for or does; `CPU` of one that waits for nothing.
    wait: String,
}

/// Looks since the last sample.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    looks: u64,
    seen: BTreeMap<Doing, f64>,
}

impl Sessions {
    /// A look begins.
    pub fn look(&mut self) {
        self.looks += 1;
    }

    /// So many sessions are at it in this look.
    pub fn add(&mut self, state: &'static str, wait: &str, count: u64) {
        self.add_of(None, state, wait, count as f64);
    }

    /// The same of those that run one type of transaction.
    pub fn add_of(
        &mut self,
        kind: Option<&'static str>,
        state: &'static str,
        wait: &str,
        count: f64,
    ) {
        let mut doing = Doing {
            kind,
            state,
            wait: wait.into(),
        };
        if !self.seen.contains_key(&doing) && self.of_kind(kind) >= MOST_STATES {
            doing.wait = "other".into();
        }
        *self.seen.entry(doing).or_default() += count;
    }

    fn of_kind(&self, kind: Option<&str>) -> usize {
        self.seen.keys().filter(|doing| doing.kind == kind).count()
    }

    /// Looks since they were told.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// The means over the looks; one that was not seen is at 0. Without a look nothing is known. Whether
    /// anything was ever seen.
    pub fn tell(&mut self, metric: &Metric, samples: &mut Samples) -> bool {
        if self.looks == 0 {
            return false;
        }
        for (doing, count) in &mut self.seen {
            let mean = std::mem::take(count) / self.looks as f64;
            let wait = Some(doing.wait.as_str()).filter(|wait| !wait.is_empty());
            let labels = [
                Some(("state", doing.state)),
                doing.kind.map(|kind| ("type", kind)),
                wait.map(|wait| ("wait", wait)),
            ];
            let labels: Vec<_> = labels.into_iter().flatten().collect();
            samples.tell(metric, &labels, mean);
        }
        self.looks = 0;
        !self.seen.is_empty()
    }
}
