//! A copy of the file before its format changes.

use crate::StoreError;
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A store that was brought into the format of this Tidemark.
#[derive(Debug)]
pub struct Upgrade<'a> {
    /// The store.
    pub path: &'a Path,
    /// What it was, in a file beside it.
    pub copy: &'a Path,
}

static TOLD: OnceLock<fn(&Upgrade<'_>)> = OnceLock::new();

/// Has the upgrades of this process told, each once. Only the first call has an effect: any command
/// that opens a store may be the one that upgrades it.
pub fn tell_upgrades(how: fn(&Upgrade<'_>)) {
    let _first = TOLD.set(how);
}

pub(crate) fn tell(path: &Path, copy: &Path) {
    if let Some(how) = TOLD.get() {
        how(&Upgrade { path, copy });
    }
}

/// Copies the store to a new file beside it, with its mode. Whoever calls this holds the lock for
/// writing, so nothing is missing in it.
pub(crate) fn copy(path: &Path, format: i64) -> Result<PathBuf, StoreError> {
    let (copy, file) = new_file(path, format)?;
    let copied = fill(path, &copy, &file);
    if copied.is_err() {
        // Half of a copy is none.
        let _ = std::fs::remove_file(&copy);
    }
    copied.map(|()| copy)
}

fn fill(path: &Path, copy: &Path, file: &File) -> Result<(), StoreError> {
    let io = |e| StoreError::io(copy, e);
    let mode = std::fs::metadata(path).map_err(|e| StoreError::io(path, e))?;
    file.set_permissions(mode.permissions()).map_err(io)?;
    // As a statement and not page by page: SQLite takes the write-ahead log into it, and an empty
    // file as a new one (<https://sqlite.org/lang_vacuum.html#vacuuminto>).
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let name = copy.to_string_lossy();
    Connection::open_with_flags(path, flags)
        .and_then(|db| db.execute("VACUUM INTO ?1", [name]))
        .map_err(|e| StoreError::sqlite(copy, e))?;
    file.sync_all().map_err(io)
}

/// `runs.db` becomes `runs.db.format-3`, or `runs.db.format-3-2` where there is one.
fn new_file(path: &Path, format: i64) -> Result<(PathBuf, File), StoreError> {
    let mut number = 1;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".format-{format}"));
        if number > 1 {
            name.push(format!("-{number}"));
        }
        let copy = PathBuf::from(name);
        match OpenOptions::new().write(true).create_new(true).open(&copy) {
            Ok(file) => return Ok((copy, file)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(e) => return Err(StoreError::io(&copy, e)),
        }
    }
}
