//! Statements by the server's own account, sessions that block others, and what SQLite counts.

use super::kept::{mean, named, points};
use super::servers::{LOAD, connector, load, observed, of, prepare, totals};
use std::time::{Duration, Instant};
use tidemark_core::Target;
use tidemark_core::record::{GapKind, ServerStatement};
use tidemark_core::series::Series;
use tidemark_drivers::{Access, ConnectOptions, Connector, Value};
use tidemark_runtime::{block_on, sleep};
use tidemark_testkit::{SandboxEngine, Server};

#[test]
fn statements_are_told_by_the_servers_account() {
    let mariadb = Server::builder(SandboxEngine::MariaDb)
        .setting("performance_schema", "ON")
        .start()
        .unwrap();
    let postgres = Server::builder(SandboxEngine::Postgres)
        .setting("shared_preload_libraries", "pg_stat_statements")
        .start()
        .unwrap();
    postgres
        .query("CREATE EXTENSION pg_stat_statements")
        .unwrap();
    for (server, is_postgres) in [(mariadb, false), (postgres, true)] {
        prepare(server.endpoint());
        let url = server.url();
        // What was before is no part of it.
        load(&url, &LOAD, Duration::from_millis(300));
        let mut rounds = 0;
        let (series, ended, _) = observed(&url, "server-statements,server-status", || {
            rounds = load(&url, &LOAD, Duration::from_millis(2500));
        });
        assert!(of(&ended, "server-statements").gaps.is_empty(), "{ended:?}");
        let found = |verb: &str| {
            let mut all = ended.statements.iter();
            let found = all.find(|s| s.text.starts_with(verb));
            found.unwrap_or_else(|| panic!("{verb}: {:?}", ended.statements))
        };
        for (verb, rows) in [("SELECT `n` FROM", 20), ("UPDATE `numbers`", 1)] {
            let verb = match is_postgres {
                true => verb.replace('`', ""),
                false => verb.to_string(),
            };
            let told = found(&verb);
            // The account begins a moment after the load.
            let all = u64::from(rounds);
            assert!((all / 2..=all).contains(&told.count), "{told:?} of {all}");
            assert_eq!(told.rows, told.count * rows, "{told:?}");
            assert!(told.time_ms > 0.0 && told.time_ms < 2500.0, "{told:?}");
            assert_eq!(told.rows_examined.is_some(), !is_postgres);
            assert_eq!(told.pages_requested.is_some(), is_postgres);
        }
        // Its instruments are on, unless somebody turned them off.
        let waits = named(&series, "server-statements", "waits.time");
        assert_eq!(waits.is_empty(), is_postgres, "{series:?}");
        // Most time first; what only observes is not there.
        let times: Vec<f64> = ended.statements.iter().map(|s| s.time_ms).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
        let own = |text: &str| text.contains("pg_stat") || text.contains("STATUS");
        assert!(!ended.statements.iter().any(|s| own(&s.text)), "{ended:?}");
        // Of prepared statements MariaDB keeps no digests.
        let (_, ended, _) = observed(&url, "server-statements", || prepared(&connector(&url)));
        let gaps = &of(&ended, "server-statements").gaps;
        let executed = gaps.iter().find(|gap| gap.kind == GapKind::Prepared);
        assert_eq!(executed.is_some(), !is_postgres, "{ended:?}");
        if let Some(gap) = executed {
            let executed: u32 = gap.detail.parse().unwrap();
            assert!((100..=200).contains(&executed), "{gap:?}");
        } else {
            let is_it = |s: &&ServerStatement| s.text.starts_with("SELECT n FROM");
            assert!(ended.statements.iter().any(|s| is_it(&s)), "{ended:?}");
        }
    }
}

/// PostgreSQL's sessions report at their end what they did in less than a second; observing reads its catalogs
/// when it begins.
#[test]
fn a_load_of_less_than_a_second_is_counted_whole() {
    let server = Server::builder(SandboxEngine::Postgres).start().unwrap();
    prepare(server.endpoint());
    let url = server.url();
    let scan = ["SELECT count(*) FROM numbers"];
    // Its catalogs are in the session's memory from then on.
    load(&url, &scan, Duration::from_millis(100));
    let in_table: f64 = totals(server.endpoint(), &scan)[0];
    let mut rounds = 0;
    let (_, ended, _) = observed(&url, "server-status", || {
        // It is counted from the first look on.
        std::thread::sleep(Duration::from_secs(2));
        rounds = load(&url, &scan, Duration::from_millis(600));
    });
    let total = |name: &str| {
        let found = ended.load_totals.iter().find(|t| t.name == name);
        found.map_or(-1.0, |told| told.total)
    };
    let read = in_table * f64::from(rounds);
    let of_others = total("rows.read") - read;
    assert!(
        (0.0..5000.0).contains(&of_others),
        "{read} rows in {rounds} rounds: {ended:?}"
    );
    assert!(
        read > 20_000.0,
        "{rounds} rounds tell too little of {in_table} rows"
    );
    assert!(total("buffer.requests") >= f64::from(rounds), "{ended:?}");
}

#[test]
fn showing_the_status_of_an_idle_mariadb_reads_no_rows() {
    let server = Server::builder(SandboxEngine::MariaDb).start().unwrap();
    let (series, ended, _) = observed(&server.url(), "server-status,server-activity", || {
        std::thread::sleep(Duration::from_millis(5500));
    });
    assert!(of(&ended, "server-status").gaps.is_empty(), "{ended:?}");
    let read = named(&series, "server-status", "rows.read");
    let read = points(read[0]);
    // Sessions are opened in the first two seconds. Reading a status takes some thirty rows.
    let later: Vec<f64> = read.iter().skip(2).map(|(_, rows)| *rows).collect();
    assert!(
        !later.is_empty() && later.iter().all(|rows| *rows < 5.0),
        "{read:?}"
    );
}

/// Executes a prepared statement two hundred times, once the account has begun.
fn prepared(connector: &Connector) {
    let connector = connector.clone();
    std::thread::sleep(Duration::from_millis(1000));
    let done = block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let sql = "SELECT n FROM numbers WHERE id = ?";
        let statement = session.prepare(sql).await.unwrap();
        for id in 0..200 {
            session
                .execute(&statement, &[Value::Int(id)])
                .await
                .unwrap();
        }
        session.close().await;
    });
    done.unwrap();
}

#[test]
fn without_statistics_of_statements_it_is_said_how_to_have_them() {
    for (server, how) in [
        (Server::mariadb().unwrap(), "performance_schema = ON"),
        (Server::postgres().unwrap(), "CREATE EXTENSION"),
    ] {
        let (_, ended, _) = observed(&server.url(), "server-statements", || {
            // A busy machine answers late.
            std::thread::sleep(Duration::from_secs(2));
        });
        let told = of(&ended, "server-statements");
        assert!(!told.sampled && ended.statements.is_empty(), "{ended:?}");
        assert_eq!(told.gaps[0].kind, GapKind::NoStatements);
        assert!(told.gaps[0].detail.contains(how), "{ended:?}");
        assert!(ended.notes.is_empty(), "{ended:?}");
    }
}

/// One session changes a row and stays in its transaction, while another wants the same row.
fn block(connector: &Connector, lasting: Duration) {
    let update = "UPDATE numbers SET n = n + 1 WHERE id = 7";
    let (holder, waiter) = (connector.clone(), connector.clone());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            block_on(async move {
                let mut session = holder.connect(0).await.unwrap();
                session.simple("BEGIN").await.unwrap();
                session.simple(update).await.unwrap();
                sleep(lasting).await;
                session.simple("ROLLBACK").await.unwrap();
            })
            .unwrap();
        });
        std::thread::sleep(Duration::from_millis(300));
        block_on(async move {
            let mut session = waiter.connect(1).await.unwrap();
            session.simple(update).await.unwrap();
        })
        .unwrap();
    });
}

fn most(series: &[Series], name: &str) -> f64 {
    let found = named(series, "server-status", name);
    let most = found.iter().map(|s| s.summary().unwrap().unwrap().max);
    most.fold(0.0, f64::max)
}

#[test]
fn blocked_sessions_are_seen_with_what_blocks_them() {
    for (server, is_postgres) in [
        (Server::mariadb().unwrap(), false),
        (Server::postgres().unwrap(), true),
    ] {
        prepare(server.endpoint());
        if !is_postgres {
            // InnoDB's times stay those of the host.
            server.query("SET GLOBAL time_zone = '+08:00'").unwrap();
        }
        let url = server.url();
        let (series, _, _) = observed(&url, "server-status", || {
            block(&connector(&url), Duration::from_millis(4500));
            std::thread::sleep(Duration::from_millis(1200));
        });
        assert_eq!(most(&series, "locks.blocked"), 1.0, "{series:?}");
        let oldest = most(&series, "transactions.oldest");
        assert!((2.0..600.0).contains(&oldest), "{series:?}");
        let all = named(&series, "server-status", "locks.blocked");
        let by = |state: &str| {
            let found = all.iter().find(|s| s.key.labels["blocker"] == state);
            found.map(|s| s.summary().unwrap().unwrap().max)
        };
        assert_eq!(by("idle-in-transaction"), Some(1.0), "{series:?}");
        assert_eq!(by("active").unwrap_or(0.0), 0.0, "{series:?}");
        let age = most(&series, "locks.blocker-age");
        assert!((2.0..600.0).contains(&age), "{series:?}");
        if is_postgres {
            // Versions of the row that were rolled back, and of others before.
            assert!(!named(&series, "server-status", "rows.dead").is_empty());
        } else {
            assert!(most(&series, "locks.longest-wait") >= 1.0, "{series:?}");
            // Both are of the run's account, host and database.
            let by_others = "locks.rows-blocked-by-others";
            assert_eq!(most(&series, by_others), 0.0, "{series:?}");
            assert!(!named(&series, "server-status", by_others).is_empty());
            assert!(!named(&series, "server-status", "history.length").is_empty());
        }
    }
}

#[test]
fn who_blocks_rows_is_told_by_statement_and_whether_it_is_anothers() {
    let server = Server::mariadb().unwrap();
    prepare(server.endpoint());
    server.query("CREATE DATABASE elsewhere").unwrap();
    let url = server.url();
    let mut other = Target::parse(&url).unwrap();
    other.database = "elsewhere".into();
    let other = Connector::new(other, ConnectOptions::default()).unwrap();
    let own = connector(&url);
    let (series, _, _) = observed(&url, "server-status", || {
        std::thread::scope(|scope| {
            scope.spawn(move || {
                block_on(async move {
                    let mut session = other.connect(0).await.unwrap();
                    // One row is changed at once, and the statement goes on.
                    let update = "UPDATE sbtest.numbers SET n = n + 1 + SLEEP(3.5) WHERE id = 7";
                    session.simple(update).await.unwrap();
                    session.close().await;
                })
                .unwrap();
            });
            std::thread::sleep(Duration::from_millis(300));
            block_on(async move {
                let mut session = own.connect(0).await.unwrap();
                let update = "UPDATE numbers SET n = 0 WHERE id = 7";
                session.simple(update).await.unwrap();
                session.close().await;
            })
            .unwrap();
        });
        std::thread::sleep(Duration::from_millis(1200));
    });
    let all = named(&series, "server-status", "locks.blocked");
    let by =
        |s: &&&Series| s.key.labels["blocker"] == "active" && s.key.labels["statement"] == "update";
    let found = all.iter().find(by);
    let points = points(found.unwrap_or_else(|| panic!("{series:?}")));
    assert!(points.iter().any(|p| p.1 == 1.0), "{points:?}");
    // And no more when it is over.
    assert_eq!(points.last().map(|p| p.1), Some(0.0), "{points:?}");
    let others = most(&series, "locks.rows-blocked-by-others");
    assert_eq!(others, 1.0, "{series:?}");
    assert_eq!(most(&series, "locks.blockers"), 1.0, "{series:?}");
}

#[test]
fn sqlite_tells_of_its_cache_and_of_waits() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let url = format!("sqlite:{}", file.display());
    let connector = connector(&url);
    let (series, ended, _) = observed(&url, "server-status", || {
        let first = connector.clone();
        block_on(async move {
            let mut session = first.connect_for(0, Access::ReadWrite).await.unwrap();
            let create = "CREATE TABLE numbers (id INTEGER PRIMARY KEY, n INT, pad TEXT)";
            session.simple(create).await.unwrap();
            let fill = "INSERT INTO numbers SELECT value, 0, hex(zeroblob(500)) FROM (WITH RECURSIVE \
                        c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c LIMIT 3000) \
                        SELECT value FROM c)";
            session.simple(fill).await.unwrap();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(2500) {
                session.simple("UPDATE numbers SET n = n + 1 WHERE id % 3 = 0").await.unwrap();
                session.simple("SELECT sum(n) FROM numbers").await.unwrap();
            }
        })
        .unwrap();
        // One waits for the other, who holds the write lock for a while.
        let (holder, waiter) = (connector.clone(), connector.clone());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                block_on(async move {
                    let mut session = holder.connect_for(0, Access::ReadWrite).await.unwrap();
                    session.simple("BEGIN IMMEDIATE").await.unwrap();
                    std::thread::sleep(Duration::from_millis(700));
                    session.simple("COMMIT").await.unwrap();
                })
                .unwrap();
            });
            std::thread::sleep(Duration::from_millis(200));
            block_on(async move {
                let mut session = waiter.connect_for(1, Access::ReadWrite).await.unwrap();
                let update = "UPDATE numbers SET n = 0 WHERE id = 1";
                session.simple(update).await.unwrap();
            })
            .unwrap();
        });
        std::thread::sleep(Duration::from_millis(1500));
    });
    let status = of(&ended, "server-status");
    assert!(status.sampled && status.gaps.is_empty(), "{ended:?}");
    let sum = |name: &str| -> f64 {
        let found = named(&series, "server-status", name);
        assert_eq!(found.len(), 1, "{name}: {series:?}");
        points(found[0]).iter().map(|(_, value)| value).sum()
    };
    assert!(sum("buffer.requests") > 1000.0);
    // Three megabytes, and a cache of one.
    assert!(sum("buffer.misses") > 100.0 && sum("pages.written") > 100.0);
    assert!(sum("checkpoints.completed") >= 1.0);
    assert!(sum("locks.waits") >= 0.9, "{}", sum("locks.waits"));
    let waited = sum("locks.wait-time");
    assert!((300.0..1500.0).contains(&waited), "{waited}");
    assert!(mean(named(&series, "server-status", "log.size")[0]) > 0.0);
}

/// What was written in a short run is in its series, the last second's included.
#[test]
fn sqlites_series_have_all_that_a_short_run_did() {
    const LASTING: Duration = Duration::from_millis(2050);
    let folder = tempfile::tempdir().unwrap();
    let mut said = Vec::new();
    // A busy machine may make one try uneven.
    for number in 0..4 {
        let url = format!("sqlite:{}/{number}.db", folder.path().display());
        let connector = connector(&url);
        let mut rounds = 0_u32;
        let (series, _, _) = observed(&url, "server-status", || {
            let ran = block_on(async move {
                let mut session = connector.connect_for(0, Access::ReadWrite).await.unwrap();
                session
                    .simple("CREATE TABLE numbers (n INT)")
                    .await
                    .unwrap();
                session
                    .simple("INSERT INTO numbers VALUES (1)")
                    .await
                    .unwrap();
                let begun = Instant::now();
                let mut rounds = 0_u32;
                while begun.elapsed() < LASTING {
                    session
                        .simple("UPDATE numbers SET n = n + 1")
                        .await
                        .unwrap();
                    rounds += 1;
                }
                session.close().await;
                rounds
            });
            rounds = ran.unwrap();
        });
        // Each round writes a page; other tests of this process may write, too.
        let written = mean(named(&series, "server-status", "pages.written")[0]);
        let of_all = written * LASTING.as_secs_f64() / f64::from(rounds);
        if of_all >= 0.85 {
            return;
        }
        said.push(of_all);
    }
    panic!("of the pages of four runs the series have {said:?}");
}

#[test]
fn only_transactions_that_keep_row_versions_are_the_oldest() {
    let server = Server::postgres().unwrap();
    prepare(server.endpoint());
    let url = server.url();
    for (begin, is_kept) in [
        ("BEGIN", false),
        ("BEGIN ISOLATION LEVEL REPEATABLE READ", true),
    ] {
        let connector = connector(&url);
        let (series, _, _) = observed(&url, "server-status", || {
            let idle = async move {
                let mut session = connector.connect(0).await.unwrap();
                session.simple(begin).await.unwrap();
                let sql = "SELECT count(*) FROM numbers";
                session.simple(sql).await.unwrap();
                sleep(Duration::from_millis(5500)).await;
                session.simple("ROLLBACK").await.unwrap();
                session.close().await;
            };
            block_on(idle).unwrap();
        });
        let oldest = most(&series, "transactions.oldest");
        assert_eq!(oldest >= 2.0, is_kept, "{begin}: {oldest}");
        assert!(!named(&series, "server-status", "transactions.held-back").is_empty());
    }
}

#[test]
fn rows_of_full_scans_are_counted() {
    for server in [Server::mariadb().unwrap(), Server::postgres().unwrap()] {
        prepare(server.endpoint());
        let url = server.url();
        let scan = ["SELECT sum(n) FROM numbers WHERE n >= 0"];
        let (series, _, _) = observed(&url, "server-status", || {
            load(&url, &scan, Duration::from_millis(4500));
        });
        let scanned = most(&series, "rows.scanned");
        assert!(scanned >= 500.0, "{scanned}: {series:?}");
    }
}
