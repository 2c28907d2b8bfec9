//! Opening a database file and setting up the session.

use super::error::db_error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};

/// How long a session waits for another one's lock before the statement fails as retryable.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Size of a session's page cache in KiB.
pub const CACHE_KIB: u32 = 1024;

/// How long to wait before asking again for WAL mode that another session is setting up.
const WAL_RETRY: Duration = Duration::from_millis(5);

/// Opens the database at `path`; a missing file is made unless it `must_exist`.
///
/// # Errors
/// [`ErrorClass::Missing`] when there is no file and one is wanted; [`ErrorClass::Refused`] when
/// the file can't be opened or is no database.
pub(super) fn open(path: &str, must_exist: bool) -> Result<Connection, DbError> {
    if path == ":memory:" {
        let why = "a database in memory can't be shared by sessions; name a file, for example \
                   sqlite:bench.db";
        return Err(DbError::new(ErrorClass::Refused, "connect", why));
    }
    if must_exist && !Path::new(path).exists() {
        return Err(DbError::new(
            ErrorClass::Missing,
            "SQLITE_CANTOPEN",
            format!("there is no database file {path}"),
        ));
    }
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, !must_exist);
    Connection::open_with_flags(path, flags)
        .and_then(|connection| set_up(&connection).map(|()| connection))
        .map_err(|e| {
            let e = db_error(&e);
            let class = match e.class {
                ErrorClass::Retryable => ErrorClass::Retryable,
                _ => ErrorClass::Refused,
            };
            DbError::new(
                class,
                e.code,
                format!("can't open {path}: {}{}", e.message, hint(path)),
            )
        })
}

/// What is most often wrong with a path.
fn hint(path: &str) -> String {
    let path = Path::new(path);
    if path.is_dir() {
        return " (it is a folder)".into();
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            format!(" (there is no folder {})", parent.display())
        }
        _ => String::new(),
    }
}

fn set_up(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Otherwise a column that does not exist is read as a text (sqlite.org/quirks.html, 8).
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -i64::from(CACHE_KIB))?;
    // Reads the file's header, so what is no database is found out here.
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages == 0 {
        enter_wal(connection)?;
    }
    Ok(())
}

/// Several sessions may find the file empty at once; those that come second meet a lock that
/// SQLite does not wait for, and find WAL mode set when they ask again.
fn enter_wal(connection: &Connection) -> Result<(), rusqlite::Error> {
    let give_up = Instant::now() + BUSY_TIMEOUT;
    loop {
        let set = connection.pragma_update(None, "journal_mode", "wal");
        match set {
            Err(e) if db_error(&e).class == ErrorClass::Retryable && Instant::now() < give_up => {
                std::thread::sleep(WAL_RETRY);
            }
            set => return set,
        }
    }
}
