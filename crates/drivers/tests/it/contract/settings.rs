//! The settings that matter.

use crate::it::contract::{Backend, Db};
use tidemark_core::Engine;
use tidemark_drivers::settings::{session_limit, settings_that_matter};

pub async fn settings_that_matter_are_told(db: Db) {
    let mut session = db.session().await;
    let settings = settings_that_matter(&mut session).await.unwrap();
    let names: Vec<&str> = settings.iter().map(|s| s.name.as_str()).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    let (wanted, changed) = match db.backend() {
        Backend::Sqlite => ("synchronous", "journal_mode"),
        Backend::Mariadb => ("innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit"),
        Backend::Postgres => ("shared_buffers", "fsync"),
    };
    let of = |name: &str| settings.iter().find(|s| s.name == name).unwrap();
    assert!(!of(wanted).value.is_empty());
    // MySQL does not tell defaults by SQL.
    assert_eq!(of(wanted).default.is_some(), db.engine() != Engine::Mysql);
    assert!(!of(changed).value.is_empty());
    for setting in &settings {
        assert!(!setting.name.contains("password"), "{setting:?}");
        assert!(!setting.value.starts_with('/'), "{setting:?}");
    }
}

pub async fn the_limit_of_sessions_is_told(db: Db) {
    let mut session = db.session().await;
    let before = session_limit(&mut session).await.unwrap();
    if db.backend() == Backend::Sqlite {
        assert_eq!(before, None);
        return;
    }
    let before = before.unwrap();
    assert_eq!(before.name, "max_connections");
    assert!(
        before.in_use >= 1 && before.limit > before.in_use,
        "{before:?}"
    );
    let mut others = Vec::new();
    for _ in 0..40 {
        others.push(db.session().await);
    }
    let with_others = session_limit(&mut session).await.unwrap().unwrap();
    assert_eq!(with_others.limit, before.limit);
    // Tests beside this one come and go.
    assert!(with_others.in_use >= 41, "{before:?} {with_others:?}");
}
