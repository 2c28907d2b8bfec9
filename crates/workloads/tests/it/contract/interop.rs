//! Tables made by sysbench serve our runs, and the other way round; a user's table is no one's.

use crate::it::contract::backend::{Backend, Db, workload};
use crate::it::contract::steps::prepare;
use crate::it::contract::tool::{succeeded, sysbench, sysbench_ok, tables};
use tidemark_core::PreparedMode;
use tidemark_drivers::Session;
use tidemark_drivers::catalog::describe_table;
use tidemark_workloads::Workload;

/// The same tables for both tools.
fn options(script: &str) -> (Vec<(&'static str, &'static str)>, [&'static str; 2]) {
    let tables = tables(script);
    let ours = vec![("tables", &tables[9..]), ("table-size", "200")];
    (ours, [tables, "--table-size=200"])
}

const SCRIPTS: &[&str] = &[
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_update_index",
    "oltp_update_non_index",
    "select_random_points",
    "select_random_ranges",
    "oltp_insert",
    "oltp_delete",
];

async fn recognised(workload: &dyn Workload, session: &mut Session, table: &str) -> bool {
    let found = describe_table(session, table).await.unwrap().unwrap();
    workload.recognises(&found)
}

async fn sysbenchs_tables_serve_our_runs(db: Db) {
    for name in SCRIPTS {
        let (mut ours, theirs) = options(name);
        sysbench_ok(db.target(), name, &theirs, "prepare");
        ours.push(("validate", "on"));
        let workload = workload(name, &ours);
        let mut session = db.session(PreparedMode::Server).await;
        for table in workload.needs(1) {
            assert!(recognised(&*workload, &mut session, &table).await, "{name}");
        }
        let mut terminal = workload.terminal(0, 1, 1);
        let mut statements = workload.statements();
        statements.prepare(&mut session).await.unwrap();
        for _ in 0..30 {
            terminal
                .transaction(&mut session, &statements)
                .await
                .unwrap();
        }
        session.close().await;
        sysbench_ok(db.target(), name, &theirs, "cleanup");
    }
}

async fn our_tables_serve_sysbenchs_runs(db: Db) {
    for name in SCRIPTS {
        let (ours, theirs) = options(name);
        let workload = workload(name, &ours);
        let mut session = db.session(PreparedMode::Server).await;
        prepare(&*workload, &mut session, name).await;
        session.close().await;
        let run = [theirs.as_slice(), &["--events=30", "--threads=2"]].concat();
        sysbench_ok(db.target(), name, &run, "run");
        sysbench_ok(db.target(), name, &theirs, "cleanup");
    }
}

async fn every_variant_of_sysbenchs_is_recognised(db: Db) {
    let mut variants: Vec<&[&str]> = vec![
        &[],
        &["--auto-inc=off"],
        &["--create-secondary=off"],
        &["--auto-inc=off", "--create-secondary=off"],
    ];
    if db.backend == Backend::Mariadb {
        variants.extend([
            ["--secondary=on"].as_slice(),
            &["--secondary=on", "--auto-inc=off"],
            &["--secondary=on", "--create-secondary=off"],
            &["--mysql-storage-engine=myisam"],
        ]);
    }
    let workload = workload("oltp_read_write", &[]);
    let mut session = db.session(PreparedMode::Server).await;
    for options in variants {
        let prepare = [&["--table-size=10", "--tables=2"], options].concat();
        let ran = sysbench(db.target(), "oltp_read_write", &prepare, "prepare");
        // Error 3750: the server requires primary keys, which this variant has not.
        if options.contains(&"--secondary=on") && ran.1.contains("error 3750") {
            continue;
        }
        succeeded(&format!("sysbench {options:?} prepare"), &ran);
        for table in ["sbtest1", "sbtest2"] {
            assert!(
                recognised(&*workload, &mut session, table).await,
                "{options:?}"
            );
        }
        sysbench_ok(db.target(), "oltp_read_write", &prepare, "cleanup");
    }
    sysbench_ok(db.target(), "bulk_insert", &["--threads=2"], "prepare");
    assert!(recognised(&*workload, &mut session, "sbtest2").await);
}

async fn a_users_table_is_not_recognised(db: Db) {
    let workload = workload("oltp_read_write", &[]);
    let mut session = db.session(PreparedMode::Server).await;
    for create in [
        "CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, name VARCHAR(100), price DECIMAL(10,2))",
        "CREATE TABLE sbtest1 (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) \
         DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, note TEXT, PRIMARY KEY (id))",
        "CREATE TABLE sbtest1 (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) \
         DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL)",
        "CREATE TABLE sbtest1 (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) \
         DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id), UNIQUE (k))",
        "CREATE TABLE sbtest1 (id INTEGER NOT NULL, k INTEGER, PRIMARY KEY (id))",
        "CREATE VIEW sbtest1 AS SELECT 1 AS id, 0 AS k",
    ] {
        session.simple(create).await.unwrap();
        assert!(
            !recognised(&*workload, &mut session, "sbtest1").await,
            "{create}"
        );
        let what = if create.contains("VIEW") {
            "VIEW"
        } else {
            "TABLE"
        };
        session
            .simple(&format!("DROP {what} sbtest1"))
            .await
            .unwrap();
    }
}

macro_rules! interop {
    ($($module:ident = $backend:expr, [$($case:ident)*];)*) => {
        $(mod $module {
            $(#[test]
            fn $case() {
                crate::it::contract::backend::run(stringify!($case), $backend, |db| super::$case(db));
            })*
        })*
    };
}

interop! {
    sqlite = crate::it::contract::Backend::Sqlite, [a_users_table_is_not_recognised];
    mariadb = crate::it::contract::Backend::Mariadb, [
        sysbenchs_tables_serve_our_runs
        our_tables_serve_sysbenchs_runs
        every_variant_of_sysbenchs_is_recognised
        a_users_table_is_not_recognised
    ];
    postgres = crate::it::contract::Backend::Postgres, [
        sysbenchs_tables_serve_our_runs
        our_tables_serve_sysbenchs_runs
        every_variant_of_sysbenchs_is_recognised
        a_users_table_is_not_recognised
    ];
}
