//! Looks at the journal while a load goes on: what others have done, and which of them have ended.

use super::begin::Me;
use super::board::Board;
use super::mark;
use super::{LoadSpec, statement};
use crate::error::EngineError;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::journal::{Client, Journal, PartState};
use tidemark_drivers::lock::{Life, life};
use tidemark_drivers::{Connector, Session, catalog, journal};
use tidemark_runtime::sleep;

/// How often the journal is read.
const LOOK: Duration = Duration::from_millis(250);
/// How often others are asked for, and told that this client lives.
const LIVES: Duration = Duration::from_secs(1);
/// Where no lock tells, a client that has been silent for so long has ended.
const SILENCE: Duration = Duration::from_secs(30);
/// How soon the end of the load is seen.
const STEP: Duration = Duration::from_millis(10);
/// A journal that can't be read for so long ends the load: without it nothing tells what others do.
const BLIND: Duration = Duration::from_secs(60);

/// Watches until the load is over.
pub(super) struct LoadWatch {
    pub connector: Connector,
    pub spec: LoadSpec,
    pub me: Me,
    pub board: Arc<Board>,
}

impl LoadWatch {
    pub async fn run(self) {
        let mut session = None;
        let mut seen = OtherClients::default();
        let mut last_sight = Instant::now();
        while self.pause().await {
            let looked = self.look(&mut session, &mut seen).await;
            match looked {
                Ok(()) => last_sight = Instant::now(),
                Err(error) => {
                    // A new session, after a while.
                    session = None;
                    self.board.doubt();
                    let is_silent = error.db().is_some_and(|e| e.kind == ErrorKind::Silent);
                    let is_refused = matches!(error, EngineError::Refused(_));
                    if last_sight.elapsed() > BLIND || is_silent || is_refused {
                        self.board.stop(error);
                    }
                }
            }
        }
        if let Some(session) = session {
            session.close().await;
        }
    }

    /// Waits for the next look; false when the load is over.
    async fn pause(&self) -> bool {
        let next = Instant::now() + LOOK;
        while Instant::now() < next {
            if self.board.is_over() {
                return false;
            }
            sleep(STEP).await;
        }
        true
    }

    async fn look(
        &self,
        session: &mut Option<Session>,
        seen: &mut OtherClients,
    ) -> Result<(), EngineError> {
        let session = match session {
            Some(session) => session,
            None => {
                // On the host where the clients' locks are ([`super::guard`]): each may have its own.
                let opened = super::open(&self.connector, 0).await;
                session.insert(opened.map_err(|error| EngineError::Connect { session: 0, error })?)
            }
        };
        let asked = Instant::now();
        let journal = journal::read(session).await.map_err(statement)?;
        let journal = journal.unwrap_or_default();
        if !self.board.learn(&journal, asked, self.me.number) && !self.board.is_over() {
            return self.vanished(session).await;
        }
        if seen.last.is_none_or(|last| last.elapsed() >= LIVES) {
            seen.last = Some(Instant::now());
            self.lives(session, &journal, seen).await?;
        }
        Ok(())
    }

    /// Others have forgotten the journal: they do so when all is loaded.
    async fn vanished(&self, session: &mut Session) -> Result<(), EngineError> {
        for plan in self.board.unfinished() {
            let mark = catalog::table_mark(session, &plan.name)
                .await
                .map_err(statement)?;
            if !mark::is_mark_of(mark.as_deref(), true, &plan, self.spec.seed) {
                return Err(EngineError::Refused(format!(
                    "table {} or its rows in the load journal were removed during the load: \
                     another client cleaned up. Run prepare again",
                    plan.name
                )));
            }
        }
        self.board.all_done();
        Ok(())
    }

    /// Says that this client lives, and opens what others left that do not.
    async fn lives(
        &self,
        session: &mut Session,
        journal: &Journal,
        seen: &mut OtherClients,
    ) -> Result<(), EngineError> {
        let me = self.me.number;
        if !journal::beat(session, me).await.map_err(statement)? {
            // Others took this client for dead, as when the server restarted.
            match journal::join(session, me, &self.me.load_text()).await {
                Err(e) if e.class == ErrorClass::Constraint => {}
                joined => joined.map_err(statement)?,
            }
        }
        let owners = journal
            .lines
            .iter()
            .filter(|l| l.state == PartState::Claimed);
        let owners = owners.filter_map(|line| line.owner.parse().ok());
        let mut others: BTreeMap<u64, u64> = owners.map(|number| (number, 0)).collect();
        others.extend(journal.clients.iter().map(|c| (c.number, c.beats)));
        others.remove(&me);
        for (number, beats) in others {
            let alive = match life(session, number).await.map_err(statement)? {
                Life::Alive(_) => true,
                Life::Dead => false,
                Life::Unknown => seen.beats_on(number, beats),
            };
            if !alive {
                self.bury(session, journal, number).await?;
            }
        }
        Ok(())
    }

    /// Opens the claims of a client that has ended.
    async fn bury(
        &self,
        session: &mut Session,
        journal: &Journal,
        number: u64,
    ) -> Result<(), EngineError> {
        let owner = number.to_string();
        for line in &journal.lines {
            if line.state != PartState::Claimed || line.owner != owner {
                continue;
            }
            if !self.board.can_take_over(&line.table) {
                return Err(EngineError::Refused(format!(
                    "another client was loading table {} and ended; its storage engine has no \
                     rollback, so the rows of that client cannot be distinguished from missing \
                     ones. Run prepare again: it recreates the table",
                    line.table
                )));
            }
            journal::reopen(session, &line.table, line.part, &owner)
                .await
                .map_err(statement)?;
        }
        let gone: Result<(), DbError> = match journal.clients.iter().find(is(number)) {
            Some(_) => journal::leave(session, number).await,
            None => Ok(()),
        };
        gone.map_err(statement)
    }
}

fn is(number: u64) -> impl Fn(&&Client) -> bool {
    move |client| client.number == number
}

/// What was seen of others before.
#[derive(Default)]
struct OtherClients {
    /// When they were asked for last.
    last: Option<Instant>,
    /// Each one's beats, and since when they have been those.
    beats: BTreeMap<u64, (u64, Instant)>,
}

impl OtherClients {
    /// Whether a client's beats went on in the time allowed.
    fn beats_on(&mut self, number: u64, beats: u64) -> bool {
        let now = Instant::now();
        let entry = self.beats.entry(number).or_insert((beats, now));
        if entry.0 != beats {
            *entry = (beats, now);
        }
        entry.1.elapsed() < SILENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_whose_beats_stop_has_ended() {
        let mut seen = OtherClients::default();
        assert!(seen.beats_on(7, 1));
        let long_ago = Instant::now() - SILENCE;
        seen.beats.insert(7, (1, long_ago));
        assert!(!seen.beats_on(7, 1));
        seen.beats.insert(7, (1, long_ago));
        assert!(seen.beats_on(7, 2));
    }
}
