//! Statements that are sent with the next one.

use crate::it::mysql::support::{connect, connector, database, number, rows, run, text};
use std::time::Duration;
use tidemark_core::record::StatementCounts;
use tidemark_core::{DbError, ErrorClass, ErrorKind, PreparedMode};
use tidemark_drivers::{LoadRequest, Outcome, RowSet, RowWriter, Session, Statement, Value};
use tidemark_runtime::sleep;
use tidemark_testkit::{SandboxEngine as Kind, Server};

/// A session on a table of its own, which holds rows 1 and 2, and what it sends.
struct Fixture {
    session: Session,
    begin: Statement,
    insert: Statement,
    update: Statement,
    read: Statement,
    commit: Statement,
}

async fn fixture(url: &str, mode: PreparedMode) -> Fixture {
    let mut session = connector(url, mode).connect(0).await.unwrap();
    for sql in [
        "CREATE OR REPLACE TABLE tide (id INT PRIMARY KEY, height INT) ENGINE=InnoDB",
        "INSERT INTO tide VALUES (1, 10), (2, 20)",
    ] {
        session.query(sql).await.unwrap();
    }
    let mut all = Fixture {
        begin: session.prepare("BEGIN").await.unwrap(),
        insert: session
            .prepare("INSERT INTO tide VALUES (?, 0)")
            .await
            .unwrap(),
        update: session
            .prepare("UPDATE tide SET height = height + 1 WHERE id = ?")
            .await
            .unwrap(),
        read: session
            .prepare("SELECT id FROM tide WHERE id >= ? ORDER BY id")
            .await
            .unwrap(),
        commit: session.prepare("COMMIT").await.unwrap(),
        session,
    };
    if mode == PreparedMode::Server {
        // The first one turns autocommit off, and takes nothing but BEGIN along until that is done.
        assert!(all.session.queue(&all.begin, &[]).unwrap());
        assert!(!all.session.queue(&all.insert, &[Value::Int(3)]).unwrap());
        all.session.execute(&all.commit, &[]).await.unwrap();
    }
    all
}

impl Fixture {
    fn queue_begin(&mut self) {
        assert!(self.session.queue(&self.begin, &[]).unwrap());
    }

    /// Begins so that others may wait at once, whatever was sent before.
    async fn begin(&mut self) {
        self.queue_begin();
        let missing = [Value::Int(99)];
        self.session.execute(&self.update, &missing).await.unwrap();
    }

    fn queue_insert(&mut self, id: i64) {
        assert!(self.session.queue(&self.insert, &[Value::Int(id)]).unwrap());
    }

    fn queue_update(&mut self, id: i64) {
        assert!(self.session.queue(&self.update, &[Value::Int(id)]).unwrap());
    }

    async fn commit(&mut self) -> Result<Outcome, DbError> {
        self.session.execute(&self.commit, &[]).await
    }

    async fn connection(&mut self) -> i64 {
        number(&mut self.session, "SELECT CONNECTION_ID()").await
    }
}

/// The numbers of all rows that another session sees.
async fn ids(session: &mut Session) -> String {
    let sql = "SELECT GROUP_CONCAT(id ORDER BY id) FROM tide";
    text(session, sql).await
}

/// What InnoDB has to say of the transaction that a connection has open, if it has one.
/// (`information_schema.innodb_trx` is as old as its last reader.)
async fn transaction(other: &mut Session, connection: i64) -> Option<String> {
    let status = other.query("SHOW ENGINE INNODB STATUS").await.unwrap();
    let status = status.text(0, 2).unwrap();
    let of = format!("MariaDB thread id {connection},");
    let (_, all) = status.split_once("LIST OF TRANSACTIONS").unwrap();
    let mut all = all.split("---TRANSACTION");
    let found = all.find(|one| one.contains(&of) && !one.contains("not started"));
    found.map(String::from)
}

/// Waits until a connection waits for a lock.
async fn wait_for_lock(other: &mut Session, connection: i64) {
    let waits = |one: String| one.contains("LOCK WAIT");
    while !transaction(other, connection).await.is_some_and(waits) {
        sleep(Duration::from_millis(20)).await;
    }
}

/// Does something to a session as soon as it waits for a lock.
fn when_it_waits(url: &str, connection: i64, sql: String) -> std::thread::JoinHandle<()> {
    let url = url.to_owned();
    std::thread::spawn(move || {
        run(async move {
            let mut third = connect(&url).await;
            wait_for_lock(&mut third, connection).await;
            third.query(&sql).await.unwrap();
        });
    })
}

#[test]
fn what_is_queued_goes_with_the_next_and_is_counted_when_done() {
    let database = database("ahead_next");
    run(async move {
        let mut all = fixture(&database.url(), PreparedMode::Server).await;
        let mut other = connect(&database.url()).await;
        let connection = all.connection().await;
        let before = all.session.counts();
        all.queue_begin();
        assert_eq!(all.session.counts(), before);
        // Autocommit is on again since the query.
        let missing = [Value::Int(99)];
        let done = all.session.execute(&all.update, &missing).await.unwrap();
        assert_eq!(done.affected, 0);
        assert_eq!(all.session.changed_ahead(), [0]);
        all.queue_insert(3);
        all.queue_update(1);
        all.queue_update(99);
        // Rows and the ends of transactions are waited for.
        assert!(!all.session.queue(&all.read, &[Value::Int(1)]).unwrap());
        assert!(!all.session.queue(&all.commit, &[]).unwrap());
        let mut found = RowSet::new();
        let outcome = all.session.fetch(&all.read, &[Value::Int(2)], &mut found);
        assert_eq!(outcome.await.unwrap().rows, 2);
        assert_eq!(found.int(1, 0), Some(3));
        assert_eq!(all.session.changed_ahead(), [1, 1, 0]);
        assert!(transaction(&mut other, connection).await.is_some());
        assert_eq!(ids(&mut other).await, "1,2");
        all.queue_insert(4);
        all.commit().await.unwrap();
        assert_eq!(all.session.changed_ahead(), [1]);
        // Neither did the modes' changes count.
        let expected = StatementCounts {
            read: 1,
            write: 3,
            other: 4,
            noop_writes: 2,
            // What changes the mode goes before the UPDATE, and what waits before the COMMIT.
            round_trips: 5,
        };
        assert_eq!(all.session.counts() - before, expected);
        assert_eq!(ids(&mut other).await, "1,2,3,4");
        // Outside a transaction nothing waits.
        assert!(!all.session.queue(&all.insert, &[Value::Int(5)]).unwrap());
    });
}

#[test]
fn an_error_of_what_is_queued_is_that_of_the_next_and_no_commit_follows_it() {
    let database = database("ahead_error");
    run(async move {
        let mut all = fixture(&database.url(), PreparedMode::Server).await;
        let mut other = connect(&database.url()).await;
        for last in ["commit", "read"] {
            all.queue_begin();
            all.queue_insert(3);
            // Both fail; the first one tells.
            all.queue_insert(1);
            let strange = [Value::Text("no number")];
            assert!(all.session.queue(&all.insert, &strange).unwrap());
            all.queue_insert(4);
            let before = all.session.counts();
            let error = match last {
                "commit" => all.commit().await.unwrap_err(),
                _ => {
                    let read = all.session.execute(&all.read, &[Value::Int(1)]);
                    read.await.unwrap_err()
                }
            };
            assert_eq!(error.code, "1062", "{last}: {error}");
            assert!(error.kind != ErrorKind::CommitUnknown, "{error}");
            // BEGIN and the first row; they are taken back with the transaction.
            let sent = all.session.counts() - before;
            assert_eq!((sent.other, sent.write, sent.read), (1, 1, 0), "{last}");
            assert_eq!(ids(&mut other).await, "1,2", "{last}");
            all.session.rollback().await.unwrap();
            assert_eq!(ids(&mut other).await, "1,2", "{last}");
        }
        // A value that can't be sent is told at once, and the session goes on.
        all.queue_begin();
        assert!(all.session.queue(&all.insert, &[]).is_err());
        all.queue_insert(5);
        all.commit().await.unwrap();
        assert_eq!(ids(&mut other).await, "1,2,5");
    });
}

/// After a deadlock the transaction is gone, and the server does what was sent behind in another.
#[test]
fn what_follows_a_deadlock_is_rolled_back() {
    let database = database("ahead_deadlock");
    run(async move {
        let url = database.url();
        let mut all = fixture(&url, PreparedMode::Server).await;
        let mut third = connect(&url).await;
        let mut other = connect(&url).await;
        let connection = number(&mut other, "SELECT CONNECTION_ID()").await;
        all.queue_begin();
        let first = [Value::Int(1)];
        all.session.execute(&all.update, &first).await.unwrap();
        // The server gives up the transaction that has changed less.
        for sql in [
            "BEGIN",
            "INSERT INTO tide SELECT seq, 0 FROM seq_100_to_400",
            "UPDATE tide SET height = 0 WHERE id = 2",
        ] {
            other.simple(sql).await.unwrap();
        }
        tidemark_runtime::spawn(async move {
            let first = "UPDATE tide SET height = 0 WHERE id = 1";
            other.simple(first).await.unwrap();
            other.simple("ROLLBACK").await.unwrap();
        });
        wait_for_lock(&mut third, connection).await;
        all.queue_update(2);
        all.queue_insert(3);
        let error = all.commit().await.unwrap_err();
        assert_eq!(
            (error.class, &*error.code),
            (ErrorClass::Retryable, "1213"),
            "{error}"
        );
        let done = number(&mut all.session, "SELECT COUNT(*) FROM tide WHERE id = 3").await;
        assert_eq!(done, 1, "what this is about");
        all.session.rollback().await.unwrap();
        assert_eq!(ids(&mut third).await, "1,2");
        let heights = "SELECT GROUP_CONCAT(height ORDER BY id) FROM tide";
        assert_eq!(text(&mut third, heights).await, "10,20");
        // The same again.
        all.queue_begin();
        all.queue_update(2);
        all.queue_insert(3);
        all.commit().await.unwrap();
        assert_eq!(ids(&mut third).await, "1,2,3");
        assert_eq!(text(&mut third, heights).await, "10,21,0");
    });
}

/// The transaction is still there then, and goes on without the statement.
#[test]
fn a_statement_that_waited_too_long_or_was_cancelled_is_not_left_out() {
    let database = database("ahead_waits");
    run(async move {
        let url = database.url();
        let mut all = fixture(&url, PreparedMode::Server).await;
        let mut other = connect(&url).await;
        let connection = all.connection().await;
        let short = "SET innodb_lock_wait_timeout = 1";
        all.session.query(short).await.unwrap();
        for sql in ["BEGIN", "UPDATE tide SET height = 0 WHERE id = 2"] {
            other.simple(sql).await.unwrap();
        }
        for code in ["1205", "1317"] {
            let killing = (code == "1317")
                .then(|| when_it_waits(&url, connection, format!("KILL QUERY {connection}")));
            if killing.is_some() {
                let long = "SET innodb_lock_wait_timeout = 50";
                all.session.query(long).await.unwrap();
            }
            all.queue_begin();
            let first = [Value::Int(1)];
            all.session.execute(&all.update, &first).await.unwrap();
            all.queue_insert(3);
            all.queue_update(2);
            all.queue_insert(4);
            let error = all.commit().await.unwrap_err();
            assert_eq!(error.code, code, "{error}");
            assert_eq!(all.session.changed_ahead(), [1], "{code}");
            if let Some(killing) = killing {
                killing.join().unwrap();
            }
            let sql = "SELECT COUNT(*) FROM tide WHERE id IN (3, 4)";
            assert_eq!(number(&mut all.session, sql).await, 2, "{code}");
            all.session.rollback().await.unwrap();
            assert_eq!(ids(&mut other).await, "1,2", "{code}");
            let height = "SELECT height FROM tide WHERE id = 1";
            assert_eq!(number(&mut other, height).await, 10, "{code}");
        }
    });
}

#[test]
fn a_commit_that_was_never_sent_is_not_in_doubt() {
    let database = database("ahead_ended");
    run(async move {
        let url = database.url();
        let mut all = fixture(&url, PreparedMode::Server).await;
        let connection = all.connection().await;
        let mut other = connect(&url).await;
        for sql in ["BEGIN", "UPDATE tide SET height = 0 WHERE id = 2"] {
            other.simple(sql).await.unwrap();
        }
        all.queue_begin();
        let first = [Value::Int(1)];
        all.session.execute(&all.update, &first).await.unwrap();
        let before = all.session.counts();
        all.queue_insert(3);
        all.queue_update(2);
        all.queue_insert(4);
        let ending = when_it_waits(&url, connection, format!("KILL {connection}"));
        let error = all.commit().await.unwrap_err();
        ending.join().unwrap();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        assert!(error.kind != ErrorKind::CommitUnknown, "{error}");
        let sent = all.session.counts() - before;
        assert_eq!((sent.write, sent.other), (1, 0));
        let again = all.session.execute(&all.read, &[Value::Int(1)]).await;
        assert_eq!(again.unwrap_err().class, ErrorClass::ConnectionLost);
        other.simple("ROLLBACK").await.unwrap();
        assert_eq!(ids(&mut other).await, "1,2");
    });
}

/// Whatever is sent outside transactions is kept at once, as before.
#[test]
fn outside_transactions_statements_are_kept_at_once() {
    let database = database("ahead_outside");
    run(async move {
        let url = database.url();
        let mut all = fixture(&url, PreparedMode::Server).await;
        let mut other = connect(&url).await;
        let connection = all.connection().await;
        let mut expected = String::from("1,2");
        for (id, how) in (3..).zip(["execute", "simple", "query", "load", "begin"]) {
            all.begin().await;
            all.queue_update(99);
            all.commit().await.unwrap();
            let sql = format!("INSERT INTO tide VALUES ({id}, 0)");
            match how {
                "execute" => {
                    let next = [Value::Int(id)];
                    all.session.execute(&all.insert, &next).await.unwrap();
                }
                "simple" => drop(all.session.simple(&sql).await.unwrap()),
                "query" => drop(all.session.query(&sql).await.unwrap()),
                "load" => {
                    let request = LoadRequest {
                        table: "tide",
                        columns: &["id", "height"],
                        method: None,
                    };
                    let mut source = rows(|made, row: &mut RowWriter<'_>| {
                        row.int(id);
                        row.int(0);
                        made == 0
                    });
                    all.session.load(&request, &mut source).await.unwrap();
                }
                // A transaction that nothing is queued in.
                _ => {
                    for sql in ["BEGIN", &sql, "COMMIT"] {
                        all.session.simple(sql).await.unwrap();
                    }
                }
            }
            expected.push_str(&format!(",{id}"));
            assert_eq!(ids(&mut other).await, expected, "{how}");
            // What only reads holds nothing either.
            let read = [Value::Int(1)];
            all.session.execute(&all.read, &read).await.unwrap();
            assert_eq!(transaction(&mut other, connection).await, None, "{how}");
        }
    });
}

#[test]
fn a_rollback_sends_nothing_of_what_waits_and_other_requests_send_it_first() {
    let database = database("ahead_rest");
    run(async move {
        let mut all = fixture(&database.url(), PreparedMode::Server).await;
        let mut other = connect(&database.url()).await;
        all.queue_begin();
        // It would fail; nor may the server be taken to know its types.
        all.queue_insert(1);
        all.session.rollback().await.unwrap();
        assert_eq!(ids(&mut all.session).await, "1,2");

        all.begin().await;
        all.queue_insert(3);
        let late = all.session.prepare("SELECT 7").await.unwrap();
        assert_eq!(all.session.execute(&late, &[]).await.unwrap().rows, 1);
        all.queue_insert(4);
        all.session.simple("COMMIT").await.unwrap();
        assert_eq!(ids(&mut other).await, "1,2,3,4");
        // One that is rolled back takes along what waits.
        all.queue_begin();
        all.queue_insert(5);
        let before = all.session.counts();
        let rollback = all.session.prepare("ROLLBACK").await.unwrap();
        all.queue_insert(6);
        all.session.execute(&rollback, &[]).await.unwrap();
        assert_eq!((all.session.counts() - before).write, 2);
        assert_eq!(ids(&mut all.session).await, "1,2,3,4");
    });
}

#[test]
fn so_many_wait_and_no_more() {
    let database = database("ahead_full");
    run(async move {
        let mut all = fixture(&database.url(), PreparedMode::Server).await;
        all.queue_begin();
        let mut queued = 0;
        while all
            .session
            .queue(&all.insert, &[Value::Int(3 + queued)])
            .unwrap()
        {
            queued += 1;
            assert!(queued < 1_000);
        }
        assert!(queued >= 15, "an order has as many lines");
        let last = [Value::Int(3 + queued)];
        all.session.execute(&all.insert, &last).await.unwrap();
        all.commit().await.unwrap();
        let count = number(&mut all.session, "SELECT COUNT(*) FROM tide").await;
        assert_eq!(count, 3 + queued);
    });
}

#[test]
fn a_session_that_sends_text_queues_nothing() {
    let database = database("ahead_text");
    run(async move {
        let mut all = fixture(&database.url(), PreparedMode::Text).await;
        assert!(!all.session.queue(&all.begin, &[]).unwrap());
    });
}

/// A statement that returns rows is none whose outcome nobody needs.
#[test]
fn what_returns_rows_is_not_queued() {
    let database = database("ahead_rows");
    run(async move {
        let mut all = fixture(&database.url(), PreparedMode::Server).await;
        let sql = "INSERT INTO tide VALUES (?, 0) RETURNING id";
        let returning = all.session.prepare(sql).await.unwrap();
        all.begin().await;
        all.queue_insert(3);
        assert!(!all.session.queue(&returning, &[Value::Int(4)]).unwrap());
        for id in [4, 5] {
            let done = all.session.execute(&returning, &[Value::Int(id)]).await;
            assert_eq!(done.unwrap().rows, 1);
        }
        all.commit().await.unwrap();
    });
}

/// Through each kind of connection, and with a thread that waits in a read.
#[test]
fn any_connection_takes_several_at_a_time() {
    let server = Server::builder(Kind::MariaDb).tls().start().unwrap();
    let port = server.port();
    let socket = server.socket_path().display().to_string();
    for (url, in_place) in [
        (
            format!("mysql://sbtest:sbtest@127.0.0.1:{port}/sbtest"),
            true,
        ),
        (
            format!("mysql://sbtest:sbtest@127.0.0.1:{port}/sbtest"),
            false,
        ),
        (
            format!("mysql://sbtest:sbtest@127.0.0.1:{port}/sbtest?tls=no-verify"),
            false,
        ),
        (
            format!("mysql://sbtest:sbtest@/sbtest?socket={socket}"),
            true,
        ),
        (
            format!("mysql://sbtest:sbtest@/sbtest?socket={socket}"),
            false,
        ),
    ] {
        run(async move {
            let mut all = fixture(&url, PreparedMode::Server).await;
            if in_place {
                all.session
                    .wait_in_place(Duration::from_millis(100))
                    .unwrap();
            }
            for turn in 0..50 {
                all.queue_begin();
                for at in 0..15 {
                    all.queue_update(1 + at % 3);
                }
                let read = [Value::Int(1)];
                let outcome = all.session.execute(&all.read, &read).await.unwrap();
                assert_eq!(outcome.rows, 2, "{url}");
                let changed = all.session.changed_ahead();
                let expected: Vec<_> = (0..15).map(|at| u16::from(at % 3 < 2)).collect();
                assert_eq!(changed[1..], expected, "{url} {turn}");
                all.queue_update(1);
                all.commit().await.unwrap();
            }
            let height = "SELECT SUM(height) FROM tide";
            assert_eq!(number(&mut all.session, height).await, 30 + 50 * 11);
        });
    }
}
