//! Writing a run to the store while it goes on. A store that fails never fails a run.

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
pub struct Storing {
    store: Option<Store>,
    /// What went wrong, once.
    pub complaint: Option<String>,
}

impl Storing {
    /// Begins a run in the store; `off` writes nothing.
    pub fn begin(named: Option<&str>, record: &RunRecord) -> Self {
        if named == Some("off") {
            return Self {
                store: None,
                complaint: None,
            };
        }
        let begun = store_path(named.map(Path::new)).and_then(|path| {
            let mut store = Store::open(&path)?;
            store.begin(record)?;
            Ok(store)
        });
        match begun {
            Ok(store) => Self {
                store: Some(store),
                complaint: None,
            },
            Err(error) => Self {
                store: None,
                complaint: Some(Self::said(&error)),
            },
        }
    }

    fn said(error: &StoreError) -> String {
        format!("the run is not kept in the store: {error}")
    }

    /// Keeps one interval.
    pub fn interval(&mut self, run: &str, interval: &Interval) {
        if let Some(store) = &mut self.store
            && let Err(error) = store.push_interval(run, interval)
        {
            self.complaint = Some(Self::said(&error));
            self.store = None;
        }
    }

    /// Keeps the finished record; whether it is in the store.
    pub fn finish(&mut self, record: &mut RunRecord) -> bool {
        let Some(store) = &mut self.store else {
            return false;
        };
        // They are in the store already; a copy of them all would be memory for nothing.
        let intervals = std::mem::take(&mut record.intervals);
        let finished = store.finish(record);
        record.intervals = intervals;
        match finished {
            Ok(()) => true,
            Err(error) => {
                self.complaint = Some(Self::said(&error));
                false
            }
        }
    }
}
