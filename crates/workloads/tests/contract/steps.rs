//! Prepare, run, check: the same for every case.

use crate::backend::{Backend, Db, run, workload};
use crate::cases::{self, Case, Rows};
use std::sync::Arc;
use tidemark_core::PreparedMode;
use tidemark_drivers::catalog::{describe_table, key_range, row_count};
use tidemark_drivers::{LoadRequest, RowWriter, Sampler, Session};
use tidemark_workloads::Workload;

const SEED: u64 = 11;
const TRANSACTIONS: u64 = 200;
/// Sessions of the run; one of them is run here.
const SESSIONS: usize = 2;

/// Runs every case of a workload in both modes of preparing.
pub fn run_cases(name: &str, backend: Backend) {
    for case in cases::of(name) {
        for prepared in [PreparedMode::Server, PreparedMode::Text] {
            run(name, backend, |db| one(db, case, prepared));
        }
    }
}

async fn one(db: Db, case: &'static Case, prepared: PreparedMode) {
    let what = format!("{case:?}, {:?}, {prepared:?}", db.backend);
    let mut options = [cases::common(case.workload), case.options].concat();
    if prepared == PreparedMode::Server && case.workload != "bulk_insert" {
        options.push(("validate", "on"));
    }
    let workload = workload(case.workload, &options);
    let mut session = db.session(prepared).await;

    prepare(&*workload, &mut session, &what).await;
    let before = total_rows(&*workload, &mut session).await;
    transactions(case, &*workload, &mut session, before, &what).await;
    for table in workload.prewarm(&session.dialect()) {
        for sql in table.statements {
            let ran = session.query(&sql).await;
            assert!(ran.is_ok(), "{what}: {sql}: {ran:?}");
        }
    }
    session.close().await;
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
        let mut first = 0;
        for chunk in [1, 13, 70].into_iter().cycle() {
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
            assert_eq!(loaded.rows, count, "{what}");
            first += count;
        }
        for sql in plan.indexes.iter().chain(&plan.finish) {
            session.query(sql).await.unwrap();
        }

        assert_eq!(
            row_count(session, &plan.name).await,
            Ok(plan.rows),
            "{what}"
        );
        if let Some(key) = plan.key {
            let range = (plan.rows > 0).then_some((1, plan.rows as i64));
            assert_eq!(
                key_range(session, &plan.name, key).await,
                Ok(range),
                "{what}"
            );
            let column = plan.columns.iter().position(|c| *c == key).unwrap();
            let mut sampler = Sampler::new(&plan.name, plan.columns, column);
            for row in (0..plan.rows).step_by(17) {
                let mut expected = Vec::new();
                let mut source = workload.rows(table, row, 1, SEED);
                assert!(
                    source.next_row(&mut RowWriter::tsv(&mut expected)),
                    "{what}"
                );
                sampler.compare(session, &expected).await.unwrap();
            }
            assert_eq!(sampler.finish().mismatches, 0, "{what}");
        }
        let found = describe_table(session, &plan.name).await.unwrap().unwrap();
        assert!(workload.recognises(&found), "{what}: {found:?}");
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
        let kind = terminal.transaction(session, &statements).await;
        assert!(
            matches!(kind, Ok(k) if k < workload.transaction_types().len()),
            "{what}: {kind:?}"
        );
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
    let rows = total_rows(workload, session).await;
    match case.rows {
        Rows::Same => assert_eq!(rows, rows_before, "{what}"),
        Rows::Grow(n) => assert_eq!(rows, rows_before + n * TRANSACTIONS, "{what}"),
        Rows::Shrink => {
            assert_eq!(rows, rows_before - counts.write, "{what}");
            assert_eq!(counts.write + counts.noop_writes, TRANSACTIONS, "{what}");
            assert!(counts.write > 0, "{what}");
        }
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
