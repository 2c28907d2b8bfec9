//! Requests whose parameters are numbered by the caller (`$1`, `$2`, …), alone or several in one round
//! trip: for scripts that users write. PostgreSQL and its kin only.

use crate::connection::Driver;
use crate::session::Session;
use crate::statement::count;
use crate::{Outcome, RowSet, Statement, Value, Verb};
use tidemark_core::{DbError, ErrorClass};

/// One request.
#[derive(Debug, Clone, Copy)]
pub enum Request<'a> {
    /// A text, which may hold several statements; only alone.
    Text(&'a str),
    /// A text that is parsed for this once.
    Parsed {
        /// The text.
        sql: &'a str,
        /// Its values.
        values: &'a [Value<'a>],
    },
    /// A statement of [`Session::prepare_numbered`].
    Prepared {
        /// The statement.
        statement: &'a Statement,
        /// Its values.
        values: &'a [Value<'a>],
    },
}

impl Request<'_> {
    pub(crate) fn verb(&self) -> Verb {
        match self {
            Request::Text(sql) | Request::Parsed { sql, .. } => Verb::of(sql),
            Request::Prepared { statement, .. } => statement.verb,
        }
    }
}

fn unsupported() -> DbError {
    DbError::new(
        ErrorClass::Fatal,
        "protocol",
        "numbered parameters need PostgreSQL, YugabyteDB or CockroachDB",
    )
}

impl Session {
    /// Prepares a text whose parameters are numbered; the names of its columns go to `rows`
    /// ([`RowSet::named`]).
    ///
    /// # Errors
    /// As [`Session::prepare`]; Fatal where the protocol is another, and of a session that sends text.
    pub async fn prepare_numbered(
        &mut self,
        sql: &str,
        rows: &mut RowSet,
    ) -> Result<Statement, DbError> {
        self.gives(sql);
        self.at_reader = false;
        let Driver::Postgres(driver) = &mut self.primary.driver else {
            return Err(unsupported());
        };
        let prepared = driver.prepare_numbered(sql, rows).await;
        self.count_round_trips();
        let statement = prepared?;
        self.prepared = self.prepared.saturating_add(1);
        if let Some(given) = &mut self.given {
            given.became(&statement);
        }
        Ok(statement)
    }

    /// Whether statements are prepared on the server, and not sent as text (a pooler whose sessions
    /// change with each transaction can't keep them).
    pub fn prepares(&self) -> bool {
        match &self.primary.driver {
            Driver::Postgres(driver) => driver.prepares(),
            Driver::Mysql(_) | Driver::Sqlite(_) => true,
        }
    }

    /// Whether a transaction is open, as the server said last.
    pub fn has_transaction(&mut self) -> bool {
        if let Driver::Postgres(driver) = &self.primary.driver {
            self.in_transaction = driver.in_transaction();
        }
        self.in_transaction
    }

    /// Sends requests in one round trip, and decodes the rows of the last results into `rows`. What
    /// follows a failed one is not done. For sessions within a measurement.
    ///
    /// # Errors
    /// As [`Session::execute`]: the first error.
    pub async fn ask(
        &mut self,
        asked: &[Request<'_>],
        rows: Option<&mut RowSet>,
    ) -> Result<Outcome, DbError> {
        for request in asked {
            match request {
                Request::Text(sql) | Request::Parsed { sql, .. } => self.gives(sql),
                Request::Prepared { statement, .. } => self.gives_statement(statement),
            }
            self.was_given();
        }
        self.at_reader = false;
        self.primary.begin();
        let done = match &mut self.primary.driver {
            Driver::Postgres(driver) => driver.ask(asked, rows).await,
            Driver::Mysql(_) | Driver::Sqlite(_) => Err(unsupported()),
        };
        let verbs = || asked.iter().map(Request::verb);
        let verb = match verbs().find(|verb| verb.commits()) {
            Some(commit) => commit,
            None => verbs().next().unwrap_or(Verb::Read),
        };
        let ended = self.primary.end(verb, done);
        let more = u8::try_from(asked.len().saturating_sub(1)).unwrap_or(u8::MAX);
        self.primary.sent_along(more);
        self.count_round_trips();
        self.has_transaction();
        let outcome = ended?;
        match asked {
            [_] => count(&mut self.counts, verb, outcome),
            // What each of several did is not told apart.
            _ => verbs().for_each(|verb| match verb {
                Verb::Read => self.counts.read += 1,
                Verb::Write => self.counts.write += 1,
                _ => self.counts.other += 1,
            }),
        }
        Ok(outcome)
    }
}
