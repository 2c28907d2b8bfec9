//! Statements that are sent with the next one.

use crate::it::postgres::support::{connect, connector, run};
use std::time::Duration;
use tidemark_core::record::StatementCounts;
use tidemark_core::{ErrorClass, ErrorKind, PreparedMode};
use tidemark_drivers::{Session, Statement, Value};
use tidemark_runtime::sleep;
use tidemark_testkit::{Database, shared_postgres};

/// A session on a table of its own, which holds row 1, and what it sends.
struct Fixture {
    session: Session,
    begin: Statement,
    insert: Statement,
    update: Statement,
    commit: Statement,
}

async fn fixture(database: &Database, mode: PreparedMode) -> Fixture {
    let mut session = connector(&database.url(), mode).connect(0).await.unwrap();
    for sql in [
        "CREATE TABLE tide (id INTEGER PRIMARY KEY, height INTEGER)",
        "INSERT INTO tide VALUES (1, 10)",
    ] {
        session.query(sql).await.unwrap();
    }
    Fixture {
        begin: session.prepare("BEGIN").await.unwrap(),
        insert: session
            .prepare("INSERT INTO tide VALUES (?, 0)")
            .await
            .unwrap(),
        update: session
            .prepare("UPDATE tide SET height = height + 1 WHERE id = ?")
            .await
            .unwrap(),
        commit: session.prepare("COMMIT").await.unwrap(),
        session,
    }
}

impl Fixture {
    fn queue_insert(&mut self, id: i64) {
        assert!(self.session.queue(&self.insert, &[Value::Int(id)]).unwrap());
    }

    async fn ids(&mut self) -> Vec<Option<String>> {
        let rows = self.session.query("SELECT id FROM tide ORDER BY id").await;
        let rows = rows.unwrap();
        (0..rows.len()).map(|row| rows.text(row, 0)).collect()
    }
}

fn ids(ids: &[i64]) -> Vec<Option<String>> {
    ids.iter().map(|id| Some(id.to_string())).collect()
}

fn database(name: &str) -> Database {
    shared_postgres().unwrap().fresh_database(name).unwrap()
}

#[test]
fn what_is_queued_goes_with_the_next_and_is_counted_when_done() {
    let database = database("pipeline_next");
    run(async move {
        let mut all = fixture(&database, PreparedMode::Server).await;
        let mut other = connect(&database.url()).await;
        let pid = all.session.query("SELECT pg_backend_pid()").await.unwrap();
        let pid = pid.text(0, 0).unwrap();
        let state = format!("SELECT state FROM pg_stat_activity WHERE pid = {pid}");

        let before = all.session.counts();
        assert!(all.session.queue(&all.begin, &[]).unwrap());
        all.queue_insert(2);
        assert_eq!(all.session.counts(), before);
        let idle = other.query(&state).await.unwrap().text(0, 0);
        assert_eq!(idle.as_deref(), Some("idle"), "nothing was sent");

        // Its own outcome, and not that of those before it.
        let missing = [Value::Int(99)];
        let done = all.session.execute(&all.update, &missing).await.unwrap();
        assert_eq!(done.affected, 0);
        let busy = other.query(&state).await.unwrap().text(0, 0);
        assert_eq!(busy.as_deref(), Some("idle in transaction"));
        let expected = StatementCounts {
            write: 1,
            other: 2,
            noop_writes: 1,
            round_trips: 1,
            ..StatementCounts::default()
        };
        assert_eq!(all.session.counts() - before, expected);

        assert!(all.session.queue(&all.update, &missing).unwrap());
        all.queue_insert(3);
        // Rows and the ends of transactions are waited for.
        assert!(!all.session.queue(&all.commit, &[]).unwrap());
        all.session.execute(&all.commit, &[]).await.unwrap();
        let expected = StatementCounts {
            write: 2,
            other: 4,
            noop_writes: 2,
            round_trips: 2,
            ..StatementCounts::default()
        };
        assert_eq!(all.session.counts() - before, expected);
        assert_eq!(all.ids().await, ids(&[1, 2, 3]));
        // Outside a transaction nothing waits.
        assert!(!all.session.queue(&all.insert, &[Value::Int(4)]).unwrap());
    });
}

#[test]
fn an_error_of_what_is_queued_is_that_of_the_next_and_nothing_after_it_is_done() {
    let database = database("pipeline_error");
    run(async move {
        let mut all = fixture(&database, PreparedMode::Server).await;
        for id in [2, 1, 3] {
            if id == 2 {
                assert!(all.session.queue(&all.begin, &[]).unwrap());
            }
            all.queue_insert(id);
        }
        let error = all.session.execute(&all.commit, &[]).await.unwrap_err();
        assert_eq!(error.code, "23505", "{error}");
        assert_ne!(error.class, ErrorClass::ConnectionLost);
        assert!(error.kind != ErrorKind::CommitUnknown, "{error}");
        // BEGIN and the first row; they are taken back with the transaction.
        let sent = all.session.counts();
        assert_eq!((sent.other, sent.write), (1, 1));
        all.session.rollback().await.unwrap();
        assert_eq!(all.ids().await, ids(&[1]));

        // A value that can't be sent is told at once, and the session goes on.
        assert!(all.session.queue(&all.begin, &[]).unwrap());
        assert!(all.session.queue(&all.insert, &[]).is_err());
        all.queue_insert(5);
        all.session.execute(&all.commit, &[]).await.unwrap();
        assert_eq!(all.ids().await, ids(&[1, 5]));
    });
}

#[test]
fn a_rollback_sends_nothing_of_what_waits_and_other_requests_send_it_first() {
    let database = database("pipeline_rest");
    run(async move {
        let mut all = fixture(&database, PreparedMode::Server).await;
        assert!(all.session.queue(&all.begin, &[]).unwrap());
        // It would fail.
        all.queue_insert(1);
        all.session.rollback().await.unwrap();
        assert_eq!(all.ids().await, ids(&[1]));

        assert!(all.session.queue(&all.begin, &[]).unwrap());
        all.queue_insert(2);
        let late = all.session.prepare("SELECT 7").await.unwrap();
        assert_eq!(all.session.execute(&late, &[]).await.unwrap().rows, 1);
        all.queue_insert(3);
        all.session.simple("COMMIT").await.unwrap();
        assert_eq!(all.ids().await, ids(&[1, 2, 3]));
        let sent = all.session.counts();
        assert_eq!((sent.read, sent.write), (1, 2));
    });
}

/// The server ends the session while it waits for a lock that it needs for what went ahead.
#[test]
fn a_commit_that_the_server_never_came_to_is_not_in_doubt() {
    let database = database("pipeline_ended");
    run(async move {
        let mut all = fixture(&database, PreparedMode::Server).await;
        let pid = all.session.query("SELECT pg_backend_pid()").await.unwrap();
        let pid = pid.text(0, 0).unwrap();
        // What the transaction before took along must not be counted again.
        assert!(all.session.queue(&all.begin, &[]).unwrap());
        all.queue_insert(2);
        all.session.execute(&all.commit, &[]).await.unwrap();
        let before = all.session.counts();

        let mut other = connect(&database.url()).await;
        for sql in ["BEGIN", "LOCK TABLE tide"] {
            other.simple(sql).await.unwrap();
        }
        assert!(all.session.queue(&all.begin, &[]).unwrap());
        all.queue_insert(3);
        let waits = format!(
            "SELECT pg_terminate_backend({pid}) FROM pg_stat_activity \
             WHERE pid = {pid} AND wait_event_type = 'Lock'"
        );
        let url = database.url();
        let ending = std::thread::spawn(move || {
            run(async move {
                let mut third = connect(&url).await;
                while third.query(&waits).await.unwrap().is_empty() {
                    sleep(Duration::from_millis(20)).await;
                }
            });
        });
        let error = all.session.execute(&all.commit, &[]).await.unwrap_err();
        ending.join().unwrap();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        assert_eq!(error.code, "57P01", "{error}");
        assert!(error.kind != ErrorKind::CommitUnknown, "{error}");
        let sent = all.session.counts() - before;
        assert_eq!((sent.other, sent.write, sent.noop_writes), (1, 0, 0));
    });
}

#[test]
fn so_many_wait_and_no_more() {
    let database = database("pipeline_full");
    run(async move {
        let mut all = fixture(&database, PreparedMode::Server).await;
        assert!(all.session.queue(&all.begin, &[]).unwrap());
        let mut queued = 0;
        while all
            .session
            .queue(&all.insert, &[Value::Int(2 + queued)])
            .unwrap()
        {
            queued += 1;
            assert!(queued < 1_000);
        }
        assert!(queued >= 3, "an order queues three");
        let last = [Value::Int(2 + queued)];
        all.session.execute(&all.insert, &last).await.unwrap();
        all.session.execute(&all.commit, &[]).await.unwrap();
        assert_eq!(all.ids().await.len() as i64, 2 + queued);
        assert_eq!(all.session.counts().write as i64, 1 + queued);
    });
}

#[test]
fn a_session_that_sends_text_queues_nothing() {
    let database = database("pipeline_text");
    run(async move {
        let mut all = fixture(&database, PreparedMode::Text).await;
        assert!(!all.session.queue(&all.begin, &[]).unwrap());
    });
}
