//! Opening the file: what it must be, and bringing an older one up to date.

use crate::{Store, StoreError, upgrade};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Format of the file (`PRAGMA user_version`): the number of migrations it has seen.
pub(crate) const FORMAT: i64 = MIGRATIONS.len() as i64;
/// `PRAGMA application_id`: "TIDM". It tells our files from every other SQLite file.
const APPLICATION_ID: i32 = 0x5449_444d;
/// Each brings a file from the format of its index to the next one.
const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("schema-2.sql"),
    include_str!("schema-3.sql"),
    include_str!("schema-4.sql"),
];
/// How long a lock of another process is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens the file to write to it; one that is there and may only be read, to read it.
pub(crate) fn open(path: &Path, create: bool) -> Result<Store, StoreError> {
    match open_to_write(path, create) {
        Err(error @ StoreError::ReadOnly { .. }) if !create => open_unchanging(path).ok_or(error),
        opened => opened,
    }
}

/// A store that nobody can be writing to: SQLite reads it without the files beside it, which could
/// not be made. `None` where its write-ahead log holds something, or its format is another one.
fn open_unchanging(path: &Path) -> Option<Store> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return None;
    }
    // What a URI gives a meaning to (<https://sqlite.org/uri.html>).
    let name = path.to_str()?.replace('%', "%25");
    let name = name.replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(format!("file:{name}?immutable=1"), flags).ok()?;
    let is_ours = format(&db).is_ok_and(|found| found == FORMAT);
    is_ours.then(|| Store {
        db,
        path: path.into(),
    })
}

fn open_to_write(path: &Path, create: bool) -> Result<Store, StoreError> {
    let there = inspect_patiently(path)?;
    if !there && !create {
        return Err(StoreError::Absent { path: path.into() });
    }
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let failed = |e| StoreError::sqlite(path, e);
    let mut db = Connection::open_with_flags(path, flags).map_err(failed)?;
    db.busy_timeout(PATIENCE).map_err(failed)?;
    db.set_prepared_statement_cache_capacity(8);
    // The load generator's memory counts: 128 KiB of pages are plenty for appending.
    db.pragma_update(None, "cache_size", -128).map_err(failed)?;
    db.pragma_update(None, "foreign_keys", true)
        .map_err(failed)?;
    migrate(&mut db, path)?;
    // NORMAL in a write-ahead log: a killed process loses nothing that was committed, and no
    // interval waits for the disk, which may be the one being measured. `finish` waits for it.
    write_ahead(&db, path)?;
    db.pragma_update(None, "synchronous", "NORMAL")
        .map_err(failed)?;
    db.pragma_update(None, "journal_size_limit", 1 << 20)
        .map_err(failed)?;
    Ok(Store {
        db,
        path: path.into(),
    })
}

/// Looks again for a moment at what is no store: another process may be writing the first page of
/// a new one right now.
fn inspect_patiently(path: &Path) -> Result<bool, StoreError> {
    for _ in 0..10 {
        match inspect(path) {
            Err(StoreError::NotAStore { .. }) if path.is_file() => {
                std::thread::sleep(Duration::from_millis(20));
            }
            seen => return seen,
        }
    }
    inspect(path)
}

/// Looks at the file without SQLite, which could already change it (by rolling back somebody's
/// unfinished transaction). Returns whether there is one with content.
///
/// The header is <https://sqlite.org/fileformat2.html#the_database_header>: the magic string, and
/// the application id at offset 68.
fn inspect(path: &Path) -> Result<bool, StoreError> {
    let not = |what| {
        Err(StoreError::NotAStore {
            path: path.into(),
            what,
        })
    };
    let mut file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(StoreError::io(path, e)),
    };
    let kind = file.metadata().map_err(|e| StoreError::io(path, e))?;
    if kind.is_dir() {
        return not("a folder");
    }
    if !kind.is_file() {
        return not("not a regular file");
    }
    let mut header = Vec::with_capacity(100);
    file.by_ref()
        .take(100)
        .read_to_end(&mut header)
        .map_err(|e| StoreError::io(path, e))?;
    if header.is_empty() {
        return Ok(false);
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return not("not a SQLite file");
    }
    if header.get(68..72) != Some(&APPLICATION_ID.to_be_bytes()[..]) {
        return not("a SQLite file of another program");
    }
    Ok(true)
}

/// Makes the tables or brings them up to date, in one transaction: two processes that open a new
/// file at once do it once. What was there before is kept in a copy.
fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |e| StoreError::sqlite(path, e);
    let found = format(db).map_err(failed)?;
    if found > FORMAT {
        return Err(StoreError::Newer {
            path: path.into(),
            found,
            supported: FORMAT,
        });
    }
    if found == FORMAT {
        return Ok(());
    }
    let behavior = match found {
        0 => TransactionBehavior::Deferred,
        _ => TransactionBehavior::Immediate,
    };
    let transaction = db.transaction_with_behavior(behavior).map_err(failed)?;
    if found == 0 {
        // Deleted runs give their space back; it must be said before there is a first page. It makes one, and so
        // begins to write: outside of the transaction a process that is killed then would leave a page that does
        // not say whose it is.
        transaction
            .pragma_update(None, "auto_vacuum", "INCREMENTAL")
            .map_err(failed)?;
    }
    let found = format(&transaction).map_err(failed)?;
    if found == FORMAT {
        return Ok(());
    }
    let copy = (found > 0)
        .then(|| upgrade::copy(path, found))
        .transpose()?;
    let done = usize::try_from(found).unwrap_or(0);
    // First: the small cache writes pages before the end, and of a process that is killed then the first
    // page must say whose file it is.
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(failed)?;
    for step in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction
        .pragma_update(None, "user_version", FORMAT)
        .and_then(|()| transaction.commit())
        .map_err(failed)?;
    if let Some(copy) = copy {
        upgrade::tell(path, &copy);
    }
    Ok(())
}

fn format(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Switches to the write-ahead log unless the file has it. SQLite's busy time-out does not cover
/// this switch, hence the loop.
fn write_ahead(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        let mode: String = db
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .map_err(|e| StoreError::sqlite(path, e))?;
        if mode == "wal" {
            return Ok(());
        }
        match db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            // Where the file system can't do it, SQLite keeps its rollback journal: slower, as safe.
            Ok(()) => return Ok(()),
            Err(e) => {
                let error = StoreError::sqlite(path, e);
                if !matches!(error, StoreError::Busy { .. }) || tries >= 200 {
                    return Err(error);
                }
            }
        }
        tries += 1;
        std::thread::sleep(Duration::from_millis(20));
    }
}
