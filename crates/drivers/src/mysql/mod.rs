//! The MySQL client/server protocol: MySQL, MariaDB, TiDB.
//!
//! Requests are built in a buffer that a thread's sessions share, replies are walked packet by
//! packet in the executor's buffer; nothing is decoded or stored that nobody reads. A session
//! between two statements holds its socket, its statements' parameter types and little else.
//!
//! Greeting, authentication and TLS are in `handshake` and `auth`. The client's files are never
//! read: a server's request for one is answered with data only while [`crate::Session::load`] runs,
//! and with that load's rows.
//!
//! What is tested against what: MariaDB 10.11 for real; `caching_sha2_password`, servers without
//! `CLIENT_DEPRECATE_EOF` and servers that break the protocol against scripts of the documented
//! packets; MySQL and TiDB only by what they share with these.

mod ahead;
mod auth;
mod bind;
pub(crate) mod bulk;
mod columns;
mod decode;
mod error;
mod exchange;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod handshake;
mod load;
mod packet;
mod reply;
#[cfg(test)]
mod reply_tests;
mod rsa;
mod text_form;
mod version;

use crate::{
    ConnectOptions, Dialect, LoadRequest, Loaded, Outcome, RowSet, RowSource, Statement, Template,
    Value, Verb,
};
use ahead::Ahead;
use bind::Bound;
use columns::ResultColumns;
use decode::Decode;
use exchange::lost;
use packet::{COM_PING, COM_QUERY, COM_QUIT, COM_STMT_EXECUTE, COM_STMT_PREPARE, CommandPacket};
use reply::{Count, OkPacket, PrepareReply, ServerPrepared, Terms};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass, Host, PreparedMode, ServerInfo, Target};
use tidemark_runtime::Stream;

use crate::statement::StatementForm;

/// ER_UNSUPPORTED_PS: MySQL prepares no BEGIN, for one.
const UNSUPPORTED_PS: &str = "1295";

/// Whether the next statement may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    Idle,
    /// A reply is awaited. Still so when the next statement comes: the one before was dropped.
    Busy,
    Lost,
}

/// A statement that the server has prepared.
#[derive(Debug)]
struct KnownStatement {
    id: u32,
    /// Whether the server knows the parameters' types.
    types_sent: bool,
    bound: Bound,
    /// Columns of its result that the server takes for known.
    columns: ResultColumns,
}

/// Where a statement is among a session's, in four bytes: ten thousand sessions wait with one.
#[derive(Debug, Clone, Copy)]
struct StatementIndex(NonZeroU32);

impl StatementIndex {
    fn new(index: usize) -> Option<Self> {
        let number = u32::try_from(index).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(Self)
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// One session.
#[derive(Debug)]
pub struct MysqlSession {
    stream: Stream,
    server: Rc<ServerInfo>,
    /// By id, ascending.
    statements: Vec<KnownStatement>,
    prepared: PreparedMode,
    state: ConnectionState,
    terms: Terms,
    local_files: bool,
    bulk: bool,
    ahead: Ahead,
}

impl MysqlSession {
    /// With the lower 32 bits of its connection id, as the greeting has them: a proxy's own, where one is
    /// between.
    pub(crate) async fn open(
        mut stream: Stream,
        host: &Host,
        target: &Target,
        tls: Option<&Arc<rustls::ClientConfig>>,
        options: &ConnectOptions,
    ) -> Result<(Self, u32), DbError> {
        // Boxed: what opening needs isn't part of every session's future for the rest of its life.
        let matched = options.count_matched;
        let agreed = Box::pin(handshake::open(&mut stream, host, target, tls, matched)).await?;
        let mut session = Self {
            stream,
            server: version::server_info(&agreed.version),
            statements: Vec::new(),
            prepared: options.prepared,
            state: ConnectionState::Idle,
            terms: agreed.terms,
            local_files: agreed.local_files,
            bulk: agreed.bulk,
            ahead: Ahead::default(),
        };
        if agreed.status & reply::status::NO_BACKSLASH_ESCAPES != 0 {
            let set = Box::pin(session.simple(BACKSLASH_ESCAPES)).await;
            set.map_err(|e| error::opening(host, e))?;
        }
        if agreed.status & reply::status::AUTOCOMMIT == 0 {
            let set = Box::pin(session.simple(AUTOCOMMIT)).await;
            set.map_err(|e| error::opening(host, e))?;
        }
        Ok((session, agreed.connection_id))
    }

    pub(crate) fn server(&self) -> &ServerInfo {
        &self.server
    }

    pub(crate) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        let verb = Verb::of(sql);
        let as_text = || Statement {
            verb,
            form: StatementForm::Text(Template::new(sql)),
        };
        if self.prepared == PreparedMode::Text {
            return Ok(as_text());
        }
        let (prepared, columns) = match self.prepare_on_server(sql).await {
            Err(e) if e.code == UNSUPPORTED_PS => return Ok(as_text()),
            prepared => prepared?,
        };
        let known = KnownStatement {
            id: prepared.id,
            types_sent: false,
            bound: Bound::none(prepared.params),
            columns,
        };
        match self.find(prepared.id) {
            Ok(at) => self.statements[at] = known,
            Err(at) => self.statements.insert(at, known),
        }
        Ok(Statement {
            verb,
            form: StatementForm::Mysql {
                id: prepared.id,
                params: prepared.params,
                has_rows: prepared.has_rows || returns_rows(sql),
            },
        })
    }

    /// Prepares a statement whatever the session's mode.
    async fn prepare_on_server(
        &mut self,
        sql: &str,
    ) -> Result<(ServerPrepared, ResultColumns), DbError> {
        let mut request = CommandPacket::command(COM_STMT_PREPARE);
        request.body().extend_from_slice(sql.as_bytes());
        let mut frame = self.send(request).await?;
        let mut reply = PrepareReply::new(self.terms);
        let prepared = self.receive(&mut frame, &mut reply).await?;
        Ok((prepared, reply.into_columns()))
    }

    /// Sends a command that is not answered.
    async fn tell(&mut self, request: CommandPacket) -> Result<(), DbError> {
        self.send(request).await?;
        self.state = ConnectionState::Idle;
        Ok(())
    }

    pub(crate) async fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, DbError> {
        if let Some(rest) = self.settle_before(statement.verb) {
            rest.await?;
        }
        let (request, place) = self.request(statement, values)?;
        let outcome = self.run(request, place, Count).await;
        self.end(&outcome, statement);
        outcome.map(|(outcome, _)| outcome)
    }

    pub(crate) async fn fetch(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        rows: &mut RowSet,
    ) -> Result<Outcome, DbError> {
        let form = match statement.form {
            StatementForm::Mysql { .. } => decode::RowFormat::Binary,
            _ => decode::RowFormat::Text,
        };
        if let Some(rest) = self.settle_before(statement.verb) {
            rest.await?;
        }
        let (request, place) = self.request(statement, values)?;
        let outcome = self.run(request, place, Decode::new(rows, form)).await;
        self.end(&outcome, statement);
        outcome.map(|(outcome, _)| outcome)
    }

    pub(crate) async fn simple(&mut self, sql: &str) -> Result<Outcome, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        let (outcome, _) = self.run(CommandPacket::query(sql), None, Count).await?;
        self.ahead.ended(Verb::of(sql));
        Ok(outcome)
    }

    pub(crate) async fn query(&mut self, sql: &str) -> Result<RowSet, DbError> {
        let (rows, _) = self.ask(sql).await?;
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
        let sink = Decode::new(rows, decode::RowFormat::Text);
        let (outcome, _) = self.run(CommandPacket::query(sql), None, sink).await?;
        self.ahead.ended(Verb::of(sql));
        Ok(outcome)
    }

    /// The server answers, and does nothing else.
    pub(crate) async fn ping(&mut self) -> Result<(), DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        self.run(CommandPacket::command(COM_PING), None, Count)
            .await?;
        Ok(())
    }

    /// Rows and the last OK packet's words.
    async fn ask(&mut self, sql: &str) -> Result<(RowSet, OkPacket), DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        let mut rows = RowSet::new();
        let sink = Decode::new(&mut rows, decode::RowFormat::Text);
        let (_, ok) = self.run(CommandPacket::query(sql), None, sink).await?;
        Ok((rows, ok))
    }

    pub(crate) async fn load(
        &mut self,
        request: &LoadRequest<'_>,
        source: &mut dyn RowSource,
    ) -> Result<Loaded, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        Box::pin(load::load(self, request, source)).await
    }

    pub(crate) async fn close(mut self) {
        // Nobody waits for a goodbye, however far the server is.
        self.stream.inject_rtt(Duration::ZERO);
        // The server may be gone already: nothing is left to be said then.
        let _ = self.send(CommandPacket::command(COM_QUIT)).await;
    }

    /// Whether a statement can be sent with these values; of one that is prepared, its place.
    fn check(
        &self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Option<StatementIndex>, DbError> {
        let expected = match &statement.form {
            StatementForm::Mysql { params, .. } => usize::from(*params),
            StatementForm::Text(template) => template.params(),
            _ => return Err(misuse("the statement belongs to another driver".into())),
        };
        if values.len() != expected {
            let given = values.len();
            return Err(misuse(format!(
                "the statement has {expected} parameters, but {given} values are given"
            )));
        }
        let StatementForm::Mysql { id, .. } = statement.form else {
            return Ok(None);
        };
        let place = self.find(id).ok().and_then(StatementIndex::new);
        place
            .map(Some)
            .ok_or_else(|| misuse("the statement was prepared in another session".into()))
    }

    /// The command that executes a statement with values, and before it those that wait; of a
    /// statement that is prepared, its place.
    fn request(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<(CommandPacket, Option<StatementIndex>), DbError> {
        let place = self.check(statement, values)?;
        let before = self.ahead.take();
        Ok((self.write(statement, place, values, before), place))
    }

    /// Builds the command that executes a statement, which was looked at, behind others.
    fn write(
        &mut self,
        statement: &Statement,
        place: Option<StatementIndex>,
        values: &[Value<'_>],
        before: Vec<u8>,
    ) -> CommandPacket {
        if let Some(place) = place {
            let known = &mut self.statements[place.index()];
            let request = CommandPacket::behind(before, COM_STMT_EXECUTE);
            let first = !std::mem::replace(&mut known.types_sent, true);
            return bind::execute(request, known.id, values, &mut known.bound, first);
        }
        let mut request = CommandPacket::behind(before, COM_QUERY);
        if let StatementForm::Text(template) = &statement.form {
            let dialect = Dialect::new(self.server.engine);
            template.render(&dialect, values, request.body());
        }
        request
    }

    fn find(&self, id: u32) -> Result<usize, usize> {
        // Servers number a session's statements from 1.
        let guess = (id as usize).wrapping_sub(1);
        match self.statements.get(guess) {
            Some(known) if known.id == id => Ok(guess),
            _ => self.statements.binary_search_by_key(&id, |known| known.id),
        }
    }

    /// Takes over what came of a statement.
    fn end<T>(&mut self, result: &Result<T, DbError>, statement: &Statement) {
        match (result, &statement.form) {
            (Ok(_), _) => self.ahead.ended(statement.verb),
            // It may have failed before the server took its types.
            (Err(_), StatementForm::Mysql { id, .. }) => {
                if let Ok(at) = self.find(*id) {
                    self.statements[at].types_sent = false;
                }
            }
            _ => {}
        }
    }

    fn forget_all_types(&mut self) {
        for known in &mut self.statements {
            known.types_sent = false;
        }
    }
}

/// A statement outside transactions is one; a server may be set to wait for a COMMIT.
const AUTOCOMMIT: &str = "SET SESSION autocommit=1";

/// Literals are written with doubled backslashes.
const BACKSLASH_ESCAPES: &str =
    "SET SESSION sql_mode=REPLACE(@@SESSION.sql_mode,'NO_BACKSLASH_ESCAPES','')";

/// MariaDB tells of no columns when it prepares a write with RETURNING (MDEV-27013).
fn returns_rows(sql: &str) -> bool {
    sql.to_ascii_uppercase().contains("RETURNING")
}

#[cold]
fn misuse(message: String) -> DbError {
    DbError::new(ErrorClass::Fatal, "usage", message)
}
