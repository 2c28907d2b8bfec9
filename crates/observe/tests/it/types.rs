//! The run's sessions by the type of transaction that they run.

use super::kept::named;
use super::servers::{connector, observed_by, prepare};
use std::time::{Duration, Instant};
use tidemark_core::series::Series;
use tidemark_drivers::{Access, Connector};
use tidemark_runtime::{block_on, sleep};
use tidemark_testkit::Server;

const NAMES: &[&str] = &["short", "long"];

/// Runs both types in turn on a session, with a pause after each, for so long.
fn in_turn(connector: &Connector, [short, long]: [String; 2], lasting: Duration) {
    let connector = connector.clone();
    let work = async move {
        let mut session = connector.connect_for(0, Access::ReadWrite).await.unwrap();
        let begun = Instant::now();
        while begun.elapsed() < lasting {
            for (kind, sql) in [&short, &long].into_iter().enumerate() {
                session.begins(kind);
                session.simple(sql).await.unwrap();
                sleep(Duration::from_millis(20)).await;
            }
        }
        session.close().await;
    };
    block_on(work).unwrap();
}

/// Mean sessions of a type over all their points, and the states and waits that they were seen at.
fn of_type(series: &[Series], kind: &str) -> (f64, Vec<String>) {
    let all = named(series, "server-activity", "sessions.by-type").into_iter();
    let mut of: Vec<_> = all.filter(|s| s.key.labels["type"] == kind).collect();
    of.retain(|s| s.summary().unwrap().unwrap().max > 0.0);
    let mean = |s: &&Series| s.summary().unwrap().unwrap().mean;
    let waits = of.iter().map(|s| s.key.labels["wait"].clone()).collect();
    (of.iter().map(mean).sum(), waits)
}

#[test]
fn sessions_are_told_by_what_they_run() {
    for server in [Server::mariadb().unwrap(), Server::postgres().unwrap()] {
        prepare(server.endpoint());
        let url = server.url();
        let (asleep, wait) = match url.starts_with("postgres") {
            true => ("SELECT pg_sleep", "Timeout:PgSleep"),
            false => ("SELECT SLEEP", "User sleep"),
        };
        let both = ["0.03", "0.15"].map(|seconds| format!("{asleep}({seconds})"));
        let connector = connector(&url).with_running_types(NAMES);
        let (series, ended, _) = observed_by(&connector, "server-activity", || {
            in_turn(&connector, both, Duration::from_secs(8));
        });
        assert!(ended.notes.is_empty(), "{ended:?}");
        let (short, waits) = of_type(&series, "short");
        let (long, waits_of_long) = of_type(&series, "long");
        assert!(waits.contains(&wait.to_string()), "{waits:?}");
        assert!(
            waits_of_long.contains(&wait.to_string()),
            "{waits_of_long:?}"
        );
        // 30 and 150 of 220 ms, seen in some eighty looks.
        assert!((0.05..0.25).contains(&short), "{short} {series:?}");
        assert!((0.5..0.85).contains(&long), "{long} {series:?}");
    }
}

#[test]
fn of_one_type_and_of_sessions_that_run_none_nothing_is_told() {
    let server = Server::postgres().unwrap();
    prepare(server.endpoint());
    let one = connector(&server.url()).with_running_types(&["only"]);
    assert!(!one.running_types().unwrap().are_several());
    let both = connector(&server.url()).with_running_types(NAMES);
    let (series, _, _) = observed_by(&both, "server-activity", || {
        let housekeeping = both.clone();
        let work = async move {
            let mut session = housekeeping.connect(0).await.unwrap();
            session.begins(0);
            session.simple("SELECT pg_sleep(2.5)").await.unwrap();
            session.close().await;
        };
        block_on(work).unwrap();
    });
    assert!(!named(&series, "server-activity", "sessions").is_empty());
    assert!(named(&series, "server-activity", "sessions.by-type").is_empty());
}

#[test]
fn who_waits_for_mariadbs_row_locks_is_told_by_type() {
    let server = Server::mariadb().unwrap();
    prepare(server.endpoint());
    let update = "UPDATE numbers SET n = n + 1 WHERE id = 7";
    let run = connector(&server.url()).with_running_types(NAMES);
    let (series, _, _) = observed_by(&run, "server-status", || {
        std::thread::scope(|scope| {
            let holder = run.clone();
            scope.spawn(move || {
                let work = async move {
                    let mut session = holder.connect_for(0, Access::ReadWrite).await.unwrap();
                    session.begins(0);
                    session.simple("BEGIN").await.unwrap();
                    session.simple(update).await.unwrap();
                    sleep(Duration::from_millis(3500)).await;
                    session.simple("ROLLBACK").await.unwrap();
                };
                block_on(work).unwrap();
            });
            std::thread::sleep(Duration::from_millis(300));
            let waiter = run.clone();
            let work = async move {
                let mut session = waiter.connect_for(1, Access::ReadWrite).await.unwrap();
                session.begins(1);
                session.simple(update).await.unwrap();
            };
            block_on(work).unwrap();
        });
    });
    let all = named(&series, "server-status", "locks.blocked.by-type");
    let told: Vec<_> = all
        .iter()
        .map(|s| (&*s.key.labels["type"], s.summary().unwrap().unwrap().max))
        .collect();
    assert_eq!(told, [("long", 1.0)], "{series:?}");
}

#[test]
fn parallel_workers_are_at_their_leaders_transaction() {
    let server = Server::postgres().unwrap();
    let rows = "CREATE TABLE many AS SELECT g AS n FROM generate_series(1, 400000) AS g";
    server.query(rows).unwrap();
    server.query("ANALYZE many").unwrap();
    let run = connector(&server.url()).with_running_types(NAMES);
    let (series, _, _) = observed_by(&run, "server-activity", || {
        let connector = run.clone();
        let work = async move {
            let mut session = connector.connect_for(0, Access::ReadWrite).await.unwrap();
            for setting in [
                "parallel_setup_cost = 0",
                "parallel_tuple_cost = 0",
                "min_parallel_table_scan_size = 0",
            ] {
                session.simple(&format!("SET {setting}")).await.unwrap();
            }
            session.begins(1);
            // Each worker's rows sleep: one in four thousand for a tenth of a second.
            let sql =
                "SELECT count(*) FROM many WHERE n % 4000 > 0 OR length(pg_sleep(0.1)::text) = 0";
            session.simple(sql).await.unwrap();
            session.close().await;
        };
        block_on(work).unwrap();
    });
    let all = named(&series, "server-activity", "sessions.by-type").into_iter();
    let most: f64 = all.map(|s| s.summary().unwrap().unwrap().max).sum();
    // The leader and two workers, for as long as there are rows.
    assert!((1.5..=3.5).contains(&most), "{most} {series:?}");
}
