//! What is SQLite's alone: files, locks and modes. What every driver does is in `contract.rs`.

use std::path::Path;
use tempfile::TempDir;
use tidemark_core::{ErrorClass, ErrorKind, PreparedMode, Target};
use tidemark_drivers::{ConnectOptions, Connector, Session, Value};
use tidemark_runtime::block_on;

fn connector(path: &Path) -> Connector {
    let target = Target::sqlite(path.to_str().unwrap());
    Connector::new(target, ConnectOptions::default()).unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

async fn text(session: &mut Session, sql: &str) -> String {
    let rows = session.query(sql).await.unwrap();
    rows.text(0, 0).unwrap()
}

#[test]
fn a_missing_file_is_made_or_named() {
    let dir = folder();
    let path = dir.path().join("a.db");
    block_on(async move {
        let e = connector(&path).must_exist().connect(0).await.unwrap_err();
        assert_eq!(e.class, ErrorClass::Missing);
        assert!(e.message.contains("a.db"), "{e}");
        assert!(!path.exists());

        connector(&path).connect(0).await.unwrap().close().await;
        connector(&path).must_exist().connect(0).await.unwrap();
    })
    .unwrap();
}

#[test]
fn a_new_file_gets_wal_and_an_existing_one_keeps_its_mode() {
    let dir = folder();
    let path = dir.path().join("old.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch("CREATE TABLE t (a)").unwrap();
    drop(old);
    let new = dir.path().join("new.db");
    block_on(async move {
        let mut session = connector(&path).connect(0).await.unwrap();
        assert_eq!(text(&mut session, "PRAGMA journal_mode").await, "delete");
        let mut session = connector(&new).connect(0).await.unwrap();
        assert_eq!(text(&mut session, "PRAGMA journal_mode").await, "wal");
        assert_eq!(text(&mut session, "PRAGMA synchronous").await, "1");
    })
    .unwrap();
}

#[test]
fn a_run_store_is_no_target() {
    let dir = folder();
    let path = dir.path().join("runs.db");
    let store = rusqlite::Connection::open(&path).unwrap();
    store
        .execute_batch("PRAGMA application_id = 1414087757; CREATE TABLE run (id)")
        .unwrap();
    drop(store);
    block_on(async move {
        let before = std::fs::read(&path).unwrap();
        let e = connector(&path).connect(0).await.unwrap_err();
        assert_eq!(e.class, ErrorClass::Refused);
        assert_eq!(e.kind, ErrorKind::RunStore);
        assert!(e.message.contains("runs.db is a Tidemark run store"), "{e}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    })
    .unwrap();
}

#[test]
fn what_is_no_database_is_refused_with_its_path() {
    let dir = folder();
    let file = dir.path().join("notes.txt");
    std::fs::write(&file, "not a database\n".repeat(100)).unwrap();
    let cases = [
        (dir.path().to_path_buf(), "it is a folder"),
        (dir.path().join("no/such/a.db"), "there is no folder"),
        (file.clone(), "not a database"),
        (":memory:".into(), "use a file"),
    ];
    block_on(async move {
        for (path, why) in cases {
            let e = connector(&path).connect(0).await.unwrap_err();
            assert_eq!(e.class, ErrorClass::Refused, "{e}");
            assert!(e.message.contains(why), "{e}");
        }
    })
    .unwrap();
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "not a database\n".repeat(100));
}

#[test]
fn a_write_on_an_outdated_snapshot_is_retryable() {
    let dir = folder();
    let path = dir.path().join("a.db");
    block_on(async move {
        let connector = connector(&path);
        let mut one = connector.connect(0).await.unwrap();
        let mut two = connector.connect(1).await.unwrap();
        one.simple("CREATE TABLE t (a INTEGER)").await.unwrap();
        one.simple("BEGIN").await.unwrap();
        one.simple("SELECT * FROM t").await.unwrap();
        two.simple("INSERT INTO t VALUES (1)").await.unwrap();
        let e = one.simple("INSERT INTO t VALUES (2)").await.unwrap_err();
        assert_eq!(
            (e.class, e.code.as_str()),
            (ErrorClass::Retryable, "SQLITE_BUSY")
        );
        one.simple("ROLLBACK").await.unwrap();
        one.simple("INSERT INTO t VALUES (2)").await.unwrap();
    })
    .unwrap();
}

#[test]
fn a_full_disk_is_fatal_and_rollback_is_still_taken() {
    let dir = folder();
    let path = dir.path().join("a.db");
    block_on(async move {
        let mut session = connector(&path).connect(0).await.unwrap();
        session.simple("CREATE TABLE t (a TEXT)").await.unwrap();
        session.simple("PRAGMA max_page_count = 20").await.unwrap();
        session.simple("BEGIN IMMEDIATE").await.unwrap();
        let long = "x".repeat(200_000);
        let insert = session.prepare("INSERT INTO t VALUES (?)").await.unwrap();
        let e = session.execute(&insert, &[Value::Text(&long)]).await;
        let e = e.unwrap_err();
        assert_eq!(
            (e.class, e.code.as_str()),
            (ErrorClass::Fatal, "SQLITE_FULL")
        );
        session.simple("ROLLBACK").await.unwrap();
        assert_eq!(text(&mut session, "SELECT COUNT(*) FROM t").await, "0");
    })
    .unwrap();
}

#[test]
fn a_statement_of_another_session_is_an_error() {
    let dir = folder();
    let path = dir.path().join("a.db");
    block_on(async move {
        let connector = connector(&path);
        let mut one = connector.connect(0).await.unwrap();
        let mut two = connector.connect(1).await.unwrap();
        let statement = one.prepare("SELECT 1").await.unwrap();
        let e = two.execute(&statement, &[]).await.unwrap_err();
        assert_eq!(e.class, ErrorClass::Fatal);
    })
    .unwrap();
}

/// Eight sessions add to one row; every acknowledged addition must be there afterwards, in both
/// modes of preparing.
#[test]
fn sessions_on_threads_of_their_own_lose_no_update() {
    const SESSIONS: i64 = 8;
    const UPDATES: i64 = 50;
    for prepared in [PreparedMode::Server, PreparedMode::Text] {
        let dir = folder();
        let path = dir.path().join("a.db");
        let options = ConnectOptions {
            prepared,
            ..ConnectOptions::default()
        };
        let target = Target::sqlite(path.to_str().unwrap());
        let connector = Connector::new(target, options).unwrap();
        let maker = connector.clone();
        block_on(async move {
            let mut s = maker.connect(0).await.unwrap();
            s.simple("CREATE TABLE t (a INTEGER)").await.unwrap();
            s.simple("INSERT INTO t VALUES (0)").await.unwrap();
        })
        .unwrap();
        std::thread::scope(|scope| {
            for _ in 0..SESSIONS {
                let connector = connector.clone();
                scope.spawn(move || block_on(add(connector, UPDATES)).unwrap());
            }
        });
        let sum = block_on(async move {
            let mut s = connector.connect(0).await.unwrap();
            s.query("SELECT a FROM t").await.unwrap().int(0, 0)
        });
        assert_eq!(sum.unwrap(), Some(SESSIONS * UPDATES));
    }
}

async fn add(connector: Connector, updates: i64) {
    let mut session = connector.connect(0).await.unwrap();
    let begin = session.dialect().begin();
    let begin = session.prepare(begin).await.unwrap();
    let update = session.prepare("UPDATE t SET a = a + ?").await.unwrap();
    let commit = session.prepare("COMMIT").await.unwrap();
    for _ in 0..updates {
        session.execute(&begin, &[]).await.unwrap();
        let outcome = session.execute(&update, &[Value::Int(1)]).await.unwrap();
        assert_eq!(outcome.affected, 1);
        session.execute(&commit, &[]).await.unwrap();
    }
}
