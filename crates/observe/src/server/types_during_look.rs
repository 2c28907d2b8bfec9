//! The types of transactions that sessions were running while the server was asked about them.

use super::sessions::Sessions;
use crate::db::{Db, lower_bits};
use crate::source::{Metric, Samples};
use std::sync::Arc;
use tidemark_drivers::{Connector, Running, RunningTypes};

/// The run's sessions by the type of transaction that they were running: fewer each, so that more digits
/// count.
const BY_TYPE: Metric = Metric::gauge("sessions.by-type", "sessions", 3);
/// Of them, those that went on to another transaction while the server was asked.
const WENT_ON: Metric = Metric::gauge("sessions.by-type.went-on", "sessions", 3);

/// What sessions were running before the server was asked, and after it had answered.
#[derive(Debug, Default)]
pub(super) struct TypesDuringLook {
    types: Option<Arc<RunningTypes>>,
    before: Vec<Running>,
    after: Vec<Running>,
    /// The connections of the run that were open before or after.
    open: [Vec<u32>; 2],
    /// The connection that was asked last.
    asked: Option<i64>,
}

impl TypesDuringLook {
    pub fn of(connector: &Connector) -> Self {
        Self {
            types: connector.running_types().cloned(),
            ..Self::default()
        }
    }

    /// Whether any are told.
    pub fn are_told(&self) -> bool {
        self.types.as_ref().is_some_and(|types| types.are_several())
    }

    /// Whether a session is the run's; `None` where nobody can tell.
    pub fn is_of_run(&self, id: i64) -> Option<bool> {
        let is_known = self.open.iter().any(|open| !open.is_empty());
        let connection = lower_bits(id);
        let is_in = |open: &Vec<u32>| open.binary_search(&connection).is_ok();
        is_known.then(|| self.open.iter().any(is_in))
    }

    /// The server is about to be asked.
    pub fn before(&mut self) {
        if let Some(types) = &self.types {
            types.now(&mut self.before);
            types.connections(&mut self.open[0]);
        }
    }

    /// It has answered. Nothing is known of a look for which a session was opened first, which takes long, and
    /// of one behind a proxy: it does not call sessions what the server calls them.
    pub fn after(&mut self, db: &Db) {
        let is_same = std::mem::replace(&mut self.asked, db.id()) == db.id();
        match self.types.as_ref().filter(|_| is_same && db.is_direct()) {
            Some(types) => {
                types.now(&mut self.after);
                types.connections(&mut self.open[1]);
            }
            None => self.forget(),
        }
    }

    /// Nothing is known of this look.
    pub fn forget(&mut self) {
        self.before.clear();
        self.after.clear();
        self.open.iter_mut().for_each(Vec::clear);
    }

    /// The types of a session, each with its part, and whether it went on to another transaction meanwhile: then
    /// it was seen at either, and counts half at each. One that was opened or closed meanwhile has one.
    pub fn of_session(&self, id: i64) -> ([Option<(&'static str, f64)>; 2], bool) {
        let connection = lower_bits(id);
        let find = |all: &[Running]| {
            let found = all.binary_search_by_key(&connection, |running| running.connection);
            found.ok().and_then(|at| all.get(at).copied())
        };
        let name = |running: Running| self.types.as_ref().and_then(|t| t.name(running));
        let (before, after) = (find(&self.before), find(&self.after));
        let went_on = match (before, after) {
            (Some(before), Some(after)) => !after.is_as(&before),
            (None, None) => false,
            _ => true,
        };
        let parts = match (before.and_then(name), after.and_then(name)) {
            (Some(before), Some(after)) if before != after => {
                [Some((before, 0.5)), Some((after, 0.5))]
            }
            (before, after) => [after.or(before).map(|only| (only, 1.0)), None],
        };
        (parts, went_on)
    }
}

/// The run's sessions by type.
#[derive(Debug, Default)]
pub(super) struct SessionsByType {
    pub types: TypesDuringLook,
    sessions: Sessions,
    went_on: f64,
}

impl SessionsByType {
    pub fn of(connector: &Connector) -> Self {
        Self {
            types: TypesDuringLook::of(connector),
            ..Self::default()
        }
    }

    /// The server has answered.
    pub fn looked(&mut self, db: &Db) {
        self.types.after(db);
        self.sessions.look();
    }

    /// This session is at it in this look.
    pub fn add(&mut self, state: &'static str, wait: &str, id: i64) {
        let (parts, went_on) = self.types.of_session(id);
        for (kind, part) in parts.into_iter().flatten() {
            self.sessions.add_of(Some(kind), state, wait, part);
        }
        self.went_on += f64::from(u8::from(went_on));
    }

    /// As [`Sessions::tell`].
    pub fn tell(&mut self, samples: &mut Samples) {
        let looks = self.sessions.looks();
        let went_on = std::mem::take(&mut self.went_on);
        if self.sessions.tell(&BY_TYPE, samples) {
            samples.tell(&WENT_ON, &[], went_on / looks as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Target;
    use tidemark_drivers::ConnectOptions;

    /// During a look each of these sessions ran a type before and after; 255 is none.
    fn during(looked: &[(u32, usize, usize)]) -> TypesDuringLook {
        let target = Target::parse("mysql://u@127.0.0.1/d").unwrap();
        let connector = Connector::new(target, ConnectOptions::default()).unwrap();
        let connector = connector.with_running_types(&["a", "b"]);
        let mut during = TypesDuringLook::of(&connector);
        let types = during.types.clone().unwrap();
        let sessions: Vec<_> = looked
            .iter()
            .map(|(id, before, _)| {
                let session = types.opened(*id);
                session.begins(*before);
                session
            })
            .collect();
        during.before();
        for (session, (_, before, after)) in sessions.iter().zip(looked) {
            if before != after {
                session.begins(*after);
            }
        }
        types.now(&mut during.after);
        during
    }

    #[test]
    fn who_goes_on_during_a_look_counts_half_at_each() {
        let during = during(&[
            (1, 0, 0),
            (2, 0, 1),
            (3, 255, 1),
            (4, 0, 255),
            (5, 255, 255),
        ]);
        let of = |id| during.of_session(id);
        assert_eq!(of(1), ([Some(("a", 1.0)), None], false));
        assert_eq!(of(2), ([Some(("a", 0.5)), Some(("b", 0.5))], true));
        assert_eq!(of(3), ([Some(("b", 1.0)), None], true));
        assert_eq!(of(4), ([Some(("a", 1.0)), None], true));
        assert_eq!(of(5), ([None, None], false));
        assert_eq!(of(6), ([None, None], false));
        // Of a longer id the greeting has the lower 32 bits.
        assert_eq!(of(1 << 40 | 1), ([Some(("a", 1.0)), None], false));
    }

    #[test]
    fn a_look_that_is_forgotten_tells_nothing() {
        let mut during = during(&[(1, 0, 0)]);
        during.forget();
        assert_eq!(during.of_session(1), ([None, None], false));
    }
}
