//! Servers that restart, cut sessions off or take rights away while they are observed, and endpoints that
//! send hardly anything: the run goes on, and the record says what was not seen.

use super::exporters;
use super::kept::{named, points};
use super::servers::{observed, of};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};
use tidemark_core::record::GapKind;
use tidemark_testkit::{SandboxEngine, Server};

/// What ends a run may take, on a machine that is busy.
const SOON: Duration = Duration::from_millis(1500);

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The greatest id of an account's sessions on MariaDB, and how many of them are greater than one.
fn sessions_of(server: &Server, account: &str, after: u64) -> (u64, u64) {
    let sql = format!(
        "SELECT COALESCE(MAX(ID), 0), COUNT(*) FROM information_schema.PROCESSLIST \
         WHERE USER = '{account}' AND ID <> CONNECTION_ID() AND ID > {after}"
    );
    let said = server.query(&sql).unwrap();
    let mut numbers = said.split_whitespace().map(|n| n.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// Sessions that observe.
fn observing(server: &Server) -> u64 {
    match server.engine() {
        SandboxEngine::MariaDb => sessions_of(server, "sbtest", 0).1,
        SandboxEngine::Postgres => {
            let sql = "SELECT count(*) FROM pg_stat_activity \
                       WHERE application_name = 'tidemark-observe'";
            server.query(sql).unwrap().trim().parse().unwrap()
        }
    }
}

fn restarts(server: &Server) {
    let sources = ["server-status", "server-activity", "server-process"];
    let (series, ended, took) = observed(&server.url(), &sources.join(","), || {
        wait_for("no sessions observe", || observing(server) >= 2);
        std::thread::sleep(Duration::from_millis(1700));
        server.stop().unwrap();
        // Away for a sample at least.
        std::thread::sleep(Duration::from_millis(1500));
        server.restart().unwrap();
        // A process is looked for every two seconds, and sampled a second later.
        std::thread::sleep(Duration::from_millis(2400));
        wait_for("no sessions observe again", || observing(server) >= 2);
        std::thread::sleep(Duration::from_millis(1200));
    });
    assert!(took < SOON, "{took:?}");
    for source in sources {
        let said = of(&ended, source);
        let failed = said.gaps.iter().any(|g| g.kind == GapKind::Failed);
        assert!(said.sampled && failed, "{ended:?}");
        let line = format!("source {source}: ");
        assert!(
            ended.notes.iter().any(|n| n.starts_with(&line)),
            "{ended:?}"
        );
    }
    // Seen before and after, and not between.
    for (source, name) in [
        ("server-status", "sessions.open"),
        ("server-process", "process.tasks"),
    ] {
        let seen = points(named(&series, source, name)[0]);
        let has_gap = seen.windows(2).any(|w| w[1].0 - w[0].0 > 1000);
        assert!(has_gap, "{name}: {seen:?}");
    }
    // Totals that begin anew are no rate.
    let most = named(&series, "server-status", "buffer.requests");
    let most = most[0].summary().unwrap().unwrap().max;
    assert!((0.0..1e7).contains(&most), "{most}");
}

#[test]
fn a_mariadb_that_restarts_is_observed_again() {
    restarts(&Server::mariadb().unwrap());
}

#[test]
fn a_postgres_that_restarts_is_observed_again() {
    restarts(&Server::postgres().unwrap());
}

#[test]
fn rights_that_are_revoked_end_what_needs_them_and_nothing_else() {
    let server = Server::mariadb().unwrap();
    for sql in [
        "CREATE USER plain@'%' IDENTIFIED BY 'p'",
        "GRANT PROCESS ON *.* TO plain@'%'",
    ] {
        server.query(sql).unwrap();
    }
    let url = format!("mysql://plain:p@127.0.0.1:{}/", server.port());
    let (series, ended, took) = observed(&url, "server-status,server-activity", || {
        wait_for("no sessions observe", || {
            sessions_of(&server, "plain", 0).1 >= 2
        });
        std::thread::sleep(Duration::from_millis(1200));
        server
            .query("REVOKE PROCESS ON *.* FROM plain@'%'")
            .unwrap();
        // Sessions keep what they may until they end.
        let last = sessions_of(&server, "plain", 0).0;
        server.query("KILL USER plain").unwrap();
        wait_for("no sessions observe again", || {
            sessions_of(&server, "plain", last).1 >= 2
        });
        std::thread::sleep(Duration::from_millis(1200));
    });
    assert!(took < SOON, "{took:?}");
    for source in ["server-status", "server-activity"] {
        let line = format!("source {source}: ");
        let needs = |n: &String| n.starts_with(&line) && n.contains("PROCESS");
        assert!(ended.notes.iter().any(needs), "{source}: {ended:?}");
    }
    let last = |name: &str| {
        let points = points(named(&series, "server-status", name)[0]);
        points.last().map(|(at_ms, _)| *at_ms)
    };
    assert!(
        last("sessions.open") > last("transactions.open"),
        "{series:?}"
    );
}

#[test]
fn sessions_that_are_hidden_from_some_time_on_are_a_line() {
    let server = Server::postgres().unwrap();
    for sql in [
        "CREATE USER plain PASSWORD 'p'",
        "GRANT pg_read_all_stats TO plain",
    ] {
        server.query(sql).unwrap();
    }
    let url = format!("postgres://plain:p@127.0.0.1:{}/sbtest", server.port());
    let (_, ended, _) = observed(&url, "server-activity", || {
        wait_for("no session observes", || observing(&server) >= 1);
        std::thread::sleep(Duration::from_millis(1200));
        server.query("REVOKE pg_read_all_stats FROM plain").unwrap();
        std::thread::sleep(Duration::from_millis(1500));
    });
    let activity = of(&ended, "server-activity");
    assert!(activity.sampled && activity.gaps.len() == 1, "{ended:?}");
    assert_eq!(activity.gaps[0].kind, GapKind::Failed);
    let said = &activity.gaps[0].detail;
    assert!(said.ends_with("GRANT pg_read_all_stats TO plain"), "{said}");
}

#[test]
fn an_account_that_may_log_in_no_more_is_a_line() {
    let server = Server::postgres().unwrap();
    server.query("CREATE USER plain PASSWORD 'p'").unwrap();
    let url = format!("postgres://plain:p@127.0.0.1:{}/sbtest", server.port());
    let of_plain = "FROM pg_stat_activity WHERE usename = 'plain'";
    let refused = "is not permitted to log in";
    let (series, ended, took) = observed(&url, "server-status,server-activity", || {
        wait_for("no sessions observe", || {
            let count = server.query(&format!("SELECT count(*) {of_plain}"));
            count.unwrap().trim() == "2"
        });
        std::thread::sleep(Duration::from_millis(1200));
        server.query("ALTER ROLE plain NOLOGIN").unwrap();
        let end = format!("SELECT pg_terminate_backend(pid) {of_plain}");
        server.query(&end).unwrap();
        wait_for("nobody tried to log in again", || {
            let log = std::fs::read_to_string(server.log_path());
            log.unwrap_or_default().contains(refused)
        });
        std::thread::sleep(Duration::from_millis(300));
    });
    assert!(took < SOON, "{took:?}");
    assert!(ended.notes.iter().any(|n| n.contains(refused)), "{ended:?}");
    // What was seen before is there.
    assert!(
        !named(&series, "server-status", "sessions.open").is_empty(),
        "{ended:?}"
    );
}

/// An endpoint that takes connections; it sends this byte once a second, or nothing.
fn dripping(byte: Option<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let Some(byte) = byte else {
                open.push(stream);
                continue;
            };
            std::thread::spawn(move || {
                while stream.write_all(&[byte]).is_ok() {
                    std::thread::sleep(Duration::from_secs(1));
                }
            });
        }
    });
    address
}

#[test]
fn a_host_that_sends_a_byte_a_second_holds_nobody_up() {
    let url = format!("http://{}/metrics", dripping(Some(b'H')));
    let (series, ended, took) = exporters::observed(&url, Duration::from_millis(4700));
    assert!(took < SOON, "{took:?}");
    // On a busy machine it is still at it when the run ends.
    assert_eq!(ended.notes.len(), 1, "{ended:?}");
    assert!(
        ended.notes[0].starts_with("source server-host: "),
        "{ended:?}"
    );
    assert!(!of(&ended, "server-host").sampled, "{ended:?}");
    assert!(!named(&series, "client-host", "memory.used").is_empty());
}

#[test]
fn a_database_that_sends_nothing_or_a_byte_a_second_holds_nobody_up() {
    let stalls = |scheme: &str, byte: Option<u8>| {
        let url = format!("{scheme}://plain:p@{}/sbtest", dripping(byte));
        let sources = ["server-status", "server-activity", "network"];
        let (_, ended, took) = observed(&url, &sources.join(","), || {
            std::thread::sleep(Duration::from_millis(3500));
        });
        assert!(took < SOON, "{url}: {took:?}");
        for source in sources {
            let line = format!("source {source}: ");
            assert!(
                ended.notes.iter().any(|n| n.starts_with(&line)),
                "{url}: {ended:?}"
            );
        }
    };
    std::thread::scope(|scope| {
        for scheme in ["mysql", "postgres"] {
            // PostgreSQL's answer to who asks for TLS: no.
            for byte in [None, Some(b'N')] {
                scope.spawn(move || stalls(scheme, byte));
            }
        }
    });
}
