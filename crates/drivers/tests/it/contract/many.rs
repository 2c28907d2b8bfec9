//! Many statements, many rows, many sessions.

use crate::it::contract::Db;
use tidemark_core::PreparedMode;
use tidemark_drivers::{RowSet, Value};

pub async fn many_statements_keep_their_texts(db: Db) {
    let mut sessions = db.sessions().await;
    db.make_t(&mut sessions[0]).await;
    sessions[0]
        .simple("INSERT INTO t (id, n) VALUES (1, 10)")
        .await
        .unwrap();
    for mut session in sessions {
        let mut statements = Vec::new();
        for i in 0..500i64 {
            let sql = format!("SELECT n + {i} FROM t WHERE id = ?");
            statements.push(session.prepare(&sql).await.unwrap());
        }
        let mut rows = RowSet::new();
        for step in 0..500usize {
            // 7 has no factor in common with 500: every statement once, in another order.
            let i = step * 7 % 500;
            session
                .fetch(&statements[i], &[Value::Int(1)], &mut rows)
                .await
                .unwrap();
            assert_eq!(rows.int(0, 0), Some(10 + i as i64));
        }
    }
}

pub async fn a_result_of_many_rows_is_counted_and_decoded(db: Db) {
    let mut sessions = db.sessions().await;
    db.make_t(&mut sessions[0]).await;
    let values: Vec<_> = (1..=300).map(|i| format!("({i}, {i})")).collect();
    let insert = format!("INSERT INTO t (id, n) VALUES {}", values.join(","));
    assert_eq!(sessions[0].simple(&insert).await.unwrap().affected, 300);
    let sql = "SELECT a.id, b.n FROM t a CROSS JOIN t b ORDER BY a.id, b.n";
    for mut session in sessions {
        let select = session.prepare(sql).await.unwrap();
        assert_eq!(session.execute(&select, &[]).await.unwrap().rows, 90_000);
        let mut rows = RowSet::new();
        assert_eq!(
            session.fetch(&select, &[], &mut rows).await.unwrap().rows,
            90_000
        );
        assert_eq!(rows.len(), 90_000);
        let last = 300 * 300 - 1;
        assert_eq!(
            (rows.int(last, 0), rows.int(last, 1)),
            (Some(300), Some(300))
        );
        assert_eq!((rows.int(301, 0), rows.int(301, 1)), (Some(2), Some(2)));
    }
}

pub async fn statements_run_again_and_again(db: Db) {
    let mut sessions = db.sessions().await;
    db.make_t(&mut sessions[0]).await;
    sessions[0]
        .simple("INSERT INTO t (id, n) VALUES (1, 0)")
        .await
        .unwrap();
    for (index, mut session) in sessions.into_iter().enumerate() {
        let update = session
            .prepare("UPDATE t SET n = n + ? WHERE id = 1")
            .await
            .unwrap();
        let select = session
            .prepare("SELECT n FROM t WHERE id = ?")
            .await
            .unwrap();
        let mut rows = RowSet::new();
        for i in 1..=200i64 {
            session.execute(&update, &[Value::Int(1)]).await.unwrap();
            session
                .fetch(&select, &[Value::Int(1)], &mut rows)
                .await
                .unwrap();
            assert_eq!(rows.int(0, 0), Some(200 * index as i64 + i));
        }
    }
}

pub async fn many_sessions_at_once(db: Db) {
    let connector = db.connector(PreparedMode::Server);
    let mut sessions = Vec::new();
    for number in 0..20 {
        sessions.push(connector.connect(number).await.unwrap());
    }
    db.make_t(&mut sessions[0]).await;
    for (id, session) in (1i64..).zip(&mut sessions) {
        let insert = session
            .prepare("INSERT INTO t (id) VALUES (?)")
            .await
            .unwrap();
        session.execute(&insert, &[Value::Int(id)]).await.unwrap();
    }
    for session in &mut sessions {
        assert_eq!(crate::it::contract::backend::count(session, "t").await, 20);
    }
    for session in sessions {
        session.close().await;
    }
}
