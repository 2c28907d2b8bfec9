//! Sums what sessions were seen at, look by look.

use crate::db::lower_half;
use crate::source::{Metric, Samples};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tidemark_drivers::{Connector, RunningTypes};

/// Sessions that were in a state on average over a second's looks.
pub(super) const SESSIONS: Metric = Metric::gauge("sessions", "sessions", 2);
/// The same of sessions that are none of the run's.
pub(super) const OTHERS: Metric = Metric::gauge("sessions.others", "sessions", 2);
/// The run's sessions by the type of transaction that they were running: fewer, so that hundredths count.
const OF_TYPES: Metric = Metric::gauge("sessions.of-types", "sessions", 3);
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

    fn add_of(&mut self, kind: Option<&'static str>, state: &'static str, wait: &str, count: f64) {
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

    /// The means over the looks; one that was not seen is at 0. Without a look nothing is known.
    pub fn tell(&mut self, metric: &Metric, samples: &mut Samples) {
        if self.looks == 0 {
            return;
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
    }
}

/// The types of transactions that sessions were running while the server was asked about them.
#[derive(Debug, Default)]
pub(super) struct TypesOfLook {
    types: Option<Arc<RunningTypes>>,
    before: HashMap<u32, u8>,
    after: HashMap<u32, u8>,
}

impl TypesOfLook {
    pub fn of(connector: &Connector) -> Self {
        Self {
            types: connector.running_types().cloned(),
            ..Self::default()
        }
    }

    /// Whether any are told.
    pub fn are_told(&self) -> bool {
        self.types.is_some()
    }

    /// The server is about to be asked.
    pub fn before(&mut self) {
        self.before = self.types.as_ref().map(|t| t.now()).unwrap_or_default();
    }

    /// It has answered; `is_direct` where it calls the asking session what its greeting called it. Behind a
    /// proxy the numbers that the client knows are another's.
    pub fn after(&mut self, is_direct: bool) {
        let types = self.types.as_ref().filter(|_| is_direct);
        self.after = types.map(|t| t.now()).unwrap_or_default();
        if !is_direct {
            self.before.clear();
        }
    }

    /// The types of a session, each with its part: one that went on from one type to another meanwhile was
    /// seen at either, and counts half at each.
    pub fn of_session(&self, id: i64) -> impl Iterator<Item = (&'static str, f64)> {
        let number = lower_half(id);
        let name = |now: &HashMap<u32, u8>| {
            let kind = now.get(&number).copied();
            kind.and_then(|kind| self.types.as_ref()?.name(kind))
        };
        let both = name(&self.before).zip(name(&self.after));
        let each = both.map(|(before, after)| [(before, 0.5), (after, 0.5)]);
        each.into_iter().flatten()
    }
}

/// The run's sessions by type.
#[derive(Debug, Default)]
pub(super) struct SessionsByType {
    pub types: TypesOfLook,
    sessions: Sessions,
}

impl SessionsByType {
    pub fn of(connector: &Connector) -> Self {
        Self {
            types: TypesOfLook::of(connector),
            sessions: Sessions::default(),
        }
    }

    /// A look has been taken.
    pub fn looked(&mut self, is_direct: bool) {
        self.types.after(is_direct);
        self.sessions.look();
    }

    /// This session is at it in this look.
    pub fn add(&mut self, state: &'static str, wait: &str, id: i64) {
        for (kind, part) in self.types.of_session(id) {
            self.sessions.add_of(Some(kind), state, wait, part);
        }
    }

    /// As [`Sessions::tell`].
    pub fn tell(&mut self, samples: &mut Samples) {
        self.sessions.tell(&OF_TYPES, samples);
    }
}
