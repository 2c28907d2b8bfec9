//! One connection to a target.

use crate::mysql::MysqlSession;
use crate::postgres::PostgresSession;
use crate::sqlite::SqliteSession;
use crate::statement::count;
use crate::{Dialect, LoadRequest, Loaded, Outcome, RowSet, RowSource, Statement, Value, Verb};
use tidemark_core::record::StatementCounts;
use tidemark_core::{DbError, ServerInfo};

/// One connection to a target: an enum over drivers, so that a call is a jump and not a boxed
/// future.
#[derive(Debug)]
pub struct Session {
    driver: Driver,
    counts: StatementCounts,
    in_transaction: bool,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one per session, and a box would cost a cache line a call
enum Driver {
    Mysql(MysqlSession),
    Postgres(PostgresSession),
    Sqlite(SqliteSession),
}

impl From<MysqlSession> for Session {
    fn from(session: MysqlSession) -> Self {
        Self::over(Driver::Mysql(session))
    }
}

impl From<PostgresSession> for Session {
    fn from(session: PostgresSession) -> Self {
        Self::over(Driver::Postgres(session))
    }
}

impl From<SqliteSession> for Session {
    fn from(session: SqliteSession) -> Self {
        Self::over(Driver::Sqlite(session))
    }
}

impl Session {
    fn over(driver: Driver) -> Self {
        Self {
            driver,
            counts: StatementCounts::default(),
            in_transaction: false,
        }
    }

    fn executed(&mut self, verb: Verb, outcome: Outcome) -> Outcome {
        match verb {
            Verb::Begin => self.in_transaction = true,
            Verb::End => self.in_transaction = false,
            _ => {}
        }
        count(&mut self.counts, verb, outcome);
        outcome
    }

    /// Rolls back the transaction that a failed statement left open, if there is one.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn rollback(&mut self) -> Result<(), DbError> {
        if self.in_transaction {
            self.simple("ROLLBACK").await?;
        }
        Ok(())
    }

    /// What the server said of itself.
    pub fn server(&self) -> &ServerInfo {
        match &self.driver {
            Driver::Mysql(s) => s.server(),
            Driver::Postgres(s) => s.server(),
            Driver::Sqlite(s) => s.server(),
        }
    }

    /// The dialect of the engine detected.
    pub fn dialect(&self) -> Dialect {
        Dialect::new(self.server().engine)
    }

    /// Statements executed so far, by group.
    pub fn counts(&self) -> StatementCounts {
        self.counts
    }

    /// Prepares a statement, on the server or as text by the session's mode.
    ///
    /// # Errors
    /// The server's error; [`tidemark_core::ErrorClass::Missing`] when a table does not exist.
    pub async fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        match &mut self.driver {
            Driver::Mysql(s) => s.prepare(sql).await,
            Driver::Postgres(s) => s.prepare(sql).await,
            Driver::Sqlite(s) => s.prepare(sql),
        }
    }

    /// Executes a statement; rows are counted and not decoded.
    ///
    /// # Errors
    /// The server's error; the session is usable after all but a lost connection.
    pub async fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, DbError> {
        let outcome = match &mut self.driver {
            Driver::Mysql(s) => s.execute(statement, values).await,
            Driver::Postgres(s) => s.execute(statement, values).await,
            Driver::Sqlite(s) => s.execute(statement, values),
        }?;
        Ok(self.executed(statement.verb, outcome))
    }

    /// Executes a statement and decodes its rows into `rows`.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn fetch(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        rows: &mut RowSet,
    ) -> Result<Outcome, DbError> {
        let outcome = match &mut self.driver {
            Driver::Mysql(s) => s.fetch(statement, values, rows).await,
            Driver::Postgres(s) => s.fetch(statement, values, rows).await,
            Driver::Sqlite(s) => s.fetch(statement, values, rows),
        }?;
        Ok(self.executed(statement.verb, outcome))
    }

    /// Sends one statement as text; rows are counted and not decoded.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn simple(&mut self, sql: &str) -> Result<Outcome, DbError> {
        let outcome = match &mut self.driver {
            Driver::Mysql(s) => s.simple(sql).await,
            Driver::Postgres(s) => s.simple(sql).await,
            Driver::Sqlite(s) => s.simple(sql),
        }?;
        Ok(self.executed(Verb::of(sql), outcome))
    }

    /// Sends one statement as text and decodes its rows; not counted (housekeeping).
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn query(&mut self, sql: &str) -> Result<RowSet, DbError> {
        match &mut self.driver {
            Driver::Mysql(s) => s.query(sql).await,
            Driver::Postgres(s) => s.query(sql).await,
            Driver::Sqlite(s) => s.query(sql),
        }
    }

    /// Loads rows by the requested or the best way; one statement, so all or nothing within the
    /// surrounding transaction. Not counted.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn load(
        &mut self,
        request: &LoadRequest<'_>,
        source: &mut dyn RowSource,
    ) -> Result<Loaded, DbError> {
        match &mut self.driver {
            Driver::Mysql(s) => s.load(request, source).await,
            Driver::Postgres(s) => s.load(request, source).await,
            Driver::Sqlite(s) => s.load(request, source),
        }
    }

    /// Says goodbye and closes the connection.
    pub async fn close(self) {
        match self.driver {
            Driver::Mysql(s) => s.close().await,
            Driver::Postgres(s) => s.close().await,
            Driver::Sqlite(_) => {}
        }
    }
}
