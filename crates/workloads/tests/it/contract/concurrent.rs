//! Sessions that fight for the same rows fail only in ways that may be tried again, and leave the
//! number of rows as it was.

use crate::it::contract::backend::{Backend, Db, run, workload};
use crate::it::contract::steps::prepare;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass, PreparedMode};
use tidemark_drivers::Session;
use tidemark_drivers::catalog::row_count;
use tidemark_runtime::{sleep, spawn};
use tidemark_workloads::{Statements, Terminal};

const SESSIONS: usize = 6;
const TRANSACTIONS: usize = 40;
const OPTIONS: &[(&str, &str)] = &[("tables", "2"), ("table-size", "40")];

#[derive(Debug, Default)]
struct Outcome {
    ended: usize,
    errors: Vec<DbError>,
}

async fn terminal(
    mut session: Session,
    mut terminal: Terminal,
    mut statements: Statements,
    outcome: Rc<RefCell<Outcome>>,
) {
    statements.prepare(&mut session).await.unwrap();
    let mut done = 0;
    while done < TRANSACTIONS {
        match terminal.transaction(&mut session, &statements).await {
            Ok(_) => done += 1,
            Err(error) => {
                outcome.borrow_mut().errors.push(error);
                session.rollback().await.unwrap();
            }
        }
    }
    session.close().await;
    outcome.borrow_mut().ended += 1;
}

async fn contended(db: Db, name: &'static str) {
    let workload = workload(name, OPTIONS);
    let mut session = db.session(PreparedMode::Server).await;
    prepare(&*workload, &mut session, name).await;
    let outcome = Rc::new(RefCell::new(Outcome::default()));
    for number in 0..SESSIONS {
        let mut other = db.session(PreparedMode::Server).await;
        if db.backend == Backend::Postgres {
            // It looks for deadlocks after a second, and this run is full of them.
            other.query("SET deadlock_timeout = '10ms'").await.unwrap();
        }
        let user = workload.terminal(number, SESSIONS, 5);
        spawn(terminal(
            other,
            user,
            workload.statements(),
            Rc::clone(&outcome),
        ));
    }
    while outcome.borrow().ended < SESSIONS {
        sleep(Duration::from_millis(20)).await;
    }
    let again = [ErrorClass::Retryable, ErrorClass::Constraint];
    for error in &outcome.borrow().errors {
        assert!(
            again.contains(&error.class),
            "{:?} {name}: {error}",
            db.backend
        );
    }
    for table in ["sbtest1", "sbtest2"] {
        assert_eq!(row_count(&mut session, table).await, Ok(40), "{name}");
    }
}

#[test]
fn mariadb_sessions_fail_only_in_passing() {
    for name in ["oltp_read_write", "oltp_write_only", "oltp_upsert_batch"] {
        run("contended", Backend::Mariadb, |db| contended(db, name));
    }
}

#[test]
fn postgres_sessions_fail_only_in_passing() {
    for name in ["oltp_read_write", "oltp_write_only", "oltp_upsert_batch"] {
        run("contended", Backend::Postgres, |db| contended(db, name));
    }
}
