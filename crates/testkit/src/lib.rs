//! Private MariaDB and PostgreSQL servers for tests, made as `tidemark-sandbox` makes its own, and a
//! PgBouncer in front of one.
//!
//! A [`Server`] lives in a temporary folder, listens at a free port of 127.0.0.1 and at a Unix
//! socket, and ends with its value; when the test process dies by any means, a watchdog ends it.
//! Account, password and database are `sbtest`; the account may do everything.
//!
//! Tests that only need *a* server share one per process and take a database each:
//!
//! ```no_run
//! let db = tidemark_testkit::shared_mariadb()?.fresh_database("loader")?;
//! let url = db.url(); // mysql://sbtest:sbtest@127.0.0.1:PORT/loader_…
//! # Ok::<(), tidemark_testkit::Error>(())
//! ```
//!
//! Tests that kill, stop or configure a server start their own:
//!
//! ```no_run
//! let server = tidemark_testkit::Server::builder(tidemark_testkit::SandboxEngine::Postgres)
//!     .setting("max_connections", "1200")
//!     .start()?;
//! server.kill9()?;
//! # Ok::<(), tidemark_testkit::Error>(())
//! ```
//!
//! `TIDEMARK_TEST_MYSQL_URL` and `TIDEMARK_TEST_POSTGRES_URL` name servers that run elsewhere;
//! the shared ones are then those. Where neither a variable nor the programs are there, the error
//! says how to get them: such a test fails, it is never skipped. `TIDEMARK_TEST_TEMPLATES` names an
//! empty folder in which the files of new servers are kept and copied from.
//!
//! Beside servers there is a strict reader of what Tidemark serves: [`openmetrics`].

mod builder;
mod client;
mod copies;
mod endpoint;
mod error;
mod layout;
mod mariadb;
pub mod openmetrics;
mod pgbouncer;
mod postgres;
mod server;
mod shared;
mod tls;
mod watchdog;

pub use builder::ServerBuilder;
pub use endpoint::{Database, Endpoint};
pub use error::{Error, variable};
pub use pgbouncer::{PgBouncer, PoolMode};
pub use server::Server;
pub use shared::{shared, shared_mariadb, shared_postgres};
pub use tidemark_sandbox::SandboxEngine;
pub use tls::TlsFiles;

/// Account, password and database of every private server.
pub const SBTEST: &str = "sbtest";
