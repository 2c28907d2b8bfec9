//! What can go wrong with the store, always naming the file.

use rusqlite::ffi;
use std::path::{Path, PathBuf};

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no home folder to keep the store in.
    #[error(
        "no folder for the run store; set TIDEMARK_STORE=/path/to/runs.db, XDG_DATA_HOME or HOME"
    )]
    NoPlace,
    /// There is no file.
    #[error(
        "{}: no run store here; set --store=runs.db or TIDEMARK_STORE=/path/to/runs.db, or start \
         with: tidemark demo",
        .path.display()
    )]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else. It was not touched.
    #[error(
        "{}: {what}, not a Tidemark store; it was not changed. Use another file, for example \
         with TIDEMARK_STORE=/path/to/runs.db",
        .path.display()
    )]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// A newer Tidemark wrote the file. It was not touched.
    #[error(
        "{}: this store is in format {found}, from a newer Tidemark; this one reads up to format \
         {supported}. Use the newer Tidemark, or another file with TIDEMARK_STORE=/path/to/runs.db",
        .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        supported: i64,
    },
    /// The file's content is broken.
    #[error(
        "{path}: the store is damaged ({detail}); it was not changed. To recover what is \
         readable into a new file: sqlite3 {path} .recover | sqlite3 recovered.db",
        path = .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        detail: String,
    },
    /// A new file was asked for where there is one.
    #[error("{}: already exists; not overwritten", .path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// The file changed while it was read.
    #[error("{}: another process is writing to it; stop that first", .path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// A word that can be no tag.
    #[error(
        "tag {tag:?}: use 1 to 64 characters without blanks and commas, and not + or - as the \
         first; for example tidemark tag last +nightly"
    )]
    BadTag {
        /// As asked.
        tag: String,
    },
    /// No room is left.
    #[error("{}: no space is left to write the store", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process kept the file locked for too long.
    #[error("{}: the store is locked by another process", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file may not be written.
    #[error("{}: the store is read-only", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused the file.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Anything else that SQLite reports.
    #[error("{}: {source}", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// No run has this id, nor one that begins or ends so.
    #[error("no run {id} in {}", .path.display())]
    NoSuchRun {
        /// The file.
        path: PathBuf,
        /// As asked.
        id: String,
    },
    /// Several runs' ids begin or end so.
    #[error("several runs' ids begin or end with {id}, for example {}; the last four to eight \
             characters are usually unique", .matches.join(", "))]
    Ambiguous {
        /// As asked.
        id: String,
        /// Some of them.
        matches: Vec<String>,
    },
    /// A run with this id is stored already.
    #[error("run {id} is already in {}", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// Its id.
        id: String,
    },
    /// The run is going on in a living process.
    #[error("run {id} is still running (process {pid}); stop it first")]
    StillRunning {
        /// Its id.
        id: String,
        /// The process.
        pid: u32,
    },
    /// No study has this id, nor one that begins so, nor this name.
    #[error("no study {id} in {}; tidemark study status lists them", .path.display())]
    NoSuchStudy {
        /// The file.
        path: PathBuf,
        /// As asked.
        id: String,
    },
    /// Another process executes the study.
    #[error("study {id} is being executed by process {pid} on {hostname}; stop that first")]
    StudyGoesOn {
        /// Its id.
        id: String,
        /// The process.
        pid: u32,
        /// Its host.
        hostname: String,
    },
    /// Another study loads a server that this one needs, too.
    #[error(
        "study {name:?} ({id}) is being executed by process {pid} on {server}, which this study \
         also uses; each would measure the other's load. Wait until it ends, or stop it with \
         Ctrl-C; to run both at once, give this one its own store, for example --store=other.db"
    )]
    ServerTaken {
        /// The other's id.
        id: String,
        /// The other's name.
        name: String,
        /// Its process.
        pid: u32,
        /// The server.
        server: String,
    },
    /// Whether another host executes the study can't be seen from here.
    #[error(
        "study {id} was executed on {hostname}, and whether it still is can't be seen from here; \
         if it is not, resume with: tidemark study resume {id} --take-over"
    )]
    StudyElsewhere {
        /// Its id.
        id: String,
        /// That host.
        hostname: String,
    },
    /// One run's record can't be read or written.
    #[error("run {id} in {}: {source}", .path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Its id.
        id: String,
        /// Why.
        source: RecordError,
    },
}

/// Why a text is not taken as a run record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Not JSON, or JSON that is no run record.
    #[error("not a run record: {0}")]
    Malformed(#[from] serde_json::Error),
    /// JSON without a schema version.
    #[error("not a run record: it has no \"schema_version\"")]
    NoVersion,
    /// Its id can't be one.
    #[error("the run record has the id {0:?}; use 1 to 64 letters, digits, '-', '_' and '.'")]
    BadId(String),
    /// A newer Tidemark wrote it.
    #[error(
        "the run record has schema version {found}, from a newer Tidemark; this one reads up to \
         {supported}"
    )]
    Newer {
        /// Its version.
        found: u64,
        /// The newest version known here.
        supported: u32,
    },
}

impl StoreError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            std::io::ErrorKind::NotFound => StoreError::Absent { path },
            _ => StoreError::Io { path, source },
        }
    }

    /// Sorts SQLite's result codes (<https://sqlite.org/rescode.html>) into ours.
    pub(crate) fn sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        match error.sqlite_error().map(|e| e.extended_code & 0xff) {
            Some(ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB) => StoreError::Damaged {
                path,
                detail: error.to_string(),
            },
            Some(ffi::SQLITE_FULL) => StoreError::Full { path },
            Some(ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) => StoreError::Busy { path },
            Some(ffi::SQLITE_READONLY) => StoreError::ReadOnly { path },
            _ => StoreError::Sqlite {
                path,
                source: error,
            },
        }
    }
}
