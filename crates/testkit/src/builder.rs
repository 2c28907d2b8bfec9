//! What a private server is to be like.

use crate::{Error, SandboxEngine, Server};
use std::time::Duration;

/// Settings of a private server that is not started yet.
///
/// The server begins with small and fast ones: 64 MiB of cache, nothing forced to disk
/// (what was committed survives [`Server::kill9`], not a power cut).
#[derive(Debug, Clone)]
pub struct ServerBuilder {
    pub(crate) engine: SandboxEngine,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) hba: Vec<String>,
    pub(crate) tls: bool,
    pub(crate) start_limit: Duration,
}

impl ServerBuilder {
    pub(crate) fn new(engine: SandboxEngine) -> ServerBuilder {
        ServerBuilder {
            engine,
            settings: Vec::new(),
            hba: Vec::new(),
            tls: false,
            start_limit: Duration::from_secs(60),
        }
    }

    /// Sets a server variable: `--NAME=VALUE` of `mariadbd`, `-c NAME=VALUE` of `postgres`.
    ///
    /// A later setting of the same name wins, also over this crate's own. An `ed25519` account
    /// needs `setting("plugin-load-add", "auth_ed25519")`.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Puts a line at the head of PostgreSQL's `pg_hba.conf`, where the first match counts; without
    /// it every connection needs SCRAM-SHA-256. MariaDB ignores it.
    pub fn hba(mut self, line: &str) -> Self {
        self.hba.push(line.into());
        self
    }

    /// Makes a certificate authority and a certificate for `localhost` and 127.0.0.1 and lets the
    /// server speak TLS with it; [`Server::tls`] tells the files.
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// How long the server may take until it answers; 60 s unless set.
    pub fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }

    /// Makes the server's files, starts it and waits until it answers.
    ///
    /// # Errors
    /// [`Error::Missing`] when a program is not installed, [`Error::Sandbox`] with the end of the
    /// server's log when it does not come up.
    pub fn start(self) -> Result<Server, Error> {
        Server::start(self)
    }
}
