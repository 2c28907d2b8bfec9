//! The recorders of a run, and which of them counts what.

use crate::launch::share;
use crate::recorder::{Recorder, SessionTally};
use std::sync::Arc;
use tidemark_runtime::current_core;

/// One recorder an executor. Where there are more threads, each with a session that waits in reads,
/// they wander from core to core, and a transaction is counted by the recorder of the core that it
/// ends on: counters that the cores take from each other would cost as much as the counting.
pub(crate) struct Recorders {
    all: Vec<Arc<Recorder>>,
    /// The recorder of each core, by the core's number; none where threads have recorders.
    by_core: Vec<u16>,
}

impl Recorders {
    /// As many recorders as there are executors. `make` makes one for a number of sessions. `cores`
    /// are those that threads may run on where recorders belong to them, else none.
    pub fn new(
        count: usize,
        sessions: usize,
        cores: &[usize],
        make: impl Fn(usize) -> Recorder,
    ) -> Self {
        let share = |recorder| match cores {
            [] => share(sessions, count, recorder),
            // Any core may come to any session.
            _ => sessions,
        };
        let all = (0..count).map(|recorder| Arc::new(make(share(recorder))));
        Self {
            all: all.collect(),
            by_core: by_core(cores, count),
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Recorder>> {
        self.all.iter()
    }

    /// The recorder of a session's executor.
    pub fn of(&self, session: usize) -> &Arc<Recorder> {
        &self.all[session % self.all.len()]
    }

    /// The recorder that a transaction is counted by: the core's that the caller runs on, or `own`,
    /// that of the session. Arrivals in progress are counted by `own` alone ([`Recorder::swap`]), so
    /// recorders belong to cores only where nothing makes transactions due.
    #[inline]
    pub fn here<'r>(&'r self, own: &'r Recorder) -> &'r Recorder {
        if self.by_core.is_empty() {
            return own;
        }
        let here = current_core().and_then(|core| self.by_core.get(core));
        here.map_or(own, |recorder| &self.all[usize::from(*recorder)])
    }

    /// A session's number in its recorder, or in each of them.
    pub fn local(&self, session: usize) -> usize {
        match self.by_core.is_empty() {
            true => session / self.all.len(),
            false => session,
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
                .filter(|(recorder, _)| !self.by_core.is_empty() || *recorder == own)
                .filter_map(|(_, tallies)| tallies.get(local))
                .fold(SessionTally::default(), |sum, part| sum + *part)
        };
        (0..sessions).map(of).filter(|tally| tally.opened).collect()
    }
}

/// The recorder of each core, by its number: in turn over those that may be used, whose numbers have
/// gaps. A core that may be used later takes turns with them.
fn by_core(cores: &[usize], recorders: usize) -> Vec<u16> {
    let Some(last) = cores.iter().max() else {
        return Vec::new();
    };
    let turn = |core: usize| {
        let rank = cores.iter().position(|allowed| *allowed == core);
        u16::try_from(rank.unwrap_or(core) % recorders).unwrap_or_default()
    };
    (0..=*last).map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tidemark_core::record::StatementCounts;
    use tidemark_workloads::Done;

    const SESSIONS: usize = 5;

    fn recorders(cores: &[usize]) -> Recorders {
        Recorders::new(2, SESSIONS, cores, |mine| Recorder::new(1, mine, 1))
    }

    #[test]
    fn cores_of_a_mask_with_gaps_have_recorders_of_their_own() {
        assert_eq!(by_core(&[0, 2], 2), [0, 1, 1]);
        assert_eq!(by_core(&[1, 3, 5, 7], 4), [0, 0, 2, 1, 0, 2, 2, 3]);
        // A quota allows fewer executors than there are cores.
        assert_eq!(by_core(&[0, 1, 2, 3], 2), [0, 1, 0, 1]);
        assert!(by_core(&[], 2).is_empty());
    }

    fn record(recorder: &Recorder, session: usize) {
        let none = StatementCounts::default();
        recorder.record(Done::of(0), session, none, Duration::from_millis(1), None);
    }

    #[test]
    fn a_session_of_an_executor_is_counted_by_its_recorder() {
        let recorders = recorders(&[]);
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
        let recorders = recorders(&tidemark_runtime::allowed_cores());
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
