//! A fresh database of each kind for each case.

use std::sync::Arc;
use tempfile::TempDir;
use tidemark_core::{OptionKind, OptionSpec, OptionValues, PreparedMode, Protocol, Source, Target};
use tidemark_drivers::{ConnectOptions, Connector, Session};
use tidemark_runtime::block_on;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};
use tidemark_workloads::random::RAND_OPTIONS;
use tidemark_workloads::{Workload, find};

/// Where the suite runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Mariadb,
    Postgres,
}

impl Backend {
    /// Whether a workload runs here: pgbench's has PostgreSQL's protocol only.
    pub fn takes(self, workload: &str) -> bool {
        workload != "pgbench" || self == Backend::Postgres
    }
}

/// What is removed with the case.
enum Kept {
    Folder(#[expect(dead_code)] TempDir),
    Database(#[expect(dead_code)] Box<Database>),
}

/// One case's own database.
pub struct Db {
    pub backend: Backend,
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

    /// The database, for other programs.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// A session of the given mode.
    pub async fn session(&self, prepared: PreparedMode) -> Session {
        let options = ConnectOptions {
            prepared,
            ..ConnectOptions::default()
        };
        let connector = Connector::new(self.target.clone(), options).unwrap();
        let mut session = connector.connect(0).await.unwrap();
        if self.target.protocol == Protocol::Mysql {
            // Some tables here have no key. Servers without the variable refuse none of them.
            let _unknown = session
                .simple("SET SESSION sql_require_primary_key = OFF")
                .await;
        }
        session
    }
}

/// The general option that workloads read too.
const VALIDATE: &[OptionSpec] = &[OptionSpec {
    name: "validate",
    kind: OptionKind::Bool,
    default: "off",
    help: "",
}];

/// A workload with options set.
pub fn workload(name: &str, options: &[(&str, &str)]) -> Arc<dyn Workload> {
    let definition = find(name).unwrap();
    let tables = [RAND_OPTIONS, VALIDATE].into_iter();
    let mut values = OptionValues::defaults(tables.chain(definition.options.iter().copied()));
    for (option, value) in options {
        values.set(option, value, Source::CommandLine).unwrap();
    }
    (definition.build)(&values).unwrap()
}
