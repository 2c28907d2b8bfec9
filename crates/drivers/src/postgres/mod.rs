//! The PostgreSQL frontend/backend protocol 3.0: PostgreSQL, YugabyteDB's YSQL, CockroachDB.
//!
//! PostgreSQL manual, chapter "Frontend/Backend Protocol". A statement is one write
//! (`Bind`, `Execute`, `Sync`) and one walk over the reply; rows that nobody reads are skipped
//! where they lie. Parameters and results travel in text form, which every server of the family
//! reads and writes alike. Statements whose outcome nobody needs may wait for the next one, which takes
//! them along (`ahead`); else a session holds no buffer between statements.

mod ahead;
pub(crate) mod binary;
mod detect;
mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod load;
mod message;
mod reply;
mod requests;
mod skim;
mod startup;
mod text_form;
mod transaction_settings;

use crate::engines;
use crate::statement::StatementForm;
use crate::{
    ConnectOptions, Dialect, LoadRequest, Loaded, Outcome, RowSet, RowSource, Statement, Template,
    Value, Verb,
};
use ahead::{Ahead, WentAhead};
use reply::Reply;
use skim::Skimmer;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
pub(crate) use text_form::sets_for_itself;
use tidemark_core::{DbError, ErrorClass, Host, PreparedMode, ServerInfo, Target};
use tidemark_runtime::{Received, Sent, Stream, Wait};
use transaction_settings::Carried;

/// What sending a request at once has left to be done, or to be told.
enum UnsentRequest {
    Refused(DbError),
    /// So many of its bytes are sent; the others wait for room, or could not be.
    Unsent(Vec<u8>, io::Result<usize>),
}

/// One session.
#[derive(Debug)]
pub struct PostgresSession {
    stream: Stream,
    skimmer: Skimmer,
    server: Rc<ServerInfo>,
    /// Number of the statement prepared last.
    prepared: u32,
    mode: PreparedMode,
    /// A reply is not wholly received: the session can't be used until it is.
    pending: bool,
    in_transaction: bool,
    ahead: Ahead,
    /// What few sessions have: ten thousand of them keep a pointer for it.
    rare: Option<Box<Rare>>,
}

/// What few sessions have.
#[derive(Debug, Default)]
struct Rare {
    /// Whether another than the server gave this session its number: a pooler.
    is_pooled: bool,
    /// What the server said when it closed the session between two statements.
    farewell: Option<Box<DbError>>,
    /// What is set for transactions, of a session that has no server session to itself.
    carried: Option<Carried>,
}

impl PostgresSession {
    /// Opens a session on a fresh connection. With the id of the process that serves it, as the server told it: a
    /// pooler's own number, where one is between; 0 where nothing was told.
    pub(crate) async fn open(
        stream: Stream,
        host: &Host,
        target: &Target,
        tls: Option<&Arc<rustls::ClientConfig>>,
        options: &ConnectOptions,
    ) -> Result<(Self, u32), DbError> {
        // In a box of its own: a task is as large as its largest wait, and this one is done once.
        let started = Box::pin(startup::start(stream, host, target, tls)).await?;
        let mut session = Self {
            stream: started.stream,
            skimmer: Skimmer::default(),
            server: Rc::new(detect::detect("", &started.server_version)),
            prepared: 0,
            mode: options.prepared,
            pending: false,
            in_transaction: false,
            ahead: Ahead::default(),
            rare: None,
        };
        let rest = session.skimmer.skim(&started.rest, &mut Reply::none());
        rest.map_err(|e| startup::refuse(host, e))?;
        let asked = format!(
            "SELECT version(), pg_backend_pid(){}",
            text_form::settings()
        );
        let rows = Box::pin(session.query(&asked)).await.map_err(|e| {
            let message = format!("can't ask {host} for its version: {}", e.message);
            DbError::new(ErrorClass::Refused, e.code, message).of_kind(e.kind)
        })?;
        let version = rows.text(0, 0).unwrap_or_default();
        session.server =
            crate::reached_hosts::shared(detect::detect(&version, &started.server_version));
        let is_told = engines::of(session.server.engine).numbers_sessions;
        let behind = rows.int(0, 1).filter(|_| is_told);
        if started.number.zip(behind).is_some_and(|(a, b)| a != b) {
            session.rare.get_or_insert_default().is_pooled = true;
            // Until it is known whose sessions the pooler's are.
            session.carry_settings();
        }
        for sql in text_form::odd(&rows, 2) {
            let set = Box::pin(session.query(&sql)).await;
            set.map_err(|e| startup::refuse(host, e))?;
        }
        let process = started.number.and_then(|n| u32::try_from(n).ok());
        Ok((session, process.unwrap_or_default()))
    }

    pub(crate) fn server(&self) -> &ServerInfo {
        &self.server
    }

    pub(crate) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    fn dialect(&self) -> Dialect {
        Dialect::new(self.server.engine)
    }

    /// Whether a pooler answers for the server: it makes up the number that a session is cancelled
    /// by, which a server's own is its process's (manual, "BackendKeyData").
    pub(crate) fn is_pooled(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.is_pooled)
    }

    /// Whether statements are prepared on the server.
    pub(crate) fn prepares(&self) -> bool {
        self.mode == PreparedMode::Server
    }

    /// Sends statements as text from here on.
    pub(crate) fn send_text(&mut self) {
        self.mode = PreparedMode::Text;
    }

    /// Sets nothing for longer than a transaction from here on: the server's session is another one
    /// then.
    pub(crate) fn carry_settings(&mut self) {
        let rare = self.rare.get_or_insert_default();
        rare.carried.get_or_insert_default();
    }

    /// Sets for the session what was set for its transactions: the server's session is its own.
    pub(crate) async fn settle_settings(&mut self) -> Result<(), DbError> {
        let carried = self.rare.as_mut().and_then(|rare| rare.carried.take());
        for sql in carried.into_iter().flat_map(Carried::for_good) {
            Box::pin(self.query(&sql)).await?;
        }
        Ok(())
    }

    /// Prepares the next statement under this number: to see whether a name is known to others.
    pub(crate) fn number_from(&mut self, number: u32) {
        self.prepared = number.wrapping_sub(1);
    }

    /// Keeps what a statement sets, where it is set with each transaction.
    fn keeps(&mut self, sql: &str) -> Option<Carried> {
        let rare = self.rare.as_mut().filter(|_| !self.in_transaction)?;
        let carried = rare.carried.as_mut()?;
        let before = Carried::clone(carried);
        carried.take(sql).then_some(before)
    }

    /// Tries what is set now; what was set before comes back if the server does not take it.
    async fn try_settings(&mut self, before: Carried) -> Result<(), DbError> {
        let tried = Box::pin(self.query("SELECT 1")).await;
        tried.map(drop).inspect_err(|_| {
            self.rare.get_or_insert_default().carried = Some(before);
        })
    }

    /// Writes a statement as text, with what is set for its transaction.
    fn write_text(
        &self,
        out: &mut Vec<u8>,
        verb: Verb,
        sql: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), DbError> {
        let inside = self.in_transaction;
        let carried = self.rare.as_ref().and_then(|rare| rare.carried.as_ref());
        message::query_with(out, |out| match carried {
            Some(carried) => carried.write(out, verb, inside, sql),
            None => sql(out),
        })
    }

    /// Keeps a statement without rows to send it with the next one; false where it must be executed
    /// by itself. An error of it is the next one's.
    pub(crate) fn queue(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<bool, DbError> {
        let StatementForm::Postgres {
            number,
            params,
            columns: 0,
        } = statement.form
        else {
            return Ok(false);
        };
        check_values(values, params.into())?;
        self.ahead.add(number, values)
    }

    /// Sends none of what waits for the next statement.
    pub(crate) fn forget_queued(&mut self) {
        self.ahead.forget();
    }

    /// Rows changed by each of the statements that went ahead of the last one that took any along.
    pub(crate) fn changed_ahead(&self) -> &[u16] {
        self.ahead.changed()
    }

    /// Whether the last statement took others along, and the server said why it did not come to it.
    pub(crate) fn stopped_short(&self) -> bool {
        self.ahead.stopped_short()
    }

    /// Executes what waits by itself, before a request that can't follow it without a `Sync`.
    async fn send_queued(&mut self) -> Result<(), DbError> {
        let (mut out, count) = self.ahead.take();
        message::sync(&mut out);
        let mut reply = Reply::preparing().after(count);
        self.exchange(out, &mut reply).await
    }

    /// Nothing waits to be sent when this is done; `None` when nothing does.
    fn settle(&mut self) -> Option<Pin<Box<impl Future<Output = Result<(), DbError>>>>> {
        (!self.ahead.is_empty()).then(|| Box::pin(self.send_queued()))
    }

    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        let verb = Verb::of(sql);
        let template = Template::new(sql);
        if self.mode == PreparedMode::Text {
            let form = StatementForm::Text(template);
            return Ok(Statement { verb, form });
        }
        // A number is used once, also by a statement that the server parsed and could not describe.
        self.prepared = self.prepared.wrapping_add(1);
        let number = self.prepared;
        let mut out = message::buffer();
        message::prepare(&mut out, number, &template.numbered())?;
        let mut reply = Reply::preparing();
        self.exchange(out, &mut reply).await?;
        let form = StatementForm::Postgres {
            number,
            params: reply.params,
            columns: reply.columns.unwrap_or(0),
        };
        Ok(Statement { verb, form })
    }

    pub(crate) async fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, DbError> {
        let mut reply = Reply::counting();
        let out = self.request(statement, values, &mut reply)?;
        self.exchange(out, &mut reply).await?;
        Ok(reply.outcome)
    }

    pub(crate) async fn fetch(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        rows: &mut RowSet,
    ) -> Result<Outcome, DbError> {
        let columns = match statement.form {
            StatementForm::Postgres { columns, .. } => Some(columns),
            _ => None,
        };
        let mut reply = Reply::decoding(rows, columns);
        let out = self.request(statement, values, &mut reply)?;
        self.exchange(out, &mut reply).await?;
        Ok(reply.outcome)
    }

    pub(crate) async fn simple(&mut self, sql: &str) -> Result<Outcome, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        if let Some(before) = self.keeps(sql) {
            Box::pin(self.try_settings(before)).await?;
            return Ok(Outcome::default());
        }
        let mut out = message::buffer();
        self.write_text(&mut out, Verb::of(sql), |out| {
            out.extend_from_slice(sql.as_bytes());
        })?;
        let mut reply = Reply::counting();
        self.exchange(out, &mut reply).await?;
        Ok(reply.outcome)
    }

    pub(crate) async fn query(&mut self, sql: &str) -> Result<RowSet, DbError> {
        let mut rows = RowSet::new();
        self.simple_rows(sql, &mut rows).await?;
        Ok(rows)
    }

    /// As [`Self::simple`], with the rows.
    pub(crate) async fn simple_rows(
        &mut self,
        sql: &str,
        rows: &mut RowSet,
    ) -> Result<Outcome, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        if let Some(before) = self.keeps(sql) {
            Box::pin(self.try_settings(before)).await?;
            return Ok(Outcome::default());
        }
        let mut out = message::buffer();
        self.write_text(&mut out, Verb::of(sql), |out| {
            out.extend_from_slice(sql.as_bytes());
        })?;
        let mut reply = Reply::decoding(rows, None);
        self.exchange(out, &mut reply).await?;
        Ok(reply.outcome)
    }

    pub(crate) async fn load(
        &mut self,
        request: &LoadRequest<'_>,
        source: &mut dyn RowSource,
    ) -> Result<Loaded, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        // In a box of its own, as when opening.
        Box::pin(load::load(self, request, source)).await
    }

    pub(crate) async fn close(mut self) {
        // A server that still owes a reply may take no more bytes either.
        if self.pending {
            return;
        }
        let mut out = message::buffer();
        message::terminate(&mut out);
        // Nobody waits for a goodbye, however far the server is.
        self.stream.inject_rtt(Duration::ZERO);
        // The connection is closed either way.
        let _ = self.stream.send(&out).await;
        message::give_back(out);
    }

    /// The request that executes a statement, prepared or as text.
    fn request(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        reply: &mut Reply<'_>,
    ) -> Result<Vec<u8>, DbError> {
        let mut out;
        match &statement.form {
            StatementForm::Postgres {
                number,
                params,
                columns,
            } => {
                check_values(values, (*params).into())?;
                let count;
                (out, count) = self.ahead.take();
                message::bind_execute(&mut out, *number, values)?;
                reply.went_ahead = WentAhead::new(count);
                reply.extended = true;
                reply.columns = (*columns > 0).then_some(*columns);
            }
            StatementForm::Text(template) => {
                check_values(values, template.params())?;
                // A session that sends text has queued none.
                out = message::buffer();
                let dialect = self.dialect();
                self.write_text(&mut out, statement.verb, |out| {
                    template.render(&dialect, values, out);
                })?;
            }
            _ => {
                return Err(DbError::new(
                    ErrorClass::Fatal,
                    "protocol",
                    "the statement was prepared by another driver",
                ));
            }
        }
        Ok(out)
    }

    /// Sends a request; what is returned receives the whole reply. Sessions wait with it: what was sent
    /// is not part of it any more. Inlined with its future, which would be copied else.
    #[inline]
    fn exchange<'s>(
        &'s mut self,
        out: Vec<u8>,
        reply: &'s mut Reply<'_>,
    ) -> impl Future<Output = Result<(), DbError>> + 's {
        let rest = self.start(out);
        async move {
            if let Some(rest) = rest {
                Box::pin(self.go_on(rest, reply)).await?;
            }
            match self.receive_now(reply) {
                Received::Done(received) => received?,
                Received::Waits(wait) => self.receive_rest(wait, reply).await?,
            }
            if reply.copy_in {
                Box::pin(load::refuse_copy(self, reply)).await?;
            }
            self.finish(reply)
        }
    }

    /// Sends as much of a request as can be sent at once: nearly always all.
    #[inline(never)]
    fn start(&mut self, out: Vec<u8>) -> Option<Box<UnsentRequest>> {
        if let Err(error) = self.begin() {
            return Some(Box::new(UnsentRequest::Refused(error)));
        }
        match self.stream.send_now(&out) {
            Ok(Sent::All) => {
                message::give_back(out);
                None
            }
            Ok(Sent::Part(sent)) => Some(Box::new(UnsentRequest::Unsent(out, Ok(sent)))),
            Err(error) => Some(Box::new(UnsentRequest::Unsent(out, Err(error)))),
        }
    }

    async fn go_on(
        &mut self,
        rest: Box<UnsentRequest>,
        reply: &mut Reply<'_>,
    ) -> Result<(), DbError> {
        match *rest {
            UnsentRequest::Refused(error) => Err(error),
            UnsentRequest::Unsent(out, sent) => {
                self.send_rest(sent, &out, reply).await?;
                message::give_back(out);
                Ok(())
            }
        }
    }

    /// Makes sure that nothing of an earlier reply is on its way.
    fn begin(&mut self) -> Result<(), DbError> {
        if let Some(farewell) = self.rare.as_mut().and_then(|rare| rare.farewell.take()) {
            self.pending = true;
            return Err(*farewell);
        }
        if self.pending {
            return Err(DbError::protocol(
                "the session was lost with an earlier statement",
            ));
        }
        self.pending = true;
        self.ahead.begin();
        Ok(())
    }

    /// Sends bytes. When that fails, the server's last words, if they came, are the error.
    async fn transmit(&mut self, bytes: &[u8], reply: &mut Reply<'_>) -> Result<(), DbError> {
        match self.stream.send_now(bytes) {
            Ok(Sent::All) => Ok(()),
            Ok(Sent::Part(sent)) => self.send_rest(Ok(sent), bytes, reply).await,
            Err(error) => self.send_rest(Err(error), bytes, reply).await,
        }
    }

    async fn send_rest(
        &mut self,
        sent: io::Result<usize>,
        bytes: &[u8],
        reply: &mut Reply<'_>,
    ) -> Result<(), DbError> {
        let done = match sent {
            Ok(sent) => self.stream.send_rest(&bytes[sent..]).await,
            Err(e) => Err(e),
        };
        match done {
            Ok(()) => Ok(()),
            Err(e) => Err(Box::pin(self.last_words(e, reply)).await),
        }
    }

    async fn last_words(&mut self, error: io::Error, reply: &mut Reply<'_>) -> DbError {
        match self.receive(reply).await {
            Err(e) if e.code != "io" => e,
            _ => match reply.error.take() {
                Some(e) if e.class == ErrorClass::ConnectionLost => *e,
                _ => DbError::lost(&error),
            },
        }
    }

    /// Receives until the reply is over or the server waits for rows to copy.
    async fn receive(&mut self, reply: &mut Reply<'_>) -> Result<(), DbError> {
        match self.receive_now(reply) {
            Received::Done(received) => received,
            Received::Waits(wait) => self.receive_rest(wait, reply).await,
        }
    }

    /// The same of a reply that is there, or comes while the thread is held up for it.
    fn receive_now(&mut self, reply: &mut Reply<'_>) -> Received<Result<(), DbError>> {
        let skimmer = &mut self.skimmer;
        let received = self.stream.receive_now(|bytes| reply.read(skimmer, bytes));
        received.unwrap_or_else(|e| Received::Done(Err(reply.lost(&e))))
    }

    #[allow(clippy::manual_async_fn)] // an `async fn` would keep all that it is given twice
    fn receive_rest<'s>(
        &'s mut self,
        wait: Wait,
        reply: &'s mut Reply<'_>,
    ) -> impl Future<Output = Result<(), DbError>> + 's {
        async move {
            let skimmer = &mut self.skimmer;
            let rest = self
                .stream
                .receive_rest(wait, |bytes| reply.read(skimmer, bytes));
            rest.await.unwrap_or_else(|e| Err(reply.lost(&e)))
        }
    }

    /// Takes over what a reply tells of the session.
    fn finish(&mut self, reply: &mut Reply<'_>) -> Result<(), DbError> {
        self.pending = !reply.ready;
        self.in_transaction = reply.in_transaction;
        // The reply of what settled the queue is followed by one of its own.
        if reply.went_ahead != WentAhead::default() {
            self.ahead.keep(reply.went_ahead);
        }
        if let Some(farewell) = reply.farewell.take() {
            self.rare.get_or_insert_default().farewell = Some(farewell);
        }
        reply.close().inspect_err(|e| {
            self.pending |= e.class == ErrorClass::ConnectionLost;
        })
    }
}

fn check_values(values: &[Value<'_>], params: usize) -> Result<(), DbError> {
    if values.len() == params {
        return Ok(());
    }
    Err(DbError::new(
        ErrorClass::Fatal,
        "protocol",
        format!(
            "the statement has {params} parameters and {} values are given",
            values.len()
        ),
    ))
}
