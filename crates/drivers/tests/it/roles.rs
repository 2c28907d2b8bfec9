//! Reads to hosts that only read, everything else to the others: on two real servers each that hold
//! the same tables and know nothing of each other.

use tidemark_core::record::HostRole;
use tidemark_core::{ErrorClass, PreparedMode, Target};
use tidemark_drivers::{Access, ConnectOptions, Connector, HostCount, RowSet, Session, Value};
use tidemark_runtime::block_on;
use tidemark_testkit::{SandboxEngine, Server};

/// Two servers whose rows tell which one they are on.
struct Pair {
    primary: Server,
    reader: Server,
}

impl Pair {
    fn start(engine: SandboxEngine) -> Self {
        let pair = Self {
            primary: Server::builder(engine).start().unwrap(),
            reader: Server::builder(engine).start().unwrap(),
        };
        for (server, name) in [(&pair.primary, "primary"), (&pair.reader, "reader")] {
            let table = "CREATE TABLE t (id INT PRIMARY KEY, place VARCHAR(20), n INT)";
            server.query(table).unwrap();
            let rows = format!("INSERT INTO t VALUES (1, '{name}', 0), (2, '{name}', 0)");
            server.query(&rows).unwrap();
        }
        pair
    }

    fn urls(&self) -> String {
        format!("{},{}?role=read", self.primary.url(), self.reader.url())
    }

    fn connector(&self, urls: &str, prepared: PreparedMode) -> Connector {
        let options = ConnectOptions {
            prepared,
            ..ConnectOptions::default()
        };
        Connector::new(Target::parse(urls).unwrap(), options).unwrap()
    }
}

const READ: &str = "SELECT place FROM t WHERE id=?";

async fn place(session: &mut Session, id: i64) -> String {
    let statement = session.prepare(READ).await.unwrap();
    let mut rows = RowSet::new();
    let values = [Value::Int(id)];
    session.fetch(&statement, &values, &mut rows).await.unwrap();
    rows.text(0, 0).unwrap()
}

fn counts(session: &mut Session) -> Vec<(usize, u64)> {
    let counts = session.take_host_counts();
    counts
        .into_iter()
        .flatten()
        .map(|HostCount { host, statements }| (host, statements))
        .collect()
}

/// Writes and whole transactions reach the primary only, reads outside transactions the reader only.
async fn statements_find_their_host(connector: Connector) {
    let roles: Vec<_> = connector.hosts().iter().map(|(_, role)| *role).collect();
    assert_eq!(roles, [HostRole::Any, HostRole::Read]);
    let mut session = connector.connect_for(0, Access::ReadWrite).await.unwrap();
    assert_eq!(session.primary_host(), Some(0));
    assert_eq!(session.reader_host(), Some(1));
    let read = session.prepare(READ).await.unwrap();
    let write = session.prepare("UPDATE t SET n=n+1 WHERE id=?").await;
    let write = write.unwrap();
    let begin = session.prepare("BEGIN").await.unwrap();
    let commit = session.prepare("COMMIT").await.unwrap();
    let mut rows = RowSet::new();
    let before = session.counts();
    for id in [1, 2] {
        let values = [Value::Int(id)];
        session.fetch(&read, &values, &mut rows).await.unwrap();
        assert_eq!(rows.text(0, 0).unwrap(), "reader");
        assert_eq!(session.last_host(), Some(1));
        assert_eq!(session.execute(&write, &values).await.unwrap().affected, 1);
        assert_eq!(session.last_host(), Some(0));
        session.execute(&begin, &[]).await.unwrap();
        session.fetch(&read, &values, &mut rows).await.unwrap();
        assert_eq!(rows.text(0, 0).unwrap(), "primary");
        session.execute(&commit, &[]).await.unwrap();
        session.execute(&read, &values).await.unwrap();
        assert_eq!(session.last_host(), Some(1));
    }
    assert_eq!(counts(&mut session), [(0, 8), (1, 4)]);
    let sent = session.counts() - before;
    assert_eq!((sent.total(), sent.round_trips), (12, 12), "to both");
    let before = session.counts();
    session.ping().await.unwrap();
    assert_eq!((session.counts() - before).round_trips, 1, "a ping");
    counts(&mut session);
    // As text: what may lock or write goes to the primary as well.
    session.simple("SELECT n FROM t WHERE id=1").await.unwrap();
    session
        .simple("SELECT n FROM t WHERE id=1 FOR UPDATE")
        .await
        .unwrap();
    session.simple("BEGIN").await.unwrap();
    session.simple("SELECT n FROM t WHERE id=1").await.unwrap();
    session.rollback().await.unwrap();
    session.simple("SELECT n FROM t WHERE id=1").await.unwrap();
    assert_eq!(counts(&mut session), [(0, 4), (1, 2)]);
    // Housekeeping goes to the primary and is not counted.
    let place = session.query("SELECT place FROM t WHERE id=1").await;
    assert_eq!(place.unwrap().text(0, 0).unwrap(), "primary");
    assert_eq!(counts(&mut session), [(0, 0), (1, 0)]);
    assert_eq!(session.counts().write, 2);
    session.close().await;
}

async fn sessions_find_their_hosts(connector: Connector) {
    // A workload that only reads needs no primary.
    let mut session = connector.connect_for(7, Access::ReadOnly).await.unwrap();
    assert_eq!(
        (session.primary_host(), session.reader_host()),
        (Some(1), None)
    );
    session.simple("BEGIN").await.unwrap();
    assert_eq!(place(&mut session, 1).await, "reader");
    session.simple("COMMIT").await.unwrap();
    assert_eq!(counts(&mut session), [(1, 3)]);
    session.close().await;
    let mut session = connector.connect(3).await.unwrap();
    assert_eq!(place(&mut session, 1).await, "primary");
    session.close().await;
    let mut session = connector.connect_to(1).await.unwrap();
    assert_eq!(place(&mut session, 1).await, "reader");
    session.close().await;
}

async fn a_target_that_only_reads_takes_no_writers(connector: Connector) {
    let mut session = connector.connect_for(0, Access::ReadOnly).await.unwrap();
    assert_eq!(place(&mut session, 2).await, "reader");
    assert_eq!(session.primary_host(), Some(0));
    let mut session = connector.connect(0).await.unwrap();
    assert_eq!(place(&mut session, 2).await, "reader");
    let refused = connector.connect_for(0, Access::ReadWrite).await;
    let error = refused.map(drop).unwrap_err();
    assert_eq!(error.class, ErrorClass::Refused);
    assert!(error.message.contains("role=read"), "{error}");
    assert!(!error.message.contains("sbtest:sbtest"), "{error}");
}

fn roles_are_kept(engine: SandboxEngine, after: impl FnOnce(&Pair)) {
    let pair = Pair::start(engine);
    for prepared in [PreparedMode::Server, PreparedMode::Text] {
        let both = pair.connector(&pair.urls(), prepared);
        block_on(statements_find_their_host(both.clone())).unwrap();
        block_on(sessions_find_their_hosts(both)).unwrap();
    }
    let reader = format!("{}?role=read", pair.reader.url());
    let reader = pair.connector(&reader, PreparedMode::Server);
    block_on(a_target_that_only_reads_takes_no_writers(reader)).unwrap();
    // Two writes of each row in all.
    let sums = "SELECT SUM(n) FROM t";
    assert_eq!(pair.primary.query(sums).unwrap().trim(), "4");
    assert_eq!(pair.reader.query(sums).unwrap().trim(), "0");
    after(&pair);
    // One of the two lost is the session lost.
    let both = pair.connector(&pair.urls(), PreparedMode::Server);
    block_on(async move {
        let mut session = both.connect_for(0, Access::ReadWrite).await.unwrap();
        let read = session.prepare(READ).await.unwrap();
        pair.primary.query("CREATE TABLE here (id INT)").unwrap();
        let before = session.counts();
        let only_here = session.prepare("SELECT id FROM here WHERE id=?").await;
        only_here.map(drop).unwrap_err();
        let waited = (session.counts() - before).round_trips;
        assert_eq!(waited, 2, "one of them failed");
        pair.reader.kill9().unwrap();
        let values = [Value::Int(1)];
        let error = session.execute(&read, &values).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        assert_eq!(session.last_host(), Some(1));
        let again = both.connect_for(0, Access::ReadWrite).await.map(drop);
        let error = again.unwrap_err();
        assert_eq!(error.class, ErrorClass::Refused, "{error}");
    })
    .unwrap();
}

#[test]
fn mariadb_keeps_roles() {
    roles_are_kept(SandboxEngine::MariaDb, |pair| {
        let status = |server: &Server, name: &str| -> u64 {
            let sql = format!("SHOW GLOBAL STATUS LIKE '{name}'");
            let row = server.query(&sql).unwrap();
            row.trim().split('\t').nth(1).unwrap().parse().unwrap()
        };
        assert_eq!(status(&pair.reader, "Com_update"), 0);
        assert_eq!(status(&pair.reader, "Com_begin"), 2);
        assert_eq!(status(&pair.primary, "Com_update"), 4);
        // Four each, two as text, one in a session that only reads, and the sums.
        assert!(status(&pair.reader, "Com_select") >= 14);
    });
}

#[test]
fn postgres_keeps_roles() {
    roles_are_kept(SandboxEngine::Postgres, |_| {});
}
