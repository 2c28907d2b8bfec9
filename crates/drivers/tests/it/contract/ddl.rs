//! The dialect's DDL and upserts, as the engine takes them.

use crate::it::contract::Db;
use crate::it::contract::backend::count;
use crate::it::contract::catalog::drop_table;
use tidemark_drivers::{Partitioning, catalog};

pub async fn generated_keys_follow_the_last(db: Db) {
    let mut session = db.session().await;
    let dialect = db.dialect();
    let key = dialect.generated_key_type();
    session
        .simple(&format!(
            "CREATE TABLE t (id {key}, k INTEGER, PRIMARY KEY (id))"
        ))
        .await
        .unwrap();
    session
        .simple("INSERT INTO t (id, k) VALUES (1, 0), (2, 0), (3, 0)")
        .await
        .unwrap();
    if let Some(sql) = dialect.follow_key("t", "id", 3) {
        session.query(&sql).await.unwrap();
    }
    let insert = match dialect.next_key() {
        Some(next) => format!("INSERT INTO t (id, k) VALUES ({next}, 1)"),
        None => "INSERT INTO t (k) VALUES (1)".to_string(),
    };
    session.simple(&insert).await.unwrap();
    assert_eq!(
        catalog::key_range(&mut session, "t", "id").await,
        Ok(Some((1, 4)))
    );
}

pub async fn upserts_update_rows_that_exist(db: Db) {
    let mut session = db.session().await;
    db.make_t(&mut session).await;
    let upsert = db.dialect().upsert(&["id"], &["n", "s"]);
    let sql = format!("INSERT INTO t (id, n, s) VALUES (1, 10, 'a'), (2, 20, 'b') {upsert}");
    session.simple(&sql).await.unwrap();
    let sql = format!("INSERT INTO t (id, n, s) VALUES (2, 21, 'c'), (3, 30, 'd') {upsert}");
    assert!(session.simple(&sql).await.unwrap().affected >= 2);
    let rows = session
        .query("SELECT id, n, s FROM t ORDER BY id")
        .await
        .unwrap();
    let seen: Vec<_> = (0..rows.len())
        .map(|r| (rows.int(r, 0), rows.int(r, 1), rows.text(r, 2)))
        .collect();
    let row = |id, n, s: &str| (Some(id), Some(n), Some(s.to_string()));
    assert_eq!(seen, [row(1, 10, "a"), row(2, 21, "c"), row(3, 30, "d")]);
}

pub async fn split_tables_take_rows_or_are_refused(db: Db) {
    let mut session = db.session().await;
    let rows: Vec<_> = (1..=100).map(|i| format!("({i}, {i})")).collect();
    let rows = rows.join(",");
    for how in [
        Partitioning::Default,
        Partitioning::Hash,
        Partitioning::Range,
    ] {
        for parts in [0, 1, 4, 200] {
            let split = db.dialect().split("t", "id", how, parts, 100);
            let Ok(split) = split else {
                assert_ne!(how, Partitioning::Default);
                continue;
            };
            let create = format!(
                "CREATE TABLE t (id INTEGER NOT NULL, k INTEGER, {}){}",
                split.primary_key, split.suffix
            );
            for sql in std::iter::once(&create).chain(&split.after) {
                session.simple(sql).await.unwrap();
            }
            session
                .simple(&format!("INSERT INTO t (id, k) VALUES {rows}"))
                .await
                .unwrap();
            assert_eq!(count(&mut session, "t").await, 100, "{how:?} {parts}");
            // Keys outside of the range given have their place too.
            session
                .simple("INSERT INTO t (id, k) VALUES (-5, 0), (101, 0)")
                .await
                .unwrap();
            // Partitions are no tables of their own, and the key is still the key.
            assert_eq!(catalog::list_tables(&mut session).await.unwrap(), ["t"]);
            let table = catalog::describe_table(&mut session, "t")
                .await
                .unwrap()
                .unwrap();
            assert_eq!(table.primary_key, ["id"]);
            assert_eq!(table.columns.len(), 2);
            catalog::mark_table(&mut session, "t", "tidemark:split")
                .await
                .unwrap();
            let mark = catalog::table_mark(&mut session, "t").await.unwrap();
            assert_eq!(mark.as_deref(), Some("tidemark:split"));
            drop_table(&mut session, "t").await.unwrap();
            assert_eq!(catalog::list_tables(&mut session).await, Ok(Vec::new()));
        }
    }
}
