//! Private servers start, answer, crash, come back, and leave nothing behind.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tidemark_sandbox::Error as SandboxError;
use tidemark_testkit::{Error, SandboxEngine, Server};

/// A zombie that nobody has reaped yet has ended.
fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z "))
}

/// The whole life of one server; what holds for both engines.
fn life(engine: SandboxEngine) {
    let server = Server::builder(engine).start().unwrap();
    let folder: PathBuf = server.socket_path().parent().unwrap().into();
    let port = server.port();
    assert!(
        server
            .url()
            .contains(&format!(":sbtest@127.0.0.1:{port}/sbtest"))
    );
    assert!(server.socket_url().contains("?socket=/"));
    assert!(server.socket_path().exists());
    TcpStream::connect(("127.0.0.1", port)).unwrap();

    server
        .query("CREATE TABLE kept (n INT); INSERT INTO kept VALUES (42);")
        .unwrap();
    assert_eq!(
        server.query("SELECT n, n + 1 FROM kept").unwrap(),
        "42\t43\n"
    );

    let first = server.pid().unwrap();
    server.kill9().unwrap();
    assert!(!alive(first));
    assert_eq!(server.pid(), None);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(matches!(server.kill9(), Err(Error::NotRunning(_))));
    assert!(matches!(server.stop(), Err(Error::NotRunning(_))));
    assert!(matches!(server.query("SELECT 1"), Err(Error::Sql { .. })));

    server.restart().unwrap();
    let second = server.pid().unwrap();
    assert_ne!(first, second);
    assert_eq!(server.port(), port);
    assert_eq!(server.query("SELECT n FROM kept").unwrap(), "42\n");

    // Also of a server that runs.
    server.restart().unwrap();
    assert_ne!(server.pid().unwrap(), second);
    assert_eq!(server.query("SELECT n FROM kept").unwrap(), "42\n");

    let database = server.fresh_database("copied").unwrap();
    database
        .query("CREATE TABLE kept (n INT); INSERT INTO kept VALUES (7);")
        .unwrap();
    match engine {
        SandboxEngine::Postgres => {
            let copy = database.copy("copy").unwrap();
            assert_eq!(copy.query("SELECT n FROM kept").unwrap(), "7\n");
            assert_ne!(copy.name(), database.name());
        }
        SandboxEngine::MariaDb => assert!(database.copy("copy").is_err()),
    }
    drop(database);

    server.stop().unwrap();
    assert_eq!(server.pid(), None);
    server.restart().unwrap();
    let last = server.pid().unwrap();

    drop(server);
    assert!(!alive(last));
    assert!(!folder.exists());
}

#[test]
fn life_of_mariadb() {
    life(SandboxEngine::MariaDb);
}

#[test]
fn life_of_postgres() {
    life(SandboxEngine::Postgres);
}

/// A backend busy in a query outlives a postmaster killed alone; a crash takes it along.
#[test]
fn kill9_takes_postgres_backends_along() {
    let server = Server::postgres().unwrap();
    let busy = server.endpoint().clone();
    let client = std::thread::spawn(move || busy.query("SELECT pg_sleep(60)"));
    let ours = "SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'";
    let start = Instant::now();
    let pid: u32 = loop {
        let rows = server.query(ours).unwrap();
        if let Ok(pid) = rows.trim().parse() {
            break pid;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{rows}");
    };
    server.kill9().unwrap();
    assert!(!alive(pid));
    assert!(client.join().unwrap().is_err());
}

fn pauses(engine: SandboxEngine) {
    let server = Server::builder(engine).start().unwrap();
    let endpoint = server.endpoint().clone();
    server.pause().unwrap();
    let client = std::thread::spawn(move || endpoint.query("SELECT 7"));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!client.is_finished());
    server.resume().unwrap();
    assert_eq!(client.join().unwrap().unwrap(), "7\n");
    // A paused server is ended all the same.
    server.pause().unwrap();
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn mariadb_pauses_and_resumes() {
    pauses(SandboxEngine::MariaDb);
}

#[test]
fn postgres_pauses_and_resumes() {
    pauses(SandboxEngine::Postgres);
}

#[test]
fn settings_reach_mariadb_and_ed25519_accounts_work() {
    let server = Server::builder(SandboxEngine::MariaDb)
        .setting("max-connections", "77")
        .setting("plugin-load-add", "auth_ed25519")
        .start()
        .unwrap();
    server
        .query(
            "CREATE USER ed@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret');
             GRANT ALL ON sbtest.* TO ed@'%';",
        )
        .unwrap();
    assert_eq!(server.query("SELECT @@max_connections").unwrap(), "77\n");
    let url = server.url().replace("sbtest:sbtest@", "ed:secret@");
    let ed = tidemark_testkit::Endpoint::from_url(&url).unwrap();
    assert_eq!(ed.query("SELECT 1").unwrap(), "1\n");
    let wrong = url.replace("ed:secret@", "ed:wrong@");
    let e = tidemark_testkit::Endpoint::from_url(&wrong)
        .unwrap()
        .query("SELECT 1")
        .unwrap_err();
    assert!(e.to_string().contains("1045"), "{e}");
}

#[test]
fn settings_and_hba_reach_postgres() {
    let server = Server::builder(SandboxEngine::Postgres)
        .setting("max_connections", "33")
        .hba("host all open 127.0.0.1/32 trust")
        .start()
        .unwrap();
    server.query("CREATE ROLE open LOGIN").unwrap();
    assert_eq!(server.query("SHOW max_connections").unwrap(), "33\n");
    let open = |user: &str| {
        let url = server.url().replace("sbtest:sbtest@", &format!("{user}@"));
        tidemark_testkit::Endpoint::from_url(&url)
            .unwrap()
            .query("SELECT current_user")
    };
    assert_eq!(open("open").unwrap(), "open\n");
    assert!(open("sbtest").is_err());
}

#[test]
fn a_server_that_cannot_start_shows_its_log() {
    for (engine, setting, word) in [
        (
            SandboxEngine::MariaDb,
            "no-such-variable",
            "no-such-variable",
        ),
        (
            SandboxEngine::Postgres,
            "no_such_variable",
            "no_such_variable",
        ),
    ] {
        let e = Server::builder(engine)
            .setting(setting, "1")
            .start()
            .unwrap_err();
        let is_start = matches!(e, Error::Sandbox(SandboxError::Start { .. }));
        assert!(is_start, "{e}");
        assert!(e.to_string().contains(word), "{e}");
    }
}

#[test]
fn tls_verifies_against_the_servers_own_authority() {
    let mariadb = Server::builder(SandboxEngine::MariaDb)
        .tls()
        .start()
        .unwrap();
    let ca = &mariadb.tls().unwrap().ca;
    let out = Command::new("mariadb")
        .args(["--no-defaults", "-usbtest", "-h127.0.0.1", "-N"])
        .args(["--ssl", "--ssl-verify-server-cert", "-P"])
        .arg(mariadb.port().to_string())
        .arg(format!("--ssl-ca={}", ca.display()))
        .args(["-e", "SHOW STATUS LIKE 'Ssl_cipher'"])
        .env("MYSQL_PWD", "sbtest")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("TLS_") || text.contains("-GCM-"), "{out:?}");

    let postgres = Server::builder(SandboxEngine::Postgres)
        .tls()
        .start()
        .unwrap();
    let psql = |ca: &Path| {
        let target = format!(
            "host=localhost hostaddr=127.0.0.1 port={} user=sbtest dbname=sbtest \
             sslmode=verify-full sslrootcert={}",
            postgres.port(),
            ca.display()
        );
        Command::new("psql")
            .args(["-X", "-At", &target])
            .args([
                "-c",
                "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
            ])
            .env("PGPASSWORD", "sbtest")
            .output()
            .unwrap()
    };
    let own = psql(&postgres.tls().unwrap().ca);
    assert_eq!(String::from_utf8_lossy(&own.stdout), "t\n", "{own:?}");
    assert!(!psql(ca).status.success());
}
