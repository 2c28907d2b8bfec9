//! One server per process and engine, for tests that only need a database in it.

use crate::error::variable;
use crate::{Endpoint, Error, SandboxEngine, Server};
use std::env;
use std::sync::OnceLock;

/// The process's MariaDB, or the server that `TIDEMARK_TEST_MYSQL_URL` names; started by the first
/// test that asks.
///
/// # Errors
/// Whatever kept it from starting: the same for every test that asks.
pub fn shared_mariadb() -> Result<&'static Endpoint, Error> {
    shared(SandboxEngine::MariaDb)
}

/// The process's PostgreSQL, or the server that `TIDEMARK_TEST_POSTGRES_URL` names.
///
/// # Errors
/// Whatever kept it from starting: the same for every test that asks.
pub fn shared_postgres() -> Result<&'static Endpoint, Error> {
    shared(SandboxEngine::Postgres)
}

/// The process's server of this kind.
///
/// # Errors
/// Whatever kept it from starting: the same for every test that asks.
pub fn shared(engine: SandboxEngine) -> Result<&'static Endpoint, Error> {
    static MARIADB: OnceLock<Result<Shared, Error>> = OnceLock::new();
    static POSTGRES: OnceLock<Result<Shared, Error>> = OnceLock::new();
    let place = match engine {
        SandboxEngine::MariaDb => &MARIADB,
        SandboxEngine::Postgres => &POSTGRES,
    };
    match place.get_or_init(|| Shared::open(engine, env::var(variable(engine)).ok())) {
        Ok(Shared::Elsewhere(endpoint)) => Ok(endpoint),
        Ok(Shared::Private(server)) => Ok(server.endpoint()),
        Err(e) => Err(e.clone()),
    }
}

#[derive(Debug)]
enum Shared {
    /// Statics are never dropped: the watchdog ends it with the process.
    Private(Box<Server>),
    Elsewhere(Box<Endpoint>),
}

impl Shared {
    fn open(engine: SandboxEngine, url: Option<String>) -> Result<Shared, Error> {
        let Some(url) = url.filter(|url| !url.is_empty()) else {
            return Server::builder(engine)
                .start()
                .map(|server| Shared::Private(Box::new(server)));
        };
        let endpoint = Endpoint::from_url(&url)?;
        let fail = |reason: String| Error::Variable {
            variable: variable(engine),
            reason,
        };
        if endpoint.engine() != engine {
            return Err(fail(format!("{} is no {engine}", endpoint.target())));
        }
        endpoint
            .query("SELECT 1")
            .map_err(|e| fail(format!("{} does not answer: {e}", endpoint.target())))?;
        Ok(Shared::Elsewhere(Box::new(endpoint)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_the_wrong_kind_or_without_an_answer_fails_by_name() {
        for (url, part) in [
            ("postgres://u@127.0.0.1/db", "is no MariaDB"),
            ("mysql://u:geheim@127.0.0.1:1/db", "does not answer"),
            ("mysql://u:geheim@h:x/db", "invalid port"),
        ] {
            let e = Shared::open(SandboxEngine::MariaDb, Some(url.into())).unwrap_err();
            let text = e.to_string();
            assert!(text.contains(part), "{text}");
            assert!(text.contains("TIDEMARK_TEST_MYSQL_URL"), "{text}");
            assert!(!text.contains("geheim"), "{text}");
        }
    }
}
