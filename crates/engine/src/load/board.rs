//! What is left of a load, as one client knows it, and what its workers do next.

use super::table_work::{Piece, Stage, TableWork};
use super::verify::TableReport;
use crate::error::EngineError;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tidemark_drivers::BulkMethod;
use tidemark_drivers::journal::{Journal, LoadPart};
use tidemark_workloads::TablePlan;

/// One part for a worker to claim and to do.
#[derive(Debug, Clone)]
pub(super) struct LoadTask {
    /// The table's number on the board.
    pub work: usize,
    /// The plan's number in the workload.
    pub index: usize,
    pub plan: Arc<TablePlan>,
    pub part: LoadPart,
    /// Rows of a chunk.
    pub rows: u64,
    pub transactional: bool,
    /// Whether a client that ended may have begun it.
    pub begun: bool,
}

/// What a worker does next.
#[derive(Debug)]
pub(super) enum Job {
    Do(LoadTask),
    /// Others are still at it: ask again soon.
    Wait,
    /// Nothing is left.
    Done,
}

#[derive(Debug)]
struct Inner {
    works: Vec<TableWork>,
    rows_mine: u64,
    chunks_mine: u64,
    method: Option<BulkMethod>,
    reports: BTreeMap<usize, TableReport>,
    built: Option<Instant>,
    failure: Option<EngineError>,
    /// A session was lost then: what was committed may be, too, until the journal was read again.
    doubt: Option<Instant>,
}

/// The parts of a load.
#[derive(Debug)]
pub(super) struct Board {
    inner: Mutex<Inner>,
    /// Rows handed to drivers and not yet committed.
    in_flight: AtomicU64,
}

impl Board {
    pub fn new(works: Vec<TableWork>) -> Self {
        Self {
            inner: Mutex::new(Inner {
                works,
                rows_mine: 0,
                chunks_mine: 0,
                method: None,
                reports: BTreeMap::new(),
                built: None,
                failure: None,
                doubt: None,
            }),
            in_flight: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next part to claim. Indexes come as soon as a table's rows are there; of the chunks, the
    /// next of the table that has most to load for each worker that is at it. So the largest tables
    /// begin first, all end at about the same time, and a worker mostly stays with its table:
    /// inserting in key order into one table is what engines are quickest at.
    pub fn next(&self) -> Job {
        let mut inner = self.lock();
        if inner.failure.is_some() {
            return Job::Done;
        }
        if inner.doubt.is_some() {
            return Job::Wait;
        }
        let works = &inner.works;
        let numbers = || 0..works.len();
        let built = works.iter().all(|w| w.is_done(LoadPart::Indexes));
        let complete = built && works.iter().all(|w| w.is_done(LoadPart::AfterAll));
        let several = works
            .iter()
            .any(|w| w.parts.contains_key(&LoadPart::AfterAll));
        let indexes = || {
            let due = |w: &TableWork| w.rows_are_there() && w.has_open(LoadPart::Indexes);
            numbers()
                .find(|n| due(&works[*n]))
                .map(|n| (n, LoadPart::Indexes))
        };
        let chunk = || {
            // Of equals the first.
            let most = numbers().rev().max_by_key(|n| works[*n].bytes_a_worker())?;
            let open = |n: usize| Some((n, works[n].first_open_chunk()?));
            open(most).or_else(|| numbers().find_map(open))
        };
        let after_all = || {
            // Two foreign keys at the same table would wait for each other.
            let busy = |w: &TableWork| {
                let is_busy = |stage| matches!(stage, Stage::Mine | Stage::Others);
                w.parts.contains_key(&LoadPart::AfterAll) && w.is(LoadPart::AfterAll, is_busy)
            };
            if !built || works.iter().any(busy) {
                return None;
            }
            numbers()
                .find(|n| works[*n].has_open(LoadPart::AfterAll))
                .map(|n| (n, LoadPart::AfterAll))
        };
        let verify = || {
            let due = |w: &TableWork| {
                let ready = if several {
                    complete
                } else {
                    w.is_done(LoadPart::Indexes)
                };
                ready && w.rows_are_there() && w.has_open(LoadPart::Verify)
            };
            numbers()
                .find(|n| due(&works[*n]))
                .map(|n| (n, LoadPart::Verify))
        };
        let found = indexes().or_else(chunk).or_else(after_all).or_else(verify);
        let Some((number, part)) = found else {
            return if works.iter().all(|w| w.is_done(LoadPart::Verify)) {
                Job::Done
            } else {
                Job::Wait
            };
        };
        let work = &mut inner.works[number];
        let (index, plan, transactional) = (work.index, Arc::clone(&work.plan), work.transactional);
        let Some(piece) = work.parts.get_mut(&part) else {
            return Job::Wait;
        };
        let begun = matches!(piece.stage, Stage::Open { begun: true });
        piece.stage = Stage::Mine;
        Job::Do(LoadTask {
            work: number,
            index,
            plan,
            part,
            rows: piece.rows,
            transactional,
            begun,
        })
    }

    /// A part is committed by this client; whether a chunk's rows were counted.
    pub fn done(&self, task: &LoadTask, counted: bool) {
        let mut inner = self.lock();
        if let Some(piece) = inner.piece(task) {
            piece.stage = Stage::Done;
            piece.mine_since = Some(Instant::now());
            piece.counted = counted;
        }
        inner.rows_mine += task.rows;
        inner.chunks_mine += u64::from(matches!(task.part, LoadPart::Chunk { .. }));
        if matches!(task.part, LoadPart::Indexes | LoadPart::AfterAll) {
            inner.built = Some(Instant::now());
        }
    }

    /// The rows of a part's table, where this client counted every chunk of it.
    pub fn counted(&self, task: &LoadTask) -> Option<u64> {
        let inner = self.lock();
        let work = inner.works.get(task.work)?;
        let mut chunks = work.chunks().map(|(_, piece)| piece).peekable();
        // Nobody has looked at a table without rows.
        chunks.peek()?;
        chunks.map(|p| p.counted.then_some(p.rows)).sum()
    }

    /// Another client is at a part.
    pub fn lost(&self, task: &LoadTask) {
        if let Some(piece) = self.lock().piece(task) {
            piece.stage = Stage::Others;
        }
    }

    pub fn loaded_by(&self, method: BulkMethod) {
        self.lock().method.get_or_insert(method);
    }

    pub fn report(&self, index: usize, report: TableReport) {
        self.lock().reports.insert(index, report);
    }

    /// A session was lost. When the server has crashed, what was committed without waiting for its
    /// disk is lost with it (`Dialect::within_load`): rows and their lines in the journal alike. So
    /// nothing is begun until the journal was read again. What was counted may be lost, too, from a
    /// storage engine with a log of its own.
    pub fn doubt(&self) {
        let mut inner = self.lock();
        inner.doubt = Some(Instant::now());
        let parts = inner.works.iter_mut().flat_map(|w| w.parts.values_mut());
        parts.for_each(|piece| piece.counted = false);
    }

    /// Whether the journal is still to be read again.
    pub fn is_in_doubt(&self) -> bool {
        self.lock().doubt.is_some()
    }

    /// Learns what all clients have done, from a journal that was asked for at that moment by the
    /// client of that number. False when parts are gone from the journal that are not known to be
    /// done.
    pub fn learn(&self, journal: &Journal, asked: Instant, me: u64) -> bool {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let in_doubt = inner.doubt.is_some_and(|lost| lost < asked);
        let mut all_there = true;
        // Rows and chunks that a crash took back.
        let mut lost = (0, 0);
        for work in &mut inner.works {
            let lines: BTreeMap<LoadPart, Stage> = journal
                .of(&work.plan.name)
                .map(|line| (line.part, Stage::to(line, me)))
                .collect();
            for (part, piece) in &mut work.parts {
                match (piece.stage, lines.get(part)) {
                    (Stage::Done, Some(now)) if in_doubt && *now != Stage::Done => {
                        // What is newer than the journal that was read is not in it.
                        if piece.mine_since.is_some_and(|since| since >= asked) {
                            continue;
                        }
                        if !work.transactional && matches!(part, LoadPart::Chunk { .. }) {
                            let forgotten = forgotten(&work.plan.name);
                            inner.failure.get_or_insert(forgotten);
                            break;
                        }
                        if piece.mine_since.take().is_some() {
                            let is_chunk = matches!(part, LoadPart::Chunk { .. });
                            lost = (lost.0 + piece.rows, lost.1 + u64::from(is_chunk));
                        }
                        piece.stage = *now;
                    }
                    // What this client knows of its own is newer than what was read.
                    (Stage::Done | Stage::Mine, _) => {}
                    (_, Some(now)) => piece.stage = *now,
                    (_, None) => all_there = false,
                }
            }
        }
        inner.rows_mine = inner.rows_mine.saturating_sub(lost.0);
        inner.chunks_mine = inner.chunks_mine.saturating_sub(lost.1);
        if in_doubt {
            inner.doubt = None;
        }
        all_there
    }

    /// Whether a part that was begun may still be done: to look at a table all its rows must be there.
    pub fn is_due(&self, task: &LoadTask) -> bool {
        let inner = self.lock();
        let work = inner.works.get(task.work);
        matches!(task.part, LoadPart::Chunk { .. }) || work.is_some_and(TableWork::rows_are_there)
    }

    /// Everything was done by others.
    pub fn all_done(&self) {
        let mut inner = self.lock();
        let parts = inner.works.iter_mut().flat_map(|w| w.parts.values_mut());
        parts.for_each(|piece| piece.stage = Stage::Done);
    }

    /// Ends the load; the first reason counts.
    pub fn stop(&self, error: EngineError) {
        self.lock().failure.get_or_insert(error);
    }

    pub fn failure(&self) -> Option<EngineError> {
        self.lock().failure.clone()
    }

    /// Whether nothing is left to do or the load was stopped.
    pub fn is_over(&self) -> bool {
        let inner = self.lock();
        inner.failure.is_some() || inner.works.iter().all(|w| w.is_done(LoadPart::Verify))
    }

    /// Rows committed by all clients, earlier ones included.
    pub fn rows_done(&self) -> u64 {
        self.lock().works.iter().map(TableWork::rows_there).sum()
    }

    /// Rows committed by this client.
    pub fn rows_mine(&self) -> u64 {
        self.lock().rows_mine
    }

    /// Chunks committed by this client.
    pub fn chunks_mine(&self) -> u64 {
        self.lock().chunks_mine
    }

    /// Counts rows as sent.
    pub fn took_off(&self, rows: u64) {
        self.in_flight.fetch_add(rows, Ordering::Relaxed);
    }

    /// Rows of a chunk that is committed, or will be sent again.
    pub fn landed(&self, rows: u64) {
        self.in_flight.fetch_sub(rows, Ordering::Relaxed);
    }

    /// Rows committed by all and those that this client has sent.
    pub fn rows_sent(&self) -> u64 {
        self.rows_done() + self.in_flight.load(Ordering::Relaxed)
    }

    pub fn method(&self) -> Option<BulkMethod> {
        self.lock().method
    }

    /// When this client made its last index.
    pub fn built(&self) -> Option<Instant> {
        self.lock().built
    }

    /// Each plan's number, the plan, and what this client found on looking at its table.
    pub fn reports(&self) -> Vec<(usize, Arc<TablePlan>, Option<TableReport>)> {
        let inner = self.lock();
        let of = |w: &TableWork| {
            let found = inner.reports.get(&w.index).cloned();
            (w.index, Arc::clone(&w.plan), found)
        };
        inner.works.iter().map(of).collect()
    }

    /// The tables whose parts are not all done, with their plans.
    pub fn unfinished(&self) -> Vec<Arc<TablePlan>> {
        let inner = self.lock();
        let left = inner.works.iter().filter(|w| !w.is_done(LoadPart::Verify));
        left.map(|w| Arc::clone(&w.plan)).collect()
    }

    /// Tables without transactions: what was begun there can't be taken over.
    pub fn can_take_over(&self, table: &str) -> bool {
        let inner = self.lock();
        let of_table = inner.works.iter().find(|w| w.plan.name == table);
        of_table.is_none_or(|w| w.transactional)
    }
}

/// Rows that may be there or not, and would come twice.
fn forgotten(table: &str) -> EngineError {
    EngineError::Refused(format!(
        "the server crashed and lost the progress of the load of table {table}; the table's \
         storage engine has no rollback, so loaded rows cannot be distinguished from missing \
         ones. Run prepare again: it recreates the table"
    ))
}

impl Inner {
    fn piece(&mut self, task: &LoadTask) -> Option<&mut Piece> {
        self.works.get_mut(task.work)?.parts.get_mut(&task.part)
    }
}
