//! Sources of real servers: beside the servers' own totals, without rights, and hung.

use super::kept::{kept, mean, named, sink};
use std::time::{Duration, Instant};
use tidemark_core::record::{GapKind, Observed};
use tidemark_core::series::Series;
use tidemark_core::{Engine, Observe, Target};
use tidemark_drivers::{Access, ConnectOptions, Connector};
use tidemark_observe::{EndpointAccess, Observing, Sampling, SamplingResult, sources};
use tidemark_runtime::block_on;
use tidemark_testkit::{Endpoint, Server};

pub fn connector(url: &str) -> Connector {
    Connector::new(Target::parse(url).unwrap(), ConnectOptions::default()).unwrap()
}

/// Observes while `work` is done.
pub fn observed(
    url: &str,
    observe: &str,
    work: impl FnOnce(),
) -> (Vec<Series>, SamplingResult, Duration) {
    observed_by(&connector(url), observe, work)
}

/// The same of the sessions that a connector opens.
pub fn observed_by(
    connector: &Connector,
    observe: &str,
    work: impl FnOnce(),
) -> (Vec<Series>, SamplingResult, Duration) {
    let url = connector.target().to_string();
    let observe: Observe = observe.parse().unwrap();
    let engine = match url.starts_with("postgres") {
        true => Engine::Postgres,
        false if url.starts_with("sqlite") => Engine::Sqlite,
        false => Engine::Mariadb,
    };
    let all = sources(&Observing {
        observe: &observe,
        host: None,
        nodes: None,
        prometheus: None,
        access: EndpointAccess::default(),
        connector,
        engine: Some(engine),
        on_client: Some(true),
        pid: None,
        makes_load: true,
        by_clients: false,
    });
    assert!(all.unseen.is_empty());
    let (sink, chunks) = sink();
    let watch = Sampling::start(all.sources, Duration::ZERO, &sink);
    work();
    let begun = Instant::now();
    let ended = watch.end();
    let took = begun.elapsed();
    (kept(&chunks), ended, took)
}

pub fn of<'e>(ended: &'e SamplingResult, source: &str) -> &'e Observed {
    let found = ended.observed.iter().find(|o| o.source == source);
    found.unwrap_or_else(|| panic!("{source}: {ended:?}"))
}

/// How long a session lasts where counts are compared: PostgreSQL's tell of what they did when they end, or once
/// a second (PGSTAT_MIN_INTERVAL). A second more or less between the first sample and the last would be a
/// quarter of them all.
const SHORT: Duration = Duration::from_millis(100);

/// One round per step: a rate that a machine with other work keeps up with, too.
const STEP: Duration = Duration::from_millis(10);

/// Executes statements one after the other for so long, on one session.
pub fn load(url: &str, statements: &[&str], lasting: Duration) -> u32 {
    load_on(url, statements, lasting, lasting, Duration::ZERO)
}

/// The same on sessions that each last so long, one round in each step.
fn load_on(
    url: &str,
    statements: &[&str],
    lasting: Duration,
    session_lasts: Duration,
    step: Duration,
) -> u32 {
    let connector = connector(url);
    let statements: Vec<String> = statements.iter().map(ToString::to_string).collect();
    let rounds = block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let begun = Instant::now();
        let (mut rounds, mut opened) = (0, begun);
        while begun.elapsed() < lasting {
            if opened.elapsed() >= session_lasts {
                session.close().await;
                session = connector.connect(0).await.unwrap();
                opened = Instant::now();
            }
            for sql in &statements {
                session.simple(sql).await.unwrap();
            }
            rounds += 1;
            std::thread::sleep((begun + step * rounds).saturating_duration_since(Instant::now()));
        }
        session.close().await;
        rounds
    });
    rounds.unwrap()
}

pub const LOAD: [&str; 4] = [
    "BEGIN",
    "UPDATE numbers SET n = n + 1 WHERE id = 7",
    "SELECT n FROM numbers WHERE id BETWEEN 10 AND 29",
    "COMMIT",
];

/// Five such transactions in one round trip: so that the observing session's own commits are few beside them.
const FIVE_ON_POSTGRES: &str = "DO $$ DECLARE seen INT; BEGIN FOR i IN 1..5 LOOP
    UPDATE numbers SET n = n + 1 WHERE id = 7;
    SELECT SUM(n) INTO seen FROM numbers WHERE id BETWEEN 10 AND 29;
    COMMIT;
END LOOP; END $$";

pub fn prepare(server: &Endpoint) {
    server
        .query("CREATE TABLE numbers (id INT PRIMARY KEY, n INT)")
        .unwrap();
    let rows: Vec<String> = (0..500).map(|id| format!("({id}, 0)")).collect();
    let insert = format!("INSERT INTO numbers VALUES {}", rows.join(", "));
    server.query(&insert).unwrap();
}

pub fn totals(server: &Endpoint, sql: &[&str]) -> Vec<f64> {
    let number = |sql: &&str| {
        let said = server.query(sql).unwrap();
        said.split_whitespace().last().unwrap().parse().unwrap()
    };
    sql.iter().map(number).collect()
}

/// Rates of the series beside the growth of the server's own totals, which are read outside of the
/// load. The load has a rate that a busy machine reaches, too; one try may still be uneven, so there are several.
fn agree(server: &Endpoint, load: &[&str], compared: &[(&str, &str)]) {
    const SECONDS: u64 = 5;
    let sql: Vec<&str> = compared.iter().map(|(_, sql)| *sql).collect();
    let mut said = Vec::new();
    for _ in 0..8 {
        let before = totals(server, &sql);
        let begun = Instant::now();
        let mut rounds = 0;
        let (series, ended, _) = observed(&server.url(), "server-status", || {
            rounds = load_on(
                &server.url(),
                load,
                Duration::from_secs(SECONDS),
                SHORT,
                STEP,
            );
        });
        let seconds = begun.elapsed().as_secs_f64();
        assert!(of(&ended, "server-status").sampled, "{ended:?}");
        // PostgreSQL's sessions tell of what they did when they end, or once a second.
        std::thread::sleep(Duration::from_millis(500));
        let after = totals(server, &sql);
        let mut worst: f64 = 0.0;
        for ((name, _), (before, after)) in compared.iter().zip(before.iter().zip(&after)) {
            let found = named(&series, "server-status", name);
            let rate = mean(
                found
                    .first()
                    .unwrap_or_else(|| panic!("{name}: {series:?}")),
            );
            let own = (after - before) / seconds;
            assert!(own > 0.0, "{name} did not grow in {rounds} rounds");
            let off = rate / own - 1.0;
            said.push(format!(
                "{name} {rate:.0} of {own:.0} ({:+.1}%)",
                off * 100.0
            ));
            worst = worst.max(off.abs());
        }
        if worst <= 0.05 {
            println!("{}", said.join(", "));
            return;
        }
    }
    panic!(
        "more than 5% apart in each of eight tries: {}",
        said.join(", ")
    );
}

#[test]
fn mariadbs_series_agree_with_its_own_totals() {
    let server = Server::mariadb().unwrap();
    prepare(server.endpoint());
    agree(
        server.endpoint(),
        &LOAD,
        &[
            ("queries", "SHOW GLOBAL STATUS LIKE 'Questions'"),
            ("commits", "SHOW GLOBAL STATUS LIKE 'Com_commit'"),
            ("rows.updated", "SHOW GLOBAL STATUS LIKE 'Handler_update'"),
            (
                "buffer.requests",
                "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read_requests'",
            ),
            (
                "log.written",
                "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'",
            ),
        ],
    );
}

#[test]
fn postgres_series_agree_with_its_own_totals() {
    let server = Server::postgres().unwrap();
    prepare(server.endpoint());
    agree(
        server.endpoint(),
        &[FIVE_ON_POSTGRES],
        &[
            (
                "commits",
                "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
            ),
            (
                "rows.updated",
                "SELECT tup_updated FROM pg_stat_database WHERE datname = current_database()",
            ),
            (
                "buffer.requests",
                "SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()",
            ),
            ("log.written", "SELECT wal_bytes FROM pg_stat_wal"),
        ],
    );
}

#[test]
fn sessions_are_seen_at_what_they_do_and_observing_ones_are_not() {
    for server in [Server::mariadb().unwrap(), Server::postgres().unwrap()] {
        prepare(server.endpoint());
        let url = server.url();
        let is_postgres = url.starts_with("postgres");
        let sleep = match is_postgres {
            true => "SELECT pg_sleep(3)",
            false => "SELECT SLEEP(3)",
        };
        let (series, ended, _) = observed(&url, "server-activity", || {
            load(&url, &[sleep], Duration::from_secs(3));
        });
        assert!(of(&ended, "server-activity").gaps.is_empty(), "{ended:?}");
        let active: Vec<_> = named(&series, "server-activity", "sessions")
            .into_iter()
            .filter(|s| s.key.labels["state"] == "active")
            .map(|s| {
                (
                    s.key.labels["wait"].clone(),
                    s.summary().unwrap().unwrap().max,
                )
            })
            .collect();
        let wait = if is_postgres {
            "Timeout:PgSleep"
        } else {
            "User sleep"
        };
        let found = active.iter().find(|(w, _)| w == wait);
        // One session sleeps; that of who looks is left out.
        assert!(
            found.is_some_and(|(_, most)| (0.5..=1.0).contains(most)),
            "{active:?}"
        );
        let others: f64 = active
            .iter()
            .filter(|(w, _)| w != wait)
            .map(|(_, most)| most)
            .sum();
        assert!(others <= 1.0, "{active:?}");
    }
}

#[test]
fn sessions_of_others_are_told_apart() {
    for server in [Server::mariadb().unwrap(), Server::postgres().unwrap()] {
        prepare(server.endpoint());
        server.query("CREATE DATABASE elsewhere").unwrap();
        let url = server.url();
        let mut other = Target::parse(&url).unwrap();
        other.database = "elsewhere".into();
        let other = Connector::new(other, ConnectOptions::default()).unwrap();
        let (sleep, wait) = match url.starts_with("postgres") {
            true => ("SELECT pg_sleep(3)", "Timeout:PgSleep"),
            false => ("SELECT SLEEP(3)", "User sleep"),
        };
        let (series, _, _) = observed(&url, "server-activity", || {
            let asleep = async move {
                let mut session = other.connect(0).await.unwrap();
                session.simple(sleep).await.unwrap();
                session.close().await;
            };
            block_on(asleep).unwrap();
        });
        let most = |name: &str| {
            let all = named(&series, "server-activity", name).into_iter();
            let of = all.filter(|s| s.key.labels.get("wait").is_some_and(|w| w == wait));
            of.map(|s| s.summary().unwrap().unwrap().max)
                .fold(0.0, f64::max)
        };
        assert!(most("sessions.others") >= 0.5, "{series:?}");
        assert_eq!(most("sessions"), 0.0, "{series:?}");
    }
}

/// Whoever uses the run's account and database is told from it by the connections that the run opened.
#[test]
fn a_stranger_with_the_runs_account_is_none_of_the_run() {
    let server = Server::mariadb().unwrap();
    let strangers = connector(&server.url());
    let of_run = connector(&server.url()).with_running_types(&["only"]);
    let (series, _, _) = observed_by(&of_run, "server-activity", || {
        let asleep = |connector: Connector, sql: &'static str| {
            std::thread::spawn(move || {
                let asleep = async move {
                    let opened = connector.connect_for(0, Access::ReadWrite).await;
                    let mut session = opened.unwrap();
                    session.simple(sql).await.unwrap();
                    session.close().await;
                };
                block_on(asleep).unwrap();
            })
        };
        let both = [
            asleep(of_run.clone(), "SELECT SLEEP(4)"),
            asleep(strangers.clone(), "SELECT SLEEP(4)"),
            asleep(strangers.clone(), "SELECT SLEEP(4)"),
        ];
        for one in both {
            one.join().unwrap();
        }
    });
    // In the third second: who opens a session just now is no stranger yet.
    let third = |name: &str| {
        let all = named(&series, "server-activity", name).into_iter();
        let of = all.filter(|s| s.key.labels.get("wait").is_some_and(|w| w == "User sleep"));
        of.filter_map(|s| s.points().unwrap().nth(2))
            .map(|point| point.unwrap().value)
            .sum::<f64>()
    };
    assert!(third("sessions.others") > 1.5, "{series:?}");
    assert!((0.5..1.5).contains(&third("sessions")), "{series:?}");
}

#[test]
fn a_local_servers_processes_are_found_and_told() {
    for server in [Server::mariadb().unwrap(), Server::postgres().unwrap()] {
        prepare(server.endpoint());
        for url in [server.url(), server.socket_url()] {
            let (series, ended, _) = observed(&url, "server-process", || {
                load(&url, &LOAD, Duration::from_millis(2300));
            });
            assert!(of(&ended, "server-process").sampled, "{ended:?}");
            let most = |name: &str| {
                let found = named(&series, "server-process", name);
                found
                    .first()
                    .map_or(-1.0, |s| s.summary().unwrap().unwrap().max)
            };
            let cpu = most("process.cpu-user") + most("process.cpu-system");
            assert!((0.01..64.0).contains(&cpu), "{cpu}");
            assert!(most("process.context-switches") > 10.0);
            // Pages that are dirty already are not counted again.
            assert!(most("process.disk-written") >= 0.0 && most("process.writes") > 0.0);
            assert!(most("process.resident") > 1e6 && most("process.tasks") > 2.0);
        }
    }
}

#[test]
fn without_rights_it_is_said_which() {
    let server = Server::mariadb().unwrap();
    server
        .query("CREATE USER plain@'%' IDENTIFIED BY 'p'")
        .unwrap();
    let url = format!("mysql://plain:p@127.0.0.1:{}/", server.port());
    let (series, ended, _) = observed(&url, "server-status,server-activity", || {
        std::thread::sleep(Duration::from_millis(1500));
    });
    let gaps = &of(&ended, "server-activity").gaps;
    assert_eq!(gaps[0].kind, GapKind::OtherSessions, "{ended:?}");
    assert_eq!(gaps[0].detail, "GRANT PROCESS ON *.* TO 'plain'@'%'");
    assert!(!named(&series, "server-status", "queries").is_empty());

    let server = Server::postgres().unwrap();
    server.query("CREATE USER plain PASSWORD 'p'").unwrap();
    let url = format!("postgres://plain:p@127.0.0.1:{}/sbtest", server.port());
    let (series, ended, _) = observed(&url, "server-status,server-activity", || {
        std::thread::sleep(Duration::from_millis(3300));
        // Rights that go while it looks end the figures that need them, and nothing else.
        server
            .query("REVOKE EXECUTE ON FUNCTION pg_stat_get_wal FROM PUBLIC")
            .unwrap();
        std::thread::sleep(Duration::from_millis(2500));
    });
    let activity = of(&ended, "server-activity");
    assert_eq!(activity.gaps[0].kind, GapKind::OtherSessions, "{ended:?}");
    assert_eq!(activity.gaps[0].detail, "GRANT pg_read_all_stats TO plain");
    let status = of(&ended, "server-status");
    assert!(
        status
            .gaps
            .iter()
            .any(|g| g.kind == GapKind::Failed && g.detail.contains("pg_stat_get_wal")),
        "{ended:?}"
    );
    assert!(
        ended
            .notes
            .iter()
            .any(|n| n.starts_with("source server-status: ")),
        "{ended:?}"
    );
    let counted = |name: &str| named(&series, "server-status", name)[0].count;
    assert!(counted("commits") > counted("log.written"), "{series:?}");
}

#[test]
fn a_server_that_hangs_holds_nobody_up() {
    for server in [Server::mariadb().unwrap(), Server::postgres().unwrap()] {
        let (series, ended, took) = observed(&server.url(), "auto", || {
            std::thread::sleep(Duration::from_millis(5500));
            server.pause().unwrap();
            std::thread::sleep(Duration::from_millis(1500));
        });
        server.resume().unwrap();
        // Upper bounds have room for a busy machine: a statement may take two seconds.
        assert!(took < Duration::from_millis(1500), "{took:?}");
        let stalled = |name: &str| {
            ended
                .notes
                .iter()
                .any(|n| n.starts_with(&format!("source {name}: ")))
        };
        assert!(
            stalled("server-status") && stalled("server-activity"),
            "{ended:?}"
        );
        assert!(!stalled("client-host"), "{ended:?}");
        // What was handed over before is there.
        assert!(
            !named(&series, "server-status", "commits").is_empty(),
            "{ended:?}"
        );
    }
}

#[test]
fn a_server_without_connections_to_spare_keeps_them() {
    let server = Server::builder(tidemark_testkit::SandboxEngine::Postgres)
        .setting("max_connections", "8")
        .setting("superuser_reserved_connections", "3")
        .start()
        .unwrap();
    let (series, ended, _) = observed(&server.url(), "server-status", || {
        std::thread::sleep(Duration::from_millis(300));
    });
    assert_eq!(
        of(&ended, "server-status").gaps[0].kind,
        GapKind::NoConnections,
        "{ended:?}"
    );
    assert!(series.is_empty());
}
