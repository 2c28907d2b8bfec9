//! Keeping a run while it goes on: in the store, or in memory where there is none. A store that
//! fails, or that another process has locked, never fails or holds up a run that makes load: a thread
//! of its own writes to it ([`keeper`]).

mod keeper;

use crate::interrupt;
use keeper::Keeper;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tidemark_core::record::{Interval, RunRecord};
use tidemark_core::series::{Series, SeriesChunk, join};
use tidemark_observe::SeriesSink;
use tidemark_store::{StoreError, default_path};

/// How long the end of a run waits for a store that is locked, or whose disk is slow.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same, from the moment on at which the user asked for the end.
const PATIENCE_ASKED: Duration = Duration::from_millis(4200);
/// The least of it.
const LEAST_PATIENCE: Duration = Duration::from_millis(500);
/// A wait that takes longer is said.
const NOTICED: Duration = Duration::from_millis(700);
/// Reading back what was stored may take so long.
const READING: Duration = Duration::from_secs(10);

/// Where runs are kept: a named file, or the user's own place.
///
/// # Errors
/// [`StoreError::NoPlace`] when the user has no place and names none.
pub fn store_path(named: Option<&Path>) -> Result<PathBuf, StoreError> {
    named.map_or_else(default_path, |path| Ok(path.into()))
}

/// One run's way into the store.
#[derive(Default)]
pub struct Storing {
    keeper: Option<Keeper>,
    /// The run's id, once the load has begun.
    run: Option<String>,
    /// Intervals of a run that is kept in no store.
    intervals: Vec<Interval>,
    /// Its series, by source and stretch.
    series: Arc<Mutex<Stretches>>,
    /// What went wrong, once.
    complaint: Option<String>,
    /// Whether intervals are kept by somebody else.
    only_series: bool,
}

impl Storing {
    /// Opens the store; `off`, also in `TIDEMARK_STORE`, keeps nothing in it. No run is begun: one
    /// that makes no load leaves nothing behind.
    ///
    /// # Errors
    /// [`StoreError`] of a store that this command names, for there a run is asked to be kept.
    /// Another one's is a complaint.
    pub fn open(named: Option<&str>) -> Result<Self, StoreError> {
        let mut storing = Self::default();
        let chosen = std::env::var("TIDEMARK_STORE").ok();
        if named.or(chosen.as_deref()) == Some("off") {
            return Ok(storing);
        }
        let opened = store_path(named.map(Path::new)).and_then(|path| {
            let waits = || eprintln!("{}", waiting(&path, None));
            Keeper::open(&path, NOTICED, waits)
        });
        match opened {
            Ok(keeper) => storing.keeper = Some(keeper),
            Err(error) if named.is_some() => return Err(error),
            Err(error) => storing.complain(&error.to_string()),
        }
        Ok(storing)
    }

    /// Of a run whose intervals are kept by somebody else.
    pub fn of_series() -> Self {
        Self {
            only_series: true,
            ..Self::default()
        }
    }

    fn complain(&mut self, why: &str) {
        self.complaint = Some(format!("the run is not stored: {why}"));
    }

    /// What went wrong since the last call.
    pub fn take_complaint(&mut self) -> Option<String> {
        let kept = self.keeper.as_ref().and_then(Keeper::take_failure);
        if let Some(failure) = kept {
            self.complain(&failure);
        }
        self.complaint.take()
    }

    /// The load begins: from here on there is something to keep.
    pub fn begin(&mut self, record: &RunRecord) {
        self.run = Some(record.id.clone());
        if let Some(keeper) = &self.keeper {
            keeper.begin(record);
        }
    }

    /// Keeps one interval. It is in the store a moment later, unless that is locked.
    pub fn interval(&mut self, interval: &Interval) {
        match &self.keeper {
            Some(keeper) => keeper.interval(interval),
            None if self.only_series => {}
            None => self.intervals.push(interval.clone()),
        }
    }

    /// Keeps series. A stretch is in the store a moment later, unless that is locked.
    pub fn sink(&self) -> SeriesSink {
        if let Some(keeper) = &self.keeper {
            return keeper.sink();
        }
        let series = Arc::clone(&self.series);
        Arc::new(move |chunk| {
            let mut series = series.lock().unwrap_or_else(PoisonError::into_inner);
            series.insert((chunk.number, chunk.source.clone()), Arc::new(chunk));
        })
    }

    /// Keeps the finished record, which comes without intervals; whether it is in the store.
    pub fn finish(&mut self, record: &RunRecord) -> bool {
        let (Some(keeper), Some(_)) = (&self.keeper, &self.run) else {
            return false;
        };
        let limit = patience();
        let begun = Instant::now();
        let said = || eprintln!("{}", waiting(keeper.path(), Some(limit)));
        let kept = keeper.finish(record, limit, NOTICED, said);
        if let Some(kept) = kept {
            return kept;
        }
        let why = format!(
            "{} is locked by another process, or its disk is too slow: no write succeeded for \
             {:.0} s",
            keeper.path().display(),
            begun.elapsed().as_secs_f64().max(1.0)
        );
        self.complain(&why);
        false
    }

    /// Where to put the whole record of a run that the store did not take in time; `None` for every
    /// other run.
    pub fn place_beside(&self, record: &RunRecord) -> Option<PathBuf> {
        let keeper = self.keeper.as_ref().filter(|keeper| keeper.is_behind())?;
        let folder = keeper.path().parent()?;
        Some(folder.join(format!("tidemark-run-{}.json", record.id)))
    }

    /// How to take such a record in, when the store can be written to again.
    pub fn taking_in(&self, record: &RunRecord, file: &Path) -> String {
        let store = self.keeper.as_ref().map(|keeper| keeper.path().display());
        let store = store.map(|path| format!(" --store {path}"));
        let store = store.unwrap_or_default();
        let id = &record.id;
        let file = file.display();
        let begun = self.keeper.as_ref().is_some_and(Keeper::has_begun);
        match begun {
            true => format!(
                "tidemark delete {id} --yes{store} && tidemark import {file}{store} (the store \
                 has its start)"
            ),
            false => format!("tidemark import {file}{store}"),
        }
    }

    /// The run's intervals and series, for a record that leaves the process.
    pub fn measured(&mut self) -> (Vec<Interval>, Vec<Series>) {
        let (Some(keeper), Some(run)) = (&self.keeper, &self.run) else {
            let series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
            return (self.intervals.clone(), joined(Vec::new(), &series));
        };
        match keeper.measured(run, READING.min(patience())) {
            Ok(measured) => measured,
            Err(why) => {
                let said = format!("the run's intervals could not be read back: {why}");
                self.complaint.get_or_insert(said);
                (Vec::new(), Vec::new())
            }
        }
    }
}

/// Stretches of series by number and source.
type Stretches = BTreeMap<(u32, String), Arc<SeriesChunk>>;

/// Series that were kept, with the stretches that were not yet.
fn joined(mut kept: Vec<Series>, waiting: &Stretches) -> Vec<Series> {
    let waiting = waiting.values().flat_map(|chunk| chunk.series.clone());
    kept.extend(waiting);
    join(kept)
}

/// How long the store is waited for from now on.
fn patience() -> Duration {
    let asked = interrupt::since();
    asked.map_or(PATIENCE, |since| {
        PATIENCE_ASKED.saturating_sub(since).max(LEAST_PATIENCE)
    })
}

fn waiting(path: &Path, limit: Option<Duration>) -> String {
    let limit = limit.map(|l| format!(", for {:.0} s at most", l.as_secs_f64().max(1.0)));
    format!(
        "waiting for the run store {}: another process has locked it, or its disk is slow{}",
        path.display(),
        limit.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_store::Store;

    fn interval(start_ms: i64) -> Interval {
        Interval {
            start_ms,
            length_ms: 1000.0,
            ..Interval::default()
        }
    }

    fn record() -> RunRecord {
        RunRecord {
            schema_version: tidemark_core::record::SCHEMA_VERSION,
            id: "a".into(),
            ..RunRecord::default()
        }
    }

    fn starts(intervals: &[Interval]) -> Vec<i64> {
        intervals.iter().map(|i| i.start_ms).collect()
    }

    #[test]
    fn intervals_are_in_the_store_and_not_in_memory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.db");
        let mut storing = Storing::open(path.to_str()).unwrap();
        storing.begin(&record());
        storing.interval(&interval(0));
        storing.interval(&interval(1000));
        let other = Store::open(&path).unwrap();
        let give_up = Instant::now() + Duration::from_secs(20);
        while other.intervals("a").map_or(0, |all| all.len()) < 2 {
            assert!(Instant::now() < give_up, "they are not in the store");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(storing.finish(&record()));
        assert_eq!(starts(&storing.measured().0), [0, 1000]);
        assert_eq!(storing.take_complaint(), None);
        assert_eq!(storing.place_beside(&record()), None);
    }

    #[test]
    fn without_a_store_they_are_in_memory() {
        let mut storing = Storing::open(Some("off")).unwrap();
        storing.begin(&record());
        storing.interval(&interval(0));
        assert!(!storing.finish(&record()));
        assert_eq!(starts(&storing.measured().0), [0]);
        assert_eq!(storing.take_complaint(), None);
    }

    #[test]
    fn a_locked_store_holds_nothing_up_and_has_all_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.db");
        let mut storing = Storing::open(path.to_str()).unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let begun = Instant::now();
        storing.begin(&record());
        for n in 0..100 {
            storing.interval(&interval(n * 1000));
        }
        assert!(begun.elapsed() < PATIENCE_ASKED);
        assert!(storing.place_beside(&record()).is_some());
        // What has not arrived yet is there all the same.
        assert_eq!(storing.measured().0.len(), 100);
        std::thread::scope(|scope| {
            let kept = scope.spawn(|| storing.finish(&record()));
            std::thread::sleep(Duration::from_millis(300));
            other.execute_batch("ROLLBACK").unwrap();
            assert!(kept.join().unwrap());
        });
        assert_eq!(storing.take_complaint(), None);
        assert_eq!(storing.measured().0.len(), 100);
        assert_eq!(
            Store::open(&path).unwrap().intervals("a").unwrap().len(),
            100
        );
    }

    #[test]
    fn a_run_that_somebody_deleted_goes_on_in_memory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.db");
        let mut storing = Storing::open(path.to_str()).unwrap();
        storing.begin(&record());
        storing.interval(&interval(0));
        let mut other = Store::open(&path).unwrap();
        let mut ended = record();
        ended.state = tidemark_core::record::RunState::Interrupted;
        let give_up = Instant::now() + Duration::from_secs(20);
        while other.intervals("a").map_or(0, |all| all.len()) < 1 {
            assert!(Instant::now() < give_up, "it is not in the store");
            std::thread::sleep(Duration::from_millis(5));
        }
        other.finish(&ended).unwrap();
        other.delete("a").unwrap();
        storing.interval(&interval(1000));
        storing.interval(&interval(2000));
        assert!(!storing.finish(&record()));
        assert!(storing.take_complaint().is_some());
        assert_eq!(starts(&storing.measured().0), [1000, 2000]);
    }

    #[test]
    fn a_run_that_never_began_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.db");
        let mut storing = Storing::open(path.to_str()).unwrap();
        assert!(!storing.finish(&record()));
        let store = Store::open_existing(&path).unwrap();
        assert!(store.list(&Default::default()).unwrap().is_empty());
    }
}
