//! The recorders of a run, and which of them counts what.

use crate::recorder::{Recorder, SessionTally};
use std::sync::Arc;
use tidemark_runtime::current_core;

/// One recorder an executor. Where sessions have threads of their own, which wander from core to
/// core, there are as many, and a transaction is counted where its thread happens to be: counters
/// that the cores take from each other would cost as much as the counting.
pub(crate) struct Recorders {
    all: Vec<Arc<Recorder>>,
    by_core: bool,
}

impl Recorders {
    /// So many recorders, for a number of sessions, which each make with its share of them.
    pub fn new(
        count: usize,
        sessions: usize,
        by_core: bool,
        make: impl Fn(usize) -> Recorder,
    ) -> Self {
        let share = |recorder| match by_core {
            true => sessions,
            false => sessions / count + usize::from(recorder < sessions % count),
        };
        let all = (0..count).map(|recorder| Arc::new(make(share(recorder))));
        Self {
            all: all.collect(),
            by_core,
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Recorder>> {
        self.all.iter()
    }

    /// The one of a thread.
    pub fn of(&self, thread: usize) -> &Arc<Recorder> {
        &self.all[thread % self.all.len()]
    }

    /// Which a session's transaction is counted by whose thread asks; `own` is its thread's.
    #[inline]
    pub fn here<'r>(&'r self, own: &'r Recorder) -> &'r Recorder {
        if self.by_core
            && let Some(core) = current_core()
        {
            return &self.all[core % self.all.len()];
        }
        own
    }

    /// A session's number in its recorder.
    pub fn local(&self, session: usize) -> usize {
        match self.by_core {
            true => session,
            false => session / self.all.len(),
        }
    }

    /// The share of each session that was opened, in order.
    pub fn tallies(&self, sessions: usize) -> Vec<SessionTally> {
        let mut by_recorder = vec![Vec::new(); self.all.len()];
        for (recorder, tallies) in self.all.iter().zip(&mut by_recorder) {
            recorder.sessions(tallies);
        }
        let of = |session: usize| {
            let local = self.local(session);
            let own = session % self.all.len();
            let parts = by_recorder.iter().enumerate();
            parts
                .filter(|(recorder, _)| self.by_core || *recorder == own)
                .filter_map(|(_, tallies)| tallies.get(local))
                .fold(SessionTally::default(), |sum, part| sum + *part)
        };
        (0..sessions).map(of).filter(|tally| tally.opened).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tidemark_core::record::StatementCounts;
    use tidemark_workloads::Done;

    const SESSIONS: usize = 5;

    fn recorders(by_core: bool) -> Recorders {
        Recorders::new(2, SESSIONS, by_core, |mine| Recorder::new(1, mine, 1))
    }

    fn record(recorder: &Recorder, session: usize) {
        let none = StatementCounts::default();
        recorder.record(Done::of(0), session, none, Duration::from_millis(1), None);
    }

    #[test]
    fn a_session_of_an_executor_is_counted_by_its_recorder() {
        let recorders = recorders(false);
        for session in 0..SESSIONS {
            let own = recorders.of(session);
            assert!(std::ptr::eq(recorders.here(own), &**own));
            own.opened(recorders.local(session));
            (0..=session).for_each(|_| record(own, recorders.local(session)));
        }
        let events: Vec<_> = recorders.tallies(SESSIONS);
        let events: Vec<_> = events.iter().map(|tally| tally.events).collect();
        assert_eq!(events, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_a_session_did_on_several_cores_is_added_up() {
        let recorders = recorders(true);
        // The last one never opened.
        for session in 0..SESSIONS - 1 {
            recorders.of(session).opened(recorders.local(session));
            for recorder in recorders.iter() {
                (0..=session).for_each(|_| record(recorder, recorders.local(session)));
            }
        }
        let tallies = recorders.tallies(SESSIONS);
        let events: Vec<_> = tallies.iter().map(|tally| tally.events).collect();
        assert_eq!(events, [2, 4, 6, 8]);
        assert_eq!(tallies[3].busy, Duration::from_millis(8));
        let own = recorders.of(0);
        let here = recorders.here(own);
        assert!(recorders.iter().any(|one| std::ptr::eq(here, &**one)));
    }
}
