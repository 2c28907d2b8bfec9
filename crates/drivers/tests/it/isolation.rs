//! Sessions of a run have the isolation level that was asked for, or none at all.

use tidemark_core::{ErrorClass, Isolation, Target};
use tidemark_drivers::{Access, ConnectOptions, Connector, Dialect, Session, default_level};
use tidemark_runtime::block_on;
use tidemark_testkit::{shared_mariadb, shared_postgres};

fn connector(target: Target, isolation: Isolation) -> Connector {
    let options = ConnectOptions {
        isolation: Some(isolation),
        ..ConnectOptions::default()
    };
    Connector::new(target, options).unwrap()
}

/// The level of a transaction that begins now.
async fn level_of(session: &mut Session, query: &str) -> String {
    session.query("BEGIN").await.unwrap();
    let level = session.query(query).await.unwrap().text(0, 0).unwrap();
    session.query("COMMIT").await.unwrap();
    level.to_lowercase().replace(' ', "-")
}

#[test]
fn every_level_of_a_server_is_in_force_in_the_sessions_of_a_run_alone() {
    let servers = [
        (shared_mariadb().unwrap(), "SELECT @@SESSION.tx_isolation"),
        (shared_postgres().unwrap(), "SHOW transaction_isolation"),
    ];
    for (server, query) in servers {
        let database = server.fresh_database("isolation").unwrap();
        let target = Target::parse(&database.url()).unwrap();
        block_on(async move {
            let plain = Connector::new(target.clone(), ConnectOptions::default()).unwrap();
            let mut session = plain.connect(0).await.unwrap();
            let dialect = session.dialect();
            let default = level_of(&mut session, query).await;
            session.close().await;
            assert!(dialect.isolation_levels().len() >= 3);
            for level in Isolation::ALL {
                let connector = connector(target.clone(), level);
                let opened = connector.connect_for(0, Access::ReadWrite).await;
                if !dialect.isolation_levels().contains(&level) {
                    let error = opened.unwrap_err();
                    assert_eq!(error.class, ErrorClass::Refused);
                    assert!(error.message.contains("--isolation="), "{error}");
                    continue;
                }
                let mut session = opened.unwrap();
                assert_eq!(level_of(&mut session, query).await, level.name());
                session.close().await;
                // Housekeeping and loads keep the server's.
                let mut session = connector.connect(0).await.unwrap();
                assert_eq!(level_of(&mut session, query).await, default);
                session.close().await;
            }
        })
        .unwrap();
    }
}

#[test]
fn sqlite_is_serializable_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let target = Target::sqlite(folder.path().join("x.db").to_str().unwrap());
    assert_eq!(
        Dialect::new(tidemark_core::Engine::Sqlite)
            .isolation_levels()
            .len(),
        1
    );
    block_on(async move {
        let serializable = connector(target.clone(), Isolation::Serializable);
        let session = serializable.connect_for(0, Access::ReadWrite).await;
        session.unwrap().close().await;
        let weaker = connector(target, Isolation::ReadCommitted);
        let error = weaker.connect_for(0, Access::ReadWrite).await.unwrap_err();
        assert_eq!(
            (error.class, &*error.code),
            (ErrorClass::Refused, "isolation")
        );
        assert_eq!(
            error.message,
            "--isolation=read-committed: SQLite has serializable; for example \
             --isolation=serializable"
        );
    })
    .unwrap();
}

#[test]
fn the_level_that_a_server_gives_unasked_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.db");
    let mariadb = shared_mariadb().unwrap().fresh_database("default").unwrap();
    let postgres = shared_postgres().unwrap();
    let postgres = postgres.fresh_database("default").unwrap();
    let strict = "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation \
                  TO serializable', CURRENT_DATABASE()); END$$";
    postgres.query(strict).unwrap();
    for (target, level) in [
        (
            Target::parse(&mariadb.url()).unwrap(),
            Isolation::RepeatableRead,
        ),
        (
            Target::parse(&postgres.url()).unwrap(),
            Isolation::Serializable,
        ),
        (
            Target::sqlite(file.to_str().unwrap()),
            Isolation::Serializable,
        ),
    ] {
        let told = block_on(async move {
            let connector = Connector::new(target, ConnectOptions::default()).unwrap();
            let mut session = connector.connect(0).await.unwrap();
            let told = default_level(&mut session).await.unwrap();
            session.close().await;
            told
        });
        assert_eq!(told.unwrap(), Some(level));
    }
}
