//! The store: one SQLite file of run records, written interval by interval.
//!
//! A run is begun ([`Store::begin`]), gets its intervals one by one ([`Store::push_interval`]) and its
//! series in stretches ([`Store::push_series`]), and is finished ([`Store::finish`]). Each call is one transaction, so a process that is killed loses
//! at most the interval in flight; the run then shows as [`ListedState::Unfinished`]. Several
//! processes may use the file at once (write-ahead log, a minute's patience for locks).
//!
//! Any SQLite tool can read it: table `run` has a row a run, table `interval` a row an interval, table
//! `series` a row a series and stretch, with plain columns for what one asks most and the whole in JSON beside them (column names are in
//! `schema.sql`).
//!
//! A file that is no store is never written to. A store of an older format is upgraded when it is
//! opened, and a copy of what it was is kept beside it ([`tell_upgrades`]).
//!
//! ```
//! use tidemark_core::record::RunRecord;
//! use tidemark_store::{Filter, Store};
//! let folder = tempfile::tempdir()?;
//! let mut store = Store::open(&folder.path().join("runs.db"))?;
//! let record = RunRecord { id: "660a".into(), ..RunRecord::default() };
//! store.begin(&record)?;
//! store.finish(&record)?;
//! store.tag(&["660a".into()], &["before".into()], &[])?;
//! assert_eq!(store.list(&Filter::default())?[0].id, "660a");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
extern crate self as tidemark_store;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod check;
mod columns;
mod error;
mod json;
mod labels;
mod liveness;
mod path;
mod query;
mod schema;
mod series;
mod studies;
mod tables;
mod upgrade;
mod write;

pub use check::Health;
pub use error::{RecordError, StoreError};
pub use json::{from_json, to_json};
pub use labels::{check_id, check_tag};
pub use path::{data_folder, default_path};
pub use query::{DIAGNOSIS_IDS, Filter, ListedState, RunListing, StateWord};
pub use studies::{
    ChangedSetting, NewStep, NewStudy, RunProgress, SharedServerOf, StepEnd, StepRow, StepState,
    StudyElsewhere, StudyRow, StudyRun, StudyState,
};
pub use tables::TablesOfRun;
pub use upgrade::{Upgrade, tell_upgrades};

use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// An open store.
#[derive(Debug)]
pub struct Store {
    db: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store, making the file and its folder when they are not there.
    ///
    /// # Errors
    /// [`StoreError`]: the file is no store, is damaged, is from a newer Tidemark, or can't be
    /// opened.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| StoreError::io(folder, e))?;
        }
        schema::open(path, true)
    }

    /// Opens a store that is there already; for commands that only read.
    ///
    /// # Errors
    /// [`StoreError::Absent`] when there is no file, and as [`Store::open`].
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        schema::open(path, false)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, error)
    }
}
