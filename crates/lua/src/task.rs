//! A script thread: a coroutine, and what it asks for until its function has ended.

mod failure;

pub(crate) use failure::Failure;

use crate::answer::{ScriptAnswer, ScriptRequest};
use crate::connection::{EngineSession, OperationResult, ScriptConnection};
use crate::coroutine::{Asked, Coroutine};
use crate::explain::explained;
use crate::state::ScriptState;
use failure::said;
use mlua::{Function, LuaString, Table, Value};
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::Session;
use tidemark_workloads::random::Rng;
use tidemark_workloads::{Done, Notes};

/// Marks the threads' streams of random numbers.
const STREAM: u64 = u64::MAX - 1;
/// Notes of a script's transactions.
pub(crate) const NOTES: &[&str] = &["errors counted by the script", "reconnects by the script"];
/// Of these, the errors.
pub(crate) const COUNTED_ERRORS: usize = 0;
const RECONNECTS: usize = 1;
/// What is in progress has so much time to end after the user asked: less than the run's own patience.
const GRACE: Duration = Duration::from_secs(1);
/// Replies that come without a wait, as on a thread of its own, would never let the executor see that
/// the run is to be cut off: it is let so often.
const TURN: Duration = Duration::from_millis(50);

/// A script thread.
pub(crate) struct ScriptThread {
    number: usize,
    coroutine: Coroutine,
    environment: Table,
    event: Option<Function>,
    rng: Rng,
    connections: Vec<ScriptConnection>,
    /// What its last request came with.
    asked: Asked,
    /// Counts the errors of its statements.
    errors: u64,
    /// The last of them, and whether it was an own connection's end.
    last: Option<(DbError, bool)>,
    /// What the last event threw, until the script has heard of it.
    restart: Option<Value>,
    counted_errors: u32,
    reconnects: u32,
    /// Whether it ends where the user asks for an end, and not with the run.
    pub is_command: bool,
    /// Whether it was ended: it has nothing more to do.
    pub is_stopped: bool,
}

impl ScriptThread {
    /// A thread with globals of its own, which has done nothing.
    ///
    /// # Errors
    /// When Lua has no memory.
    pub fn new(state: &ScriptState, number: usize) -> Result<Self, Failure> {
        let environment: Table = state.environment.call(number)?;
        Ok(Self {
            number,
            coroutine: Coroutine::new(state, &environment)?,
            environment,
            event: None,
            rng: Rng::of(&[state.program.first_seed, STREAM, number as u64]),
            connections: Vec::new(),
            asked: Asked::default(),
            errors: 0,
            last: None,
            restart: None,
            counted_errors: 0,
            reconnects: 0,
            is_command: false,
            is_stopped: false,
        })
    }

    pub fn number(&self) -> usize {
        self.number
    }

    pub fn environment(&self) -> &Table {
        &self.environment
    }

    /// Draws other numbers from here on.
    pub fn seed(&mut self, seed: u64) {
        self.rng = Rng::of(&[seed, STREAM, self.number as u64]);
    }

    /// A global function.
    pub fn function(&self, name: &str) -> Option<Function> {
        self.environment.get(name).ok()
    }

    /// A function of `sysbench.hooks`.
    pub fn hook(&self, name: &str) -> Option<Function> {
        let sysbench: Table = self.environment.get("sysbench").ok()?;
        sysbench.get::<Table>("hooks").ok()?.get(name).ok()
    }

    /// Runs the script's top level.
    ///
    /// # Errors
    /// [`Failure`], as the script's.
    pub async fn load(
        &mut self,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
    ) -> Result<(), Failure> {
        let load = state.load.clone();
        self.run(state, engine, &load, Value::Nil).await.map(drop)
    }

    /// Runs a global function, if there is one.
    ///
    /// # Errors
    /// [`Failure`], as the script's.
    pub async fn global(
        &mut self,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
        name: &str,
    ) -> Result<bool, Failure> {
        let Some(function) = self.function(name) else {
            return Ok(false);
        };
        let number = Value::Integer(self.number as mlua::Integer);
        self.run(state, engine, &function, number).await?;
        Ok(true)
    }

    /// The engine's session is another one.
    pub fn session_replaced(&mut self) {
        self.connections
            .iter_mut()
            .for_each(ScriptConnection::session_replaced);
    }

    /// Runs one event.
    ///
    /// # Errors
    /// The server's, sorted by the script's hooks, or `script` for the script's own.
    pub async fn event(
        &mut self,
        state: &ScriptState,
        session: &mut Session,
    ) -> Result<Done, DbError> {
        let mut engine = Some(session);
        let engine = &mut engine;
        if let Some(thrown) = self.restart.take() {
            self.restarted(state, engine, thrown).await?;
        }
        let event = self.event.take().or_else(|| self.function("event"));
        let Some(event) = event else {
            let message = format!("{} has no event()", state.program.script_text());
            return Err(DbError::new(ErrorClass::Fatal, "script", message));
        };
        let number = Value::Integer(self.number as mlua::Integer);
        let done = self.run(state, engine, &event, number).await;
        self.event = Some(event);
        match done {
            Ok(_) => {
                let mut notes = Notes::NONE;
                (0..std::mem::take(&mut self.counted_errors))
                    .for_each(|_| notes.add(COUNTED_ERRORS));
                (0..std::mem::take(&mut self.reconnects)).for_each(|_| notes.add(RECONNECTS));
                Ok(Done { kind: 0, notes })
            }
            Err(failure) => Err(Box::pin(self.sorted(state, engine, failure)).await),
        }
    }

    /// Tells the script what ended its last event.
    async fn restarted(
        &mut self,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
        thrown: Value,
    ) -> Result<(), DbError> {
        if let Some(hook) = self.hook("before_restart_event") {
            let told = self.run(state, engine, &hook, thrown).await;
            told.map_err(Failure::into_db)?;
        }
        Ok(())
    }

    /// An error as the engine's, after the script said whether it is to be ignored.
    async fn sorted(
        &mut self,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
        failure: Failure,
    ) -> DbError {
        let is_own_loss = self.last.take().is_some_and(|(_, own)| own);
        let (thrown, kind) = match &failure {
            Failure::Script(_) | Failure::Stopped(_) => return failure.into_db(),
            Failure::Restart(thrown) => (thrown.clone(), None),
            Failure::Db { thrown, error, .. } => (thrown.clone(), Some(error.kind)),
        };
        let connector = state.program.connector().cloned();
        for connection in &mut self.connections {
            connection
                .recover(is_own_loss, connector.as_ref(), self.number)
                .await;
        }
        let mut error = failure.into_db();
        if is_own_loss {
            // The engine's session is well.
            error.class = ErrorClass::Retryable;
        }
        if kind.is_some()
            && let Some(hook) = self.hook("sql_error_ignorable")
        {
            match self.run(state, engine, &hook, thrown.clone()).await {
                Ok(Value::Nil | Value::Boolean(false)) => {}
                Ok(_) => error.kind = ErrorKind::Ignorable,
                Err(failure) => return failure.into_db(),
            }
        }
        self.restart = Some(thrown);
        error
    }

    /// Runs a function until it has ended, and does what it asks for meanwhile.
    ///
    /// # Errors
    /// [`Failure`] of what it did not catch.
    pub async fn run(
        &mut self,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
        function: &Function,
        argument: Value,
    ) -> Result<Value, Failure> {
        let mut request = self.resume(state, engine, |coroutine, asked| {
            coroutine.call(state, function, argument, asked)
        })?;
        let mut turn = Instant::now();
        loop {
            let grace = match self.is_command {
                true => Duration::ZERO,
                false => GRACE,
            };
            let answer = match request {
                ScriptRequest::Done(value) => return Ok(value),
                ScriptRequest::Failed(value) => return Err(self.failure(value)),
                // Its coroutine is not told, so that it can't catch it.
                _ if crate::is_interrupted_for(grace) => {
                    self.is_stopped = true;
                    self.coroutine = Coroutine::new(state, &self.environment)?;
                    return Err(Failure::Stopped("interrupted".into()));
                }
                ScriptRequest::Bad(words) => ScriptAnswer::Refused(words),
                other => self.answer(state, engine, other).await,
            };
            if turn.elapsed() >= TURN {
                tidemark_runtime::yield_now().await;
                turn = Instant::now();
            }
            request = self.resume(state, engine, |coroutine, asked| {
                coroutine.tell(state, answer, asked)
            })?;
        }
    }

    async fn answer(
        &mut self,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
        request: ScriptRequest,
    ) -> ScriptAnswer {
        let (at, told) = match request {
            ScriptRequest::Connect => (usize::MAX, self.connect(state, engine).await),
            ScriptRequest::Query(at) => (at, self.query(at, None, engine).await),
            ScriptRequest::QueryOf(at, sql) => (at, self.query(at, Some(&sql), engine).await),
            ScriptRequest::Prepare(at, sql) => (at, self.prepare(at, &sql, state, engine).await),
            ScriptRequest::Execute(at, statement) => {
                (at, self.execute(at, statement, engine).await)
            }
            ScriptRequest::DropTable(at, table) => (at, self.drop_table(at, &table, engine).await),
            ScriptRequest::Disconnect(at) => {
                if let Some(connection) = self.connections.get_mut(at) {
                    connection.close().await;
                }
                (at, Ok(ScriptAnswer::Nothing))
            }
            ScriptRequest::Reconnect(at) => (at, self.reconnect(at, state, engine).await),
            ScriptRequest::Sleep(time) => {
                let since = Instant::now();
                tidemark_runtime::sleep(time).await;
                if let Some(session) = engine {
                    // What it overslept is the client's.
                    session.paused(time.min(since.elapsed()));
                }
                (usize::MAX, Ok(ScriptAnswer::Nothing))
            }
            _ => (usize::MAX, Ok(ScriptAnswer::Nothing)),
        };
        told.unwrap_or_else(|error| {
            let of = self.connections.get(at);
            let is_own_loss = of.is_some_and(|c| c.is_own_loss(&error));
            self.errors += 1;
            self.last = Some((error.clone(), is_own_loss));
            ScriptAnswer::Failed(error, self.errors)
        })
    }

    async fn connect(
        &mut self,
        state: &ScriptState,
        engine: &EngineSession<'_>,
    ) -> OperationResult {
        if engine.is_some() && !self.connections.iter().any(ScriptConnection::is_engines) {
            self.connections.push(ScriptConnection::of_engine());
            return Ok(ScriptAnswer::Number(self.connections.len() - 1));
        }
        let Some(connector) = state.program.connector() else {
            return Ok(ScriptAnswer::Refused(
                "connect(): there is no connection while the script is only read; connect in a \
                 function"
                    .into(),
            ));
        };
        let opened = Box::pin(ScriptConnection::open(connector, self.number)).await?;
        self.connections.push(opened);
        Ok(ScriptAnswer::Number(self.connections.len() - 1))
    }

    /// Sends a text, or that which came with the request.
    async fn query(
        &mut self,
        at: usize,
        sql: Option<&LuaString>,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        let Some(connection) = self.connections.get_mut(at) else {
            return Ok(no_connection());
        };
        match sql.map(LuaString::to_str) {
            None => connection.query(&self.asked.sql, engine).await,
            Some(Ok(sql)) => connection.query(&sql, engine).await,
            Some(Err(_)) => Ok(no_text()),
        }
    }

    async fn prepare(
        &mut self,
        at: usize,
        sql: &LuaString,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        match (self.connections.get_mut(at), sql.to_str()) {
            (Some(connection), Ok(sql)) => connection.prepare(&sql, &state.texts, engine).await,
            (None, _) => Ok(no_connection()),
            (_, Err(_)) => Ok(no_text()),
        }
    }

    async fn execute(
        &mut self,
        at: usize,
        statement: usize,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        match self.connections.get_mut(at) {
            Some(connection) => {
                connection
                    .execute(statement, &self.asked.values, engine)
                    .await
            }
            None => Ok(no_connection()),
        }
    }

    async fn drop_table(
        &mut self,
        at: usize,
        table: &LuaString,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        match (self.connections.get_mut(at), table.to_str()) {
            (Some(connection), Ok(table)) => Box::pin(connection.drop_table(&table, engine)).await,
            (None, _) => Ok(no_connection()),
            (_, Err(_)) => Ok(no_text()),
        }
    }

    async fn reconnect(
        &mut self,
        at: usize,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        let (Some(connection), Some(connector)) =
            (self.connections.get_mut(at), state.program.connector())
        else {
            return Ok(no_connection());
        };
        self.reconnects += 1;
        Box::pin(connection.reopen(connector, self.number, engine)).await
    }

    /// Lets the coroutine go on until it asks for the next thing.
    fn resume(
        &mut self,
        state: &ScriptState,
        engine: &mut EngineSession<'_>,
        go_on: impl FnOnce(&Coroutine, &mut Asked) -> mlua::Result<ScriptRequest>,
    ) -> Result<ScriptRequest, Failure> {
        state.resumed();
        let context = &state.context;
        std::mem::swap(&mut self.rng, &mut *context.rng.borrow_mut());
        let resumed = go_on(&self.coroutine, &mut self.asked);
        std::mem::swap(&mut self.rng, &mut *context.rng.borrow_mut());
        self.counted_errors += context.errors.take();
        let statements = context.statements.take();
        if let Some(session) = engine {
            session.count_beside(statements);
        }
        let is_stopped = context.stopped.take();
        if resumed.is_err() || is_stopped {
            // A coroutine that failed is at its end.
            self.coroutine = Coroutine::new(state, &self.environment)?;
        }
        if is_stopped {
            self.is_stopped = true;
            let failure = match resumed {
                Ok(ScriptRequest::Failed(thrown)) => self.failure(thrown),
                Ok(_) => Failure::Stopped("interrupted".into()),
                Err(error) => error.into(),
            };
            return Err(Failure::Stopped(failure.into_message()));
        }
        Ok(resumed?)
    }

    /// What a function threw.
    fn failure(&mut self, thrown: Value) -> Failure {
        match &thrown {
            Value::Table(table) => {
                let number: Option<u64> = table.raw_get("number").ok();
                let place: String = table.raw_get("place").unwrap_or_default();
                if let (Some(number), Some((error, _))) = (number, &self.last)
                    && number == self.errors
                {
                    return Failure::Db {
                        error: error.clone(),
                        thrown,
                        place,
                    };
                }
                match table.raw_get::<Value>("errcode") {
                    Ok(Value::Integer(1)) => Failure::Restart(thrown),
                    _ => Failure::Script("the script threw a table".into()),
                }
            }
            Value::String(text) => Failure::Script(explained(&text.to_string_lossy())),
            Value::Error(error) => Failure::Script(said(error)),
            other => Failure::Script(format!("the script threw a {}", other.type_name())),
        }
    }
}

fn no_connection() -> ScriptAnswer {
    ScriptAnswer::Refused("the connection is closed".into())
}

fn no_text() -> ScriptAnswer {
    ScriptAnswer::Refused("a statement must be UTF-8 text".into())
}
