//! Opening a database file and setting up the session.

use super::error::db_error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass, ErrorKind};

/// How long a session waits for another one's lock before the statement fails as retryable.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Size of a session's page cache in KiB.
pub const CACHE_KIB: u32 = 1024;

/// How long to wait before asking again for WAL mode that another session is setting up.
const WAL_RETRY: Duration = Duration::from_millis(5);

/// What SQLite's header says of Tidemark's run stores (`PRAGMA application_id`): "TIDM".
const RUN_STORE: i64 = 0x5449_444d;

/// Opens the database at `path`; a missing file is made unless it `must_exist`.
///
/// # Errors
/// [`ErrorClass::Missing`] when there is no file and one is wanted; [`ErrorClass::Refused`] when
/// the file can't be opened or is no database, with [`ErrorKind::RunStore`] when it is a run store.
pub(super) fn open(path: &str, must_exist: bool) -> Result<Connection, DbError> {
    if path == ":memory:" {
        let why = "sessions cannot share an in-memory database; use a file, for example \
                   sqlite:bench.db";
        return Err(DbError::new(ErrorClass::Refused, "connect", why));
    }
    if must_exist && !Path::new(path).exists() {
        return Err(DbError::new(
            ErrorClass::Missing,
            "SQLITE_CANTOPEN",
            format!("database file {path} does not exist"),
        ));
    }
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, !must_exist);
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        let ours = application_id(&connection)? == RUN_STORE;
        if !ours {
            set_up(&connection)?;
        }
        Ok((connection, ours))
    });
    match opened {
        // The user's results: no benchmark is to load, change or drop anything in there.
        Ok((_, true)) => Err(DbError::own(
            ErrorClass::Refused,
            ErrorKind::RunStore,
            format!(
                "{path} is a Tidemark run store and was not changed; use another file as the \
                 target, for example sqlite:bench.db"
            ),
        )),
        Ok((connection, false)) => Ok(connection),
        Err(e) => Err({
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
        }),
    }
}

/// Asked of SQLite: whoever opens the file beside it and closes it again takes the locks of this
/// process's other sessions away (sqlite.org/howtocorrupt.html, 2.2).
fn application_id(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
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
