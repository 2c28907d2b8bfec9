//! The thread that writes a run into the store. Whoever makes the load only hands over: a store that
//! another process has locked is waited for here.

use super::{Stretches, joined};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidemark_core::record::{Interval, RunRecord};
use tidemark_core::series::{Series, SeriesChunk};
use tidemark_observe::SeriesSink;
use tidemark_store::{Store, StoreError};

/// So many bytes of intervals wait in memory at most; at one a second that is hours.
const MOST_WAITING: usize = 64 << 20;
/// SQLite and the encoding of an interval.
const STACK: usize = 1 << 20;

/// Hands a run over to its thread.
pub(super) struct Keeper {
    path: PathBuf,
    shared: Arc<SharedKeeper>,
}

/// Of a run.
type KeptSeries = (Vec<Interval>, Vec<Series>);

#[derive(Default)]
struct SharedKeeper {
    state: Mutex<KeeperState>,
    changed: Condvar,
}

/// What is to be written, and what became of it.
#[derive(Default)]
struct KeeperState {
    record: Option<Arc<RunRecord>>,
    begun: bool,
    waiting: VecDeque<Arc<Interval>>,
    waiting_bytes: usize,
    series: Stretches,
    /// Intervals for which there was no room.
    dropped: u64,
    last: Option<Arc<RunRecord>>,
    finished: bool,
    /// The store was given up; what it had taken by then.
    given_up: Option<KeptSeries>,
    failure: Option<String>,
    over: bool,
}

impl SharedKeeper {
    fn lock(&self) -> MutexGuard<'_, KeeperState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, how: impl FnOnce(&mut KeeperState)) {
        how(&mut self.lock());
        self.changed.notify_all();
    }
}

impl Keeper {
    /// Opens the store on the thread that will write to it; `waits` is called once where that takes
    /// longer than `noticed`.
    ///
    /// # Errors
    /// [`StoreError`] of a store that can't be opened.
    pub fn open(path: &Path, noticed: Duration, waits: impl FnOnce()) -> Result<Self, StoreError> {
        let shared = Arc::new(SharedKeeper::default());
        let (send, opened) = channel();
        let (own, place) = (Arc::clone(&shared), path.to_path_buf());
        let run = move || match Store::open(&place) {
            Ok(store) => {
                let _nobody_waits = send.send(Ok(()));
                drop(send);
                keep(store, &own);
            }
            Err(error) => drop(send.send(Err(error))),
        };
        let io = |source| StoreError::Io {
            path: path.into(),
            source,
        };
        std::thread::Builder::new()
            .name("store".into())
            .stack_size(STACK)
            .spawn(run)
            .map_err(io)?;
        let first = match opened.recv_timeout(noticed) {
            Err(RecvTimeoutError::Timeout) => {
                waits();
                opened.recv().ok()
            }
            first => first.ok(),
        };
        let ended = || Err(io(std::io::Error::other("the store's thread ended")));
        first.unwrap_or_else(ended)?;
        Ok(Self {
            path: path.into(),
            shared,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn begin(&self, record: &RunRecord) {
        let record = Arc::new(record.clone());
        self.shared.change(|state| state.record = Some(record));
    }

    pub fn interval(&self, interval: &Interval) {
        let bytes = size(interval);
        self.shared.change(|state| {
            if state.waiting_bytes + bytes > MOST_WAITING {
                state.dropped += 1;
                return;
            }
            state.waiting_bytes += bytes;
            state.waiting.push_back(Arc::new(interval.clone()));
        });
    }

    pub fn sink(&self) -> SeriesSink {
        let shared = Arc::clone(&self.shared);
        Arc::new(move |chunk| {
            let key = (chunk.number, chunk.source.clone());
            shared.change(|state| drop(state.series.insert(key, Arc::new(chunk))));
        })
    }

    /// Writes the end; whether it is in the store, `None` when that could not be told within the
    /// limit. `waits` is called once where it takes longer than `noticed`.
    pub fn finish(
        &self,
        record: &RunRecord,
        limit: Duration,
        noticed: Duration,
        waits: impl FnOnce(),
    ) -> Option<bool> {
        let record = Arc::new(record.clone());
        self.shared.change(|state| state.last = Some(record));
        let begun = Instant::now();
        let mut waits = Some(waits);
        let mut state = self.shared.lock();
        loop {
            if state.finished || state.given_up.is_some() {
                return Some(state.finished);
            }
            let waited = begun.elapsed();
            if waited >= limit {
                return None;
            }
            if waited >= noticed.min(limit)
                && let Some(waits) = waits.take()
            {
                waits();
            }
            let next = match waits {
                Some(_) => noticed.min(limit),
                None => limit,
            };
            let pause = next.saturating_sub(waited).max(Duration::from_millis(1));
            let woken = self.shared.changed.wait_timeout(state, pause);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Why the store does not have all of the run, once.
    pub fn take_failure(&self) -> Option<String> {
        let mut state = self.shared.lock();
        let dropped = std::mem::take(&mut state.dropped);
        let lost = (dropped > 0).then(|| {
            format!(
                "it was locked for so long that {dropped} intervals were lost, because the \
                 buffer was full"
            )
        });
        state.failure.take().or(lost)
    }

    /// Whether something of the run waits for the store.
    pub fn is_behind(&self) -> bool {
        let state = self.shared.lock();
        state.record.is_some() && !state.finished && state.given_up.is_none()
    }

    /// Whether the store has the run's begin.
    pub fn has_begun(&self) -> bool {
        self.shared.lock().begun
    }

    /// All intervals and series: those that the store has, and those that wait for it.
    ///
    /// # Errors
    /// Why the store's can't be read within the limit.
    pub fn measured(&self, run: &str, limit: Duration) -> Result<KeptSeries, String> {
        let (given_up, begun, waiting, series) = {
            let state = self.shared.lock();
            let waiting: Vec<_> = state.waiting.iter().cloned().collect();
            let series = state.series.clone();
            (state.given_up.clone(), state.begun, waiting, series)
        };
        let (mut all, kept) = match given_up {
            Some(taken) => taken,
            None if begun => read(&self.path, run, limit)?,
            None => KeptSeries::default(),
        };
        // One that is being written may be in both.
        let last = all.last().map(|i| i.start_ms);
        let missing = waiting.iter().filter(|i| Some(i.start_ms) > last);
        all.extend(missing.map(|i| Interval::clone(i)));
        Ok((all, joined(kept, &series)))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Not waited for: the store may be locked.
        self.shared.change(|state| state.over = true);
    }
}

/// Reads what was measured on a thread of its own, for readers may be locked out, too.
fn read(path: &Path, run: &str, limit: Duration) -> Result<KeptSeries, String> {
    let (send, receive) = channel();
    let (path, run) = (path.to_path_buf(), run.to_string());
    let read = move || {
        let read = Store::open_existing(&path)
            .and_then(|store| Ok((store.intervals(&run)?, store.series(&run)?)));
        // Who asked may have given up.
        let _ = send.send(read.map_err(|e| e.to_string()));
    };
    let spawned = std::thread::Builder::new()
        .name("store-reader".into())
        .stack_size(STACK)
        .spawn(read);
    spawned.map_err(|e| e.to_string())?;
    let seconds = limit.as_secs_f64();
    let none = |_| Err(format!("the store did not respond within {seconds:.1} s"));
    receive.recv_timeout(limit).unwrap_or_else(none)
}

/// About how much memory an interval takes: its histograms are nearly all of it.
fn size(interval: &Interval) -> usize {
    let types = interval.types.values().chain(interval.parts.values());
    let histograms = types.map(|t| {
        let others = [&t.server, &t.response, &t.wait];
        let others = others.into_iter().flatten().map(|h| h.0.len());
        512 + t.service.0.len() + others.sum::<usize>()
    });
    1024 + histograms.sum::<usize>()
}

/// What is to be written next.
enum NextWrite {
    Begin(Arc<RunRecord>),
    Interval(Arc<RunRecord>, Arc<Interval>),
    Series(Arc<RunRecord>, Arc<SeriesChunk>),
    Finish(Arc<RunRecord>),
    Over,
}

fn keep(mut store: Store, shared: &SharedKeeper) {
    loop {
        let next = next(shared);
        let (done, run) = match &next {
            NextWrite::Begin(record) => (store.begin(record), &record.id),
            NextWrite::Interval(record, one) => (store.push_interval(&record.id, one), &record.id),
            NextWrite::Series(record, one) => (store.push_series(&record.id, one), &record.id),
            NextWrite::Finish(record) => (store.finish(record), &record.id),
            NextWrite::Over => return,
        };
        match done {
            Ok(()) => shared.change(|state| wrote(state, &next)),
            // Another process has locked it: what is not given up by whoever waits is tried again.
            Err(StoreError::Busy { .. }) => {}
            Err(error) => {
                // What it took until now is read back while it can be.
                let series = store.series(run).unwrap_or_default();
                let taken = (store.intervals(run).unwrap_or_default(), series);
                return shared.change(|state| {
                    state.failure = Some(error.to_string());
                    state.given_up = Some(taken);
                });
            }
        }
    }
}

fn next(shared: &SharedKeeper) -> NextWrite {
    let mut state = shared.lock();
    loop {
        if let Some(record) = &state.record {
            if !state.begun {
                return NextWrite::Begin(Arc::clone(record));
            }
            if let Some(interval) = state.waiting.front() {
                return NextWrite::Interval(Arc::clone(record), Arc::clone(interval));
            }
            if let Some(chunk) = state.series.values().next() {
                return NextWrite::Series(Arc::clone(record), Arc::clone(chunk));
            }
        }
        match &state.last {
            Some(last) if !state.finished => return NextWrite::Finish(Arc::clone(last)),
            _ if state.over => return NextWrite::Over,
            _ => {}
        }
        let woken = shared.changed.wait(state);
        state = woken.unwrap_or_else(PoisonError::into_inner);
    }
}

fn wrote(state: &mut KeeperState, what: &NextWrite) {
    match what {
        NextWrite::Begin(_) => state.begun = true,
        NextWrite::Interval(_, interval) => {
            state.waiting.pop_front();
            state.waiting_bytes = state.waiting_bytes.saturating_sub(size(interval));
        }
        NextWrite::Series(_, chunk) => {
            let key = (chunk.number, chunk.source.clone());
            // It may have grown meanwhile.
            let written = |kept: &Arc<SeriesChunk>| Arc::ptr_eq(kept, chunk);
            if state.series.get(&key).is_some_and(written) {
                state.series.remove(&key);
            }
        }
        NextWrite::Finish(_) => state.finished = true,
        NextWrite::Over => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::{EncodedHistogram, TypeStats};

    #[test]
    fn an_interval_takes_what_all_of_its_histograms_take() {
        let histogram = || EncodedHistogram("1:".repeat(500));
        let of = |stats: TypeStats| {
            size(&Interval {
                types: [("t".to_string(), stats)].into(),
                ..Interval::default()
            })
        };
        let none = of(TypeStats::default());
        let each: [fn(&mut TypeStats, EncodedHistogram); 4] = [
            |stats, h| stats.service = h,
            |stats, h| stats.server = Some(h),
            |stats, h| stats.response = Some(h),
            |stats, h| stats.wait = Some(h),
        ];
        for (n, set) in each.iter().enumerate() {
            let mut stats = TypeStats::default();
            set(&mut stats, histogram());
            assert_eq!(of(stats) - none, 1000, "histogram {n}");
        }
    }
}
