//! Sessions have the settings that were asked for, on every engine.

use tidemark_core::Target;
use tidemark_drivers::settings::parse_session_settings;
use tidemark_drivers::{Access, ConnectOptions, Connector};
use tidemark_runtime::block_on;
use tidemark_testkit::{shared_mariadb, shared_postgres};

#[test]
fn every_session_has_them_and_a_wrong_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = format!("sqlite:{}", dir.path().join("a.db").display());
    let cases = [
        (
            shared_mariadb().unwrap().url(),
            "sort_buffer_size=262144;sql_mode=ANSI_QUOTES",
            "SELECT CONCAT(@@sort_buffer_size, ' ', @@sql_mode)",
            "262144 ANSI_QUOTES",
        ),
        (
            shared_postgres().unwrap().url(),
            "work_mem=9MB;application_name=it's",
            "SELECT current_setting('work_mem') || ' ' || current_setting('application_name')",
            "9MB it's",
        ),
        (
            sqlite,
            "synchronous=OFF;cache_size=-123",
            "PRAGMA cache_size",
            "-123",
        ),
    ];
    for (url, settings, ask, value) in cases {
        let target = Target::parse(&url).unwrap();
        block_on(async move {
            let plain = Connector::new(target, ConnectOptions::default()).unwrap();
            let with = |text: &str| {
                let settings = parse_session_settings(text).unwrap();
                plain.clone().with_session_settings(settings)
            };
            let connector = with(settings);
            for mut session in [
                connector.connect(0).await.unwrap(),
                connector.connect_for(0, Access::ReadWrite).await.unwrap(),
            ] {
                let found = session.query(ask).await.unwrap().text(0, 0).unwrap();
                assert_eq!(found, value);
                session.close().await;
            }
            let error = with("no_such_setting=1").connect(0).await.unwrap_err();
            assert!(
                error.message.contains("--set-session no_such_setting=1: "),
                "{error}"
            );
        })
        .unwrap();
    }
}

#[test]
fn a_list_of_names_stays_one() {
    let target = Target::parse(&shared_postgres().unwrap().url()).unwrap();
    block_on(async move {
        let plain = Connector::new(target, ConnectOptions::default()).unwrap();
        let with = |text: &str| {
            let settings = parse_session_settings(text).unwrap();
            plain.clone().with_session_settings(settings)
        };
        let connector = with("search_path=pg_temp, pg_catalog,\"Odd, name\"");
        let mut session = connector.connect(0).await.unwrap();
        let found = session.query("SHOW search_path").await.unwrap();
        let found = found.text(0, 0).unwrap();
        assert_eq!(found, "pg_temp, pg_catalog, \"Odd, name\"");
        session.close().await;
        let error = with("search_path=a,,b").connect(0).await.unwrap_err();
        assert!(
            error.message.contains("--set-session search_path=a,,b: ")
                && error.message.contains("names with commas between them"),
            "{error}"
        );
    })
    .unwrap();
}

#[test]
fn sqlites_pragmas_are_those_of_a_session_with_values_that_it_takes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let target = Target::parse(&format!("sqlite:{}", path.display())).unwrap();
    block_on(async move {
        let plain = Connector::new(target, ConnectOptions::default()).unwrap();
        let mut session = plain.connect(0).await.unwrap();
        session.query("CREATE TABLE t (a)").await.unwrap();
        session.close().await;
        let before = std::fs::read(&path).unwrap();
        let with = |text: &str| {
            let settings = parse_session_settings(text).unwrap();
            plain.clone().with_session_settings(settings)
        };
        for (setting, why) in [
            (
                "sycnhronous=1",
                "has no such PRAGMA; did you mean synchronous?",
            ),
            ("synchronous=banana", "requested banana, but SQLite set "),
            ("foreign_keys=maybe", "requested maybe, but SQLite set 0"),
            ("busy_timeout=5s", "requested 5s, but SQLite set "),
            (
                "locking_mode=exclusiv",
                "requested exclusiv, but SQLite set normal",
            ),
            ("user_version=7", "is stored in the database file"),
            ("page_size=8192", "is stored in the database file"),
            ("AUTO_VACUUM=FULL", "is stored in the database file"),
            ("writable_schema=ON", "is stored in the database file"),
            (
                "journal_mode=delete",
                "is in mode wal, and delete would be stored in it",
            ),
            ("integrity_check=10", "it is not a session setting; known: "),
            ("optimize=1", "it is not a session setting; known: "),
        ] {
            let error = with(setting).connect(0).await.unwrap_err();
            assert!(
                error.message.contains(why)
                    && error
                        .message
                        .contains(&format!("--set-session {setting}: ")),
                "{setting}: {error}"
            );
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
        for (setting, ask, found) in [
            ("synchronous=extra", "PRAGMA synchronous", "3"),
            ("SYNCHRONOUS=0", "PRAGMA synchronous", "0"),
            ("temp_store=memory", "PRAGMA temp_store", "2"),
            ("foreign_keys=yes", "PRAGMA foreign_keys", "1"),
            ("cache_spill=off", "PRAGMA cache_spill", "0"),
            ("cache_spill=on", "PRAGMA cache_size", "-1024"),
            ("mmap_size=65536", "PRAGMA mmap_size", "65536"),
            ("secure_delete=fast", "PRAGMA secure_delete", "2"),
            ("wal_autocheckpoint=0", "PRAGMA wal_autocheckpoint", "0"),
            ("locking_mode=EXCLUSIVE", "PRAGMA locking_mode", "exclusive"),
            ("journal_mode=WAL", "PRAGMA journal_mode", "wal"),
        ] {
            let mut session = with(setting).connect(0).await.unwrap();
            let told = session.query(ask).await.unwrap().text(0, 0);
            assert_eq!(told.as_deref(), Some(found), "{setting}");
            session.close().await;
        }
        // Modes without the write-ahead log are each session's own.
        let db = rusqlite::Connection::open(&path).unwrap();
        db.pragma_update(None, "journal_mode", "delete").unwrap();
        drop(db);
        let mut session = with("journal_mode=truncate").connect(0).await.unwrap();
        let told = session.query("PRAGMA journal_mode").await.unwrap();
        assert_eq!(told.text(0, 0).as_deref(), Some("truncate"));
        session.close().await;
        let error = with("journal_mode=wal").connect(0).await.unwrap_err();
        assert!(error.message.contains("is in mode delete"), "{error}");
        let mut session = plain.connect(0).await.unwrap();
        let told = session.query("PRAGMA journal_mode").await.unwrap();
        assert_eq!(told.text(0, 0).as_deref(), Some("delete"));
        session.close().await;
    })
    .unwrap();
}
