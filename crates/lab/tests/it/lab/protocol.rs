//! Both drivers find what they need.

use crate::it::common::{connectors, drive, lab, point_select};
use crate::it::lab::support::run;
use std::time::Duration;
use tidemark_core::{Engine, PreparedMode, RunSpec};
use tidemark_drivers::{ConnectOptions, Connector, RowSet, Value, catalog, settings};
use tidemark_lab::LabConfig;

#[test]
fn statements_are_prepared_executed_and_fetched() {
    let lab = lab(LabConfig::default());
    for (connector, engine) in connectors(&lab)
        .into_iter()
        .zip([Engine::Mysql, Engine::Postgres])
    {
        run(async move {
            let mut session = connector.connect(0).await.unwrap();
            assert_eq!(session.server().engine, engine);
            assert!(session.server().version.contains("tidemark-lab"));
            let select = session
                .prepare("SELECT c FROM sbtest1 WHERE id=? AND k<>?")
                .await
                .unwrap();
            let values = [Value::Int(1), Value::Text("x")];
            let outcome = session.execute(&select, &values).await.unwrap();
            assert!(outcome.has_rows && outcome.rows == 1);
            let mut rows = RowSet::new();
            session.fetch(&select, &values, &mut rows).await.unwrap();
            let c = rows.text(0, 0).unwrap();
            assert_eq!((rows.len(), c.len()), (1, 119), "{c}");

            session.simple("BEGIN").await.unwrap();
            let update = session
                .prepare("UPDATE sbtest1 SET k=k+1 WHERE id=?")
                .await
                .unwrap();
            let outcome = session.execute(&update, &[Value::Int(1)]).await.unwrap();
            assert!(!outcome.has_rows && outcome.affected == 1);
            session.simple("COMMIT").await.unwrap();
            session.simple("SET names = 'utf8'").await.unwrap();
            assert!(session.query("SHOW VARIABLES").await.unwrap().is_empty());
            // A text is as long as it likes.
            let long = format!("SELECT '{}'", "x".repeat(200_000));
            assert_eq!(session.query(&long).await.unwrap().len(), 1);
            session.close().await;
        });
    }
    let truth = lab.stop().unwrap();
    for counts in [truth.mysql, truth.postgres] {
        assert_eq!((counts.prepared, counts.executed), (2, 3));
        assert_eq!((counts.opened, counts.broken), (1, 0));
    }
    assert_eq!(truth.delays.count(), 6);
    // SELECT version() is PostgreSQL's sixth; MySQL's two ask for what changes values that are read.
    assert_eq!((truth.mysql.queries, truth.postgres.queries), (7, 6));
}

#[test]
fn the_catalogue_has_the_tables_that_a_run_looks_for() {
    let lab = lab(LabConfig {
        tables: 12,
        table_size: 5000,
        ..LabConfig::default()
    });
    for connector in connectors(&lab) {
        run(async move {
            let mut session = connector.connect(0).await.unwrap();
            let found = catalog::describe_table(&mut session, "sbtest12").await;
            let found = found.unwrap().unwrap();
            assert!(point_select().recognises(&found), "{found:?}");
            assert_eq!(found.indexes.len(), 1);
            let rows = catalog::row_count(&mut session, "sbtest12").await.unwrap();
            let keys = catalog::key_range(&mut session, "sbtest12", "id").await;
            assert_eq!((rows, keys.unwrap()), (5000, Some((1, 5000))));
            assert!(!catalog::exists(&mut session, "sbtest13").await.unwrap());
            assert!(!catalog::exists(&mut session, "users").await.unwrap());
            let all = catalog::list_tables(&mut session).await.unwrap();
            assert_eq!(all.len(), 12);
            let settings = settings::settings_that_matter(&mut session).await.unwrap();
            assert!(settings.is_empty(), "{settings:?}");
            session.close().await;
        });
    }
}

#[test]
fn statements_as_text_wait_only_when_asked_to() {
    for (delay_queries, delayed) in [(false, false), (true, true)] {
        let lab = lab(LabConfig {
            delay: "constant:20ms".parse().unwrap(),
            delay_queries,
            ..LabConfig::default()
        });
        for url in [lab.mysql_url(), lab.postgres_url()] {
            let target = tidemark_core::Target::parse(&url.unwrap()).unwrap();
            let options = ConnectOptions {
                prepared: PreparedMode::Text,
                ..ConnectOptions::default()
            };
            let connector = Connector::new(target, options).unwrap();
            let spec = RunSpec {
                events: Some(5),
                time: None,
                ..RunSpec::default()
            };
            let result = drive(&spec, &connector, || {});
            let fastest = crate::it::common::decode(&result.totals.all.service).min_ns();
            let waited = Duration::from_nanos(fastest) >= Duration::from_millis(20);
            assert_eq!(waited, delayed, "{fastest}");
        }
        let counted = lab.truth().delays.count();
        assert_eq!(counted > 0, delayed, "{counted}");
    }
}

#[test]
fn a_named_account_is_the_only_one() {
    let lab = lab(LabConfig {
        user: Some("sbtest".into()),
        ..LabConfig::default()
    });
    for connector in connectors(&lab) {
        let target = connector.target().clone();
        run(async move { connector.connect(0).await.unwrap().close().await });
        let other = tidemark_core::Target {
            user: "other".into(),
            password: tidemark_core::Secret::new("secret"),
            ..target
        };
        let other = Connector::new(other, ConnectOptions::default()).unwrap();
        let error = run(async move { other.connect(0).await.map(drop).unwrap_err() });
        assert_eq!(error.class, tidemark_core::ErrorClass::Refused);
        assert!(error.message.contains("other"), "{error}");
    }
}

#[test]
fn two_threads_share_the_sessions() {
    let lab = lab(LabConfig {
        threads: 2,
        delay: "uniform:0..2ms".parse().unwrap(),
        ..LabConfig::default()
    });
    for connector in connectors(&lab) {
        let spec = RunSpec {
            terminals: 30,
            sessions: 30,
            events: Some(2000),
            time: None,
            ..RunSpec::default()
        };
        let result = drive(&spec, &connector, || {});
        assert_eq!(result.totals.all.count, 2000);
    }
    let truth = lab.stop().unwrap();
    assert_eq!(truth.delays.count(), 4000);
    assert_eq!((truth.mysql.opened, truth.postgres.opened), (30, 30));
}
