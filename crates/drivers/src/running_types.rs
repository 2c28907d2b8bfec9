//! Which type of transaction each session is running, for who looks at the server's sessions meanwhile:
//! what an application tells Oracle by `DBMS_APPLICATION_INFO.SET_ACTION`, without telling the server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The type of a session that has not begun a transaction; also of those beyond the first 255.
const NONE: u8 = u8::MAX;
/// Bits of the type; above them transactions are counted.
const TYPE_BITS: u32 = 8;

/// The types of a workload's transactions, and which of them each session is running.
#[derive(Debug)]
pub struct RunningTypes {
    names: &'static [&'static str],
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    slots: Vec<Option<(u32, Arc<AtomicU32>)>>,
    free: Vec<usize>,
}

/// What a session is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Running {
    /// The lower 32 bits of its connection id.
    pub connection: u32,
    transaction: u32,
}

impl Running {
    /// Whether it is running the same transaction as then.
    pub fn is_as(&self, then: &Running) -> bool {
        self.transaction == then.transaction
    }

    fn kind(self) -> u8 {
        (self.transaction & u32::from(u8::MAX)) as u8
    }
}

impl RunningTypes {
    /// Of types with these names; no session is running one.
    pub fn new(names: &'static [&'static str]) -> Self {
        Self {
            names,
            sessions: Mutex::default(),
        }
    }

    /// Whether there are several: of one alone nobody needs to tell which it is.
    pub fn are_several(&self) -> bool {
        self.names.len() > 1
    }

    /// The lower 32 bits of the connection ids of all sessions that are open, in order.
    pub fn connections(&self, into: &mut Vec<u32>) {
        into.clear();
        {
            let sessions = self.sessions.lock();
            let sessions = sessions.unwrap_or_else(PoisonError::into_inner);
            into.extend(sessions.slots.iter().flatten().map(|(id, _)| *id));
        }
        into.sort_unstable();
    }

    /// The name of the type that a session is running.
    pub fn name(&self, running: Running) -> Option<&'static str> {
        self.names.get(usize::from(running.kind())).copied()
    }

    /// What each session is running, or ran last, in the order of their connection ids. Those that have begun
    /// nothing are left out, and those whose id several have: these are on different servers behind one
    /// address, or one of them was lost.
    pub fn now(&self, into: &mut Vec<Running>) {
        into.clear();
        {
            let sessions = self.sessions.lock();
            let sessions = sessions.unwrap_or_else(PoisonError::into_inner);
            let slots = sessions.slots.iter().flatten();
            into.extend(slots.map(|(connection, transaction)| Running {
                connection: *connection,
                transaction: transaction.load(Ordering::Relaxed),
            }));
        }
        into.sort_unstable();
        into.dedup_by(|next, kept| {
            let is_shared = next.connection == kept.connection;
            if is_shared {
                kept.transaction = NONE.into();
            }
            is_shared
        });
        into.retain(|running| running.kind() != NONE);
    }

    /// A session was opened, whose connection id has these lower 32 bits.
    pub fn opened(self: &Arc<Self>, connection: u32) -> Box<RunningType> {
        let transaction = Arc::new(AtomicU32::new(NONE.into()));
        let entry = Some((connection, Arc::clone(&transaction)));
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let free = sessions.free.pop();
        let slot = free.unwrap_or(sessions.slots.len());
        match sessions.slots.get_mut(slot) {
            Some(place) => *place = entry,
            None => sessions.slots.push(entry),
        }
        Box::new(RunningType {
            are_several: self.are_several(),
            transaction,
            slot,
            of: Arc::clone(self),
        })
    }
}

/// A session's own; while it lives the session is among [`RunningTypes::now`].
#[derive(Debug)]
pub struct RunningType {
    are_several: bool,
    transaction: Arc<AtomicU32>,
    slot: usize,
    of: Arc<RunningTypes>,
}

impl RunningType {
    /// It begins a transaction of this type.
    #[inline]
    pub fn begins(&self, kind: usize) {
        if !self.are_several {
            return;
        }
        // Only its session writes it.
        let before = self.transaction.load(Ordering::Relaxed) >> TYPE_BITS;
        let kind = u32::from(u8::try_from(kind).unwrap_or(NONE));
        let now = (before.wrapping_add(1) << TYPE_BITS) | kind;
        self.transaction.store(now, Ordering::Relaxed);
    }
}

impl Drop for RunningType {
    fn drop(&mut self) {
        let sessions = self.of.sessions.lock();
        let mut sessions = sessions.unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = sessions.slots.get_mut(self.slot) {
            *place = None;
            sessions.free.push(self.slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(types: &RunningTypes) -> Vec<(u32, Option<&'static str>)> {
        let mut now = Vec::new();
        types.now(&mut now);
        now.iter().map(|r| (r.connection, types.name(*r))).collect()
    }

    #[test]
    fn sessions_are_told_while_they_live_and_once_they_began() {
        let types = Arc::new(RunningTypes::new(&["new_order", "payment"]));
        let (two, one) = (types.opened(8), types.opened(7));
        assert!(told(&types).is_empty());
        one.begins(1);
        two.begins(0);
        assert_eq!(told(&types), [(7, Some("payment")), (8, Some("new_order"))]);
        two.begins(999);
        assert_eq!(told(&types), [(7, Some("payment"))]);
        drop(one);
        let three = types.opened(9);
        three.begins(0);
        assert_eq!(told(&types), [(9, Some("new_order"))]);
    }

    #[test]
    fn connections_are_told_from_open_to_close_and_one_type_is_not() {
        let types = Arc::new(RunningTypes::new(&["only"]));
        let (late, early) = (types.opened(9), types.opened(4));
        let mut ids = Vec::new();
        types.connections(&mut ids);
        assert_eq!(ids, [4, 9]);
        early.begins(0);
        assert!(told(&types).is_empty() && !types.are_several());
        drop(late);
        types.connections(&mut ids);
        assert_eq!(ids, [4]);
    }

    #[test]
    fn an_id_that_two_sessions_have_is_nobodys() {
        let types = Arc::new(RunningTypes::new(&["new_order", "payment"]));
        let sessions = [3, 7, 7, 9].map(|id| types.opened(id));
        sessions.iter().for_each(|session| session.begins(0));
        assert_eq!(
            told(&types),
            [(3, Some("new_order")), (9, Some("new_order"))]
        );
        let [_, lost, again, _] = sessions;
        drop(lost);
        again.begins(1);
        assert_eq!(told(&types)[1], (7, Some("payment")));
    }

    #[test]
    fn the_next_transaction_of_a_type_is_another_one() {
        let types = Arc::new(RunningTypes::new(&["new_order", "payment"]));
        let session = types.opened(1);
        session.begins(1);
        let [mut then, mut now] = [Vec::new(), Vec::new()];
        types.now(&mut then);
        types.now(&mut now);
        assert!(now[0].is_as(&then[0]));
        session.begins(1);
        types.now(&mut now);
        assert!(!now[0].is_as(&then[0]));
        assert_eq!(types.name(now[0]), types.name(then[0]));
    }
}
