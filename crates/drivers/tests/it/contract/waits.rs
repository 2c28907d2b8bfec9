//! Injected distance and statement time-outs.

use crate::it::contract::{Backend, Db};
use std::time::{Duration, Instant};
use tidemark_core::{ErrorClass, ErrorKind, PreparedMode};
use tidemark_drivers::{
    BulkMethod, ConnectOptions, LoadRequest, RowSet, RowSource, RowWriter, Session, Value,
};

async fn far(db: &Db, rtt: Duration) -> Session {
    let options = ConnectOptions {
        inject_rtt: rtt,
        ..ConnectOptions::default()
    };
    db.connector_with(options).connect(0).await.unwrap()
}

pub async fn each_statement_takes_the_injected_distance(db: Db) {
    const RTT: Duration = Duration::from_millis(100);
    const TIMES: u32 = 12;
    let begun = Instant::now();
    let mut session = far(&db, RTT).await;
    // A greeting or a start-up, and an answer, beside the connection itself.
    if db.backend() != Backend::Sqlite {
        assert!(begun.elapsed() >= RTT * 3, "{:?}", begun.elapsed());
    }
    let statement = session.prepare("SELECT 1").await.unwrap();
    let mut rows = RowSet::new();
    let begun = Instant::now();
    for _ in 0..TIMES / 4 {
        session.execute(&statement, &[]).await.unwrap();
        session.fetch(&statement, &[], &mut rows).await.unwrap();
        session.simple("SELECT 2").await.unwrap();
        session.query("SELECT 3").await.unwrap();
    }
    let taken = begun.elapsed();
    // None takes it twice, whatever a busy machine adds.
    let most = RTT * 2 * TIMES;
    assert!(taken >= RTT * TIMES && taken < most, "{taken:?}");
    let begun = Instant::now();
    session.close().await;
    assert!(begun.elapsed() < RTT, "a goodbye waits for nobody");
}

struct Rows(i64);

impl RowSource for Rows {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        if self.0 == 0 {
            return false;
        }
        row.int(self.0);
        row.int(1);
        row.text(&"x".repeat(200));
        row.push(Value::Null);
        self.0 -= 1;
        true
    }
}

pub async fn a_load_takes_the_distance_a_few_times(db: Db) {
    const RTT: Duration = Duration::from_millis(150);
    // Some four megabytes: at least sixteen pieces by every method.
    const ROWS: i64 = 20_000;
    let mut near = db.session().await;
    db.make_t(&mut near).await;
    let mut far = far(&db, RTT).await;
    let request = LoadRequest {
        table: "t",
        columns: &["id", "n", "s", "f"],
        method: match db.backend() {
            Backend::Mariadb => Some(BulkMethod::LoadData),
            Backend::Postgres => Some(BulkMethod::Copy),
            Backend::Sqlite => None,
        },
    };
    let begun = Instant::now();
    near.load(&request, &mut Rows(ROWS)).await.unwrap();
    let at_hand = begun.elapsed();
    near.simple("DELETE FROM t").await.unwrap();
    let begun = Instant::now();
    far.load(&request, &mut Rows(ROWS)).await.unwrap();
    let taken = begun.elapsed();
    assert!(taken >= RTT, "{taken:?}");
    assert!(
        taken < at_hand * 3 + RTT * 12,
        "{taken:?}, at hand {at_hand:?}"
    );
}

/// A statement that takes many seconds.
fn slow(db: &Db) -> &'static str {
    match db.backend() {
        Backend::Mariadb => "SELECT SLEEP(20)",
        Backend::Postgres => "SELECT pg_sleep(20)",
        Backend::Sqlite => {
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 1000000000) \
             SELECT COUNT(*) FROM c"
        }
    }
}

fn limited(prepared: PreparedMode, limit: Duration) -> ConnectOptions {
    ConnectOptions {
        prepared,
        statement_timeout: Some(limit),
        ..ConnectOptions::default()
    }
}

pub async fn a_statement_that_takes_too_long_is_given_up(db: Db) {
    const LIMIT: Duration = Duration::from_millis(300);
    for prepared in [PreparedMode::Server, PreparedMode::Text] {
        let connector = db.connector_with(limited(prepared, LIMIT));
        for way in ["execute", "fetch", "simple"] {
            let mut session = connector.connect(0).await.unwrap();
            // An earlier statement's timer goes off in the middle of the slow one.
            session.simple("SELECT 1").await.unwrap();
            tidemark_runtime::sleep(LIMIT / 2).await;
            let statement = session.prepare(slow(&db)).await.unwrap();
            let begun = Instant::now();
            let done = match way {
                "execute" => session.execute(&statement, &[]).await,
                "fetch" => session.fetch(&statement, &[], &mut RowSet::new()).await,
                _ => session.simple(slow(&db)).await,
            };
            let (taken, error) = (begun.elapsed(), done.unwrap_err());
            assert_eq!(error.class, ErrorClass::ConnectionLost, "{way}: {error}");
            assert_eq!(error.kind, ErrorKind::StatementTimeout, "{way}: {error}");
            assert!(error.message.contains("of 0.3 s"), "{error}");
            // The coarse clock of the last poll may be a little early.
            let least = LIMIT - Duration::from_millis(20);
            assert!(taken >= least && taken < LIMIT * 30, "{way}: {taken:?}");
            if db.backend() != Backend::Sqlite {
                let after = session.simple("SELECT 1").await.unwrap_err();
                assert_eq!(after.class, ErrorClass::ConnectionLost, "{after}");
            }
            session.close().await;
        }
    }
}

pub async fn a_statement_in_time_is_not_given_up(db: Db) {
    const LIMIT: Duration = Duration::from_secs(1);
    let connector = db.connector_with(limited(PreparedMode::Server, LIMIT));
    let mut session = connector.connect(0).await.unwrap();
    let statement = session.prepare("SELECT 1").await.unwrap();
    // Together far longer than the limit; some begin just before an earlier one's timer goes off.
    for _ in 0..30 {
        session.execute(&statement, &[]).await.unwrap();
        tidemark_runtime::sleep(LIMIT / 15).await;
    }
    // Housekeeping may take its time.
    let sql = match db.backend() {
        Backend::Mariadb => "SELECT SLEEP(1.5)",
        Backend::Postgres => "SELECT pg_sleep(1.5)",
        Backend::Sqlite => {
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 8000000) \
             SELECT COUNT(*) FROM c"
        }
    };
    session.query(sql).await.unwrap();
    session.execute(&statement, &[]).await.unwrap();
}
