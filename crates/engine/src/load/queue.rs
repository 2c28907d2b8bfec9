//! Which worker loads which chunk.

use super::decide::Decision;
use crate::error::EngineError;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tidemark_drivers::BulkMethod;
use tidemark_workloads::TablePlan;

/// One table's share of a load.
#[derive(Debug)]
pub(super) struct TableWork {
    /// The plan's number in the workload.
    pub index: usize,
    pub plan: TablePlan,
    pub rows_there: u64,
    /// Whether a chunk that fails is taken back.
    transactional: bool,
    /// First row and number of rows.
    chunks: VecDeque<(u64, u64)>,
    /// Chunks taken and not yet committed.
    in_progress: usize,
    finished: bool,
}

impl TableWork {
    pub fn new(
        index: usize,
        plan: TablePlan,
        decision: Decision,
        chunk_rows: u64,
        transactional: bool,
    ) -> Self {
        let rows_there = decision.rows_there();
        let there = match decision {
            Decision::Resume { chunks } => chunks,
            _ => Vec::new(),
        };
        let chunks = missing(plan.rows, &there, chunk_rows.max(1));
        Self {
            index,
            plan,
            rows_there,
            transactional,
            chunks,
            in_progress: 0,
            finished: false,
        }
    }
}

/// The row numbers of 0 to `rows` that no chunk in `there` holds, in chunks of at most `size`.
fn missing(rows: u64, there: &[(u64, u64)], size: u64) -> VecDeque<(u64, u64)> {
    let mut there = there.to_vec();
    there.sort_unstable();
    let mut chunks = VecDeque::new();
    let mut next = 0;
    for (first, count) in there.into_iter().chain([(rows, 0)]) {
        while next < first.min(rows) {
            let count = size.min(first.min(rows) - next);
            chunks.push_back((next, count));
            next += count;
        }
        next = next.max(first + count);
    }
    chunks
}

/// What a worker does next.
#[derive(Debug)]
pub(super) enum Job {
    /// Load rows `first` to `first + rows` of the plan numbered `index`.
    Chunk {
        work: usize,
        index: usize,
        table: String,
        columns: &'static [&'static str],
        first: u64,
        rows: u64,
        transactional: bool,
    },
    /// All rows are there: make the indexes.
    Finish { plan: TablePlan },
    /// Others are still loading: ask again soon.
    Wait,
    /// Nothing is left.
    Done,
}

#[derive(Debug)]
struct State {
    works: Vec<TableWork>,
    rows_done: u64,
    method: Option<BulkMethod>,
    failure: Option<EngineError>,
}

/// The jobs of a load.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Rows handed to drivers, committed or not: what progress shows.
    sent: AtomicU64,
}

impl Queue {
    pub fn new(works: Vec<TableWork>) -> Self {
        Self {
            state: Mutex::new(State {
                works,
                rows_done: 0,
                method: None,
                failure: None,
            }),
            sent: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job of a worker. It stays with one table while that has chunks: inserting in key
    /// order into one table is what engines are quickest at.
    pub fn next(&self, worker: usize) -> Job {
        let mut state = self.lock();
        if state.failure.is_some() {
            return Job::Done;
        }
        let due = |w: &TableWork| !w.finished && w.chunks.is_empty() && w.in_progress == 0;
        if let Some(work) = state.works.iter_mut().find(|w| due(w)) {
            work.finished = true;
            return Job::Finish {
                plan: work.plan.clone(),
            };
        }
        let own = worker % state.works.len().max(1);
        let work = match state.works.get(own).map(|w| w.chunks.len()) {
            Some(left) if left > 0 => Some(own),
            _ => (0..state.works.len()).max_by_key(|w| state.works[*w].chunks.len()),
        };
        if let Some(number) = work
            && let Some(work) = state.works.get_mut(number)
            && let Some((first, rows)) = work.chunks.pop_front()
        {
            work.in_progress += 1;
            let (index, table, columns) = (work.index, work.plan.name.clone(), work.plan.columns);
            let transactional = work.transactional;
            return Job::Chunk {
                work: number,
                index,
                table,
                columns,
                first,
                rows,
                transactional,
            };
        }
        if state.works.iter().any(|w| w.in_progress > 0) {
            Job::Wait
        } else {
            Job::Done
        }
    }

    /// A chunk is committed.
    pub fn committed(&self, work: usize, rows: u64, method: BulkMethod) {
        let mut state = self.lock();
        state.rows_done += rows;
        state.method.get_or_insert(method);
        if let Some(work) = state.works.get_mut(work) {
            work.in_progress -= 1;
        }
    }

    /// Ends the load; the first reason counts.
    pub fn stop(&self, error: EngineError) {
        self.lock().failure.get_or_insert(error);
    }

    pub fn failure(&self) -> Option<EngineError> {
        self.lock().failure.clone()
    }

    pub fn rows_done(&self) -> u64 {
        self.lock().rows_done
    }

    /// Counts one row as sent.
    pub fn row_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Rows of a chunk that failed will be sent again.
    pub fn take_back(&self, rows: u64) {
        self.sent.fetch_sub(rows, Ordering::Relaxed);
    }

    pub fn rows_sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub fn method(&self) -> Option<BulkMethod> {
        self.lock().method
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chunks_fill_the_gaps() {
        assert_eq!(missing(10, &[], 4), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(missing(10, &[(4, 4)], 4), [(0, 4), (8, 2)]);
        assert_eq!(missing(10, &[(0, 10)], 4), []);
        assert_eq!(missing(0, &[], 4), []);
    }

    proptest! {
        #[test]
        fn every_row_is_loaded_exactly_once(
            rows in 0u64..500, size in 1u64..60, taken in prop::collection::vec(any::<bool>(), 0..60),
        ) {
            let all = missing(rows, &[], size);
            let there: Vec<_> = all.iter().zip(taken).filter(|(_, t)| *t).map(|(c, _)| *c).collect();
            // The second load may use chunks of another size.
            let rest = missing(rows, &there, size + 3);
            let mut seen: Vec<u64> =
                there.iter().chain(&rest).flat_map(|(first, count)| *first..first + count).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..rows).collect::<Vec<_>>());
        }
    }
}
