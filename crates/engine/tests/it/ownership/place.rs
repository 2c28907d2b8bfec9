//! Where sequences are played, and statements by hand.

use std::cell::Cell;
use tempfile::TempDir;
use tidemark_core::{DbError, Target};
use tidemark_drivers::catalog::{self, TableDescription};
use tidemark_drivers::{ConnectOptions, Connector, RowSet, Session};
use tidemark_runtime::block_on;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// Engines on which sequences are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Mariadb,
    Postgres,
}

impl Engine {
    pub const ALL: [Engine; 3] = [Engine::Sqlite, Engine::Mariadb, Engine::Postgres];

    pub fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "SQLite",
            Engine::Mariadb => "MariaDB",
            Engine::Postgres => "PostgreSQL",
        }
    }
}

/// A database of an engine; removed with the value.
pub struct Place {
    pub engine: Engine,
    database: Option<Database>,
    folder: TempDir,
    file: Cell<u32>,
}

impl Place {
    pub fn new(engine: Engine) -> Self {
        let server = match engine {
            Engine::Sqlite => None,
            Engine::Mariadb => Some(shared_mariadb().unwrap()),
            Engine::Postgres => Some(shared_postgres().unwrap()),
        };
        // Files in memory: thousands of commits need not wait for a disk.
        let memory = std::path::Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => TempDir::new_in(memory),
            false => TempDir::new(),
        };
        Place {
            engine,
            database: server.map(|s| s.fresh_database("ownership").unwrap()),
            folder: folder.unwrap(),
            file: Cell::new(0),
        }
    }

    pub fn url(&self) -> String {
        match &self.database {
            Some(database) => database.url(),
            None => {
                let file = self.folder.path().join(format!("{}.db", self.file.get()));
                format!("sqlite:{}", file.display())
            }
        }
    }

    pub fn connector(&self) -> Connector {
        connector(&self.url())
    }

    /// Empties the database for the next sequence.
    pub fn clear(&self) {
        if self.engine == Engine::Sqlite {
            let file = self.folder.path().join(format!("{}.db", self.file.get()));
            // A sequence may have made none.
            let _ = std::fs::remove_file(file);
            self.file.set(self.file.get() + 1);
            return;
        }
        let cascade = if self.engine == Engine::Postgres {
            " CASCADE"
        } else {
            ""
        };
        let keys = (self.engine == Engine::Mariadb).then_some("SET foreign_key_checks=0");
        self.with(async move |session: &mut Session| {
            if let Some(keys) = keys {
                session.query(keys).await?;
            }
            for table in catalog::list_tables(session).await? {
                session
                    .query(&format!("DROP TABLE {table}{cascade}"))
                    .await?;
            }
            Ok(())
        })
        .unwrap();
    }

    /// Works on a session of its own, as another program does.
    pub fn with<T: 'static>(
        &self,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, DbError> + 'static,
    ) -> Result<T, DbError> {
        let connector = self.connector();
        block_on(async move {
            let mut session = connector.connect(0).await?;
            let done = work(&mut session).await;
            session.close().await;
            done
        })
        .unwrap()
    }

    /// Executes statements until one fails; whether all were taken.
    pub fn execute(&self, statements: &[String]) -> bool {
        let statements = statements.to_vec();
        let done = self.with(async move |session: &mut Session| {
            for sql in &statements {
                session.query(sql).await?;
            }
            Ok(())
        });
        done.is_ok()
    }

    pub fn query(&self, sql: &str) -> Option<RowSet> {
        let sql = sql.to_string();
        self.with(async move |session: &mut Session| session.query(&sql).await)
            .ok()
    }

    pub fn describe(&self, table: &str) -> Option<TableDescription> {
        let table = table.to_string();
        self.with(async move |s: &mut Session| catalog::describe_table(s, &table).await)
            .unwrap()
    }
}

pub fn connector(url: &str) -> Connector {
    let target = Target::parse(url).unwrap();
    Connector::new(target, ConnectOptions::default()).unwrap()
}
