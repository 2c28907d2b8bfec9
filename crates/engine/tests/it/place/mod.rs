//! Places whose conditions are asked, and who hears of it.

use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tidemark_core::{Protocol, Target};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_engine::LoadObserver;
use tidemark_runtime::block_on;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// Where conditions are asked; removed with the last clone.
#[derive(Clone)]
pub struct Place {
    target: Target,
    /// Held for its end.
    _kept: Option<Arc<Kept>>,
}

#[allow(dead_code, reason = "held, not read")]
enum Kept {
    Database(Box<Database>),
    Folder(TempDir),
}

impl Place {
    pub fn all(name: &str) -> Vec<(&'static str, Place)> {
        let server = |database: Database| Place {
            target: Target::parse(&database.url()).unwrap(),
            _kept: Some(Arc::new(Kept::Database(Box::new(database)))),
        };
        let mariadb = shared_mariadb().unwrap().fresh_database(name).unwrap();
        let postgres = shared_postgres().unwrap().fresh_database(name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut sqlite = Place::file(folder.path().join("check.db"));
        sqlite._kept = Some(Arc::new(Kept::Folder(folder)));
        vec![
            ("mariadb", server(mariadb)),
            ("postgres", server(postgres)),
            ("sqlite", sqlite),
        ]
    }

    pub fn file(path: PathBuf) -> Self {
        Place {
            target: Target::sqlite(path.to_str().unwrap()),
            _kept: None,
        }
    }

    pub fn connector(&self) -> Connector {
        Connector::new(self.target.clone(), ConnectOptions::default()).unwrap()
    }
}

/// Executes statements, each in a transaction of its own.
pub fn execute(place: &Place, statements: &[&str]) {
    let connector = place.connector();
    let statements: Vec<String> = statements.iter().map(ToString::to_string).collect();
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        if connector.target().protocol == Protocol::Mysql {
            // Some tables here have no key. Servers without the variable refuse none of them.
            let _unknown = session
                .simple("SET SESSION sql_require_primary_key = OFF")
                .await;
        }
        for sql in &statements {
            session.query(sql).await.unwrap();
        }
        session.close().await;
    })
    .unwrap();
}

/// Says nothing.
#[allow(dead_code, reason = "some tests load nothing, or listen")]
pub struct Quiet;

impl LoadObserver for Quiet {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}
    fn progress(&mut self, _: u64, _: u64) {}
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}
