//! Conditions that hold, are broken or can't be asked, on real servers and files.

use super::place::{Place, execute};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidemark_core::{ErrorClass, OptionError};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource};
use tidemark_engine::{
    CheckObserver, CheckReport, CheckSpec, ConditionReport, ConditionVerdict, EngineError,
    StopHandle, check,
};
use tidemark_workloads::{
    Check, Prewarm, Sentence, Statements, TablePlan, Terminal, Workload, find,
};

/// A condition on rows with the columns `w` and `v`.
fn condition(name: &'static str, sql: &'static str, units: u64, block: u64) -> Check {
    Check {
        name,
        says: Sentence { en: "", zh: "" },
        sql,
        columns: &["w", "v"],
        units,
        block,
    }
}

/// A workload with the conditions given.
#[derive(Debug)]
struct WithChecks {
    inner: Arc<dyn Workload>,
    checks: Vec<Check>,
}

impl WithChecks {
    fn new(checks: Vec<Check>) -> Self {
        let definition = find("oltp_read_only").unwrap();
        let inner = (definition.build)(&definition.defaults()).unwrap();
        Self { inner, checks }
    }
}

impl Workload for WithChecks {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        self.inner.transaction_types()
    }

    fn tables(&self, dialect: &Dialect, sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        self.inner.tables(dialect, sessions)
    }

    fn rows(&self, table: usize, first: u64, count: u64, seed: u64) -> Box<dyn RowSource + Send> {
        self.inner.rows(table, first, count, seed)
    }

    fn recognises(&self, found: &TableDescription) -> bool {
        self.inner.recognises(found)
    }

    fn needs(&self, sessions: usize) -> Vec<String> {
        self.inner.needs(sessions)
    }

    fn prewarm(&self, dialect: &Dialect) -> Vec<Prewarm> {
        self.inner.prewarm(dialect)
    }

    fn checks(&self, _: &Dialect) -> Vec<Check> {
        self.checks.clone()
    }

    fn statements(&self) -> Statements {
        self.inner.statements()
    }

    fn terminal(&self, number: usize, terminals: usize, seed: u64) -> Terminal {
        self.inner.terminal(number, terminals, seed)
    }
}

/// What was told, and an end after some of it.
#[derive(Default)]
struct Told {
    progress: Vec<(u64, u64)>,
    verdicts: Vec<&'static str>,
    stop: StopHandle,
    stop_at: Option<u64>,
}

impl CheckObserver for Told {
    fn progress(&mut self, done: u64, total: u64) {
        self.progress.push((done, total));
        if self.stop_at.is_some_and(|at| done >= at && total > 0) {
            self.stop.stop();
        }
    }

    fn verdict(&mut self, found: &ConditionReport) {
        self.verdicts.push(found.name);
    }
}

fn ask(
    place: &Place,
    checks: Vec<Check>,
    spec: &CheckSpec,
    told: &mut Told,
) -> Result<CheckReport, EngineError> {
    let workload: Arc<dyn Workload> = Arc::new(WithChecks::new(checks));
    let stop = told.stop.clone();
    check(&place.connector(), &workload, spec, &stop, told)
}

fn specs() -> Vec<CheckSpec> {
    let spec = |threads, snapshot| CheckSpec {
        threads,
        snapshot,
        only: None,
    };
    vec![spec(1, false), spec(3, false), spec(1, true), spec(3, true)]
}

/// A PostgreSQL that says it is a YugabyteDB: it is asked as one, in a snapshot that only one session
/// sees and that an error would end.
fn like_yugabyte() -> (&'static str, Place) {
    let mut places = Place::all("verdicts_yb").into_iter();
    let (_, place) = places.find(|(name, _)| *name == "postgres").unwrap();
    execute(
        &place,
        &[
            "CREATE SCHEMA imitated",
            "CREATE FUNCTION imitated.version() RETURNS text LANGUAGE sql \
             AS 'SELECT ''PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu'''",
            "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET search_path TO imitated, pg_catalog', \
             CURRENT_DATABASE()); END$$",
        ],
    );
    ("yugabyte", place)
}

#[test]
fn every_condition_has_its_verdict_and_one_that_fails_spoils_no_other() {
    for (name, place) in Place::all("verdicts").into_iter().chain([like_yugabyte()]) {
        execute(
            &place,
            &[
                "CREATE TABLE ledger (w INTEGER PRIMARY KEY, v INTEGER)",
                "INSERT INTO ledger VALUES (1, 1), (2, NULL), (3, 3), (4, 9), (5, 5)",
            ],
        );
        let checks = || {
            vec![
                condition("missing", "SELECT w, v FROM nowhere WHERE w {in}", 5, 1),
                condition(
                    "holds",
                    "SELECT w, v FROM ledger WHERE w {in} AND w > 5",
                    5,
                    2,
                ),
                condition(
                    "broken",
                    "SELECT w, v FROM ledger WHERE w {in} AND COALESCE(w - v, 1) <> 0",
                    5,
                    1,
                ),
                condition(
                    "last",
                    "SELECT w, v FROM ledger WHERE w {in} AND v IS NULL",
                    5,
                    0,
                ),
            ]
        };
        for spec in specs() {
            let case = format!("{name} {spec:?}");
            let mut told = Told::default();
            let report = ask(&place, checks(), &spec, &mut told).unwrap();
            assert!(!report.all_hold(), "{case}");
            let names: Vec<_> = report.conditions.iter().map(|c| c.name).collect();
            assert_eq!(names, ["missing", "holds", "broken", "last"], "{case}");
            let verdicts: Vec<_> = report.conditions.iter().map(|c| &c.verdict).collect();
            let ConditionVerdict::NotAsked(error) = verdicts[0] else {
                panic!("{case}: {:?}", verdicts[0]);
            };
            assert_eq!(error.class, ErrorClass::Missing, "{case}");
            assert_eq!(*verdicts[1], ConditionVerdict::Holds, "{case}");
            let broken = |violations| ConditionVerdict::Violated {
                violations,
                first: vec![("w", Some("2".into())), ("v", None)],
            };
            assert_eq!(*verdicts[2], broken(2), "{case}");
            assert_eq!(*verdicts[3], broken(1), "{case}");
            assert!(report.sessions >= 1, "{case}");
            if name == "yugabyte" && spec.snapshot {
                assert_eq!(report.sessions, 1, "{case}");
            }
            told.verdicts.sort_unstable();
            assert_eq!(
                told.verdicts,
                ["broken", "holds", "last", "missing"],
                "{case}"
            );
            assert_eq!(told.progress.last().unwrap(), &(14, 14), "{case}");
        }
    }
}

/// Each statement of a check sees another moment, unless they are asked in a snapshot.
#[test]
fn a_snapshot_is_one_moment_for_every_session() {
    for (name, place) in Place::all("moments") {
        execute(
            &place,
            &[
                "CREATE TABLE clock (w INTEGER PRIMARY KEY, v INTEGER)",
                "INSERT INTO clock VALUES (1, 1)",
            ],
        );
        if name == "sqlite" {
            // Its readers keep writers out, otherwise.
            execute(&place, &["PRAGMA journal_mode=WAL"]);
        }
        let over = Arc::new(AtomicBool::new(false));
        let writer = {
            let (place, over) = (place.clone(), Arc::clone(&over));
            thread::spawn(move || {
                while !over.load(Ordering::Acquire) {
                    execute(&place, &["UPDATE clock SET v = v + 1"; 20]);
                }
            })
        };
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let seen = |snapshot| {
            let all = names.map(|n| condition(n, "SELECT w, v FROM clock WHERE w {in}", 1, 1));
            let spec = CheckSpec {
                threads: 3,
                snapshot,
                only: None,
            };
            let report = ask(&place, all.to_vec(), &spec, &mut Told::default()).unwrap();
            let mut moments: Vec<_> = report
                .conditions
                .iter()
                .map(|c| match &c.verdict {
                    ConditionVerdict::Violated { first, .. } => first[1].1.clone().unwrap(),
                    other => panic!("{name}: {other}"),
                })
                .collect();
            moments.sort_unstable();
            moments.dedup();
            moments.len()
        };
        for _ in 0..5 {
            assert_eq!(seen(true), 1, "{name}");
        }
        // Otherwise this test would prove nothing.
        let begun = Instant::now();
        let moved = std::iter::repeat_with(|| seen(false) > 1)
            .take_while(|_| begun.elapsed() < Duration::from_secs(60))
            .any(|moved| moved);
        over.store(true, Ordering::Release);
        writer.join().unwrap();
        assert!(moved, "{name}: the clock stood still");
    }
}

#[test]
fn a_check_ends_when_it_is_stopped() {
    for (name, place) in Place::all("stopped") {
        execute(
            &place,
            &["CREATE TABLE ledger (w INTEGER PRIMARY KEY, v INTEGER)"],
        );
        let many = condition("many", "SELECT w, v FROM ledger WHERE w {in}", 1_000_000, 1);
        let mut told = Told {
            stop_at: Some(10),
            ..Told::default()
        };
        let error = ask(&place, vec![many], &CheckSpec::default(), &mut told).unwrap_err();
        assert!(matches!(error, EngineError::Interrupted), "{name}: {error}");
        assert!(told.progress.last().unwrap().0 < 1_000_000, "{name}");
    }
}

#[test]
fn a_check_of_a_file_that_is_not_there_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::file(folder.path().join("absent.db"));
    let one = condition("one", "SELECT w, v FROM ledger WHERE w {in}", 1, 1);
    let error = ask(
        &place,
        vec![one],
        &CheckSpec::default(),
        &mut Told::default(),
    );
    assert!(
        matches!(error, Err(EngineError::Connect { .. })),
        "{error:?}"
    );
    assert!(folder.path().read_dir().unwrap().next().is_none());
}
