//! As many sessions as a server allows, and one more.

use std::time::Duration;
use tidemark_core::job::SETUP_TIMEOUT;
use tidemark_core::{DbError, ErrorClass, ErrorKind, Target};
use tidemark_drivers::settings::{SessionLimit, session_limit};
use tidemark_drivers::{ConnectOptions, Connector, Session};
use tidemark_runtime::{block_on, sleep};
use tidemark_testkit::{SandboxEngine, Server};

fn connector(url: &str) -> Connector {
    Connector::new(Target::parse(url).unwrap(), ConnectOptions::default()).unwrap()
}

/// The server's URL with another account.
fn with_account(server: &Server, account: &str) -> Connector {
    connector(&server.url().replacen("sbtest:sbtest@", account, 1))
}

#[test]
fn statements_outside_the_measurement_are_limited_unless_asked_otherwise() {
    let limit = ConnectOptions::default().setup_timeout;
    assert_eq!(limit, Some(SETUP_TIMEOUT));
}

/// Opens sessions until one is refused; tells how many there were, and why there are no more.
async fn fill(connector: &Connector, most: u64) -> (Vec<Session>, DbError) {
    let mut sessions = Vec::new();
    loop {
        match connector.connect(0).await {
            Ok(session) => sessions.push(session),
            Err(error) => return (sessions, error),
        }
        assert!(sessions.len() as u64 <= most, "no limit was met");
    }
}

/// What is told beforehand is what is met.
fn is_met(connector: Connector, name: &str, limit: u64) {
    let name = name.to_string();
    block_on(async move {
        let mut first = connector.connect(0).await.unwrap();
        let mut told: SessionLimit = session_limit(&mut first).await.unwrap().unwrap();
        // The server may not have noticed yet that earlier sessions are gone.
        for _ in 0..200 {
            if told.in_use == 1 {
                break;
            }
            sleep(Duration::from_millis(50)).await;
            told = session_limit(&mut first).await.unwrap().unwrap();
        }
        assert_eq!((told.name, told.limit), (name.as_str(), limit));
        let (more, error) = fill(&connector, limit + 5).await;
        assert_eq!(error.class, ErrorClass::Refused, "{error}");
        assert_eq!(error.kind, ErrorKind::TooManySessions, "{error}");
        let opened = more.len() as u64;
        // The server lets one more superuser in than it tells (MySQL manual, "max_connections").
        assert!(
            opened == told.left() || opened == told.left() + 1,
            "{opened} {told:?}"
        );
        let mut full = session_limit(&mut first).await.unwrap().unwrap();
        // Nor that the one it refused has gone.
        for _ in 0..200 {
            if full.in_use == told.in_use + opened {
                break;
            }
            sleep(Duration::from_millis(50)).await;
            full = session_limit(&mut first).await.unwrap().unwrap();
        }
        assert_eq!(full.in_use, told.in_use + opened, "{told:?} {full:?}");
    })
    .unwrap();
}

#[test]
fn mariadb_tells_its_limits_and_keeps_them() {
    let server = Server::builder(SandboxEngine::MariaDb)
        .setting("max-connections", "12")
        .start()
        .unwrap();
    server
        .query("CREATE USER few IDENTIFIED BY 'few' WITH MAX_USER_CONNECTIONS 4")
        .unwrap();
    server.query("GRANT ALL ON sbtest.* TO few").unwrap();
    is_met(with_account(&server, "few:few@"), "max_user_connections", 4);
    is_met(connector(&server.url()), "max_connections", 12);
}

#[test]
fn postgres_tells_its_limits_and_keeps_them() {
    let server = Server::builder(SandboxEngine::Postgres)
        .setting("max_connections", "14")
        .start()
        .unwrap();
    for role in [
        "CREATE ROLE plain LOGIN PASSWORD 'plain'",
        "CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 4",
    ] {
        server.query(role).unwrap();
    }
    is_met(
        with_account(&server, "few:few@"),
        "the role's CONNECTION LIMIT",
        4,
    );
    // Three are kept for superusers.
    is_met(
        with_account(&server, "plain:plain@"),
        "max_connections less superuser_reserved_connections",
        11,
    );
    is_met(connector(&server.url()), "max_connections", 14);
}
