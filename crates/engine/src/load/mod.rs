//! Loading: tables in parallel, rows in chunks, indexes after the rows, then verification.
//!
//! A chunk is a range of row numbers; its rows and its line in the target's journal are committed
//! together. A load that was killed goes on with the chunks that are missing.

mod decide;
mod drop;
mod guard;
mod queue;
mod verify;
mod worker;

pub use decide::{is_ours, is_unfinished};
pub use drop::drop_tables;
pub use verify::TableReport;

use crate::control::StopHandle;
use crate::error::EngineError;
use decide::Decision;
use guard::Guard;
use queue::{Queue, TableWork};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tidemark_core::DbError;
use tidemark_drivers::{BulkMethod, Connector, Session, catalog, journal};
use tidemark_runtime::block_on;
use tidemark_workloads::{TablePlan, Workload};

/// What may be dropped to make place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Nothing but unfinished loads and empty tables of the benchmark's own schema.
    Nothing,
    /// Tables that Tidemark made or that have exactly the benchmark's schema.
    Benchmark,
    /// Whatever bears the name.
    Anything,
}

/// How a load is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadSpec {
    /// Sessions that load at the same time.
    pub threads: usize,
    /// Terminals of the runs to come: some workloads have a table for each.
    pub terminals: usize,
    /// Rows committed together; 0 chooses by the size of the tables and the number of sessions.
    pub chunk_rows: u64,
    /// Seed of the rows' contents.
    pub seed: u64,
    /// Way of loading; `None` takes the best that the server allows.
    pub method: Option<BulkMethod>,
    /// What may be dropped to make place.
    pub replace: Replace,
}

impl Default for LoadSpec {
    fn default() -> Self {
        Self {
            threads: 1,
            terminals: 1,
            chunk_rows: 0,
            seed: 1,
            method: None,
            replace: Replace::Nothing,
        }
    }
}

/// What a load tells while it goes on.
pub trait LoadObserver {
    /// A table is made, or gone on with when rows are there already.
    fn creating(&mut self, table: &str, rows: u64, rows_there: u64);
    /// Rows sent so far, of all.
    fn progress(&mut self, done: u64, total: u64);
    /// All rows of a table are there; its secondary indexes are made.
    fn indexing(&mut self, table: &str);
    /// All tables are loaded; they are being looked at.
    fn verifying(&mut self);
}

/// What a load did.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// Each table as it was found afterwards.
    pub tables: Vec<TableReport>,
    /// Rows committed by this load.
    pub rows_loaded: u64,
    /// Rows that an earlier, unfinished load had committed.
    pub rows_there: u64,
    /// The way used; `None` when there was nothing to load.
    pub method: Option<BulkMethod>,
    /// Time from the first statement to the last index.
    pub elapsed: Duration,
}

/// Why a load did not end, and what it leaves behind.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{error}")]
pub struct LoadFailure {
    /// The reason.
    pub error: EngineError,
    /// Whether anything was changed in the target.
    pub began: bool,
    /// Rows committed, earlier loads included.
    pub rows_done: u64,
    /// Rows asked for.
    pub rows_total: u64,
}

impl From<EngineError> for LoadFailure {
    fn from(error: EngineError) -> Self {
        Self {
            error,
            began: false,
            rows_done: 0,
            rows_total: 0,
        }
    }
}

/// Makes the workload's tables and fills them.
///
/// # Errors
/// [`LoadFailure`]; when its `began` is set, unfinished tables and the journal are in the target:
/// the same call goes on, and [`drop_tables`] removes them.
pub fn prepare(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    stop: &StopHandle,
    observer: &mut dyn LoadObserver,
) -> Result<LoadReport, LoadFailure> {
    let begun = Instant::now();
    let connector = &connector.clone().unlimited();
    let guard = Guard::take(connector)?;
    let decided = decide_all(connector, workload, spec)?;
    let total: u64 = decided.iter().map(|(plan, _)| plan.rows).sum();
    let works = start_tables(connector, spec, decided, observer).map_err(|error| LoadFailure {
        error,
        began: true,
        rows_done: 0,
        rows_total: total,
    })?;
    let rows_there = works.iter().map(|w| w.rows_there).sum();
    let queue = Arc::new(Queue::new(works));
    let failure = |queue: &Queue, error| LoadFailure {
        error,
        began: true,
        rows_done: rows_there + queue.rows_done(),
        rows_total: total,
    };
    let (send, events) = channel();
    // Embedded engines have one writer at a time.
    let threads = if connector.is_blocking() {
        1
    } else {
        spec.threads.max(1)
    };
    let workers =
        worker::start(connector, workload, spec, threads, &queue, send).map_err(EngineError::from);
    let workers = workers.map_err(|e| failure(&queue, e))?;
    loop {
        match events.recv_timeout(Duration::from_millis(100)) {
            Ok(worker::Event::Indexing(table)) => observer.indexing(&table),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        observer.progress(rows_there + queue.rows_sent(), total);
        if stop.is_stopped() {
            queue.stop(EngineError::Interrupted);
        }
        if let Some(error) = guard.failure() {
            queue.stop(error);
        }
    }
    for worker in workers {
        if worker.join().is_err() {
            queue.stop(EngineError::System("a loading thread panicked".into()));
        }
    }
    if let Some(error) = queue.failure() {
        return Err(failure(&queue, error));
    }
    let elapsed = begun.elapsed();
    observer.verifying();
    let (method, rows_loaded) = (queue.method(), queue.rows_done());
    let tables = verify::verify(connector, workload, spec).map_err(|e| failure(&queue, e))?;
    let report = LoadReport {
        tables,
        rows_loaded,
        rows_there,
        method,
        elapsed,
    };
    if let Some(wrong) = report.tables.iter().find_map(TableReport::complaint) {
        return Err(failure(&queue, EngineError::Check(wrong)));
    }
    Ok(report)
}

/// Decides for every table before anything is changed.
fn decide_all(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
) -> Result<Vec<(TablePlan, Decision)>, EngineError> {
    let (workload, spec) = (Arc::clone(workload), *spec);
    on_session(connector, async move |session: &mut Session| {
        let plans = plans(workload.as_ref(), session, spec.terminals)?;
        for plan in &plans {
            decide::settle(session, plan, &spec).await?;
        }
        let chunks = journal::read(session).await.map_err(statement)?;
        let mut decided = Vec::with_capacity(plans.len());
        for plan in plans {
            let decision =
                decide::decide(session, workload.as_ref(), &plan, &spec, chunks.as_ref()).await?;
            decided.push((plan, decision));
        }
        Ok(decided)
    })
}

fn start_tables(
    connector: &Connector,
    spec: &LoadSpec,
    decided: Vec<(TablePlan, Decision)>,
    observer: &mut dyn LoadObserver,
) -> Result<Vec<TableWork>, EngineError> {
    for (plan, decision) in &decided {
        observer.creating(&plan.name, plan.rows, decision.rows_there());
    }
    let spec = *spec;
    on_session(connector, async move |session: &mut Session| {
        journal::create(session).await.map_err(statement)?;
        let mut works = Vec::with_capacity(decided.len());
        let tables = decided.len();
        for (index, (plan, decision)) in decided.into_iter().enumerate() {
            if decision.drop_first() {
                catalog::drop_table(session, &plan.name)
                    .await
                    .map_err(statement)?;
            }
            if !matches!(decision, Decision::Resume { .. }) {
                journal::forget(session, &plan.name)
                    .await
                    .map_err(statement)?;
                for sql in &plan.create {
                    session.query(sql).await.map_err(statement)?;
                }
                let mark = decide::mark_loading(&plan, &spec);
                catalog::mark_table(session, &plan.name, &mark)
                    .await
                    .map_err(statement)?;
            }
            let transactional = catalog::is_transactional(session, &plan.name)
                .await
                .map_err(statement)?;
            let chunk_rows = chunk_rows(&spec, plan.rows, tables);
            works.push(TableWork::new(
                index,
                plan,
                decision,
                chunk_rows,
                transactional,
            ));
        }
        Ok(works)
    })
}

/// Few commits are cheap, but every session should have chunks of its own to load, and what a
/// crash takes back should be seconds of work.
fn chunk_rows(spec: &LoadSpec, rows: u64, tables: usize) -> u64 {
    match spec.chunk_rows {
        0 => {
            let sessions_a_table = spec.threads.div_ceil(tables.max(1)) as u64;
            rows.div_ceil(sessions_a_table.max(1))
                .clamp(10_000, 250_000)
        }
        given => given,
    }
}

pub(crate) fn plans(
    workload: &dyn Workload,
    session: &Session,
    threads: usize,
) -> Result<Vec<TablePlan>, EngineError> {
    workload
        .tables(&session.dialect(), threads)
        .map_err(|e| EngineError::Unsupported(e.to_string()))
}

/// Runs housekeeping on one session of its own.
pub(crate) fn on_session<T: 'static>(
    connector: &Connector,
    work: impl AsyncFnOnce(&mut Session) -> Result<T, EngineError> + 'static,
) -> Result<T, EngineError> {
    let connector = connector.clone();
    block_on(async move {
        let mut session = connector
            .connect(0)
            .await
            .map_err(|error| EngineError::Connect { session: 0, error })?;
        let result = work(&mut session).await;
        session.close().await;
        result
    })?
}

pub(crate) fn statement(error: DbError) -> EngineError {
    EngineError::Statement { session: 0, error }
}
