//! Which type of transaction each session is running, for who looks at the server's sessions meanwhile:
//! what an application tells Oracle by `DBMS_APPLICATION_INFO.SET_ACTION`, without telling the server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Of a session that has not begun a transaction.
const NONE: u8 = u8::MAX;

/// The types of a workload's transactions, and which of them each session is running.
#[derive(Debug)]
pub struct RunningTypes {
    names: &'static [&'static str],
    sessions: Mutex<HashMap<u32, Arc<AtomicU8>>>,
}

impl RunningTypes {
    /// Of types with these names; no session is running one.
    pub fn new(names: &'static [&'static str]) -> Self {
        Self {
            names,
            sessions: Mutex::default(),
        }
    }

    /// The name of a type that [`RunningTypes::now`] told.
    pub fn name(&self, kind: u8) -> Option<&'static str> {
        self.names.get(usize::from(kind)).copied()
    }

    /// The type that each session is running, or ran last: an index of the names, by the lower half of the
    /// number that the server gave the session. Those that have begun none are left out.
    pub fn now(&self) -> HashMap<u32, u8> {
        let sessions = self.sessions.lock();
        let sessions = sessions.unwrap_or_else(PoisonError::into_inner);
        let each = sessions
            .iter()
            .map(|(number, kind)| (*number, kind.load(Ordering::Relaxed)));
        each.filter(|(_, kind)| *kind != NONE).collect()
    }

    /// A session was opened, to which the server gave this number.
    pub(crate) fn opened(self: &Arc<Self>, number: u32) -> Box<RunningType> {
        let kind = Arc::new(AtomicU8::new(NONE));
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(number, Arc::clone(&kind));
        Box::new(RunningType {
            kind,
            number,
            of: Arc::clone(self),
        })
    }
}

/// A session's own.
#[derive(Debug)]
pub(crate) struct RunningType {
    kind: Arc<AtomicU8>,
    number: u32,
    of: Arc<RunningTypes>,
}

impl RunningType {
    /// It begins a transaction of this type.
    #[inline]
    pub fn begins(&self, kind: usize) {
        let kind = u8::try_from(kind).unwrap_or(NONE);
        self.kind.store(kind, Ordering::Relaxed);
    }
}

impl Drop for RunningType {
    fn drop(&mut self) {
        let sessions = self.of.sessions.lock();
        let mut sessions = sessions.unwrap_or_else(PoisonError::into_inner);
        // After a restart the server gives numbers anew: it may be another's by now.
        let is_own = |kind: &Arc<AtomicU8>| Arc::ptr_eq(kind, &self.kind);
        if sessions.get(&self.number).is_some_and(is_own) {
            sessions.remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_told_while_they_live_and_once_they_began() {
        let types = Arc::new(RunningTypes::new(&["new_order", "payment"]));
        let (one, two) = (types.opened(7), types.opened(8));
        assert!(types.now().is_empty());
        one.begins(1);
        two.begins(0);
        two.begins(999);
        assert_eq!(types.now(), HashMap::from([(7, 1)]));
        assert_eq!(types.name(1), Some("payment"));
        assert_eq!(types.name(2), None);
        // Another has its number when it is dropped.
        let again = types.opened(7);
        again.begins(0);
        drop(one);
        assert_eq!(types.now(), HashMap::from([(7, 0)]));
        drop(again);
        assert!(types.now().is_empty());
    }
}
