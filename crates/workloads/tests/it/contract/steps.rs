//! Prepare, run, check: the same for every case.

use crate::it::contract::backend::{Backend, Db, run, workload};
use crate::it::contract::cases::{self, Case, Rows};
use std::sync::Arc;
use tidemark_core::{Engine, PreparedMode};
use tidemark_drivers::catalog::{describe_table, key_range, row_count};
use tidemark_drivers::{LoadRequest, RowWriter, Sampler, Session};
use tidemark_workloads::{TablePlan, Workload};

const SEED: u64 = 11;
const TRANSACTIONS: u64 = 100;
/// Sessions of the run; one of them is run here.
const SESSIONS: usize = 2;

/// Runs every case of a workload in both modes of preparing.
pub fn run_cases(name: &str, backend: Backend) {
    if !backend.takes(name) {
        return;
    }
    let modes = [PreparedMode::Server, PreparedMode::Text];
    if cases::of(name).all(|case| case.rows == Rows::Conditions) {
        let all: Vec<&'static Case> = cases::of(name).collect();
        run(name, backend, |db| in_turn(db, all, modes));
        return;
    }
    for case in cases::of(name) {
        for prepared in modes {
            run(name, backend, |db| one(db, case, prepared));
        }
    }
}

/// Cases that follow each other on the tables of the first.
async fn in_turn(db: Db, cases: Vec<&'static Case>, modes: [PreparedMode; 2]) {
    let mut loaded = false;
    let last = cases.len() - 1;
    for (at, case) in cases.into_iter().enumerate() {
        let workload = workload(case.workload, &options(case));
        for prepared in modes {
            let what = format!("{case:?}, {:?}, {prepared:?}", db.backend);
            let mut session = db.session(prepared).await;
            if !loaded {
                prepare(&*workload, &mut session, &what).await;
                prewarm(&*workload, &mut session, &what).await;
                loaded = true;
            }
            transactions(case, &*workload, &mut session, 0, &what).await;
            // What one of them breaks stays broken.
            if at == last && prepared == modes[1] {
                conditions(&*workload, &mut session, &what).await;
            }
            session.close().await;
        }
    }
}

fn options(case: &Case) -> Vec<(&'static str, &'static str)> {
    [cases::common(case.workload), case.options].concat()
}

/// The workload's own conditions hold.
async fn conditions(workload: &dyn Workload, session: &mut Session, what: &str) {
    let checks = workload.checks(&session.dialect());
    assert!(!checks.is_empty(), "{what}: nothing says what must hold");
    for check in checks {
        for block in 0..check.blocks() {
            let sql = check.statement(block);
            let violations = session.query(&sql).await.unwrap();
            let first = violations.text(0, 0);
            assert_eq!(violations.len(), 0, "{what}: {}: {first:?}", check.name);
        }
    }
}

async fn one(db: Db, case: &'static Case, prepared: PreparedMode) {
    let what = format!("{case:?}, {:?}, {prepared:?}", db.backend);
    let mut options = options(case);
    if prepared == PreparedMode::Server && case.workload != "bulk_insert" {
        options.push(("validate", "on"));
    }
    let workload = workload(case.workload, &options);
    let mut session = db.session(prepared).await;

    prepare(&*workload, &mut session, &what).await;
    let before = total_rows(&*workload, &mut session).await;
    if case.rows != Rows::NoTransactions {
        transactions(case, &*workload, &mut session, before, &what).await;
    }
    prewarm(&*workload, &mut session, &what).await;
    session.close().await;
}

async fn prewarm(workload: &dyn Workload, session: &mut Session, what: &str) {
    for table in workload.prewarm(&session.dialect()) {
        for sql in table.statements {
            let ran = session.query(&sql).await;
            assert!(ran.is_ok(), "{what}: {sql}: {ran:?}");
        }
    }
}

/// Makes and loads the tables in uneven chunks, and checks what the loading engine checks.
pub async fn prepare(workload: &dyn Workload, session: &mut Session, what: &str) {
    let dialect = session.dialect();
    let plans = workload.tables(&dialect, SESSIONS).unwrap();
    let names: Vec<_> = plans.iter().map(|p| p.name.clone()).collect();
    let needs = workload.needs(SESSIONS);
    assert!(needs.iter().all(|n| names.contains(n)), "{what}: {needs:?}");

    for (table, plan) in plans.iter().enumerate() {
        for sql in &plan.create {
            session.simple(sql).await.unwrap();
        }
        // A table that somebody made in the meantime is not to be taken for ours.
        let again = session.simple(plan.create.first().unwrap()).await;
        assert!(again.is_err(), "{what}: {} is made twice", plan.name);
        let mut first = 0;
        let large = plan.rows.div_ceil(3).max(70);
        for chunk in [1, 13, large].into_iter().cycle() {
            if first >= plan.rows {
                break;
            }
            let count = chunk.min(plan.rows - first);
            let request = LoadRequest {
                table: &plan.name,
                columns: plan.columns,
                method: None,
            };
            let mut rows = workload.rows(table, first, count, SEED);
            let loaded = session.load(&request, rows.as_mut()).await.unwrap();
            let expected = workload.row_count(table, first, count, SEED);
            assert_eq!(loaded.rows, expected, "{what}");
            first += count;
        }
        for sql in plan.indexes.iter().chain(&plan.finish) {
            session.query(sql).await.unwrap();
        }

        assert_eq!(
            row_count(session, &plan.name).await,
            Ok(workload.row_count(table, 0, plan.rows, SEED)),
            "{what}"
        );
        if let Some(key) = plan.key {
            let range = (plan.rows > 0).then_some((1, plan.rows as i64));
            assert_eq!(
                key_range(session, &plan.name, key).await,
                Ok(range),
                "{what}"
            );
        }
        ascends(workload, table, plan, what);
        let one_row = match plan.row_key {
            [] => plan.key.as_slice(),
            columns => columns,
        };
        if !one_row.is_empty() {
            let number = |key| plan.columns.iter().position(|c| *c == key).unwrap();
            let columns: Vec<usize> = one_row.iter().copied().map(number).collect();
            let mut sampler = Sampler::new(&plan.name, plan.columns, &columns);
            let mut sampled = 0;
            for unit in (0..plan.rows).step_by((plan.rows as usize / 40).max(17)) {
                let mut source = workload.rows(table, unit, 1, SEED);
                let mut expected = Vec::new();
                while source.next_row(&mut RowWriter::tsv(&mut expected)) {
                    sampler.compare(session, &expected).await.unwrap();
                    expected.clear();
                    sampled += 1;
                }
            }
            assert_eq!(sampled > 0, plan.rows > 0, "{what}");
            let sample = sampler.finish(session).await.unwrap();
            assert_eq!((sample.rows, sample.mismatches), (sampled, 0), "{what}");
        }
        let found = describe_table(session, &plan.name).await.unwrap().unwrap();
        assert!(workload.recognises(&found), "{what}: {found:?}");
    }
    for sql in plans.iter().flat_map(|plan| &plan.after_all) {
        session.query(sql).await.unwrap();
    }
    for plan in plans.iter().filter(|plan| !plan.after_all.is_empty()) {
        let found = describe_table(session, &plan.name).await.unwrap().unwrap();
        assert!(workload.recognises(&found), "{what}: {found:?}");
    }
}

/// A unit's keys come after those of the unit before it, where the plan says so.
fn ascends(workload: &dyn Workload, table: usize, plan: &TablePlan, what: &str) {
    let Some(column) = plan.ascending else {
        return;
    };
    let at = plan.columns.iter().position(|c| *c == column).unwrap();
    let keys = |unit| {
        let mut rows = workload.rows(table, unit, 1, SEED);
        let (mut keys, mut row) = (vec![], vec![]);
        while rows.next_row(&mut RowWriter::tsv(&mut row)) {
            let text = String::from_utf8(std::mem::take(&mut row)).unwrap();
            keys.push(text.split('\t').nth(at).unwrap().parse::<i64>().unwrap());
        }
        keys
    };
    for unit in 1..plan.rows.min(20) {
        let (before, here) = (keys(unit - 1), keys(unit));
        assert!(before.iter().max() < here.iter().min(), "{what}: {unit}");
    }
}

async fn transactions(
    case: &Case,
    workload: &dyn Workload,
    session: &mut Session,
    rows_before: u64,
    what: &str,
) {
    let mut terminal = workload.terminal(1, SESSIONS, SEED);
    let mut statements = workload.statements();
    statements.prepare(session).await.unwrap();
    let before = session.counts();
    for _ in 0..TRANSACTIONS {
        let done = terminal.transaction(session, &statements).await;
        assert!(
            matches!(done, Ok(d) if d.kind < workload.transaction_types().len()),
            "{what}: {done:?}"
        );
        if terminal.has_deferred() {
            let done = terminal.deferred(session, &statements).await;
            assert!(done.is_ok(), "{what}: {done:?}");
        }
    }
    terminal.finish(session).await.unwrap();
    let counts = session.counts() - before;

    if let Some((read, write, other)) = case.counts {
        let expected = [read, write, other].map(|n| n * TRANSACTIONS);
        assert_eq!(
            [counts.read, counts.write, counts.other],
            expected,
            "{what}"
        );
        assert_eq!(counts.noop_writes, 0, "{what}");
    }
    // sysbench sends each of its statements alone.
    if case.workload.starts_with("oltp_") {
        let embedded = session.server().engine == Engine::Sqlite;
        let expected = if embedded { 0 } else { counts.total() };
        assert_eq!(counts.round_trips, expected, "{what}");
    }
    let rows = total_rows(workload, session).await;
    match case.rows {
        Rows::Same => assert_eq!(rows, rows_before, "{what}"),
        Rows::Grow(n) => assert_eq!(rows, rows_before + n * TRANSACTIONS, "{what}"),
        Rows::Shrink => {
            assert_eq!(rows, rows_before - counts.write, "{what}");
            assert_eq!(counts.write + counts.noop_writes, TRANSACTIONS, "{what}");
            assert!(counts.write > 0, "{what}");
        }
        Rows::Conditions => assert!(counts.write > TRANSACTIONS, "{what}"),
        Rows::NoTransactions => panic!("{what}: it has none"),
    }
}

async fn total_rows(workload: &dyn Workload, session: &mut Session) -> u64 {
    let mut total = 0;
    for plan in workload.tables(&session.dialect(), SESSIONS).unwrap() {
        total += row_count(session, &plan.name).await.unwrap();
    }
    total
}

/// A prepared workload and its session, for cases of their own.
pub async fn prepared(
    db: &Db,
    name: &str,
    options: &[(&str, &str)],
) -> (Arc<dyn Workload>, Session) {
    let workload = workload(name, options);
    let mut session = db.session(PreparedMode::Server).await;
    prepare(&*workload, &mut session, name).await;
    (workload, session)
}
