//! What is known of a session: its server and hosts, what it counted, and where its time went.

use super::{HostCount, Session};
use crate::Dialect;
use crate::connection::Connection;
use std::time::Duration;
use tidemark_core::record::StatementCounts;
use tidemark_core::{DbError, ErrorClass, ServerInfo};

impl Session {
    /// What the server said of itself; of two, the one that takes writes.
    pub fn server(&self) -> &ServerInfo {
        self.primary.server()
    }

    /// The connection id that the server gave when it greeted, its lower 32 bits; PostgreSQL's process id.
    /// None of an embedded database. A proxy between gives an id of its own.
    pub fn connection_id(&self) -> Option<u32> {
        self.primary.connection_id()
    }

    /// Whether a pooler answers for the server, whose sessions are others than this one.
    pub fn is_pooled(&self) -> bool {
        self.primary.is_pooled()
    }

    /// The dialect of the engine detected.
    pub fn dialect(&self) -> Dialect {
        Dialect::new(self.server().engine)
    }

    /// Statements executed so far, by group, and the round trips since it was opened: those of preparing
    /// and of what is not counted are among them.
    pub fn counts(&self) -> StatementCounts {
        self.counts
    }

    /// Counts statements that its user sent elsewhere.
    pub fn count_beside(&mut self, statements: StatementCounts) {
        self.counts += statements;
    }

    /// Takes over what a session before it counted, whose place it takes.
    pub fn follows(&mut self, former: &Session) {
        self.counts += former.counts;
    }

    /// Statements that the server keeps prepared for this session, so far.
    pub fn prepared(&self) -> u16 {
        self.prepared
    }

    /// The host of the connection that takes writes, or of the only one, as an index into
    /// [`crate::Connector::hosts`]; none of an embedded database.
    pub fn primary_host(&self) -> Option<usize> {
        self.primary.host()
    }

    /// The host of the second connection, if there is one.
    pub fn reader_host(&self) -> Option<usize> {
        self.reader.as_ref().and_then(|reader| reader.host())
    }

    /// The host that was sent the last statement: the one that a session was lost to.
    pub fn last_host(&self) -> Option<usize> {
        match &self.reader {
            Some(reader) if self.at_reader => reader.host(),
            _ => self.primary.host(),
        }
    }

    /// Lets a reply be waited for in a read, which holds up the thread for so long at most: for a
    /// session that has an executor to itself ([`tidemark_runtime::Stream::wait_in_place`]).
    ///
    /// # Errors
    /// When the operating system refuses; [`tidemark_core::ErrorClass::ConnectionLost`].
    pub fn wait_in_place(&mut self, longest: Duration) -> Result<(), DbError> {
        let mut set = self.primary.wait_in_place(longest);
        if let (Ok(()), Some(reader)) = (&set, &mut self.reader) {
            set = reader.wait_in_place(longest);
        }
        set.map_err(|e| DbError::new(ErrorClass::ConnectionLost, "io", e.to_string()))
    }

    /// Whether a server of the session runs on this host, as far as its address tells; `None` of an
    /// embedded database, and behind a pooler, whose server may be anywhere.
    pub fn is_on_this_host(&mut self) -> Option<bool> {
        if self.is_pooled() {
            return None;
        }
        let primary = self.primary.is_on_this_host()?;
        let reader = self.reader.as_mut().and_then(|r| r.is_on_this_host());
        Some(primary || reader.unwrap_or(false))
    }

    /// What statements took at the server and on the way, until their replies had come to this
    /// host, since this was asked last; `None` of an embedded database.
    pub fn take_away_time(&mut self) -> Option<Duration> {
        let primary = self.primary.take_away_time()?;
        let reader = self.reader.as_mut().and_then(|r| r.take_away_time());
        Some(primary + reader.unwrap_or_default())
    }

    /// Its script waited for so long on purpose.
    pub fn paused(&mut self, time: Duration) {
        self.paused = self.paused.saturating_add(time);
    }

    /// What its script waited on purpose since this was asked last.
    #[inline]
    pub fn take_paused(&mut self) -> Duration {
        std::mem::take(&mut self.paused)
    }

    /// Statements sent since this was asked last, by host; housekeeping is not counted.
    pub fn take_host_counts(&mut self) -> [Option<HostCount>; 2] {
        let take = |connection: &mut Connection| {
            connection.host().map(|host| HostCount {
                host,
                statements: connection.take_sent(),
            })
        };
        [
            take(&mut self.primary),
            self.reader.as_deref_mut().and_then(take),
        ]
    }
}
