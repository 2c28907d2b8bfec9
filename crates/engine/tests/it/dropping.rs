//! What is the user's is neither dropped nor changed, and a drop that ends half-way says so.

use super::place::{Place, Quiet, execute};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tidemark_core::Source;
use tidemark_drivers::catalog::{exists, list_tables, row_count};
use tidemark_engine::{
    DropFailure, EngineError, LoadFailure, LoadObserver, LoadSpec, Replace, StopHandle,
    drop_tables, prepare,
};
use tidemark_runtime::block_on;
use tidemark_workloads::{Workload, find};

fn workload(options: &[(&str, &str)]) -> Arc<dyn Workload> {
    let definition = find("oltp_read_write").unwrap();
    let mut values = definition.defaults();
    for (name, value) in options {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    (definition.build)(&values).unwrap()
}

fn tables(count: &str) -> Arc<dyn Workload> {
    workload(&[("tables", count), ("table-size", "5")])
}

fn load(
    place: &Place,
    tables: &Arc<dyn Workload>,
    replace: Replace,
    observer: &mut dyn LoadObserver,
) -> Result<(), LoadFailure> {
    let spec = LoadSpec {
        replace,
        ..LoadSpec::default()
    };
    let stop = StopHandle::new();
    prepare(&place.connector(), tables, &spec, &stop, observer).map(drop)
}

fn clean(
    place: &Place,
    tables: &Arc<dyn Workload>,
    force: bool,
) -> Result<Vec<String>, DropFailure> {
    let stop = StopHandle::new();
    drop_tables(&place.connector(), tables, 1, force, &stop)
}

fn rows(place: &Place, table: &str) -> u64 {
    let (connector, table) = (place.connector(), table.to_string());
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let rows = row_count(&mut session, &table).await.unwrap();
        session.close().await;
        rows
    })
    .unwrap()
}

fn there(place: &Place) -> Vec<String> {
    let connector = place.connector();
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let tables = list_tables(&mut session).await.unwrap();
        session.close().await;
        tables
    })
    .unwrap()
}

/// Every way to drop what is there without `--force` is refused, with these words.
fn refused(place: &Place, tables: &Arc<dyn Workload>, words: &[&str], what: &str) {
    let mut refusals = vec![*clean(place, tables, false).unwrap_err().error];
    let failure = load(place, tables, Replace::Benchmark, &mut Quiet).unwrap_err();
    assert!(!failure.began && failure.dropping.is_none(), "{what}");
    refusals.push(failure.error);
    for refusal in refusals {
        let EngineError::Refused(said) = &refusal else {
            panic!("{what}: {refusal:?}");
        };
        for word in words {
            assert!(said.contains(word), "{what}: {word} is not in: {said}");
        }
    }
}

/// Counts the tables that are said to be made.
#[derive(Default)]
struct Made(usize);

impl LoadObserver for Made {
    fn creating(&mut self, _: &str, _: u64, _: u64) {
        self.0 += 1;
    }
    fn progress(&mut self, _: u64, _: u64) {}
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}

const MINE: &[&str] = &[
    "CREATE TABLE mine (x INTEGER, note VARCHAR(9), CONSTRAINT mine_x FOREIGN KEY (x) \
     REFERENCES sbtest2 (id) ON DELETE CASCADE)",
    "INSERT INTO mine VALUES (1, 'a'), (2, 'b')",
];

#[test]
fn a_users_table_that_refers_to_one_keeps_its_rows() {
    for (name, place) in Place::all("referrers") {
        let three = tables("3");
        load(&place, &three, Replace::Nothing, &mut Quiet).unwrap();
        execute(&place, MINE);
        refused(&place, &three, &["table mine", "table sbtest2"], name);
        assert_eq!(rows(&place, "mine"), 2, "{name}");
        for table in ["sbtest1", "sbtest2", "sbtest3"] {
            assert_eq!(rows(&place, table), 5, "{name}");
        }
        let forced = clean(&place, &three, true);
        if name == "sqlite" {
            assert_eq!(forced.unwrap().len(), 3);
            assert_eq!(there(&place), ["mine"]);
        } else {
            let failure = forced.unwrap_err();
            assert_eq!(failure.table.as_deref(), Some("sbtest2"), "{name}");
            assert_eq!(failure.dropped, ["sbtest1", "sbtest3"], "{name}");
            assert_eq!(failure.left, ["sbtest2"], "{name}");
            let said = failure.to_string();
            let told = [
                "table sbtest2 could not be dropped",
                "2 of 3 tables were dropped (sbtest1, sbtest3)",
                "1 is still there (sbtest2)",
            ];
            assert!(told.iter().all(|t| said.contains(t)), "{name}: {said}");
            // PostgreSQL names it in the error's detail alone, MariaDB nowhere.
            let names = ["referred to by mine)", "mine_x"];
            assert!(names.iter().any(|n| said.contains(n)), "{name}: {said}");
        }
        assert_eq!(rows(&place, "mine"), 2, "{name}");
    }
}

#[test]
fn a_drop_that_fails_makes_no_table_and_leaves_no_journal() {
    for (name, place) in Place::all("failing_drop") {
        if name == "sqlite" {
            continue;
        }
        let three = tables("3");
        load(&place, &three, Replace::Nothing, &mut Quiet).unwrap();
        execute(&place, MINE);
        let mut made = Made::default();
        let failure = load(&place, &three, Replace::Anything, &mut made).unwrap_err();
        assert_eq!((made.0, failure.began), (0, false), "{name}");
        let dropping = failure.dropping.unwrap();
        assert_eq!(dropping.left, ["sbtest2"], "{name}");
        assert_eq!(there(&place), ["mine", "sbtest2"], "{name}");
        execute(&place, &["DROP TABLE mine"]);
        load(&place, &three, Replace::Benchmark, &mut made).unwrap();
        assert_eq!(made.0, 3, "{name}");
    }
}

const SYSBENCHS: &str = "id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, \
     c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)";
const PARENT: &str = "CREATE TABLE par (id INTEGER NOT NULL PRIMARY KEY)";
const ROW: &str = "INSERT INTO sbtest1 (id) VALUES (7)";

/// What makes a table another one than the benchmark's, and the words that say so.
fn additions(name: &str) -> Vec<(Vec<String>, &'static str)> {
    let with = |columns: &str, after: &str| {
        vec![format!(
            "CREATE TABLE sbtest1 ({SYSBENCHS}{columns}){after}"
        )]
    };
    let then = |sql: &str| vec![with("", "").remove(0), sql.to_string()];
    let mut parent = vec![PARENT.to_string(), "INSERT INTO par VALUES (0)".into()];
    parent.extend(with(", FOREIGN KEY (k) REFERENCES par (id)", ""));
    let mut cases = vec![
        (parent, "a foreign key (k) to par"),
        (
            with(", CONSTRAINT even CHECK (k < 9)", ""),
            "a CHECK constraint",
        ),
    ];
    match name {
        "sqlite" => cases.push((
            then("CREATE TRIGGER mine AFTER DELETE ON sbtest1 BEGIN SELECT 1; END"),
            "a trigger mine",
        )),
        "mariadb" => cases.extend([
            (
                then("CREATE TRIGGER mine AFTER DELETE ON sbtest1 FOR EACH ROW SET @x = 1"),
                "a trigger mine",
            ),
            (
                with("", " PARTITION BY HASH (id) PARTITIONS 3"),
                "partitions by hash of id",
            ),
            (with("", " WITH SYSTEM VERSIONING"), "system versioning"),
        ]),
        _ => {
            let mut inherits = vec![format!("CREATE TABLE par ({SYSBENCHS})")];
            inherits.push("CREATE TABLE sbtest1 (PRIMARY KEY (id)) INHERITS (par)".into());
            let mut part = vec![format!(
                "CREATE TABLE par ({SYSBENCHS}) PARTITION BY RANGE (id)"
            )];
            part.push("CREATE TABLE sbtest1 PARTITION OF par FOR VALUES FROM (1) TO (9)".into());
            let mut split = with("", " PARTITION BY RANGE (id)");
            split.push("CREATE TABLE p PARTITION OF sbtest1 FOR VALUES FROM (1) TO (9)".into());
            let mut trigger = vec![
                "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
                    .to_string(),
            ];
            trigger.extend(then(
                "CREATE TRIGGER mine AFTER DELETE ON sbtest1 EXECUTE FUNCTION f()",
            ));
            cases.extend([
                (inherits, "inherits from par"),
                (part, "a partition of par"),
                (split, "partitions by range of id"),
                (trigger, "a trigger mine"),
                (
                    then("CREATE TABLE heir () INHERITS (sbtest1)"),
                    "a table heir that inherits",
                ),
                (
                    then("ALTER TABLE sbtest1 ENABLE ROW LEVEL SECURITY"),
                    "row-level security",
                ),
                (
                    then("CREATE RULE mine AS ON DELETE TO sbtest1 DO ALSO NOTHING"),
                    "a rule mine",
                ),
            ]);
        }
    }
    cases
}

#[test]
fn a_table_with_more_than_the_benchmarks_is_the_users() {
    for (name, place) in Place::all("additions") {
        for (statements, words) in additions(name) {
            let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
            execute(&place, &statements);
            let one = tables("1");
            // Empty ones, too, whose drop would take the user's work with it.
            refused(&place, &one, &["sbtest1", words], name);
            let empty = load(&place, &one, Replace::Nothing, &mut Quiet).unwrap_err();
            assert!(empty.to_string().contains(words), "{name}: {empty}");
            execute(&place, &[ROW]);
            refused(&place, &one, &["sbtest1", words], name);
            assert_eq!(rows(&place, "sbtest1"), 1, "{name}: {words}");
            execute(&place, &["DROP TABLE IF EXISTS heir"]);
            assert_eq!(
                clean(&place, &one, true).unwrap(),
                ["sbtest1"],
                "{name}: {words}"
            );
            execute(&place, &["DROP TABLE IF EXISTS par"]);
        }
    }
}

#[test]
fn the_mark_alone_is_no_proof() {
    for (name, place) in Place::all("altered") {
        let trigger = match name {
            "sqlite" => "CREATE TRIGGER mine AFTER DELETE ON sbtest1 BEGIN SELECT 1; END",
            "mariadb" => "CREATE TRIGGER mine AFTER DELETE ON sbtest1 FOR EACH ROW SET @x = 1",
            _ => "CREATE RULE mine AS ON DELETE TO sbtest1 DO ALSO NOTHING",
        };
        for (sql, words) in [
            (
                "ALTER TABLE sbtest1 ADD COLUMN note VARCHAR(9)",
                "note varchar(9)",
            ),
            (trigger, " mine"),
        ] {
            let two = tables("2");
            load(&place, &two, Replace::Nothing, &mut Quiet).unwrap();
            execute(&place, &[sql]);
            refused(&place, &two, &["sbtest1", words], name);
            assert_eq!(rows(&place, "sbtest1"), 5, "{name}");
            assert_eq!(rows(&place, "sbtest2"), 5, "{name}");
            assert_eq!(clean(&place, &two, true).unwrap().len(), 2, "{name}");
        }
    }
}

#[test]
fn what_our_own_options_make_is_ours() {
    for (name, place) in Place::all("own_options") {
        if name == "sqlite" {
            continue;
        }
        for how in ["hash", "range"] {
            let split = workload(&[("table-size", "20"), ("partitioning", how)]);
            load(&place, &split, Replace::Nothing, &mut Quiet).unwrap();
            load(&place, &split, Replace::Benchmark, &mut Quiet).unwrap();
            // The option is not needed again.
            assert_eq!(clean(&place, &tables("1"), false).unwrap(), ["sbtest1"]);
        }
        let definition = find("tpcc").unwrap();
        let mut values = definition.defaults();
        let keys = [("warehouses", "1"), ("foreign-keys", "on")];
        for (key, value) in keys {
            values.set(key, value, Source::CommandLine).unwrap();
        }
        let keyed = (definition.build)(&values).unwrap();
        let stop = StopHandle::new();
        let spec = LoadSpec::default();
        tidemark_engine::create(&place.connector(), &keyed, &spec, &mut Quiet).unwrap();
        let refers = "ALTER TABLE stock ADD CONSTRAINT s FOREIGN KEY (s_w_id) \
                      REFERENCES warehouse (w_id)";
        let key = "ALTER TABLE warehouse ADD PRIMARY KEY (w_id)";
        let keys = if name == "postgres" { 0 } else { 1 };
        execute(&place, &[key, refers][keys..]);
        let plain = (definition.build)(&definition.defaults()).unwrap();
        let dropped = drop_tables(&place.connector(), &plain, 1, false, &stop).unwrap();
        assert_eq!(dropped.len(), 9, "{name}");
        assert_eq!(there(&place), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_partition_of_the_users_keeps_its_rows() {
    for (name, place) in Place::all("own_partition") {
        if name != "postgres" {
            continue;
        }
        let split = workload(&[("table-size", "20"), ("partitioning", "range")]);
        load(&place, &split, Replace::Nothing, &mut Quiet).unwrap();
        let detach = "ALTER TABLE sbtest1 DETACH PARTITION sbtest1_p7";
        let mine = "CREATE TABLE mine PARTITION OF sbtest1 FOR VALUES FROM (100) TO (200)";
        execute(&place, &[detach, mine]);
        execute(&place, &["INSERT INTO sbtest1 (id) VALUES (100)"]);
        refused(&place, &split, &["sbtest1", "a partition mine"], name);
        assert_eq!(rows(&place, "mine"), 1);
    }
}

#[test]
fn what_is_no_table_is_called_what_it_is() {
    for (name, place) in Place::all("no_table") {
        let view = (
            "CREATE VIEW sbtest1 AS SELECT 1 AS id",
            "DROP VIEW sbtest1",
            "a view",
        );
        let sequence = (
            "CREATE SEQUENCE sbtest1",
            "DROP SEQUENCE sbtest1",
            "a sequence",
        );
        let kinds = match name {
            "sqlite" => vec![view],
            "mariadb" => vec![view, sequence],
            _ => vec![
                view,
                sequence,
                (
                    "CREATE MATERIALIZED VIEW sbtest1 AS SELECT 1 AS id",
                    "DROP MATERIALIZED VIEW sbtest1",
                    "a materialized view",
                ),
            ],
        };
        for (create, drop, kind) in kinds {
            execute(&place, &[create]);
            let one = tables("1");
            refused(&place, &one, &["sbtest1", kind], name);
            assert!(clean(&place, &one, true).is_err(), "{name}: {kind}");
            execute(&place, &[drop]);
        }
    }
}

/// Stops as soon as the first table is gone.
fn stop_once_one_is_gone(place: &Place, stop: &StopHandle) -> thread::JoinHandle<()> {
    let (connector, stop) = (place.connector(), stop.clone());
    thread::spawn(move || {
        block_on(async move {
            let mut session = connector.connect(0).await.unwrap();
            // The database may be locked for a moment.
            while exists(&mut session, "sbtest1").await.unwrap_or(true) {
                tidemark_runtime::sleep(Duration::from_millis(1)).await;
            }
            stop.stop();
            session.close().await;
        })
        .unwrap();
    })
}

#[test]
fn dropping_ends_between_two_tables() {
    for (name, place) in Place::all("stopped_drop") {
        // Servers take longer for each.
        let count = if name == "sqlite" { 300 } else { 100 };
        let tables = count.to_string();
        let many = workload(&[("tables", &tables), ("table-size", "0")]);
        let stopped = || {
            load(&place, &many, Replace::Nothing, &mut Quiet).unwrap();
            let stop = StopHandle::new();
            let watch = stop_once_one_is_gone(&place, &stop);
            let dropped = drop_tables(&place.connector(), &many, 1, false, &stop);
            watch.join().unwrap();
            dropped.err()
        };
        // On a busy machine all may be gone before anybody sees that one is.
        let failure = (0..5).find_map(|_| stopped()).unwrap();
        assert!(matches!(*failure.error, EngineError::Interrupted), "{name}");
        let (gone, left) = (failure.dropped.len(), failure.left.len());
        assert!(
            gone > 0 && left > 0 && gone + left == count,
            "{name}: {gone}"
        );
        assert_eq!(there(&place).len(), left, "{name}");
        let said = failure.to_string();
        assert!(
            said.contains(&format!("{gone} of {count} tables")),
            "{name}: {said}"
        );
        assert!(
            said.contains(&format!("{left} are still there")),
            "{name}: {said}"
        );
        assert_eq!(clean(&place, &many, false).unwrap().len(), left, "{name}");
    }
}
