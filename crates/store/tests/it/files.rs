//! What the file may be, and that a file which is no store is left as it was.

use super::common::{ID, interval, record};
use rusqlite::Connection;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidemark_core::record::RunState;
use tidemark_store::{Filter, Store, StoreError};

/// Opening is refused with `expected` in the message, and the file stays as it is.
fn refused(path: &Path, expected: &str) -> StoreError {
    let before = std::fs::read(path).ok();
    for open in [Store::open, Store::open_existing] {
        let error = open(path).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(expected), "{message}");
        assert!(message.contains(&path.display().to_string()), "{message}");
        assert_eq!(std::fs::read(path).ok(), before);
    }
    let beside = ["-wal", "-shm", "-journal"]
        .map(|end| std::path::PathBuf::from(format!("{}{end}", path.display())));
    assert!(beside.iter().all(|p| !p.exists()));
    Store::open(path).unwrap_err()
}

#[test]
fn what_is_no_store_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    refused(&file("notes.txt", b"dear diary"), "not a SQLite file");
    refused(&file("zeros", &[0; 8192]), "not a SQLite file");
    refused(
        &file("short", b"SQLite format 3\0"),
        "a SQLite file of another program",
    );
    refused(dir.path(), "a folder");

    let theirs = dir.path().join("photos.db");
    let db = Connection::open(&theirs).unwrap();
    db.execute_batch("CREATE TABLE run (mine); INSERT INTO run VALUES (1)")
        .unwrap();
    drop(db);
    refused(&theirs, "a SQLite file of another program");
}

/// A process that is killed leaves what is in the file at that moment.
#[test]
fn a_new_store_says_whose_it_is_from_its_first_page_on() {
    let dir = tempfile::tempdir().unwrap();
    let is_over = AtomicBool::new(false);
    let path = |n: usize| dir.path().join(format!("{n}.db"));
    let made = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = 0;
            while !is_over.load(Ordering::Relaxed) {
                let Ok(header) = std::fs::read(path(made.load(Ordering::Relaxed))) else {
                    continue;
                };
                if header.starts_with(b"SQLite format 3\0") {
                    assert_eq!(header.get(68..72), Some(&b"TIDM"[..]));
                    seen += 1;
                }
            }
            seen
        });
        for n in 0..100 {
            made.store(n, Ordering::Relaxed);
            drop(Store::open(&path(n)).unwrap());
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(watcher.join().unwrap() > 0);
    });
    let db = Connection::open(path(0)).unwrap();
    let mode: i64 = db
        .pragma_query_value(None, "auto_vacuum", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, 2, "incremental");
}

#[test]
fn an_unfinished_transaction_of_somebody_is_not_rolled_back() {
    let dir = tempfile::tempdir().unwrap();
    let theirs = dir.path().join("photos.db");
    let db = Connection::open(&theirs).unwrap();
    db.execute_batch("CREATE TABLE photo (x); INSERT INTO photo VALUES (1)")
        .unwrap();
    // A copy taken inside a transaction whose journal lies beside it, as a crash would leave it.
    db.execute_batch("PRAGMA cache_size=1; BEGIN; INSERT INTO photo SELECT zeroblob(100000)")
        .unwrap();
    let crashed = dir.path().join("crashed.db");
    std::fs::copy(&theirs, &crashed).unwrap();
    let journal = dir.path().join("crashed.db-journal");
    std::fs::copy(dir.path().join("photos.db-journal"), &journal).unwrap();
    let before = std::fs::read(&crashed).unwrap();
    assert!(Store::open(&crashed).is_err());
    assert_eq!(std::fs::read(&crashed).unwrap(), before);
    assert!(journal.exists());
}

#[test]
fn a_file_of_a_newer_tidemark_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    drop(Store::open(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let error = refused(&path, "from a newer Tidemark");
    assert!(matches!(error, StoreError::Newer { found: 99, .. }));
}

#[test]
fn a_damaged_store_is_called_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let mut store = Store::open(path.as_ref()).unwrap();
    let mut whole = record(ID, RunState::Finished);
    whole.intervals = (0..50).map(interval).collect();
    store.import(&whole).unwrap();
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    // The header stays; everything else is overwritten.
    bytes[100..].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();
    let error = Store::open(&path)
        .and_then(|s| s.list(&Filter::default()).map(|_| ()))
        .unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("runs.db"), "{error}");
}

#[test]
fn a_store_cut_short_is_called_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let mut store = Store::open(path.as_ref()).unwrap();
    let mut whole = record(ID, RunState::Finished);
    whole.intervals = (0..50).map(interval).collect();
    store.import(&whole).unwrap();
    drop(store);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 4 / 4096 * 4096]).unwrap();
    let error = Store::open(&path)
        .and_then(|s| s.get(ID).map(|_| ()))
        .unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_missing_file_is_made_only_to_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    assert!(matches!(
        Store::open_existing(&path),
        Err(StoreError::Absent { .. })
    ));
    assert!(!path.exists());
    drop(Store::open(&path).unwrap());
    Store::open_existing(&path).unwrap();
}

#[test]
fn an_empty_file_becomes_a_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(matches!(
        Store::open_existing(file.path()),
        Err(StoreError::Absent { .. })
    ));
    let mut store = Store::open(file.path()).unwrap();
    store.import(&record(ID, RunState::Finished)).unwrap();
    assert!(store.get(ID).is_ok());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Store::open(&file.path().join("runs.db")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains(&file.path().display().to_string()),
        "{error}"
    );
}

#[test]
fn a_name_with_signs_of_a_url_is_a_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file:x?mode=memory#1.db");
    drop(Store::open(&path).unwrap());
    assert!(path.exists());
}

/// The store as it was before it had series.
fn as_format_3(path: &Path) {
    let db = Connection::open(path).unwrap();
    db.execute_batch("DROP TABLE series; PRAGMA user_version = 3")
        .unwrap();
}

#[test]
fn a_store_of_an_older_format_is_copied_before_it_is_upgraded() {
    use std::os::unix::fs::PermissionsExt;
    static COPIES: std::sync::Mutex<Vec<std::path::PathBuf>> = std::sync::Mutex::new(Vec::new());
    tidemark_store::tell_upgrades(|upgrade| {
        assert!(upgrade.path.ends_with("runs.db"));
        COPIES.lock().unwrap().push(upgrade.copy.into());
    });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let run = record(ID, RunState::Finished);
    Store::open(&path).unwrap().import(&run).unwrap();
    as_format_3(&path);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    // What somebody put where a copy would go stays.
    let taken = dir.path().join("runs.db.format-3");
    std::fs::write(&taken, "mine").unwrap();
    // What is in the log alone belongs to it, too.
    let other = Connection::open(&path).unwrap();
    other
        .execute("UPDATE run SET note = 'in the log'", [])
        .unwrap();
    let store = Store::open_existing(&path).unwrap();
    let read = store.get(ID).unwrap();
    assert_eq!((read.note.as_str(), read.series.len()), ("in the log", 0));
    assert_eq!(std::fs::read(&taken).unwrap(), b"mine");
    let copy = dir.path().join("runs.db.format-3-2");
    assert_eq!(COPIES.lock().unwrap().as_slice(), [copy.as_path()]);
    let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let old = Connection::open(&copy).unwrap();
    let told = |sql: &str| old.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(told("PRAGMA user_version"), 3);
    assert_eq!(told("PRAGMA application_id"), 0x5449_444d);
    let noted = "SELECT COUNT(*) FROM run WHERE note = 'in the log'";
    assert_eq!(told(noted), 1);
    assert_eq!(
        told("SELECT COUNT(*) FROM sqlite_master WHERE name = 'series'"),
        0
    );
    // Once, and the copy is a store itself.
    drop((store, old));
    Store::open_existing(&path).unwrap();
    assert_eq!(COPIES.lock().unwrap().len(), 1);
}

#[test]
fn a_store_that_cannot_be_copied_is_not_upgraded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    drop(Store::open(&path).unwrap());
    as_format_3(&path);
    for number in 1..=100 {
        let name = match number {
            1 => "runs.db.format-3".to_string(),
            n => format!("runs.db.format-3-{n}"),
        };
        std::fs::write(dir.path().join(name), "").unwrap();
    }
    let error = Store::open(&path).unwrap_err();
    assert!(error.to_string().contains("runs.db.format-3"), "{error}");
    let db = Connection::open(&path).unwrap();
    let format: i64 = db
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(format, 3);
}
