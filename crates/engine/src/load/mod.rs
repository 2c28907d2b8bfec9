//! Loading: tables in parallel, rows in chunks, indexes after the rows, then verification.
//!
//! A chunk is a range of units; its rows and its line in the target's journal are committed together.
//! A load that was killed goes on with the chunks that are missing. Several clients may share a load:
//! each claims the parts that it does, and takes over what a client that ended had claimed.

mod begin;
mod board;
#[cfg(test)]
mod board_tests;
mod count;
mod create_tables;
mod decide;
mod drop;
mod empty;
mod existing;
mod finish;
mod grid;
mod guard;
mod mark;
mod proof;
mod table_work;
mod verify;
mod watch;
mod worker;

pub use decide::{is_ours, why_not_ours};
pub use drop::{DropFailure, drop_tables};
pub use empty::empty_table;
pub use existing::{is_being_loaded, is_loaded};
pub use guard::Guard;
pub use mark::{is_loaded_by, is_marked_loaded, is_unfinished};
pub use verify::TableReport;

use crate::control::StopHandle;
use crate::error::EngineError;
use begin::Me;
use board::Board;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use table_work::TableWork;
use tidemark_core::{DbError, StudyLoad};
use tidemark_drivers::catalog::Summed;
use tidemark_drivers::lock::Scope;
use tidemark_drivers::settings::unlimit;
use tidemark_drivers::{BulkMethod, Connector, Session};
use tidemark_runtime::block_on;
use tidemark_workloads::{TablePlan, Workload};

/// What may be dropped to make place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Nothing but empty tables of the benchmark's own schema, and a study's own tables as it left them.
    Nothing,
    /// Also tables that Tidemark has loaded or begun to load.
    Made,
    /// Tables that Tidemark made or that have exactly the benchmark's schema.
    Benchmark,
    /// Whatever bears the name.
    Anything,
}

/// How a load is made.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSpec {
    /// Sessions that load at the same time.
    pub threads: usize,
    /// Terminals of the runs to come: some workloads have a table for each.
    pub terminals: usize,
    /// Units (mostly rows) committed together; 0 chooses by the size of the tables and the number of
    /// sessions.
    pub chunk_rows: u64,
    /// Seed of the rows' contents.
    pub seed: u64,
    /// Way of loading; `None` takes the best that the server allows.
    pub method: Option<BulkMethod>,
    /// What may be dropped to make place.
    pub replace: Replace,
    /// The study that loads, which may replace what it has loaded itself.
    pub study: Option<StudyLoad>,
    /// Tables with at most so many rows are summed for the study even where no drop depends on it.
    pub summed_rows: u64,
    /// Whether it helps the first of several clients: tables that are there as asked are no refusal then,
    /// but the end of its work.
    pub helps: bool,
}

impl LoadSpec {
    /// On whose behalf the tables are made.
    pub(crate) fn owner(&self) -> Option<&str> {
        self.study.as_ref().map(|s| s.study.as_str())
    }
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
            study: None,
            summed_rows: Summed::CHEAP_ROWS,
            helps: false,
        }
    }
}

/// What a load tells while it goes on.
pub trait LoadObserver {
    /// A table is made, or gone on with when rows are there already.
    fn creating(&mut self, table: &str, rows: u64, rows_there: u64);
    /// Other clients are loading the same into the same database; from here on this one helps.
    fn joining(&mut self, _others: usize) {}
    /// Rows sent so far by all clients, of all; first what is there when the load begins.
    fn progress(&mut self, done: u64, total: u64);
    /// All rows of a table are there; its secondary indexes are made.
    fn indexing(&mut self, table: &str);
    /// All tables are loaded; they are being looked at.
    fn verifying(&mut self);
}

/// What a load did.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// Each table as it was found afterwards; its rows perhaps as they were committed.
    pub tables: Vec<TableReport>,
    /// Rows committed by this load.
    pub rows_loaded: u64,
    /// Rows that an earlier, unfinished load had committed.
    pub rows_there: u64,
    /// Rows that other clients committed meanwhile.
    pub rows_elsewhere: u64,
    /// The way used; `None` when there was nothing to load.
    pub method: Option<BulkMethod>,
    /// Chunks of rows that this client committed.
    pub chunks: u64,
    /// Time from the first statement to the last index.
    pub elapsed: Duration,
    /// Time that refreshing the planner's statistics took after that, of all sessions together.
    pub refreshing: Duration,
}

/// Why a load did not end, and what it leaves behind.
#[derive(Debug, Clone)]
pub struct LoadFailure {
    /// The reason.
    pub error: EngineError,
    /// Whether tables may have been made.
    pub began: bool,
    /// Whether the same call drops what is there and begins anew, instead of going on.
    pub anew: bool,
    /// How far dropping the tables that were there came, where the load ended in that.
    pub dropping: Option<Box<DropFailure>>,
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
            anew: false,
            dropping: None,
            rows_done: 0,
            rows_total: 0,
        }
    }
}

impl fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.dropping {
            Some(dropping) => dropping.fmt(f),
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for LoadFailure {}

/// Makes the workload's tables and fills them. When other clients are loading the same, it helps them.
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
    // A BIGINT that is no other client's.
    let number = rand::random::<u64>() >> 2;
    let guard = Guard::take(connector, Scope::Client(number))?;
    let began = begin::begin(connector, workload, spec, number, stop, observer)?;
    let rows_there = began.works.iter().map(TableWork::rows_there).sum();
    let share = Share {
        connector,
        workload,
        spec,
        me: began.me,
        rows_total: began.rows_total,
        board: Arc::new(Board::new(began.works)),
    };
    let board = &share.board;
    let loaded = share.load(&guard, stop, observer).and_then(|()| {
        let tables = board.reports().into_iter();
        let tables = tables.map(|(_, plan, _)| plan.name.clone());
        begin::leave(connector, share.me, tables.collect())
    });
    if let Err(error) = loaded {
        // Who interrupts a load goes on with it, and of rows that an earlier call left, or that are not
        // what was loaded, nobody knows whose they are.
        let unknown = matches!(error, EngineError::Interrupted | EngineError::Check(_));
        let notes = rows_there == 0 && !unknown;
        begin::give_up(connector, workload, spec, share.me, notes);
        return Err(LoadFailure {
            error,
            began: true,
            anew: spec.replace != Replace::Nothing,
            dropping: None,
            rows_done: board.rows_done(),
            rows_total: share.rows_total,
        });
    }
    let rows_loaded = board.rows_mine();
    let tables = share.tables();
    Ok(LoadReport {
        refreshing: tables.iter().filter_map(|t| t.refreshed).sum(),
        tables,
        chunks: board.chunks_mine(),
        rows_loaded,
        rows_there,
        rows_elsewhere: share.rows_total.saturating_sub(rows_there + rows_loaded),
        method: board.method(),
        elapsed: board.built().unwrap_or_else(Instant::now) - begun,
    })
}

/// Makes the workload's tables as [`prepare`] does, and leaves them empty: a load that has not ended,
/// with which the same load goes on, and which another one replaces as long as it has no rows.
///
/// # Errors
/// As [`prepare`].
pub fn create(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    observer: &mut dyn LoadObserver,
) -> Result<(), LoadFailure> {
    let connector = &connector.clone().unlimited();
    let number = rand::random::<u64>() >> 2;
    let _guard = Guard::take(connector, Scope::Client(number))?;
    let began = begin::begin(
        connector,
        workload,
        spec,
        number,
        &StopHandle::new(),
        observer,
    )?;
    begin::give_up(connector, workload, spec, began.me, false);
    Ok(())
}

/// One client's share of a load that goes on.
struct Share<'a> {
    connector: &'a Connector,
    workload: &'a Arc<dyn Workload>,
    spec: &'a LoadSpec,
    me: Me,
    rows_total: u64,
    board: Arc<Board>,
}

impl Share<'_> {
    /// Works until nothing is left to do by anybody.
    fn load(
        &self,
        guard: &Guard,
        stop: &StopHandle,
        observer: &mut dyn LoadObserver,
    ) -> Result<(), EngineError> {
        let (send, events) = channel();
        // Embedded engines have one writer at a time.
        let threads = if self.connector.is_blocking() {
            1
        } else {
            self.spec.threads.max(1)
        };
        let board = &self.board;
        // From here the rate counts: what is there already is not this load's.
        observer.progress(board.rows_sent(), self.rows_total);
        let workers = worker::start(self, threads, send)?;
        let mut verifying = false;
        loop {
            match events.recv_timeout(Duration::from_millis(100)) {
                Ok(worker::LoadEvent::Indexing(table)) => observer.indexing(&table),
                Ok(worker::LoadEvent::Verifying) if !verifying => {
                    verifying = true;
                    observer.verifying();
                }
                Ok(worker::LoadEvent::Verifying) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !verifying {
                observer.progress(board.rows_sent(), self.rows_total);
            }
            if stop.is_stopped() {
                board.stop(EngineError::Interrupted);
            }
            if let Some(error) = guard.failure() {
                board.stop(error);
            }
        }
        for worker in workers {
            if worker.join().is_err() {
                board.stop(EngineError::System("a loading thread panicked".into()));
            }
        }
        match board.failure() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Each table as it was found, by this client or by another one.
    fn tables(&self) -> Vec<TableReport> {
        let reports = self.board.reports().into_iter();
        let report = |(index, plan, found): (usize, Arc<TablePlan>, Option<TableReport>)| {
            found.unwrap_or_else(|| {
                let rows = self.workload.row_count(index, 0, plan.rows, self.spec.seed);
                TableReport::elsewhere(plan.name.clone(), rows)
            })
        };
        reports.map(report).collect()
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

/// Opens a session of a load: no limit of the server's or the account's ends what it does.
///
/// # Errors
/// Why it can't be opened.
pub(crate) async fn open(connector: &Connector, number: usize) -> Result<Session, DbError> {
    let mut session = connector.connect(number).await?;
    unlimit(&mut session).await?;
    Ok(session)
}

/// Runs housekeeping on one session of its own.
pub(crate) fn on_session<T: 'static>(
    connector: &Connector,
    work: impl AsyncFnOnce(&mut Session) -> Result<T, EngineError> + 'static,
) -> Result<T, EngineError> {
    let connector = connector.clone();
    block_on(async move {
        let mut session = open(&connector, 0)
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
