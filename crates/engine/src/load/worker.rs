//! Workers that claim parts of a load and do them, each with a session of its own.

use super::begin::Me;
use super::board::{Board, Job, LoadTask};
use super::watch::LoadWatch;
use super::{LoadSpec, Share, count, finish, open, statement, verify};
use crate::error::EngineError;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::journal::{self, LoadPart};
use tidemark_drivers::{
    BulkMethod, Connector, LoadRequest, RowSource, RowWriter, Session, catalog,
};
use tidemark_runtime::{Executor, sleep};
use tidemark_workloads::Workload;

/// How often a part is tried again after a retryable error or a lost connection.
const TRIES: u32 = 5;
/// Pause before the next try, times the number of tries.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a lost session is tried to be opened again.
const LONGEST_ABSENCE: Duration = Duration::from_secs(30);
/// A worker without work asks again after this time.
const ASK_AGAIN: Duration = Duration::from_millis(5);

/// What a worker tells.
pub(super) enum LoadEvent {
    /// A table's secondary indexes are made.
    Indexing(String),
    /// A table is looked at.
    Verifying,
}

/// Starts `threads` sessions on executors of one per core, and the one that watches the journal. The
/// channel closes when all have ended.
pub(super) fn start(
    share: &Share<'_>,
    threads: usize,
    events: Sender<LoadEvent>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let executors = cores.min(threads);
    let mut handles = Vec::with_capacity(executors);
    for executor_number in 0..executors {
        let workers: Vec<LoadWorker> = (executor_number..threads)
            .step_by(executors)
            .map(|number| LoadWorker {
                number,
                me: share.me,
                connector: share.connector.clone(),
                workload: Arc::clone(share.workload),
                spec: share.spec.clone(),
                board: Arc::clone(&share.board),
                events: events.clone(),
            })
            .collect();
        // An embedded database has no other clients.
        let watches = executor_number == 0 && !share.connector.is_blocking();
        let watch = watches.then(|| LoadWatch {
            connector: share.connector.clone(),
            spec: share.spec.clone(),
            me: share.me,
            board: Arc::clone(&share.board),
        });
        let board = Arc::clone(&share.board);
        let builder = std::thread::Builder::new().name(format!("loader-{executor_number}"));
        handles.push(builder.spawn(move || {
            let run = || -> std::io::Result<()> {
                let mut executor = Executor::new()?;
                workers.into_iter().for_each(|w| executor.spawn(w.run()));
                watch.into_iter().for_each(|w| executor.spawn(w.run()));
                executor.run()
            };
            // A panic must end the load: the others would wait for its chunk for ever.
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => board.stop(error.into()),
                Err(_) => board.stop(EngineError::System("a loading thread panicked".into())),
            }
        })?);
    }
    Ok(handles)
}

struct LoadWorker {
    number: usize,
    me: Me,
    connector: Connector,
    workload: Arc<dyn Workload>,
    spec: LoadSpec,
    board: Arc<Board>,
    events: Sender<LoadEvent>,
}

/// How a part ended.
enum PartEnd {
    /// It is this client's work, and committed; whether a chunk's rows were counted before.
    Done { counted: bool },
    /// Another client has it.
    Lost,
}

impl LoadWorker {
    async fn run(self) {
        if let Err(error) = self.work().await {
            self.board.stop(error);
        }
    }

    async fn open(&self) -> Result<Session, EngineError> {
        let opened = open(&self.connector, self.number).await;
        opened.map_err(|error| EngineError::Connect {
            session: self.number,
            error,
        })
    }

    /// A server that restarts is away for a while.
    async fn reopen(&self) -> Result<Session, EngineError> {
        let give_up = Instant::now() + LONGEST_ABSENCE;
        loop {
            sleep(PAUSE).await;
            match self.open().await {
                Err(EngineError::Connect { .. })
                    if Instant::now() < give_up && self.board.failure().is_none() => {}
                opened => return opened,
            }
        }
    }

    async fn work(&self) -> Result<(), EngineError> {
        let mut session = self.open().await?;
        loop {
            match self.board.next() {
                Job::Done => break,
                Job::Wait => sleep(ASK_AGAIN).await,
                Job::Do(task) => match self.task(&mut session, &task).await? {
                    PartEnd::Done { counted } => self.board.done(&task, counted),
                    PartEnd::Lost => self.board.lost(&task),
                },
            }
        }
        session.close().await;
        Ok(())
    }

    /// Tries until it is done, is another's, or can't be done.
    async fn task(&self, session: &mut Session, task: &LoadTask) -> Result<PartEnd, EngineError> {
        let table = task.plan.name.as_str();
        let mut tries = 0;
        let mut begun = task.begun;
        loop {
            let error = match self.attempt(session, task, &mut begun).await {
                Ok(ended) => return Ok(ended),
                Err(error) => error,
            };
            tries += 1;
            // What arrived of a chunk stays there: sent again it would be there twice.
            let stays = matches!(task.part, LoadPart::Chunk { .. }) && !task.transactional && begun;
            if tries >= TRIES || stays {
                return Err(statement(error));
            }
            match error.class {
                ErrorClass::Retryable => session.rollback().await.map_err(statement)?,
                ErrorClass::ConnectionLost => {
                    *session = self.reopen().await?;
                    // The watch reads the journal again. An embedded database has none.
                    if !self.connector.is_blocking() {
                        self.board.doubt();
                    }
                    // The lost session may still be at it.
                    catalog::wait_for_writers(session, table)
                        .await
                        .map_err(statement)?;
                    // The commit may have reached the server before the connection broke.
                    let me = self.me.number;
                    match journal::has_done(session, table, task.part, me).await {
                        Ok(true) => {
                            let method = self.spec.method;
                            self.board
                                .loaded_by(method.unwrap_or(session.dialect().bulk_method()));
                            return Ok(PartEnd::Done { counted: false });
                        }
                        Ok(false) => {}
                        // The server may have forgotten the table's making, too: the watch tells.
                        Err(e) if e.class == ErrorClass::Missing => return Ok(PartEnd::Lost),
                        Err(e) => return Err(statement(e)),
                    }
                }
                _ => {
                    // The server may be past answering; the error that counts is the first.
                    let _ = session.rollback().await;
                    return Err(statement(error));
                }
            }
            sleep(PAUSE * tries).await;
            while self.board.is_in_doubt() && self.board.failure().is_none() {
                sleep(ASK_AGAIN).await;
            }
            if !self.board.is_due(task) {
                return Ok(PartEnd::Lost);
            }
        }
    }

    /// Claims the part, does it, and turns the claim to done.
    async fn attempt(
        &self,
        session: &mut Session,
        task: &LoadTask,
        begun: &mut bool,
    ) -> Result<PartEnd, DbError> {
        let (table, part, me) = (task.plan.name.as_str(), task.part, self.me.number);
        if !journal::claim(session, table, part, me).await? {
            return Ok(PartEnd::Lost);
        }
        if !matches!(part, LoadPart::Chunk { .. }) && std::mem::replace(begun, true) {
            // A session of whoever began it may still be at it.
            catalog::wait_for_writers(session, table).await?;
        }
        *begun = true;
        match part {
            LoadPart::Chunk { first, units } => {
                return self.chunk(session, task, first, units).await;
            }
            LoadPart::Indexes => {
                if finish::has_secondary(&task.plan) {
                    // Nobody listens when the load was given up.
                    let _ = self.events.send(LoadEvent::Indexing(table.into()));
                }
                finish::indexes(session, &task.plan).await?;
            }
            LoadPart::AfterAll => finish::after_all(session, &task.plan).await?,
            LoadPart::Verify => {
                let _ = self.events.send(LoadEvent::Verifying);
                let workload = self.workload.as_ref();
                let counted = self.board.counted(task);
                let report = verify::look(session, workload, task, counted, &self.spec).await?;
                if let Some(wrong) = report.complaint() {
                    self.board.stop(EngineError::Check(wrong));
                    return Ok(PartEnd::Lost);
                }
                self.board.report(task.index, report);
            }
        }
        // Where it isn't the client's any more, another one finds it done.
        Ok(match journal::finish(session, table, part, me).await? {
            true => PartEnd::Done { counted: false },
            false => PartEnd::Lost,
        })
    }

    async fn chunk(
        &self,
        session: &mut Session,
        task: &LoadTask,
        first: u64,
        units: u64,
    ) -> Result<PartEnd, DbError> {
        let table = task.plan.name.as_str();
        session.simple(session.dialect().begin()).await?;
        if let Some(sql) = session.dialect().within_load() {
            session.simple(sql).await?;
        }
        let mut source = CountedRows {
            rows: self.workload.rows(task.index, first, units, self.spec.seed),
            board: &self.board,
            made: 0,
        };
        let request = LoadRequest {
            table,
            columns: task.plan.columns,
            method: self.spec.method,
        };
        let sent = self.send(session, task, &request, &mut source).await;
        self.board.landed(source.told());
        let Some((method, counted)) = sent? else {
            return Ok(PartEnd::Lost);
        };
        self.board.loaded_by(method);
        Ok(PartEnd::Done { counted })
    }

    /// Sends a chunk's rows and commits them with the claim's turn to done; how, and whether they
    /// were counted. `None` when the claim was taken over: then the rows are taken back.
    async fn send(
        &self,
        session: &mut Session,
        task: &LoadTask,
        request: &LoadRequest<'_>,
        source: &mut CountedRows<'_>,
    ) -> Result<Option<(BulkMethod, bool)>, DbError> {
        let loaded = session.load(request, source).await?;
        if loaded.rows != task.rows {
            return Err(DbError::new(
                ErrorClass::Fatal,
                "load",
                format!(
                    "{} of {} rows arrived in {}",
                    loaded.rows, task.rows, request.table
                ),
            ));
        }
        let counted = match task.part {
            LoadPart::Chunk { first, units } => {
                let (workload, seed) = (self.workload.as_ref(), self.spec.seed);
                count::holds_its_rows(session, workload, task, (first, units), seed).await?
            }
            _ => false,
        };
        if !journal::finish(session, request.table, task.part, self.me.number).await? {
            session.rollback().await?;
            return Ok(None);
        }
        session.simple("COMMIT").await?;
        Ok(Some((loaded.method, counted)))
    }
}

/// Tells of rows as they are made, so that progress moves within a chunk.
struct CountedRows<'a> {
    rows: Box<dyn RowSource + Send>,
    board: &'a Board,
    made: u64,
}

impl CountedRows<'_> {
    /// How many rows are told together: the counter is all threads'.
    const STEP: u64 = 256;

    /// Rows that the board knows of.
    fn told(&self) -> u64 {
        self.made - self.made % Self::STEP
    }
}

impl RowSource for CountedRows<'_> {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        let more = self.rows.next_row(row);
        if more {
            self.made += 1;
            if self.made.is_multiple_of(Self::STEP) {
                self.board.took_off(Self::STEP);
            }
        }
        more
    }
}
