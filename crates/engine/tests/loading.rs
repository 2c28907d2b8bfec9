//! Loads that meet another one, and loads that go on, on real servers and files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

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
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};
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
fn a_second_client_is_refused_while_the_first_one_loads() {
    for (name, place) in Place::all("two_loads") {
        let connector = place.connector();
        let spec = LoadSpec {
            threads: 2,
            chunk_rows: 1000,
            ..LoadSpec::default()
        };
        let tables = workload(&[("table-size", "120000")]);
        let (begun, wait) = channel();
        let (go, go_on) = channel();
        let first = {
            let (connector, tables) = (connector.clone(), Arc::clone(&tables));
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
        // The same rows, other rows, and dropping them: all would take the first one's tables.
        for seed in [spec.seed, 77] {
            let second = LoadSpec {
                seed,
                threads: 3,
                replace: Replace::Anything,
                ..spec
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
        let refused = drop_tables(&connector, &tables, 1, true).unwrap_err();
        let said = refused.to_string();
        assert!(said.contains("another Tidemark"), "{name}: {said}");
        go.send(()).unwrap();
        let report = first.join().unwrap().unwrap();
        assert_eq!(report.rows_loaded, 120_000, "{name}");
        // At once: the lock ends with the load and not some time later.
        let begun = Instant::now();
        drop_tables(&connector, &tables, 1, false).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
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
        let tables = workload(&[("table-size", "100000"), ("mysql-storage-engine", engine)]);
        let spec = LoadSpec {
            threads: 2,
            chunk_rows: 5000,
            ..LoadSpec::default()
        };
        let mut watch = Watch::new(None, 20_000);
        load(&connector, &tables, &spec, &mut watch).unwrap_err();
        let Place::Database(database) = &place else {
            unreachable!()
        };
        // As a chunk that was cut off leaves them: rows that no line of the journal tells of.
        let forget = "DELETE FROM tidemark_load_journal LIMIT 1";
        database.query(forget).unwrap();
        let mut watch = Watch::new(None, u64::MAX);
        let report = load(&connector, &tables, &spec, &mut watch).unwrap();
        assert_eq!((watch.rows_there, report.rows_there), (0, 0), "{engine}");
        assert_eq!(report.rows_loaded, 100_000, "{engine}");
        let count = database.query("SELECT COUNT(*) FROM sbtest1").unwrap();
        assert_eq!(count.trim(), "100000");
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
                session.rollback().await.unwrap();
            })
            .unwrap();
        });
        written.recv_timeout(Duration::from_secs(30)).unwrap();
        let begun = Instant::now();
        load(&connector, &tables, &spec, &mut Watch::new(None, u64::MAX)).unwrap();
        assert!(
            begun.elapsed() >= Duration::from_millis(1300),
            "{name}: {sql}"
        );
        left.join().unwrap();
        drop_tables(&connector, &tables, 1, false).unwrap();
    }
}
