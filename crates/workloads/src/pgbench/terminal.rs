//! A client: chooses a script, and runs its commands.

use super::expression::{EvalError, ExprValue, Scope, seed_of};
use super::script::{CommandKind, Mode, Script, Sleep, Sql, SqlPiece, Store};
use super::statements::Statements;
use super::tally::{FailedTransaction, FailureKind, Tally};
use super::{AUTOMATIC, DEFAULT_SEED, RETRIED, RETRIES, Settings};
use crate::Done;
use crate::random::Rng;
use crate::terminal::User;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::{Cell, Outcome, Request, RowSet, Session, Value as Bound};
use tidemark_runtime::{sleep, yield_now};

/// The stream of random numbers that clients draw from.
const CLIENT_STREAM: u64 = 0x7067_6265_6e63_6801;
/// The one that `:default_seed` is of.
const SEED_STREAM: u64 = 0x7067_6265_6e63_6802;

/// What all clients share.
#[derive(Debug)]
pub(super) struct Plan {
    pub settings: Settings,
    pub tally: Tally,
}

/// What a transaction began with, which may be tried again.
#[derive(Debug, Clone)]
struct BegunTransaction {
    script: usize,
    rng: Rng,
    variables: Vec<Option<ExprValue>>,
    retries: u64,
    /// When it began or, at a rate, was due.
    since: Instant,
}

/// A statement that waits for the end of its pipeline.
#[derive(Debug)]
struct Piped {
    /// Its place in the script.
    command: usize,
    values: Vec<ExprValue>,
}

/// What few clients need: those whose scripts have pipelines, or that try again.
#[derive(Debug, Default)]
struct Rare {
    piped: Vec<Piped>,
    begun: Option<BegunTransaction>,
}

/// A client.
#[derive(Debug)]
pub struct Terminal {
    plan: Arc<Plan>,
    number: usize,
    rng: Rng,
    variables: Vec<Option<ExprValue>>,
    /// A statement's text.
    sql: String,
    /// The script and the command that it is at.
    at: (usize, usize),
    gave_up: bool,
    /// How long after it was due the transaction began.
    late: Duration,
    rare: Option<Box<Rare>>,
}

impl Terminal {
    pub(super) fn new(plan: Arc<Plan>, number: usize, seed: u64) -> Self {
        let settings = &plan.settings;
        let mut variables = vec![None; settings.names.len()];
        let default_seed = seed_of(&mut Rng::of(&[seed, SEED_STREAM]));
        let automatic = [number as i64, settings.scale as i64, seed as i64];
        let automatic = AUTOMATIC.iter().copied().zip(automatic);
        let mut put = |slot: Option<usize>, value: ExprValue| {
            if let Some(variable) = slot.and_then(|slot| variables.get_mut(slot)) {
                *variable = Some(value);
            }
        };
        for (name, value) in automatic.chain([(DEFAULT_SEED, default_seed)]) {
            put(settings.names.find(name), ExprValue::Int(value));
        }
        for (slot, value) in &settings.defined {
            put(Some(*slot), value.clone());
        }
        Self {
            rng: Rng::of(&[seed, CLIENT_STREAM, number as u64]),
            number,
            variables,
            sql: String::new(),
            at: (0, 0),
            gave_up: false,
            late: Duration::ZERO,
            rare: None,
            plan,
        }
    }

    /// The script of the next transaction: that of the last one, if it is to be tried again.
    fn begin(&mut self) -> usize {
        self.gave_up = false;
        let settings = &self.plan.settings;
        if let Some(rare) = &mut self.rare {
            rare.piped.clear();
            if let Some(begun) = &rare.begun {
                self.rng = begun.rng.clone();
                self.variables.clone_from(&begun.variables);
                return begun.script;
            }
        }
        let script = match settings.scripts.len() {
            1 => 0,
            _ => {
                let mut drawn = self.rng.below(settings.weights);
                let chosen = settings.scripts.iter().position(|script| {
                    let is = drawn < script.weight;
                    drawn = drawn.saturating_sub(script.weight);
                    is
                });
                chosen.unwrap_or(0)
            }
        };
        if settings.max_tries != Some(1) {
            let begun = BegunTransaction {
                script,
                rng: self.rng.clone(),
                variables: self.variables.clone(),
                retries: 0,
                since: {
                    let now = Instant::now();
                    now.checked_sub(self.late).unwrap_or(now)
                },
            };
            self.rare.get_or_insert_default().begun = Some(begun);
        }
        script
    }

    /// The transaction ended well.
    fn done(&mut self, script: usize) -> Done {
        let mut done = Done::of(script);
        let begun = self.rare.as_mut().and_then(|rare| rare.begun.take());
        if let Some(begun) = begun.filter(|begun| begun.retries > 0) {
            self.plan.tally.retried(script, begun.retries);
            done.notes.add(RETRIED);
            // A note has no more room.
            (0..begun.retries.min(255)).for_each(|_| done.notes.add(RETRIES));
        }
        done
    }

    /// The transaction ended with an error: it is tried again, or was the last try.
    fn failed(&mut self, error: &DbError) {
        let settings = &self.plan.settings;
        let (script, command) = self.at;
        let begun = self.rare.as_mut().and_then(|rare| rare.begun.as_mut());
        if error.class != ErrorClass::Retryable {
            self.gave_up = true;
            self.forget();
            return;
        }
        let mut retries = 0;
        if let Some(begun) = begun {
            retries = begun.retries;
            let is_late = settings
                .latency_limit
                .is_some_and(|limit| begun.since.elapsed() > limit);
            let may = settings.max_tries.is_none_or(|most| retries + 1 < most);
            if may && !is_late {
                begun.retries += 1;
                self.plan.tally.again(script, command);
                return;
            }
        }
        let failed = FailedTransaction {
            client: self.number,
            script,
            ended: SystemTime::now(),
            kind: match error.kind {
                ErrorKind::Deadlock => FailureKind::Deadlock,
                _ => FailureKind::Serialization,
            },
            retries,
        };
        self.plan.tally.failed(failed, command);
        self.gave_up = true;
        self.forget();
    }

    fn forget(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.begun = None;
        }
    }

    async fn run(
        &mut self,
        script: usize,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<(), DbError> {
        let plan = Arc::clone(&self.plan);
        let Some(found) = plan.settings.scripts.get(script) else {
            return Err(crate::oltp::not_ready());
        };
        let times = plan.settings.times_commands;
        let mut next = 0;
        // Whether the command was come to from a condition that does not hold.
        let mut jumped = false;
        let mut waited = false;
        while let Some(command) = found.commands.get(next) {
            self.at = (script, next);
            let begun = times.then(Instant::now);
            let here = next;
            next += 1;
            match &command.what {
                CommandKind::Sql(sql) => {
                    waited = true;
                    match (statements.ready(sql), statements.mode()) {
                        (Some(ready), _) if sql.store == Store::Nothing && !sql.is_piped => {
                            let values = bound(&self.variables, &sql.values);
                            session.execute(&ready.statement, &values).await?;
                        }
                        (_, Mode::Simple) if sql.store == Store::Nothing => {
                            self.write(sql);
                            session.simple(&self.sql).await?;
                        }
                        _ if sql.is_piped => self.pipe(here, sql),
                        _ => Box::pin(self.ask(sql, session, statements)).await?,
                    }
                }
                CommandKind::Set { to, value } => {
                    let value = self.value(found, |scope| scope.value(value))?;
                    if let Some(variable) = self.variables.get_mut(*to) {
                        *variable = Some(value);
                    }
                }
                CommandKind::If {
                    test,
                    otherwise,
                    after_branch,
                } => match after_branch {
                    Some(end) if !jumped => next = end + 1,
                    _ => {
                        jumped = !self.value(found, |scope| scope.value(test))?.holds();
                        if jumped {
                            next = *otherwise;
                        }
                    }
                },
                CommandKind::Else { end } => {
                    if !std::mem::take(&mut jumped) {
                        next = end + 1;
                    }
                }
                CommandKind::Endif => jumped = false,
                CommandKind::Sleep(of) => {
                    waited = true;
                    let time = self.sleep_time(*of, found)?;
                    let since = Instant::now();
                    Box::pin(sleep(time)).await;
                    // What it overslept is the client's.
                    session.paused(time.min(since.elapsed()));
                }
                CommandKind::StartPipeline => self.rare.get_or_insert_default().piped.clear(),
                CommandKind::EndPipeline => {
                    Box::pin(self.send_pipeline(found, session, statements)).await?;
                }
            }
            if let Some(begun) = begun {
                plan.tally.command_done(script, here, begun.elapsed());
            }
        }
        if !waited {
            // Nobody else's turn came.
            yield_now().await;
        }
        match session.has_transaction() {
            true => Err(self.aborted(
                found,
                "the script ended without the end of its last transaction",
            )),
            false => Ok(()),
        }
    }

    /// The value of an expression of the command that the client is at.
    fn value(
        &mut self,
        script: &Script,
        of: impl FnOnce(&mut Scope<'_>) -> Result<ExprValue, EvalError>,
    ) -> Result<ExprValue, DbError> {
        let (number, command) = self.at;
        let mut scope = Scope::new(&self.variables, &mut self.rng, (number, command + 1));
        let value = of(&mut scope);
        value.map_err(|error| self.aborted(script, &error.to_string()))
    }

    fn aborted(&self, script: &Script, why: &str) -> DbError {
        let (_, at) = self.at;
        let line = script.commands.get(at).map_or("", |c| c.line.as_str());
        DbError::new(
            ErrorClass::Fatal,
            "script",
            format!(
                "client {} in script {}, command {} ({line}): {why}",
                self.number,
                script.shown,
                at + 1
            ),
        )
    }

    /// Writes a statement's text with the values of its variables.
    fn write(&mut self, sql: &Sql) {
        self.sql.clear();
        for piece in &sql.pieces {
            match piece {
                SqlPiece::Text(text) => self.sql.push_str(text),
                SqlPiece::Variable(slot, name) => match self.variables.get(*slot) {
                    Some(Some(value)) => value.write_to(&mut self.sql),
                    _ => self.sql.push_str(name),
                },
            }
        }
    }

    /// Executes a statement in the ways that are not the usual ones.
    async fn ask(
        &mut self,
        sql: &Sql,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<(), DbError> {
        let mut rows = (sql.store != Store::Nothing).then(RowSet::named);
        let mut names: &[String] = &[];
        let outcome = match statements.mode() {
            Mode::Simple => {
                self.write(sql);
                session
                    .ask(&[Request::Text(&self.sql)], rows.as_mut())
                    .await?
            }
            Mode::Extended => {
                let values = bound(&self.variables, &sql.values);
                let request = Request::Parsed {
                    sql: &sql.numbered,
                    values: &values,
                };
                session.ask(&[request], rows.as_mut()).await?
            }
            Mode::Prepared => {
                let ready = statements.get(session, sql).await?;
                names = &ready.names;
                let values = bound(&self.variables, &sql.values);
                let request = Request::Prepared {
                    statement: &ready.statement,
                    values: &values,
                };
                session.ask(&[request], rows.as_mut()).await?
            }
        };
        match rows {
            Some(rows) => self.store(sql, &rows, names, outcome),
            None => Ok(()),
        }
    }

    /// Makes variables of a statement's rows; `prepared` are the names of its columns where the result
    /// has none.
    fn store(
        &mut self,
        sql: &Sql,
        rows: &RowSet,
        prepared: &[String],
        outcome: Outcome,
    ) -> Result<(), DbError> {
        let plan = Arc::clone(&self.plan);
        let names = &plan.settings.names;
        let mut put = |result: &RowSet, columns: &[String], row: usize, prefix: &str| {
            let columns = if columns.is_empty() {
                prepared
            } else {
                columns
            };
            for (column, name) in columns.iter().enumerate() {
                let slot = names.find(&format!("{prefix}{name}"));
                let value = match result.get(row, column) {
                    None | Some(Cell::Null) => ExprValue::Null,
                    _ => ExprValue::Text(result.text(row, column).unwrap_or_default().into()),
                };
                // A name that no script has is of no use.
                if let Some(variable) = slot.and_then(|slot| self.variables.get_mut(slot)) {
                    *variable = Some(value);
                }
            }
        };
        match &sql.store {
            Store::Nothing => {}
            Store::One(prefix) => {
                if rows.len() != 1 || !outcome.has_rows {
                    let (script, _) = self.at;
                    let why = format!("expected one row, got {}", rows.len());
                    let script = plan.settings.scripts.get(script);
                    return Err(match script {
                        Some(script) => self.aborted(script, &why),
                        None => crate::oltp::not_ready(),
                    });
                }
                put(rows, rows.names(), 0, prefix);
            }
            Store::Last(prefix) => {
                for (columns, result) in rows.results() {
                    if let Some(last) = result.len().checked_sub(1) {
                        put(result, columns, last, prefix);
                    }
                }
            }
        }
        Ok(())
    }

    /// Keeps a statement until its pipeline ends.
    fn pipe(&mut self, command: usize, sql: &Sql) {
        let values = sql.values.iter().map(|slot| {
            let value = self.variables.get(*slot).cloned().flatten();
            value.unwrap_or(ExprValue::Null)
        });
        let values = values.collect();
        let rare = self.rare.get_or_insert_default();
        rare.piped.push(Piped { command, values });
    }

    async fn send_pipeline(
        &mut self,
        script: &Script,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<(), DbError> {
        let piped = self
            .rare
            .as_mut()
            .map(|rare| std::mem::take(&mut rare.piped));
        let piped = piped.unwrap_or_default();
        let sqls = piped.iter().filter_map(|one| {
            let command = script.commands.get(one.command)?;
            match &command.what {
                CommandKind::Sql(sql) => Some((sql, one)),
                _ => None,
            }
        });
        let sqls: Vec<(&Sql, &Piped)> = sqls.collect();
        if statements.mode() == Mode::Prepared {
            for (sql, _) in &sqls {
                statements.get(session, sql).await?;
            }
        }
        let values: Vec<Vec<Bound<'_>>> = sqls
            .iter()
            .map(|(_, one)| one.values.iter().map(as_bound).collect())
            .collect();
        let requests: Vec<Request<'_>> = sqls
            .iter()
            .zip(&values)
            .map(|((sql, _), values)| match statements.ready(sql) {
                Some(ready) => Request::Prepared {
                    statement: &ready.statement,
                    values,
                },
                None => Request::Parsed {
                    sql: &sql.numbered,
                    values,
                },
            })
            .collect();
        if requests.is_empty() {
            return Ok(());
        }
        session.ask(&requests, None).await.map(drop)
    }

    fn sleep_time(&mut self, of: Sleep, script: &Script) -> Result<Duration, DbError> {
        let count = match of.count {
            Ok(count) => u64::from(count),
            Err(slot) => {
                let value = self.variables.get(slot).cloned().flatten();
                let int = match value.map(|value| value.typed("")) {
                    Some(Ok(ExprValue::Int(int))) => u64::try_from(int).ok(),
                    _ => None,
                };
                int.ok_or_else(|| {
                    self.aborted(script, "the variable is no whole number of 0 or more")
                })?
            }
        };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Ok(of.unit.saturating_mul(count))
    }
}

/// A value as a statement's parameter.
fn as_bound(value: &ExprValue) -> Bound<'_> {
    match value {
        ExprValue::Null => Bound::Null,
        ExprValue::Bool(true) => Bound::Text("true"),
        ExprValue::Bool(false) => Bound::Text("false"),
        ExprValue::Int(int) => Bound::Int(*int),
        ExprValue::Double(double) => Bound::Float(*double),
        ExprValue::Text(text) => Bound::Text(text),
    }
}

/// The values of variables; NULL of those that have none.
fn bound<'v>(variables: &'v [Option<ExprValue>], slots: &[usize]) -> Vec<Bound<'v>> {
    let of = |slot: &usize| match variables.get(*slot) {
        Some(Some(value)) => as_bound(value),
        _ => Bound::Null,
    };
    slots.iter().map(of).collect()
}

/// pgbench tries again what failed with a serialization failure or a deadlock alone (manual, "Failures and
/// Serialization/Deadlock Retries"). A lock that was not to be had ends its client there, and the run here.
fn as_pgbench_takes(error: DbError) -> DbError {
    let may = matches!(
        error.kind,
        ErrorKind::Deadlock | ErrorKind::SerializationFailure
    );
    match error.class {
        ErrorClass::Retryable if !may => DbError {
            class: ErrorClass::Fatal,
            ..error
        },
        _ => error,
    }
}

impl User for Terminal {
    type Statements = Statements;

    async fn transaction(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<Done, DbError> {
        let script = self.begin();
        self.at = (script, 0);
        session.begins(script);
        match self.run(script, session, statements).await {
            Ok(()) => Ok(self.done(script)),
            Err(error) => {
                let error = as_pgbench_takes(error);
                self.failed(&error);
                Err(error)
            }
        }
    }

    fn begins_late(&mut self, late: Duration) {
        self.late = late;
    }

    fn gave_up(&self) -> bool {
        self.gave_up
    }
}
