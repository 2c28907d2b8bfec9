//! Workers that take jobs from the queue, each with a session of its own.

use super::queue::{Job, Queue};
use super::{LoadSpec, statement};
use crate::error::EngineError;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{
    BulkMethod, Connector, LoadRequest, RowSource, RowWriter, Session, catalog, journal,
};
use tidemark_runtime::{Executor, sleep};
use tidemark_workloads::{TablePlan, Workload};

/// How often a chunk is tried again after a retryable error or a lost connection.
const TRIES: u32 = 5;
/// Pause before the next try, times the number of tries.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a lost session is tried to be opened again.
const LONGEST_ABSENCE: Duration = Duration::from_secs(30);
/// A worker without work asks again after this time.
const ASK_AGAIN: Duration = Duration::from_millis(5);

/// What a worker tells.
pub(super) enum Event {
    /// A table's indexes are made.
    Indexing(String),
}

/// Starts `threads` sessions on executors of one per core. The channel closes when all have ended.
pub(super) fn start(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    threads: usize,
    queue: &Arc<Queue>,
    events: Sender<Event>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let executors = cores.min(threads);
    let mut handles = Vec::with_capacity(executors);
    for executor_number in 0..executors {
        let workers: Vec<Worker> = (executor_number..threads)
            .step_by(executors)
            .map(|number| Worker {
                number,
                connector: connector.clone(),
                workload: Arc::clone(workload),
                spec: *spec,
                queue: Arc::clone(queue),
                events: events.clone(),
            })
            .collect();
        let queue = Arc::clone(queue);
        let builder = std::thread::Builder::new().name(format!("loader-{executor_number}"));
        handles.push(builder.spawn(move || {
            let run = || -> std::io::Result<()> {
                let mut executor = Executor::new()?;
                workers.into_iter().for_each(|w| executor.spawn(w.run()));
                executor.run()
            };
            // A panic must end the load: the others would wait for its chunk for ever.
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => queue.stop(error.into()),
                Err(_) => queue.stop(EngineError::System("a loading thread panicked".into())),
            }
        })?);
    }
    Ok(handles)
}

struct Worker {
    number: usize,
    connector: Connector,
    workload: Arc<dyn Workload>,
    spec: LoadSpec,
    queue: Arc<Queue>,
    events: Sender<Event>,
}

impl Worker {
    async fn run(self) {
        if let Err(error) = self.work().await {
            self.queue.stop(error);
        }
    }

    async fn open(&self) -> Result<Session, EngineError> {
        let opened = self.connector.connect(self.number).await;
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
                    if Instant::now() < give_up && self.queue.failure().is_none() => {}
                opened => return opened,
            }
        }
    }

    async fn work(&self) -> Result<(), EngineError> {
        let mut session = self.open().await?;
        loop {
            match self.queue.next(self.number) {
                Job::Done => break,
                Job::Wait => sleep(ASK_AGAIN).await,
                Job::Finish { plan } => {
                    // Nobody listens when the load was given up.
                    let _ = self.events.send(Event::Indexing(plan.name.clone()));
                    finish(&mut session, &plan).await.map_err(statement)?;
                }
                Job::Chunk {
                    work,
                    index,
                    table,
                    columns,
                    first,
                    rows,
                    transactional,
                } => {
                    let request = LoadRequest {
                        table: &table,
                        columns,
                        method: self.spec.method,
                    };
                    let loaded = if transactional {
                        self.chunk_with_retries(&mut session, &request, index, first, rows)
                            .await
                    } else {
                        // What arrived of a chunk stays: sent again it would be there twice.
                        self.chunk(&mut session, &request, index, first, rows)
                            .await
                            .map_err(statement)
                    };
                    let method = loaded?;
                    self.queue.committed(work, rows, method);
                }
            }
        }
        session.close().await;
        Ok(())
    }

    async fn chunk_with_retries(
        &self,
        session: &mut Session,
        request: &LoadRequest<'_>,
        index: usize,
        first: u64,
        rows: u64,
    ) -> Result<BulkMethod, EngineError> {
        let mut tries = 0;
        loop {
            let error = match self.chunk(session, request, index, first, rows).await {
                Ok(method) => return Ok(method),
                Err(error) => error,
            };
            tries += 1;
            if tries >= TRIES {
                return Err(statement(error));
            }
            match error.class {
                ErrorClass::Retryable => session.rollback().await.map_err(statement)?,
                ErrorClass::ConnectionLost => {
                    *session = self.reopen().await?;
                    // The lost session may still be at it.
                    catalog::wait_for_writers(session, request.table)
                        .await
                        .map_err(statement)?;
                    // The commit may have reached the server before the connection broke.
                    if committed(session, request.table, first)
                        .await
                        .map_err(statement)?
                    {
                        return Ok(self.spec.method.unwrap_or(session.dialect().bulk_method()));
                    }
                }
                _ => {
                    // The server may be past answering; the error that counts is the first.
                    let _ = session.rollback().await;
                    return Err(statement(error));
                }
            }
            sleep(PAUSE * tries).await;
        }
    }

    async fn chunk(
        &self,
        session: &mut Session,
        request: &LoadRequest<'_>,
        index: usize,
        first: u64,
        rows: u64,
    ) -> Result<BulkMethod, DbError> {
        session.simple(session.dialect().begin()).await?;
        let mut source = Counted {
            rows: self.workload.rows(index, first, rows, self.spec.seed),
            queue: &self.queue,
            sent: 0,
        };
        let loaded = session.load(request, &mut source).await;
        if loaded.is_err() {
            self.queue.take_back(source.sent);
        }
        let loaded = loaded?;
        if loaded.rows != rows {
            return Err(DbError::new(
                ErrorClass::Fatal,
                "load",
                format!(
                    "{} of {rows} rows arrived in {}",
                    loaded.rows, request.table
                ),
            ));
        }
        journal::note(session, request.table, first, rows).await?;
        session.simple("COMMIT").await?;
        Ok(loaded.method)
    }
}

/// Counts rows as they are made, so that progress moves within a chunk.
struct Counted<'a> {
    rows: Box<dyn RowSource + Send>,
    queue: &'a Queue,
    sent: u64,
}

impl RowSource for Counted<'_> {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        let more = self.rows.next_row(row);
        if more {
            self.sent += 1;
            self.queue.row_sent();
        }
        more
    }
}

async fn committed(session: &mut Session, table: &str, first: u64) -> Result<bool, DbError> {
    let chunks = journal::read(session).await?.unwrap_or_default();
    Ok(chunks
        .get(table)
        .is_some_and(|c| c.iter().any(|(f, _)| *f == first)))
}

/// Makes the indexes that are missing (an earlier, unfinished load may have made some),
/// and sets sequences.
async fn finish(session: &mut Session, plan: &TablePlan) -> Result<(), DbError> {
    let found = catalog::describe_table(session, &plan.name).await?;
    let is_there = |sql: &str| {
        found.as_ref().is_some_and(|table| {
            let has_key = !table.primary_key.is_empty() && sql.contains(" PRIMARY KEY ");
            let named = |index: &str| sql.split_whitespace().any(|word| word == index);
            has_key || table.indexes.iter().any(|i| named(&i.name))
        })
    };
    let missing = plan.indexes.iter().filter(|sql| !is_there(sql));
    for sql in missing.chain(&plan.finish) {
        session.query(sql).await?;
    }
    Ok(())
}
