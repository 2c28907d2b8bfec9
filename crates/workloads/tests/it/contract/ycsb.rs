//! YCSB beyond what its cases show: verified values, outcomes that are noted, parts, and tables of
//! other tools.

use crate::it::contract::backend::{Db, workload};
use crate::it::contract::steps::prepared;
use tidemark_core::{ErrorClass, PreparedMode, Protocol};
use tidemark_drivers::catalog::describe_table;
use tidemark_drivers::{Session, Value};
use tidemark_workloads::{Notes, Statements, Terminal, ycsb};

const SMALL: [(&str, &str); 3] = [
    ("recordcount", "20"),
    ("fieldcount", "2"),
    ("fieldlength", "40"),
];

/// Only operations of one kind.
fn only(share: &'static str) -> Vec<(&'static str, &'static str)> {
    let mut options = SMALL.to_vec();
    options.extend([("readproportion", "0"), ("updateproportion", "0")]);
    options.push((share, "1"));
    options
}

async fn begun(db: &Db, options: &[(&str, &str)]) -> (Terminal, Statements, Session) {
    let (workload, mut session) = prepared(db, "ycsb", options).await;
    let mut statements = workload.statements();
    statements.prepare(&mut session).await.unwrap();
    (workload.terminal(0, 1, 1), statements, session)
}

async fn drop_it(session: &mut Session) {
    session.simple("DROP TABLE usertable").await.unwrap();
}

pub async fn a_spoilt_value_fails_data_integrity(db: Db) {
    for share in [
        "readproportion",
        "scanproportion",
        "readmodifywriteproportion",
    ] {
        let mut options = only(share);
        options.push(("dataintegrity", "true"));
        let (mut terminal, statements, mut session) = begun(&db, &options).await;
        for _ in 0..20 {
            terminal
                .transaction(&mut session, &statements)
                .await
                .unwrap();
        }
        for spoilt in ["'nonsense'", "NULL"] {
            let sql = format!("UPDATE usertable SET FIELD1 = {spoilt}");
            session.simple(&sql).await.unwrap();
            let failed = terminal.transaction(&mut session, &statements).await;
            let error = failed.unwrap_err();
            assert_eq!(
                (error.class, error.code.as_str()),
                (ErrorClass::Fatal, "validation")
            );
            assert!(
                error.message.contains("field1 of the record user"),
                "{error}"
            );
        }
        drop_it(&mut session).await;
    }
}

pub async fn missing_records_and_updates_of_nothing_are_noted(db: Db) {
    let noted = |name: &str| {
        let mut notes = Notes::NONE;
        notes.add(ycsb::NOTES.iter().position(|n| *n == name).unwrap());
        notes
    };
    for (share, note) in [
        ("readproportion", "missing_record"),
        ("updateproportion", "noop_update"),
        ("scanproportion", "empty_scan"),
    ] {
        let (mut terminal, statements, mut session) = begun(&db, &only(share)).await;
        let done = terminal.transaction(&mut session, &statements).await;
        assert_eq!(done.unwrap().notes, Notes::NONE, "{share}");
        session.simple("DELETE FROM usertable").await.unwrap();
        let done = terminal.transaction(&mut session, &statements).await;
        assert_eq!(done.unwrap().notes, noted(note), "{share}");
        drop_it(&mut session).await;
    }
    // Another run inserts the same records again.
    let options = only("insertproportion");
    let (mut terminal, statements, mut session) = begun(&db, &options).await;
    let again = workload("ycsb", &options);
    let mut second = again.terminal(0, 1, 1);
    let done = terminal.transaction(&mut session, &statements).await;
    assert_eq!(done.unwrap().notes, Notes::NONE);
    let done = second.transaction(&mut session, &statements).await;
    assert_eq!(done.unwrap().notes, noted("duplicate_insert"));
}

pub async fn a_read_modify_write_has_its_parts(db: Db) {
    let options = only("readmodifywriteproportion");
    let (mut terminal, statements, mut session) = begun(&db, &options).await;
    for _ in 0..10 {
        let begun = std::time::Instant::now();
        let done = terminal
            .transaction(&mut session, &statements)
            .await
            .unwrap();
        let elapsed = begun.elapsed();
        let named = |kind: usize| ycsb::TRANSACTION_TYPES[kind];
        assert_eq!(named(done.kind), "READ_MODIFY_WRITE");
        let parts = terminal.parts();
        let kinds: Vec<&str> = parts.iter().map(|p| named(p.kind)).collect();
        assert_eq!(kinds, ["READ", "UPDATE"]);
        assert!(parts.iter().all(|p| !p.service.is_zero()), "{parts:?}");
        assert!(parts[0].service + parts[1].service <= elapsed, "{parts:?}");
    }
    drop_it(&mut session).await;
    let (mut reads, statements, mut session) = begun(&db, &only("readproportion")).await;
    reads.transaction(&mut session, &statements).await.unwrap();
    assert!(reads.parts().is_empty());
}

/// go-ycsb's own statements, as its release of 2024 sends them.
pub async fn tables_that_go_ycsb_made_serve_and_are_told_from_others(db: Db) {
    let mut session = db.session(PreparedMode::Server).await;
    session
        .simple(
            "CREATE TABLE IF NOT EXISTS usertable (YCSB_KEY VARCHAR(64) PRIMARY KEY, \
             FIELD0 VARCHAR(40), FIELD1 VARCHAR(40));",
        )
        .await
        .unwrap();
    let insert = match session.server().engine.protocol() {
        Protocol::Mysql => {
            "INSERT IGNORE INTO usertable (YCSB_KEY ,field0 ,field1) VALUES (? ,? ,?)"
        }
        Protocol::Postgres => {
            "INSERT INTO usertable (YCSB_KEY ,field0 ,field1) VALUES (? ,? ,?) ON CONFLICT DO NOTHING"
        }
        Protocol::Sqlite => {
            "INSERT OR IGNORE INTO usertable (YCSB_KEY ,field0 ,field1) VALUES (? ,? ,?)"
        }
    };
    let insert = session.prepare(insert).await.unwrap();
    // Record 0 with dataintegrity=true.
    let row = [
        Value::Text("user6284781860667377211"),
        Value::Text("user6284781860667377211:field0:898097732"),
        Value::Text("user6284781860667377211:field1:898196468"),
    ];
    session.execute(&insert, &row).await.unwrap();
    let mut options = only("readproportion");
    options.extend([
        ("recordcount", "1"),
        ("dataintegrity", "true"),
        ("readallfields", "true"),
    ]);
    let ours = workload("ycsb", &options);
    let found = describe_table(&mut session, "usertable")
        .await
        .unwrap()
        .unwrap();
    assert!(ours.recognises(&found), "{found:?}");
    let mut statements = ours.statements();
    statements.prepare(&mut session).await.unwrap();
    let mut terminal = ours.terminal(0, 1, 1);
    let done = terminal
        .transaction(&mut session, &statements)
        .await
        .unwrap();
    assert_eq!(done.notes, Notes::NONE);

    session
        .simple("ALTER TABLE usertable ADD COLUMN note VARCHAR(40)")
        .await
        .unwrap();
    let found = describe_table(&mut session, "usertable")
        .await
        .unwrap()
        .unwrap();
    assert!(!ours.recognises(&found), "{found:?}");
}
