//! One session of a target.

mod facts;

use crate::attendance::Attendance;
use crate::connection::{Connection, Driver};
use crate::given::{GivenStatements, GivenText};
use crate::running_types::RunningType;
use crate::statement::{StatementForm, count, only_reads};
use crate::{
    LoadRequest, Loaded, Outcome, RowSet, RowSource, RunningTypes, Statement, Value, Verb,
};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::DbError;
use tidemark_core::record::StatementCounts;

/// What one host was sent by a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCount {
    /// Index into [`crate::Connector::hosts`].
    pub host: usize,
    /// Statements sent.
    pub statements: u64,
}

/// One session of a target: a connection, and where the target has hosts that only read, a second
/// one to such a host. Reads outside transactions go to the second; everything else, and everything
/// within a transaction, to the first. When either is lost, the session is.
#[derive(Debug)]
pub struct Session {
    pub(crate) primary: Connection,
    reader: Option<Box<Connection>>,
    pub(crate) counts: StatementCounts,
    /// Statements that the server of `primary` keeps prepared for it.
    pub(crate) prepared: u16,
    pub(crate) in_transaction: bool,
    /// What its script waited on purpose since this was asked last.
    paused: Duration,
    /// Whether the reader was sent the last statement.
    pub(crate) at_reader: bool,
    queued: Queued,
    /// How a session outside a measurement is waited for; none within one.
    attendance: Option<Box<Attendance>>,
    /// The texts that it was given, where somebody wants to know; none within a measurement.
    pub(crate) given: Option<Box<GivenStatements>>,
    /// The type of transaction that it is running, of a run whose sessions are looked at by type.
    running: Option<Box<RunningType>>,
}

/// Does something of a session's, and waits for it as its attendance says. Boxed: where there is
/// none, as in a measurement, a task keeps no room for it.
macro_rules! attended {
    ($session:ident, $work:expr) => {
        if let Some(mut attendance) = $session.attendance.take() {
            let work: Pin<Box<dyn Future<Output = _> + '_>> = Box::pin($work);
            let done = Box::pin(attendance.attend(work)).await;
            $session.attendance = Some(attendance);
            return done;
        }
    };
}

/// The statements that wait to be sent with the next one.
#[derive(Debug, Clone, Copy, Default)]
struct Queued {
    count: u8,
    /// Whether the first is a BEGIN; the others write.
    begins: bool,
}

impl Queued {
    fn verbs(self) -> impl Iterator<Item = Verb> {
        (0..self.count).map(move |at| match (at, self.begins) {
            (0, true) => Verb::Begin,
            _ => Verb::Write,
        })
    }
}

impl Session {
    pub(crate) fn new(mut primary: Connection, mut reader: Option<Box<Connection>>) -> Self {
        // What opening took is no statement's.
        primary.take_round_trips();
        if let Some(reader) = &mut reader {
            reader.take_round_trips();
        }
        Self {
            primary,
            reader,
            counts: StatementCounts::default(),
            prepared: 0,
            in_transaction: false,
            paused: Duration::ZERO,
            at_reader: false,
            queued: Queued::default(),
            attendance: None,
            given: None,
            running: None,
        }
    }

    /// Tells by its connection id which type of transaction it is running.
    pub(crate) fn running(mut self, types: &Arc<RunningTypes>) -> Self {
        self.running = self.primary.connection_id().map(|id| types.opened(id));
        self
    }

    /// A transaction of this type begins: an index of the workload's types.
    #[inline]
    pub fn begins(&self, kind: usize) {
        if let Some(running) = &self.running {
            running.begins(kind);
        }
    }

    /// Waits for each statement no longer than the server lives.
    pub(crate) fn attended(mut self, attendance: Attendance) -> Self {
        self.attendance = Some(Box::new(attendance));
        self
    }

    /// Keeps the texts of the statements that it is given from here on: for proving them, not for
    /// measuring.
    pub fn keep_texts(&mut self) {
        self.given = Some(Box::default());
    }

    /// The texts given since [`Session::keep_texts`], each once; those that queued statements belong to
    /// count as executed when they were queued.
    pub fn given_texts(&self) -> &[GivenText] {
        self.given.as_ref().map_or(&[], |given| given.texts())
    }

    /// The text that was sent last, of those that are kept: the one that an error is of, unless it is of
    /// one that was queued before it.
    pub fn last_text(&self) -> Option<&str> {
        self.given.as_ref()?.last()
    }

    pub(crate) fn gives(&mut self, sql: &str) {
        if let Some(given) = &mut self.given {
            given.text(sql);
        }
    }

    pub(crate) fn gives_statement(&mut self, statement: &Statement) {
        if let Some(given) = &mut self.given {
            given.statement(statement);
        }
    }

    /// What was given last was executed.
    pub(crate) fn was_given(&mut self) {
        if let Some(given) = &mut self.given {
            given.executed();
        }
    }

    fn executed(&mut self, verb: Verb, outcome: Outcome) -> Outcome {
        match verb {
            Verb::Begin => self.in_transaction = true,
            Verb::Commit | Verb::Rollback => self.in_transaction = false,
            _ => {}
        }
        count(&mut self.counts, verb, outcome);
        outcome
    }

    /// The connection that a statement goes to, and its form there.
    fn route<'s>(&mut self, statement: &'s Statement) -> (&mut Connection, &'s Statement) {
        let StatementForm::Either(forms) = &statement.form else {
            self.at_reader = false;
            return (&mut self.primary, statement);
        };
        let [at_primary, at_reader] = &**forms;
        self.at_reader = !self.in_transaction;
        match &mut self.reader {
            Some(reader) if self.at_reader => (reader, at_reader),
            _ => (&mut self.primary, at_primary),
        }
    }

    /// Rolls back the transaction that a failed statement left open, if there is one.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn rollback(&mut self) -> Result<(), DbError> {
        match &mut self.primary.driver {
            Driver::Mysql(s) => s.forget_queued(),
            Driver::Postgres(s) => s.forget_queued(),
            Driver::Sqlite(_) => {}
        }
        // The server knows nothing of a transaction whose BEGIN was not sent.
        self.in_transaction &= !std::mem::take(&mut self.queued).begins;
        // One that began within a text of several statements.
        if let Driver::Postgres(s) = &self.primary.driver {
            self.in_transaction |= s.in_transaction();
        }
        if self.in_transaction {
            self.simple("ROLLBACK").await?;
        }
        Ok(())
    }

    /// Prepares a statement, on the server or as text by the session's mode; on both connections
    /// when it may go to either.
    ///
    /// # Errors
    /// The server's error; [`tidemark_core::ErrorClass::Missing`] when a table does not exist.
    pub async fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        attended!(self, self.prepare(sql));
        self.gives(sql);
        self.at_reader = false;
        let prepared = self.primary.prepare(sql).await;
        self.count_queued();
        let statement = prepared?;
        let is_kept = !matches!(statement.form, StatementForm::Text(_));
        self.prepared = self.prepared.saturating_add(u16::from(is_kept));
        let statement = match &mut self.reader {
            Some(reader) if only_reads(sql) => {
                self.at_reader = true;
                let verb = statement.verb;
                let prepared = reader.prepare(sql).await;
                // Of one that failed, too.
                self.count_round_trips();
                let form = StatementForm::Either(Box::new([statement, prepared?]));
                Statement { verb, form }
            }
            _ => statement,
        };
        if let Some(given) = &mut self.given {
            given.became(&statement);
        }
        Ok(statement)
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
        attended!(self, self.execute(statement, values));
        self.gives_statement(statement);
        let (connection, statement) = self.route(statement);
        connection.begin();
        let done = match &mut connection.driver {
            Driver::Mysql(s) => s.execute(statement, values).await,
            Driver::Postgres(s) => s.execute(statement, values).await,
            Driver::Sqlite(s) => {
                s.travel().await;
                s.execute(statement, values)
            }
        };
        let ended = connection.end(statement.verb, done);
        self.count_queued();
        let ended = self.executed(statement.verb, ended?);
        self.was_given();
        Ok(ended)
    }

    /// Keeps a statement to send it with the next one, in one round trip, where the server takes
    /// several at a time (PostgreSQL and its kin; MariaDB); false where it does not, or the statement
    /// returns rows or ends a transaction: then it is still to be executed. For statements whose
    /// outcome nobody needs to send the next. If one fails, what follows is not done on PostgreSQL,
    /// and can only be rolled back on MariaDB; its error is that of the statement that took it along.
    /// MariaDB is sent a COMMIT when it has answered all that goes before it.
    ///
    /// # Errors
    /// When the values are not those that the statement takes, or too long.
    pub fn queue(&mut self, statement: &Statement, values: &[Value<'_>]) -> Result<bool, DbError> {
        let is_fit = match statement.verb {
            Verb::Begin => !self.in_transaction,
            // Outside transactions the next one may be the reader's.
            Verb::Write => self.in_transaction,
            _ => false,
        };
        let is_queued = is_fit
            && match &mut self.primary.driver {
                Driver::Mysql(driver) => driver.queue(statement, values)?,
                Driver::Postgres(driver) => driver.queue(statement, values)?,
                Driver::Sqlite(_) => false,
            };
        if is_queued {
            self.queued.begins |= statement.verb == Verb::Begin;
            self.queued.count += 1;
            self.in_transaction = true;
            self.gives_statement(statement);
            self.was_given();
        }
        Ok(is_queued)
    }

    /// Counts the round trips of what was just sent, to the connection that took it.
    pub(crate) fn count_round_trips(&mut self) {
        let connection: &mut Connection = match &mut self.reader {
            Some(reader) if self.at_reader => reader,
            _ => &mut self.primary,
        };
        self.counts.round_trips += u64::from(connection.take_round_trips());
    }

    /// Counts the round trips of what just ended, and the statements that went ahead of it, as far as
    /// they were done.
    #[inline]
    fn count_queued(&mut self) {
        self.count_round_trips();
        if self.queued.count > 0 {
            self.count_those_ahead();
        }
    }

    fn count_those_ahead(&mut self) {
        let queued = std::mem::take(&mut self.queued);
        self.primary.sent_along(queued.count);
        let changed = match &self.primary.driver {
            Driver::Mysql(driver) => driver.changed_ahead(),
            Driver::Postgres(driver) => driver.changed_ahead(),
            Driver::Sqlite(_) => &[],
        };
        for (verb, changed) in queued.verbs().zip(changed) {
            let outcome = Outcome {
                affected: (*changed).into(),
                ..Outcome::default()
            };
            count(&mut self.counts, verb, outcome);
        }
    }

    /// Rows changed by each of the statements that the last one took along, in their order and up to
    /// the first that failed; of more than 65,534 as many.
    pub fn changed_ahead(&self) -> &[u16] {
        match &self.primary.driver {
            Driver::Mysql(driver) => driver.changed_ahead(),
            Driver::Postgres(driver) => driver.changed_ahead(),
            Driver::Sqlite(_) => &[],
        }
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
        attended!(self, self.fetch(statement, values, rows));
        self.gives_statement(statement);
        let (connection, statement) = self.route(statement);
        connection.begin();
        let done = match &mut connection.driver {
            Driver::Mysql(s) => s.fetch(statement, values, rows).await,
            Driver::Postgres(s) => s.fetch(statement, values, rows).await,
            Driver::Sqlite(s) => {
                s.travel().await;
                s.fetch(statement, values, rows)
            }
        };
        let ended = connection.end(statement.verb, done);
        self.count_queued();
        let ended = self.executed(statement.verb, ended?);
        self.was_given();
        Ok(ended)
    }

    /// Sends one statement as text; rows are counted and not decoded.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn simple(&mut self, sql: &str) -> Result<Outcome, DbError> {
        attended!(self, self.simple(sql));
        self.gives(sql);
        let verb = Verb::of(sql);
        let connection = self.connection_of(verb, sql);
        connection.begin();
        let done = match &mut connection.driver {
            Driver::Mysql(s) => s.simple(sql).await,
            Driver::Postgres(s) => s.simple(sql).await,
            Driver::Sqlite(s) => {
                s.travel().await;
                s.simple(sql)
            }
        };
        let ended = connection.end(verb, done);
        self.count_queued();
        let ended = self.executed(verb, ended?);
        self.was_given();
        Ok(ended)
    }

    /// Sends one statement as text and decodes its rows into `rows`.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn fetch_text(&mut self, sql: &str, rows: &mut RowSet) -> Result<Outcome, DbError> {
        attended!(self, self.fetch_text(sql, rows));
        let verb = Verb::of(sql);
        self.gives(sql);
        let connection = self.connection_of(verb, sql);
        connection.begin();
        let done = match &mut connection.driver {
            Driver::Mysql(s) => s.simple_rows(sql, rows).await,
            Driver::Postgres(s) => s.simple_rows(sql, rows).await,
            Driver::Sqlite(s) => {
                s.travel().await;
                s.simple_rows(sql, rows)
            }
        };
        let ended = connection.end(verb, done);
        self.count_queued();
        let ended = self.executed(verb, ended?);
        self.was_given();
        Ok(ended)
    }

    /// The connection that a text goes to.
    fn connection_of(&mut self, verb: Verb, sql: &str) -> &mut Connection {
        self.at_reader = !self.in_transaction && verb == Verb::Read && only_reads(sql);
        match &mut self.reader {
            Some(reader) if self.at_reader => reader,
            _ => &mut self.primary,
        }
    }

    /// Sends one statement as text and decodes its rows; not counted (housekeeping).
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn query(&mut self, sql: &str) -> Result<RowSet, DbError> {
        attended!(self, self.query(sql));
        self.gives(sql);
        self.at_reader = false;
        let rows = self.primary.query(sql).await;
        self.count_queued();
        if rows.is_ok() {
            self.was_given();
        }
        rows
    }

    /// Sends a statement that does nothing (`COM_PING`, an empty query); how long its reply took to come
    /// to this host. Not counted as a statement. For sessions whose statements' time nobody takes.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub async fn ping(&mut self) -> Result<Duration, DbError> {
        attended!(self, self.ping());
        self.at_reader = false;
        let answered = self.primary.ping().await;
        self.count_round_trips();
        answered
    }

    /// The port of this end of the connection that takes writes; none of a Unix socket, and of an
    /// embedded database.
    pub fn local_port(&mut self) -> Option<u16> {
        self.primary.local_port()
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
        attended!(self, self.load(request, source));
        self.at_reader = false;
        let loaded = self.primary.load(request, source).await;
        self.count_queued();
        loaded
    }

    /// Says goodbye and closes the connection, or both.
    pub async fn close(self) {
        if self.attendance.as_ref().is_some_and(|a| a.gave_up()) {
            return;
        }
        if let Some(reader) = self.reader {
            reader.close().await;
        }
        self.primary.close().await;
    }
}
