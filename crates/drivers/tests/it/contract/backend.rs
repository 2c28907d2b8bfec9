//! A fresh database of each kind for each case.

use tempfile::TempDir;
use tidemark_core::{Engine, PreparedMode, Protocol, Target};
use tidemark_drivers::{BulkMethod, ConnectOptions, Connector, Dialect, RowSet, Session};
use tidemark_runtime::block_on;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// Where the suite runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Mariadb,
    Postgres,
}

impl Backend {
    pub fn protocol(self) -> Protocol {
        self.engine().protocol()
    }

    pub fn engine(self) -> Engine {
        match self {
            Backend::Sqlite => Engine::Sqlite,
            Backend::Mariadb => Engine::Mariadb,
            Backend::Postgres => Engine::Postgres,
        }
    }
}

/// What is removed with the case.
enum Kept {
    Folder(#[expect(dead_code)] TempDir),
    Database(#[expect(dead_code)] Box<Database>),
}

/// One case's own database.
pub struct Db {
    backend: Backend,
    target: Target,
    _kept: Kept,
}

/// Runs one case in a database of its own.
pub fn run<F>(name: &str, backend: Backend, case: impl FnOnce(Db) -> F)
where
    F: Future<Output = ()> + 'static,
{
    block_on(case(Db::fresh(backend, name))).unwrap();
}

impl Db {
    fn fresh(backend: Backend, name: &str) -> Db {
        let server = match backend {
            Backend::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("contract.db");
                return Db {
                    backend,
                    target: Target::sqlite(path.to_str().unwrap()),
                    _kept: Kept::Folder(folder),
                };
            }
            Backend::Mariadb => shared_mariadb().unwrap(),
            Backend::Postgres => shared_postgres().unwrap(),
        };
        let database = server.fresh_database(name).unwrap();
        Db {
            backend,
            target: Target::parse(&database.url()).unwrap(),
            _kept: Kept::Database(Box::new(database)),
        }
    }

    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// What answers: MySQL may serve the suite of MariaDB, where a test's environment names one.
    pub fn engine(&self) -> Engine {
        match self.backend {
            Backend::Mariadb => shared_mariadb()
                .unwrap()
                .query("SELECT VERSION()")
                .map(|version| match version.contains("MariaDB") {
                    true => Engine::Mariadb,
                    false => Engine::Mysql,
                })
                .unwrap(),
            backend => backend.engine(),
        }
    }

    pub fn dialect(&self) -> Dialect {
        Dialect::new(self.engine())
    }

    /// The ways to load rows of which a column is binary: MySQL's LOAD DATA takes text alone.
    pub fn binary_methods(&self) -> Vec<BulkMethod> {
        let methods = self.dialect().bulk_methods().iter().copied();
        let is_mysql = self.engine() == Engine::Mysql;
        methods
            .filter(|method| !is_mysql || *method != BulkMethod::LoadData)
            .collect()
    }

    pub fn connector(&self, prepared: PreparedMode) -> Connector {
        self.connector_with(ConnectOptions {
            prepared,
            ..ConnectOptions::default()
        })
    }

    pub fn connector_with(&self, options: ConnectOptions) -> Connector {
        Connector::new(self.target.clone(), options).unwrap()
    }

    /// A session that prepares on the server.
    pub async fn session(&self) -> Session {
        let connector = self.connector(PreparedMode::Server);
        let mut session = connector.connect(0).await.unwrap();
        if self.backend.protocol() == Protocol::Mysql {
            // Some tables here have no key. Servers without the variable refuse none of them.
            let _unknown = session
                .simple("SET SESSION sql_require_primary_key = OFF")
                .await;
        }
        session
    }

    /// A session of each mode.
    pub async fn sessions(&self) -> [Session; 2] {
        let text = self.connector(PreparedMode::Text);
        [self.session().await, text.connect(0).await.unwrap()]
    }

    /// The word for unlimited text.
    pub fn text_type(&self) -> &'static str {
        match self.backend.protocol() {
            Protocol::Mysql => "LONGTEXT CHARACTER SET utf8mb4",
            Protocol::Postgres | Protocol::Sqlite => "TEXT",
        }
    }

    /// The word for binary data.
    pub fn bytes_type(&self) -> &'static str {
        match self.backend.protocol() {
            Protocol::Mysql => "LONGBLOB",
            Protocol::Postgres => "BYTEA",
            Protocol::Sqlite => "BLOB",
        }
    }

    /// Makes the table `t`: a key, a number, a text.
    pub async fn make_t(&self, session: &mut Session) {
        let text = self.text_type();
        let sql = format!(
            "CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n BIGINT, s {text}, f DOUBLE PRECISION)"
        );
        session.simple(&sql).await.unwrap();
    }

    /// Binary data in a result: PostgreSQL may write it as text (manual, 8.4.1).
    pub fn bytes(&self, rows: &RowSet, row: usize, column: usize) -> Option<Vec<u8>> {
        use tidemark_drivers::Cell;
        match rows.get(row, column)? {
            Cell::Bytes(b) => match b.strip_prefix(b"\\x") {
                Some(hex) if self.backend.protocol() == Protocol::Postgres => Some(unhex(hex)),
                _ => Some(b.to_vec()),
            },
            _ => None,
        }
    }
}

fn unhex(hex: &[u8]) -> Vec<u8> {
    let digit = |b: u8| char::from(b).to_digit(16).unwrap() as u8;
    hex.chunks(2)
        .map(|p| digit(p[0]) * 16 + digit(p[1]))
        .collect()
}

/// Number of rows of `t`.
pub async fn count(session: &mut Session, table: &str) -> i64 {
    let rows = session
        .query(&format!("SELECT COUNT(*) FROM {table}"))
        .await
        .unwrap();
    rows.int(0, 0).unwrap()
}
