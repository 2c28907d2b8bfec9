//! One connection of a session, over whichever driver, with what it was sent.

use crate::mysql::MysqlSession;
use crate::postgres::PostgresSession;
use crate::sqlite::SqliteSession;
use crate::{LoadRequest, Loaded, Outcome, RowSet, RowSource, Statement, Verb};
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass, ErrorKind, ServerInfo};

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one per session, and a box would cost a cache line a call
pub(crate) enum Driver {
    Mysql(MysqlSession),
    Postgres(PostgresSession),
    Sqlite(SqliteSession),
}

#[derive(Debug)]
pub(crate) struct Connection {
    /// Statements of a run are sent by it directly, between [`Connection::begin`] and
    /// [`Connection::end`]: a call between would make every session's task larger.
    pub driver: Driver,
    /// Index into [`crate::Connector::hosts`]; none of an embedded database.
    host: Option<u32>,
    /// Statements sent since they were last taken.
    sent: u32,
    /// 0 where the server told none.
    connection_id: u32,
}

impl Connection {
    pub fn new(driver: Driver, host: Option<usize>, connection_id: u32) -> Self {
        Self {
            driver,
            host: host.and_then(|h| u32::try_from(h).ok()),
            sent: 0,
            connection_id,
        }
    }

    pub fn host(&self) -> Option<usize> {
        self.host.map(|h| h as usize)
    }

    /// Statements sent since this was asked last.
    pub fn take_sent(&mut self) -> u64 {
        std::mem::take(&mut self.sent).into()
    }

    pub fn server(&self) -> &ServerInfo {
        match &self.driver {
            Driver::Mysql(s) => s.server(),
            Driver::Postgres(s) => s.server(),
            Driver::Sqlite(s) => s.server(),
        }
    }

    /// The connection id that the server gave when it greeted, its lower 32 bits; PostgreSQL's process id.
    /// None of an embedded database.
    pub fn connection_id(&self) -> Option<u32> {
        Some(self.connection_id).filter(|id| *id > 0)
    }

    /// Whether a pooler answers for the server.
    pub fn is_pooled(&self) -> bool {
        match &self.driver {
            Driver::Postgres(s) => s.is_pooled(),
            Driver::Mysql(_) | Driver::Sqlite(_) => false,
        }
    }

    pub async fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        match &mut self.driver {
            Driver::Mysql(s) => s.prepare(sql).await,
            Driver::Postgres(s) => s.prepare(sql).await,
            Driver::Sqlite(s) => s.prepare(sql),
        }
    }

    pub async fn query(&mut self, sql: &str) -> Result<RowSet, DbError> {
        match &mut self.driver {
            Driver::Mysql(s) => s.query(sql).await,
            Driver::Postgres(s) => s.query(sql).await,
            Driver::Sqlite(s) => {
                s.travel().await;
                s.query(sql)
            }
        }
    }

    /// A statement that does nothing: how long its reply took to come to this host. An embedded database
    /// has no way between.
    pub async fn ping(&mut self) -> Result<Duration, DbError> {
        // What other statements took is nobody's any more.
        let _before = self.take_away_time();
        self.begin();
        let begun = Instant::now();
        let done = match &mut self.driver {
            Driver::Mysql(s) => s.ping().await,
            // An empty statement has a reply of its own.
            Driver::Postgres(s) => s.simple("").await.map(|_| ()),
            Driver::Sqlite(_) => Ok(()),
        };
        self.end(Verb::Read, done.map(|()| Outcome::default()))?;
        let took = begun.elapsed();
        let away = self.take_away_time().filter(|away| !away.is_zero());
        Ok(away.map_or(took, |away| away.min(took)))
    }

    /// The port of this end of the connection; none of a Unix socket, and of an embedded database.
    pub fn local_port(&mut self) -> Option<u16> {
        match &mut self.driver {
            Driver::Mysql(s) => s.stream().local_port(),
            Driver::Postgres(s) => s.stream().local_port(),
            Driver::Sqlite(_) => None,
        }
    }

    pub async fn load(
        &mut self,
        request: &LoadRequest<'_>,
        source: &mut dyn RowSource,
    ) -> Result<Loaded, DbError> {
        match &mut self.driver {
            Driver::Mysql(s) => s.load(request, source).await,
            Driver::Postgres(s) => s.load(request, source).await,
            Driver::Sqlite(s) => {
                s.travel().await;
                s.load(request, source)
            }
        }
    }

    pub async fn close(self) {
        match self.driver {
            Driver::Mysql(s) => s.close().await,
            Driver::Postgres(s) => s.close().await,
            Driver::Sqlite(_) => {}
        }
    }

    /// A statement of a run begins: it is counted, and its time runs.
    pub fn begin(&mut self) {
        self.sent = self.sent.saturating_add(1);
        match &mut self.driver {
            Driver::Mysql(s) => s.stream().begin_exchange(),
            Driver::Postgres(s) => s.stream().begin_exchange(),
            Driver::Sqlite(s) => s.begin_statement(),
        }
    }

    /// The statement has ended, which was for this; an error may be that its time was over.
    pub fn end(&mut self, verb: Verb, done: Result<Outcome, DbError>) -> Result<Outcome, DbError> {
        let overdue = match &mut self.driver {
            Driver::Mysql(s) => {
                s.stream().end_exchange();
                done.is_err() && s.stream().is_overdue()
            }
            Driver::Postgres(s) => {
                s.stream().end_exchange();
                done.is_err() && s.stream().is_overdue()
            }
            Driver::Sqlite(s) => s.end_statement() && done.is_err(),
        };
        let error = match done {
            Ok(outcome) => return Ok(outcome),
            Err(_) if overdue => self.overdue(),
            Err(error) => error,
        };
        Err(if self.stopped_short() {
            error
        } else {
            unanswered(verb, error)
        })
    }

    /// Whether the server said why it did not come to the last statement.
    fn stopped_short(&self) -> bool {
        match &self.driver {
            Driver::Mysql(s) => s.stopped_short(),
            Driver::Postgres(s) => s.stopped_short(),
            Driver::Sqlite(_) => false,
        }
    }

    /// So many statements went with another one.
    pub fn sent_along(&mut self, count: u8) {
        self.sent = self.sent.saturating_add(count.into());
    }

    /// Lets a reply be waited for in a read, which holds up the thread for so long at most.
    pub fn wait_in_place(&mut self, longest: Duration) -> std::io::Result<()> {
        match &mut self.driver {
            Driver::Mysql(s) => s.stream().wait_in_place(longest),
            Driver::Postgres(s) => s.stream().wait_in_place(longest),
            Driver::Sqlite(_) => Ok(()),
        }
    }

    /// Whether the server runs on this host; `None` of an embedded database.
    pub fn is_on_this_host(&mut self) -> Option<bool> {
        match &mut self.driver {
            Driver::Mysql(s) => Some(s.stream().is_on_this_host()),
            Driver::Postgres(s) => Some(s.stream().is_on_this_host()),
            Driver::Sqlite(_) => None,
        }
    }

    /// What statements took at the server and on the way since this was asked last; `None` of an
    /// embedded database, which has no way between.
    pub fn take_away_time(&mut self) -> Option<Duration> {
        match &mut self.driver {
            Driver::Mysql(s) => Some(s.stream().take_away_time()),
            Driver::Postgres(s) => Some(s.stream().take_away_time()),
            Driver::Sqlite(_) => None,
        }
    }

    /// Round trips since this was asked last; none of an embedded database.
    pub fn take_round_trips(&mut self) -> u8 {
        match &mut self.driver {
            Driver::Mysql(s) => s.stream().take_round_trips(),
            Driver::Postgres(s) => s.stream().take_round_trips(),
            Driver::Sqlite(_) => 0,
        }
    }

    fn overdue(&mut self) -> DbError {
        let limit = match &mut self.driver {
            Driver::Mysql(s) => s.stream().limit(),
            Driver::Postgres(s) => s.stream().limit(),
            Driver::Sqlite(s) => s.limit(),
        };
        let limit = limit.unwrap_or(Duration::ZERO).as_secs_f64();
        DbError::own(
            ErrorClass::ConnectionLost,
            ErrorKind::StatementTimeout,
            format!(
                "a statement exceeded the statement timeout of {limit} s (--statement-timeout); \
                 its session was closed"
            ),
        )
    }
}

/// The error of a COMMIT after which nobody can tell whether it holds: the connection was lost
/// before its answer, or the server says itself that it does not know.
fn unanswered(verb: Verb, error: DbError) -> DbError {
    // statement_completion_unknown, transaction_resolution_unknown (PostgreSQL manual, appendix A;
    // CockroachDB, "Transaction Retry Error Reference": "result is ambiguous").
    let ambiguous = matches!(error.code.as_str(), "40003" | "08007");
    if !verb.commits() || !(ambiguous || error.class == ErrorClass::ConnectionLost) {
        return error;
    }
    DbError::own(
        ErrorClass::ConnectionLost,
        ErrorKind::CommitUnknown,
        format!("a COMMIT had no reply; its outcome is unknown ({error})"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_without_an_answer_is_told_from_other_losses() {
        use ErrorClass::{ConnectionLost, Fatal, Retryable};
        for (verb, class, code, unknown) in [
            (Verb::Commit, ConnectionLost, "io", true),
            (Verb::Commit, ConnectionLost, "57P01", true),
            (Verb::Commit, Fatal, "40003", true),
            (Verb::of("COMMIT AND CHAIN"), ConnectionLost, "io", true),
            // It was taken back, as the server says.
            (Verb::Commit, Retryable, "40001", false),
            (Verb::Rollback, ConnectionLost, "io", false),
            (Verb::Write, ConnectionLost, "io", false),
        ] {
            let error = unanswered(verb, DbError::new(class, code, "why"));
            assert_eq!(
                error.kind == ErrorKind::CommitUnknown,
                unknown,
                "{verb:?} {code}"
            );
            assert_eq!(
                error.class == ConnectionLost,
                unknown || class == ConnectionLost
            );
            assert!(error.to_string().contains("why"), "{error}");
        }
    }
}
