//! Sessions have the settings that were asked for, on every engine.

#![allow(clippy::unwrap_used)]

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
            // SQLite takes any PRAGMA, as it says it does.
            if ask.starts_with("SELECT") {
                let error = with("no_such_setting=1").connect(0).await.unwrap_err();
                assert!(
                    error.message.contains("--set-session no_such_setting=1: "),
                    "{error}"
                );
            }
        })
        .unwrap();
    }
}
