//! What observing itself does on the server, so that it can be taken out of what is counted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The sessions that observe one server; shared by its sources.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own(Arc<Mutex<Known>>);

/// A session's counter of what it sent.
const STATEMENTS: &str = "statements sent";

#[derive(Debug, Default)]
struct Known {
    /// By connection id.
    sessions: HashMap<i64, OwnSession>,
    /// Totals of sessions that have ended, by counter.
    ended: HashMap<String, f64>,
    statements: u64,
    /// Sessions opened so far.
    opened: u64,
}

#[derive(Debug, Default)]
struct OwnSession {
    /// Its number among those opened: after a restart the server gives ids anew.
    number: u64,
    task: Task,
    /// The port of its connection on this host.
    port: Option<u16>,
    /// Its totals, by counter.
    counters: HashMap<String, f64>,
}

/// A session's process or thread on the server's host.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Task {
    /// As the server names it.
    pub id: Option<u32>,
    /// Whether it serves this session alone, so that what it does is the session's.
    pub is_alone: bool,
}

impl Known {
    fn end(&mut self, session: OwnSession) {
        for (name, total) in session.counters {
            *self.ended.entry(name).or_default() += total;
        }
    }
}

impl Own {
    fn known<T>(&self, with: impl FnOnce(&mut Known) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A session was opened; gives its number, by which it is closed.
    pub fn opened(&self, id: i64, task: Task, port: Option<u16>) -> u64 {
        self.known(|known| {
            known.opened += 1;
            let session = OwnSession {
                number: known.opened,
                task,
                port,
                ..OwnSession::default()
            };
            let before = known.sessions.insert(id, session);
            known.end(before.unwrap_or_default());
            known.opened
        })
    }

    /// It was lost or closed.
    pub fn closed(&self, id: i64, number: u64) {
        self.known(|known| {
            if known.sessions.get(&id).is_some_and(|s| s.number == number) {
                let session = known.sessions.remove(&id);
                known.end(session.unwrap_or_default());
            }
        });
    }

    /// A statement was sent by this session.
    pub fn sent(&self, id: i64) {
        self.known(|known| known.statements += 1);
        self.add(id, STATEMENTS, 1.0);
    }

    /// Statements sent so far.
    pub fn statements(&self) -> f64 {
        self.known(|known| known.statements as f64)
    }

    /// Statements of sessions that have ended.
    pub fn statements_of_ended(&self) -> f64 {
        self.known(|known| known.ended.get(STATEMENTS).copied().unwrap_or(0.0))
    }

    /// A session's own total of a counter.
    pub fn count(&self, id: i64, counter: &str, total: f64) {
        self.known(|known| {
            if let Some(session) = known.sessions.get_mut(&id) {
                session.counters.insert(counter.into(), total);
            }
        });
    }

    /// A session added to a counter.
    pub fn add(&self, id: i64, counter: &str, more: f64) {
        self.known(|known| {
            if let Some(session) = known.sessions.get_mut(&id) {
                *session.counters.entry(counter.into()).or_default() += more;
            }
        });
    }

    /// All sessions' total of a counter.
    pub fn total(&self, counter: &str) -> f64 {
        self.known(|known| {
            let live = known.sessions.values();
            let live: f64 = live.filter_map(|s| s.counters.get(counter)).sum();
            live + known.ended.get(counter).copied().unwrap_or(0.0)
        })
    }

    /// The ids of the sessions.
    pub fn ids(&self) -> Vec<i64> {
        self.known(|known| known.sessions.keys().copied().collect())
    }

    /// Ports of their connections on this host.
    pub fn ports(&self) -> Vec<u16> {
        self.known(|known| known.sessions.values().filter_map(|s| s.port).collect())
    }

    /// Their processes or threads, whomever else these serve.
    pub fn tasks(&self) -> Vec<u32> {
        let all = |known: &mut Known| known.sessions.values().filter_map(|s| s.task.id).collect();
        self.known(all)
    }

    /// Those that serve nobody else.
    pub fn own_tasks(&self) -> Vec<u32> {
        self.known(|known| {
            let alone = known.sessions.values().filter(|s| s.task.is_alone);
            alone.filter_map(|s| s.task.id).collect()
        })
    }
}

/// Totals less what observing adds to them.
#[derive(Debug, Default)]
pub(crate) struct Rest(HashMap<&'static str, (f64, f64)>);

impl Rest {
    /// What is left of a total. The server's total and observing's part are not of one moment: where the
    /// rest shrinks by no more than the part has grown, it stays as it was, for nothing began anew.
    pub fn of(&mut self, name: &'static str, total: f64, own: f64) -> f64 {
        let rest = match (total - own, self.0.get(name)) {
            (rest, Some((last, last_own))) if rest < *last && last - rest <= own - last_own => {
                *last
            }
            (rest, _) => rest,
        };
        self.0.insert(name, (rest, own));
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sessions_counted_stays_when_they_end() {
        let own = Own::default();
        let alone = Task {
            id: Some(70),
            is_alone: true,
        };
        let first = own.opened(7, alone, None);
        own.opened(8, Task::default(), Some(4000));
        assert_eq!(own.ports(), [4000]);
        own.count(7, "Questions", 5.0);
        own.count(8, "Questions", 2.0);
        own.count(9, "Questions", 100.0);
        assert_eq!((own.total("Questions"), own.tasks()), (7.0, vec![70]));
        own.closed(7, first);
        assert_eq!((own.total("Questions"), own.ids()), (7.0, vec![8]));
        // A server that began anew gives its ids again.
        let again = own.opened(8, Task::default(), None);
        own.closed(8, again - 1);
        assert_eq!((own.total("Questions"), own.ids()), (7.0, vec![8]));
        own.sent(8);
        assert_eq!((own.statements(), own.statements_of_ended()), (1.0, 0.0));
        own.closed(8, again);
        assert_eq!(own.statements_of_ended(), 1.0);
    }

    #[test]
    fn what_a_thread_of_a_pool_does_is_not_observings() {
        let own = Own::default();
        for (session, is_alone) in [(1, true), (2, false)] {
            let id = u32::try_from(session * 10).ok();
            own.opened(session, Task { id, is_alone }, None);
        }
        let mut tasks = own.tasks();
        tasks.sort_unstable();
        assert_eq!((tasks, own.own_tasks()), (vec![10, 20], vec![10]));
    }

    #[test]
    fn a_rest_shrinks_only_when_the_total_began_anew() {
        let mut rest = Rest::default();
        assert_eq!(rest.of("q", 100.0, 10.0), 90.0);
        // An idle server: only observing added to it, of which the total has not heard all.
        assert_eq!(rest.of("q", 105.0, 20.0), 90.0);
        assert_eq!(rest.of("q", 130.0, 25.0), 105.0);
        assert_eq!(rest.of("q", 3.0, 26.0), -23.0);
    }
}
