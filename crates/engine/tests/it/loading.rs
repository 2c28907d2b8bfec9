//! Loads that meet another one, and loads that go on, on real servers and files.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidemark_core::{Source, Target};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_engine::{
    LoadFailure, LoadObserver, LoadReport, LoadSpec, Replace, StopHandle, drop_tables, prepare,
};
use tidemark_testkit::{Database, Server, shared_mariadb, shared_postgres};
use tidemark_workloads::{Workload, find};

/// Where loads are made; removed with the value.
enum Place {
    Database(Box<Database>),
    File(TempDir),
}

impl Place {
    fn all(name: &str) -> Vec<(&'static str, Place)> {
        let mariadb = shared_mariadb().unwrap().fresh_database(name).unwrap();
        let postgres = shared_postgres().unwrap().fresh_database(name).unwrap();
        vec![
            ("mariadb", Place::Database(Box::new(mariadb))),
            ("postgres", Place::Database(Box::new(postgres))),
            ("sqlite", Place::File(tempfile::tempdir().unwrap())),
        ]
    }

    fn connector(&self) -> Connector {
        let target = match self {
            Place::Database(database) => Target::parse(&database.url()).unwrap(),
            Place::File(folder) => Target::sqlite(folder.path().join("load.db").to_str().unwrap()),
        };
        Connector::new(target, ConnectOptions::default()).unwrap()
    }
}

fn workload(options: &[(&str, &str)]) -> Arc<dyn Workload> {
    let definition = find("oltp_read_write").unwrap();
    let mut values = definition.defaults();
    for (name, value) in options {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    (definition.build)(&values).unwrap()
}

/// Tells when rows begin to arrive, and goes on when it may; ends the load after some of them, if
/// asked to.
struct Watch {
    begun: Option<(Sender<()>, Receiver<()>)>,
    stop_after: u64,
    stop: StopHandle,
    rows_there: u64,
}

impl Watch {
    fn new(begun: Option<(Sender<()>, Receiver<()>)>, stop_after: u64) -> Self {
        Self {
            begun,
            stop_after,
            stop: StopHandle::new(),
            rows_there: 0,
        }
    }
}

impl LoadObserver for Watch {
    fn creating(&mut self, _: &str, _: u64, rows_there: u64) {
        self.rows_there += rows_there;
    }

    fn progress(&mut self, done: u64, _: u64) {
        if done > 0
            && let Some((begun, go_on)) = self.begun.take()
        {
            begun.send(()).unwrap();
            go_on.recv().unwrap();
        }
        if done > self.stop_after {
            self.stop.stop();
        }
    }

    fn indexing(&mut self, _: &str) {}

    fn verifying(&mut self) {}
}

fn load(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    watch: &mut Watch,
) -> Result<LoadReport, LoadFailure> {
    let stop = watch.stop.clone();
    prepare(connector, workload, spec, &stop, watch)
}

#[test]
fn another_load_is_refused_while_the_first_one_goes_on() {
    for (name, place) in Place::all("two_loads") {
        let connector = place.connector();
        let spec = LoadSpec {
            threads: 2,
            chunk_rows: 1000,
            ..LoadSpec::default()
        };
        let tables = workload(&[("table-size", "60000")]);
        let (begun, wait) = channel();
        let (go, go_on) = channel();
        let first = {
            let (connector, tables) = (connector.clone(), Arc::clone(&tables));
            let spec = spec.clone();
            thread::spawn(move || {
                load(
                    &connector,
                    &tables,
                    &spec,
                    &mut Watch::new(Some((begun, go_on)), u64::MAX),
                )
            })
        };
        wait.recv_timeout(Duration::from_secs(60)).unwrap();
        // Other rows, and dropping them: both would take the first one's tables. The same rows, too,
        // where there is one writer at a time.
        let mut seeds = vec![77];
        seeds.extend((name == "sqlite").then_some(spec.seed));
        for seed in seeds {
            let second = LoadSpec {
                seed,
                threads: 3,
                replace: Replace::Anything,
                ..spec.clone()
            };
            let refused = load(
                &connector,
                &tables,
                &second,
                &mut Watch::new(None, u64::MAX),
            );
            let failure = refused.unwrap_err();
            let said = failure.to_string();
            assert!(
                said.contains("another Tidemark is loading"),
                "{name}: {said}"
            );
            assert!(said.contains("nothing was changed"), "{name}: {said}");
            assert!(!failure.began, "{name}");
        }
        let refused = drop_tables(&connector, &tables, 1, true, &StopHandle::new()).unwrap_err();
        let said = refused.to_string();
        assert!(said.contains("another Tidemark"), "{name}: {said}");
        go.send(()).unwrap();
        let report = first.join().unwrap().unwrap();
        assert_eq!(report.rows_loaded, 60_000, "{name}");
        // At once: the lock ends with the load and not some time later.
        let begun = Instant::now();
        drop_tables(&connector, &tables, 1, false, &StopHandle::new()).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(15), "{name}");
        if let Place::File(folder) = &place {
            let left: Vec<_> = folder.path().read_dir().unwrap().flatten().collect();
            assert!(
                left.iter()
                    .all(|f| !f.file_name().to_string_lossy().contains("tidemark-load")),
                "{left:?}"
            );
        }
    }
}

#[test]
fn a_load_that_was_stopped_goes_on_with_other_threads_and_chunks() {
    for (name, place) in Place::all("other_chunks") {
        let connector = place.connector();
        let options = [("table-size", "100000"), ("tables", "2")];
        let tables = workload(&options);
        let with = |threads, chunk_rows| LoadSpec {
            threads,
            chunk_rows,
            ..LoadSpec::default()
        };
        let mut rows_there = 0;
        for spec in [with(4, 700), with(3, 1100), with(7, 300)] {
            let mut watch = Watch::new(None, rows_there + 20_000);
            let failure = load(&connector, &tables, &spec, &mut watch).unwrap_err();
            assert_eq!(failure.to_string(), "interrupted", "{name}");
            assert_eq!(watch.rows_there, rows_there, "{name}");
            assert!(failure.rows_done > rows_there, "{name}: {failure:?}");
            rows_there = failure.rows_done;
        }
        // The size of chunks that the number of threads makes.
        let report = load(
            &connector,
            &tables,
            &with(5, 0),
            &mut Watch::new(None, u64::MAX),
        );
        let report = report.unwrap();
        assert_eq!(report.rows_there, rows_there, "{name}");
        assert_eq!(report.rows_there + report.rows_loaded, 200_000, "{name}");
        if let Place::Database(database) = &place {
            for table in ["sbtest1", "sbtest2"] {
                let sql = format!("SELECT COUNT(*), COUNT(DISTINCT id), MAX(id) FROM {table}");
                let counts = database.query(&sql).unwrap();
                let counts: Vec<_> = counts
                    .split(|c: char| !c.is_ascii_digit())
                    .filter(|word| !word.is_empty())
                    .collect();
                assert_eq!(counts, ["100000"; 3], "{name} {table}");
            }
        }
    }
}

#[test]
fn a_table_without_transactions_is_started_over() {
    for engine in ["MyISAM", "Aria"] {
        let mariadb = shared_mariadb().unwrap();
        let place = Place::Database(Box::new(mariadb.fresh_database("myisam").unwrap()));
        let connector = place.connector();
        let tables = workload(&[("table-size", "40000"), ("mysql-storage-engine", engine)]);
        let spec = LoadSpec {
            threads: 2,
            chunk_rows: 2000,
            ..LoadSpec::default()
        };
        let mut watch = Watch::new(None, 8000);
        load(&connector, &tables, &spec, &mut watch).unwrap_err();
        let Place::Database(database) = &place else {
            unreachable!()
        };
        // As a chunk that was cut off leaves them: rows that no line of the journal tells of.
        let forget = "UPDATE tidemark_load_journal SET state = 'open' WHERE state = 'done' LIMIT 1";
        database.query(forget).unwrap();
        let mut watch = Watch::new(None, u64::MAX);
        let report = load(&connector, &tables, &spec, &mut watch).unwrap();
        assert_eq!((watch.rows_there, report.rows_there), (0, 0), "{engine}");
        assert_eq!(report.rows_loaded, 40_000, "{engine}");
        let count = database.query("SELECT COUNT(*) FROM sbtest1").unwrap();
        assert_eq!(count.trim(), "40000");
    }
}

#[test]
fn a_load_waits_for_what_a_killed_client_left_in_its_server() {
    const INSERT: &str = "INSERT INTO sbtest1 (id) VALUES (1000000)";
    const INDEX: &str = "CREATE INDEX left_over ON sbtest1 (k)";
    let mut places = Place::all("left_over");
    // Its locks end with their process.
    places.retain(|(name, _)| *name != "sqlite");
    let mut left_over = Vec::new();
    for (name, place) in &places {
        left_over.push((name, place, INSERT));
        // MariaDB commits it by itself.
        if *name == "postgres" {
            left_over.push((name, place, INDEX));
        }
    }
    for (name, place, sql) in left_over {
        let connector = place.connector();
        let tables = workload(&[("table-size", "50000")]);
        let spec = LoadSpec {
            chunk_rows: 1000,
            ..LoadSpec::default()
        };
        load(&connector, &tables, &spec, &mut Watch::new(None, 20_000)).unwrap_err();
        // A transaction of another session has written into the table and ends in a while.
        let (wrote, written) = channel();
        let other = connector.clone();
        let left = thread::spawn(move || {
            tidemark_runtime::block_on(async move {
                let mut session = other.connect(0).await.unwrap();
                session.simple("BEGIN").await.unwrap();
                session.simple(sql).await.unwrap();
                wrote.send(()).unwrap();
                tidemark_runtime::sleep(Duration::from_millis(1500)).await;
                let until = Instant::now();
                session.rollback().await.unwrap();
                until
            })
            .unwrap()
        });
        written.recv_timeout(Duration::from_secs(30)).unwrap();
        load(&connector, &tables, &spec, &mut Watch::new(None, u64::MAX)).unwrap();
        let ended = Instant::now();
        assert!(ended > left.join().unwrap(), "{name}: {sql}");
        drop_tables(&connector, &tables, 1, false, &StopHandle::new()).unwrap();
    }
}

/// The number in the only row and column of a result.
fn number(database: &Database, sql: &str) -> u64 {
    database.query(sql).unwrap().trim().parse().unwrap()
}

#[test]
fn clients_that_load_the_same_share_it() {
    for (name, place) in Place::all("shared_load") {
        let Place::Database(database) = &place else {
            continue;
        };
        let connector = place.connector();
        let tables = workload(&[("table-size", "60000"), ("tables", "2")]);
        let (begun, wait) = channel();
        let (go, go_on) = channel();
        let first = {
            let (connector, tables) = (connector.clone(), Arc::clone(&tables));
            let spec = LoadSpec {
                threads: 2,
                chunk_rows: 1000,
                ..LoadSpec::default()
            };
            thread::spawn(move || {
                let mut watch = Watch::new(Some((begun, go_on)), u64::MAX);
                load(&connector, &tables, &spec, &mut watch)
            })
        };
        wait.recv_timeout(Duration::from_secs(60)).unwrap();
        // It asks for chunks of another size, and gets those that there are.
        let spec = LoadSpec {
            threads: 3,
            chunk_rows: 700,
            replace: Replace::Benchmark,
            ..LoadSpec::default()
        };
        let second = {
            let (connector, tables) = (connector.clone(), Arc::clone(&tables));
            thread::spawn(move || load(&connector, &tables, &spec, &mut Watch::new(None, u64::MAX)))
        };
        go.send(()).unwrap();
        let second = second.join().unwrap().unwrap();
        let first = first.join().unwrap().unwrap();
        let all = 120_000;
        assert_eq!(first.rows_there, 0, "{name}");
        assert!(first.rows_loaded > 0 && second.rows_loaded > 0, "{name}");
        assert_eq!(first.rows_loaded + second.rows_loaded, all, "{name}");
        for report in [&first, &second] {
            let sum = report.rows_there + report.rows_loaded + report.rows_elsewhere;
            assert_eq!(sum, all, "{name}: {report:?}");
            assert!(report.tables.iter().all(|t| t.rows == 60_000), "{name}");
        }
        // Each table was looked at by one of them.
        for table in 0..2 {
            let elsewhere = [&first, &second].map(|r| r.tables[table].elsewhere);
            assert!(
                elsewhere[0] != elsewhere[1],
                "{name} {table}: {elsewhere:?}"
            );
        }
        for table in ["sbtest1", "sbtest2"] {
            let distinct = format!("SELECT COUNT(DISTINCT id) FROM {table}");
            assert_eq!(number(database, &distinct), 60_000, "{name} {table}");
            let rows = format!("SELECT COUNT(*) FROM {table}");
            assert_eq!(number(database, &rows), 60_000, "{name} {table}");
        }
        assert!(
            database
                .query("SELECT 1 FROM tidemark_load_journal")
                .is_err(),
            "{name}: the journal is gone"
        );
    }
}

#[test]
fn a_journal_of_the_older_form_is_gone_on_with() {
    for (name, place) in Place::all("old_journal") {
        let connector = place.connector();
        let tables = workload(&[("table-size", "30000")]);
        let spec = LoadSpec {
            chunk_rows: 1000,
            ..LoadSpec::default()
        };
        load(&connector, &tables, &spec, &mut Watch::new(None, 8000)).unwrap_err();
        // As an older Tidemark left it: lines of what is done, and no more columns.
        let other = connector.clone();
        let done = tidemark_runtime::block_on(async move {
            let mut session = other.connect(0).await.unwrap();
            for sql in [
                "CREATE TABLE older (table_name VARCHAR(64) NOT NULL, first_row BIGINT NOT NULL, \
                 row_count BIGINT NOT NULL, PRIMARY KEY (table_name, first_row))",
                "INSERT INTO older SELECT table_name, first_row, row_count \
                 FROM tidemark_load_journal WHERE state = 'done' AND first_row >= 0",
                "DROP TABLE tidemark_load_journal",
                "ALTER TABLE older RENAME TO tidemark_load_journal",
            ] {
                session.simple(sql).await.unwrap();
            }
            let sum = "SELECT SUM(row_count) FROM tidemark_load_journal";
            let rows = session.query(sum).await.unwrap().int(0, 0);
            session.close().await;
            u64::try_from(rows.unwrap()).unwrap()
        })
        .unwrap();
        assert!(done >= 8000, "{name}");
        // In chunks of another size.
        let spec = LoadSpec {
            chunk_rows: 700,
            ..spec
        };
        let report = load(&connector, &tables, &spec, &mut Watch::new(None, u64::MAX));
        let report = report.unwrap();
        assert_eq!(report.rows_there, done, "{name}");
        assert_eq!(report.rows_loaded, 30_000 - done, "{name}");
    }
}

#[test]
fn a_client_that_ended_is_done_without() {
    let mut places = Place::all("dead_client");
    places.retain(|(name, _)| *name != "sqlite");
    for (name, place) in places {
        let connector = place.connector();
        let tables = workload(&[("table-size", "30000")]);
        let spec = LoadSpec {
            chunk_rows: 1000,
            ..LoadSpec::default()
        };
        let (begun, wait) = channel();
        let (go, go_on) = channel();
        let first = {
            let (connector, tables) = (connector.clone(), Arc::clone(&tables));
            thread::spawn(move || {
                let mut watch = Watch::new(Some((begun, go_on)), u64::MAX);
                load(&connector, &tables, &spec, &mut watch)
            })
        };
        wait.recv_timeout(Duration::from_secs(60)).unwrap();
        // Claims of a client that holds no lock: a chunk that nobody is at, the indexes, and itself.
        let Place::Database(database) = &place else {
            unreachable!()
        };
        for sql in [
            "UPDATE tidemark_load_journal SET state = 'claimed', owner = '12345' \
             WHERE state = 'open' AND first_row IN (29000, -1)",
            "INSERT INTO tidemark_load_journal VALUES ('', 12345, 0, 'client', 'x')",
        ] {
            database.query(sql).unwrap();
        }
        go.send(()).unwrap();
        let report = first.join().unwrap().unwrap();
        assert_eq!(report.rows_loaded, 30_000, "{name}");
        assert_eq!(number(database, "SELECT COUNT(*) FROM sbtest1"), 30_000);
        let gone = database.query("SELECT 1 FROM tidemark_load_journal");
        assert!(gone.is_err(), "{name}");
    }
}

/// Tables are verified one after another: one of two is, and then the client is killed.
#[test]
fn a_load_killed_while_it_was_verified_goes_on() {
    for (name, place) in Place::all("half_verified") {
        let connector = place.connector();
        let tables = workload(&[("table-size", "20000"), ("tables", "2")]);
        let spec = LoadSpec {
            chunk_rows: 1000,
            ..LoadSpec::default()
        };
        let asked = |sql: &'static [&'static str]| {
            let connector = connector.clone();
            tidemark_runtime::block_on(async move {
                let mut session = connector.connect(0).await.unwrap();
                for sql in sql {
                    session.simple(sql).await.unwrap();
                }
                session.close().await;
            })
            .unwrap();
        };
        load(&connector, &tables, &spec, &mut Watch::new(None, 8000)).unwrap_err();
        asked(&["CREATE TABLE kept AS SELECT * FROM tidemark_load_journal"]);
        let whole = load(&connector, &tables, &spec, &mut Watch::new(None, u64::MAX));
        assert_eq!(whole.unwrap().tables.len(), 2);
        // The journal as it was when the first table had been verified and the second had not.
        asked(&[
            "DELETE FROM kept WHERE table_name = ''",
            "UPDATE kept SET state = 'done'",
            "UPDATE kept SET state = 'open' WHERE table_name = 'sbtest2' AND first_row = -3",
            "ALTER TABLE kept RENAME TO tidemark_load_journal",
        ]);
        let again = load(&connector, &tables, &spec, &mut Watch::new(None, u64::MAX)).unwrap();
        assert_eq!((again.rows_loaded, again.rows_there), (0, 40_000), "{name}");
        // With the journal gone it is a table like any other.
        let refused = load(&connector, &tables, &spec, &mut Watch::new(None, u64::MAX));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("already exists"), "{name}: {refused}");
    }
}

#[test]
fn limits_that_the_database_sets_end_no_load() {
    let postgres = shared_postgres().unwrap();
    let database = postgres.fresh_database("limits").unwrap();
    let name = database.query("SELECT current_database()").unwrap();
    let mut set = String::new();
    for limit in [
        "statement_timeout = '200ms'",
        "lock_timeout = '20ms'",
        "idle_in_transaction_session_timeout = '200ms'",
        "transaction_timeout = '200ms'",
    ] {
        let (setting, _) = limit.split_once(' ').unwrap();
        let known = format!("SELECT count(*) FROM pg_settings WHERE name = '{setting}'");
        // PostgreSQL 17 has the last one.
        if database.query(&known).unwrap().trim() == "1" {
            set += &format!("ALTER DATABASE {} SET {limit};", name.trim());
        }
    }
    // At once: the next session has them, and a busy machine may take longer.
    database.query(&set).unwrap();
    let place = Place::Database(Box::new(database));
    let tables = workload(&[("table-size", "200000")]);
    let spec = LoadSpec {
        // One statement that takes longer.
        chunk_rows: 200_000,
        ..LoadSpec::default()
    };
    let loaded = load(
        &place.connector(),
        &tables,
        &spec,
        &mut Watch::new(None, u64::MAX),
    );
    assert_eq!(loaded.unwrap().rows_loaded, 200_000);
}

#[test]
fn a_limit_of_mariadb_ends_no_load() {
    let server = Server::mariadb().unwrap();
    // Less than an index on so many rows takes.
    server.query("SET GLOBAL max_statement_time = 0.2").unwrap();
    let target = Target::parse(&server.url()).unwrap();
    let connector = Connector::new(target, ConnectOptions::default()).unwrap();
    let tables = workload(&[("table-size", "200000")]);
    let spec = LoadSpec {
        chunk_rows: 200_000,
        ..LoadSpec::default()
    };
    let loaded = load(&connector, &tables, &spec, &mut Watch::new(None, u64::MAX));
    assert_eq!(loaded.unwrap().rows_loaded, 200_000);
}
