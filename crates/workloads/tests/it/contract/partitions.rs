//! Tables split by their key are loaded, checked and recognised like whole ones.

use crate::it::contract::backend::{Db, workload};
use crate::it::contract::steps::prepare;
use tidemark_core::{OptionError, PreparedMode};
use tidemark_drivers::Dialect;

async fn split_tables_serve_runs(db: Db) {
    for (how, order) in [
        ("hash", "sequential"),
        ("range", "random"),
        ("range", "sequential"),
    ] {
        let options = [
            ("tables", "2"),
            ("table-size", "100"),
            ("partitioning", how),
            ("partitions", "4"),
            ("key-order", order),
            ("validate", "on"),
        ];
        let workload = workload("oltp_read_write", &options);
        let mut session = db.session(PreparedMode::Server).await;
        prepare(&*workload, &mut session, how).await;
        let mut terminal = workload.terminal(0, 1, 1);
        let mut statements = workload.statements();
        statements.prepare(&mut session).await.unwrap();
        for _ in 0..50 {
            terminal
                .transaction(&mut session, &statements)
                .await
                .unwrap();
        }
        for table in ["sbtest1", "sbtest2"] {
            session
                .simple(&format!("DROP TABLE {table}"))
                .await
                .unwrap();
        }
    }
}

#[test]
fn mariadb_splits_tables() {
    crate::it::contract::backend::run(
        "partitions",
        crate::it::contract::Backend::Mariadb,
        split_tables_serve_runs,
    );
}

#[test]
fn postgres_splits_tables() {
    crate::it::contract::backend::run(
        "partitions",
        crate::it::contract::Backend::Postgres,
        split_tables_serve_runs,
    );
}

#[test]
fn sqlite_says_that_it_cannot() {
    let dialect = Dialect::new(tidemark_core::Engine::Sqlite);
    for options in [
        [("partitioning", "hash"), ("auto-inc", "on")],
        [("secondary", "on"), ("auto-inc", "on")],
    ] {
        let refused = workload("oltp_read_write", &options).tables(&dialect, 1);
        assert!(
            matches!(refused, Err(OptionError::Conflict(_))),
            "{refused:?}"
        );
    }
}
