//! Where a server listens, and databases in it.

use crate::error::variable;
use crate::{Error, SandboxEngine, client};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use tidemark_core::{Protocol, Target};

/// A server that answers: a private one, or one that runs elsewhere.
#[derive(Debug, Clone)]
pub struct Endpoint {
    engine: SandboxEngine,
    target: Target,
    socket: Option<PathBuf>,
}

impl Endpoint {
    pub(crate) fn private(
        engine: SandboxEngine,
        port: u16,
        socket: PathBuf,
    ) -> Result<Endpoint, Error> {
        let scheme = match engine {
            SandboxEngine::MariaDb => "mysql",
            SandboxEngine::Postgres => "postgres",
        };
        let mut endpoint =
            Endpoint::from_url(&format!("{scheme}://sbtest:sbtest@127.0.0.1:{port}/sbtest"))?;
        endpoint.socket = Some(socket);
        Ok(endpoint)
    }

    /// The server that `url` names, a `mysql://…` or `postgres://…` target URL with a database.
    ///
    /// # Errors
    /// [`Error::Variable`] when it is not such a URL.
    pub fn from_url(url: &str) -> Result<Endpoint, Error> {
        let fail = |engine: SandboxEngine, reason: String| Error::Variable {
            variable: variable(engine),
            reason,
        };
        let target = Target::parse(url).map_err(|e| fail(SandboxEngine::MariaDb, e.to_string()))?;
        let engine = match target.protocol {
            Protocol::Mysql => SandboxEngine::MariaDb,
            Protocol::Postgres => SandboxEngine::Postgres,
            Protocol::Sqlite => {
                let reason = "a SQLite file is no server".to_string();
                return Err(fail(SandboxEngine::MariaDb, reason));
            }
        };
        if target.database.is_empty() {
            return Err(fail(engine, format!("{target} names no database")));
        }
        Ok(Endpoint {
            engine,
            target,
            socket: None,
        })
    }

    /// What kind of server it is.
    pub fn engine(&self) -> SandboxEngine {
        self.engine
    }

    /// Hosts, account and database.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The Unix socket; none for a server that runs elsewhere.
    pub fn socket_path(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// The target URL, password included.
    pub fn url(&self) -> String {
        self.url_of(&self.target)
    }

    fn url_of(&self, target: &Target) -> String {
        let password = utf8_percent_encode(target.password.reveal(), NON_ALPHANUMERIC);
        target
            .to_string()
            .replacen(":***@", &format!(":{password}@"), 1)
    }

    /// The target URL by way of the Unix socket; none for a server that runs elsewhere.
    pub fn socket_url(&self) -> Option<String> {
        let socket = self.socket.clone()?;
        let mut target = self.target.clone();
        target.hosts = vec![tidemark_core::Host::Unix(socket)];
        Some(self.url_of(&target))
    }

    /// Runs SQL in the endpoint's own database through the command line client and returns the
    /// rows: columns parted by tabs, one row a line, no headings.
    ///
    /// # Errors
    /// [`Error::Sql`] with what the client printed; [`Error::Missing`] without a client.
    pub fn query(&self, sql: &str) -> Result<String, Error> {
        client::query(self, &self.target.database, sql)
    }

    /// Makes an empty database for one test; its name begins with `name` and is like no other.
    ///
    /// # Errors
    /// As for [`Endpoint::query`].
    pub fn fresh_database(&self, name: &str) -> Result<Database, Error> {
        self.database(name, "")
    }

    fn database(&self, name: &str, how: &str) -> Result<Database, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "{}_{}_{}",
            plain(name),
            process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        self.query(&format!("CREATE DATABASE {name}{how}"))?;
        let mut endpoint = self.clone();
        endpoint.target.database.clone_from(&name);
        Ok(Database {
            server: self.clone(),
            endpoint,
        })
    }
}

/// `name` as it may stand unquoted in SQL of both dialects, at most 30 characters.
fn plain(name: &str) -> String {
    let mut plain: String = name
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .take(30)
        .collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic()) {
        plain.insert(0, 't');
    }
    plain
}

/// One test's own database; dropped with the value.
#[derive(Debug)]
pub struct Database {
    server: Endpoint,
    endpoint: Endpoint,
}

impl Database {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.endpoint.target.database
    }

    /// The server's URL with this database in it, password included.
    pub fn url(&self) -> String {
        self.endpoint.url()
    }

    /// The same by way of the Unix socket; none for a server that runs elsewhere.
    pub fn socket_url(&self) -> Option<String> {
        self.endpoint.socket_url()
    }

    /// The server with this database as its own.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Makes another with the same tables, which PostgreSQL does from their files; nobody may be
    /// connected to this one.
    ///
    /// # Errors
    /// As for [`Endpoint::query`]: also on MariaDB, which has no such statement.
    pub fn copy(&self, name: &str) -> Result<Database, Error> {
        self.server
            .database(name, &format!(" TEMPLATE {}", self.name()))
    }

    /// Runs SQL in this database, as [`Endpoint::query`] does.
    ///
    /// # Errors
    /// As for [`Endpoint::query`].
    pub fn query(&self, sql: &str) -> Result<String, Error> {
        self.endpoint.query(sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Sessions that a failing test left open would keep PostgreSQL from dropping it.
        let force = match self.server.engine {
            SandboxEngine::MariaDb => "",
            SandboxEngine::Postgres => " WITH (FORCE)",
        };
        // A test may have ended the server; then there is nothing left to drop.
        let _ = self
            .server
            .query(&format!("DROP DATABASE IF EXISTS {}{force}", self.name()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        assert_eq!(plain("Load, resumed"), "load__resumed");
        assert_eq!(plain("1st"), "t1st");
        assert_eq!(plain(""), "t");
        assert_eq!(plain(&"é".repeat(40)).len(), 31);
    }

    #[test]
    fn urls_keep_password_and_options() {
        let url = "postgres://u:p%40w@h1:5433,h2:5433/db?tls=verify-ca&ca=/ca.pem";
        let endpoint = Endpoint::from_url(url).unwrap();
        assert_eq!(endpoint.url(), url);
        assert_eq!(endpoint.engine(), SandboxEngine::Postgres);
        assert!(!format!("{endpoint:?}").contains("p@w"));
    }

    #[test]
    fn unusable_urls_are_refused_by_name() {
        for url in ["mysql://u@h", "sqlite:x.db", "nonsense"] {
            let e = Endpoint::from_url(url).unwrap_err().to_string();
            assert!(e.contains("TIDEMARK_TEST_MYSQL_URL"), "{e}");
        }
    }
}
