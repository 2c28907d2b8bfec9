//! Keeping a run while it goes on: in the store, or in memory where there is none. A store that
//! fails never fails a run that makes load.

use std::path::{Path, PathBuf};
use tidemark_core::record::{Interval, RunRecord};
use tidemark_store::{Store, StoreError, default_path};

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
    store: Option<Store>,
    /// The run's id, once it is in the store.
    run: Option<String>,
    /// Intervals that the store does not have.
    intervals: Vec<Interval>,
    /// What went wrong, once.
    pub complaint: Option<String>,
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
        match store_path(named.map(Path::new)).and_then(|path| Store::open(&path)) {
            Ok(store) => storing.store = Some(store),
            Err(error) if named.is_some() => return Err(error),
            Err(error) => storing.complain(&error),
        }
        Ok(storing)
    }

    fn complain(&mut self, error: &StoreError) {
        self.complaint = Some(format!("the run is not kept in the store: {error}"));
    }

    /// The load begins: from here on there is something to keep.
    pub fn begin(&mut self, record: &RunRecord) {
        if let Some(store) = &mut self.store {
            match store.begin(record) {
                Ok(()) => self.run = Some(record.id.clone()),
                Err(error) => {
                    self.complain(&error);
                    self.store = None;
                }
            }
        }
    }

    /// Keeps one interval.
    pub fn interval(&mut self, interval: &Interval) {
        let (Some(store), Some(run)) = (&mut self.store, &self.run) else {
            self.intervals.push(interval.clone());
            return;
        };
        if let Err(error) = store.push_interval(run, interval) {
            // What it took until now is read back while it can be.
            self.intervals = store.intervals(run).unwrap_or_default();
            self.intervals.push(interval.clone());
            self.complain(&error);
            self.store = None;
        }
    }

    /// Keeps the finished record, which comes without intervals; whether it is in the store.
    pub fn finish(&mut self, record: &RunRecord) -> bool {
        let (Some(store), Some(_)) = (&mut self.store, &self.run) else {
            return false;
        };
        match store.finish(record) {
            Ok(()) => true,
            Err(error) => {
                self.complain(&error);
                false
            }
        }
    }

    /// The run's intervals, for a record that leaves the process.
    pub fn intervals(&mut self) -> Vec<Interval> {
        let (Some(store), Some(run)) = (&self.store, &self.run) else {
            return self.intervals.clone();
        };
        match store.intervals(run) {
            Ok(intervals) => intervals,
            Err(error) => {
                let said = format!("the run's intervals could not be read back: {error}");
                self.complaint = Some(said);
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let path = dir.path().join("runs.db").display().to_string();
        let mut storing = Storing::open(Some(&path)).unwrap();
        storing.begin(&record());
        storing.interval(&interval(0));
        storing.interval(&interval(1000));
        assert!(storing.intervals.is_empty());
        assert!(storing.finish(&record()));
        assert_eq!(starts(&storing.intervals()), [0, 1000]);
        assert_eq!(storing.complaint, None);
    }

    #[test]
    fn without_a_store_they_are_in_memory() {
        let mut storing = Storing::open(Some("off")).unwrap();
        storing.begin(&record());
        storing.interval(&interval(0));
        assert!(!storing.finish(&record()));
        assert_eq!(starts(&storing.intervals()), [0]);
        assert_eq!(storing.complaint, None);
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
        other.finish(&ended).unwrap();
        other.delete("a").unwrap();
        storing.interval(&interval(1000));
        assert!(storing.complaint.is_some());
        storing.interval(&interval(2000));
        assert_eq!(starts(&storing.intervals()), [1000, 2000]);
        assert!(!storing.finish(&record()));
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
