//! Why several clients can't be one.

/// Why several clients can't be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientsError {
    /// A word of the command line.
    #[error("{0}")]
    Usage(String),
    /// No server, or it takes nobody without a credential.
    #[error(
        "--nats {url}: {why}; start a server with: nats-server --jetstream --store_dir /var/tmp/nats"
    )]
    Connect {
        /// The server.
        url: String,
        /// What it said.
        why: String,
    },
    /// JetStream is off, or the account may not use it.
    #[error(
        "--nats {url}: JetStream does not work there: {why}; start the server with --jetstream, and \
         let the account use it"
    )]
    JetStream {
        /// The server.
        url: String,
        /// What it said.
        why: String,
    },
    /// Fewer agents than asked for.
    #[error(
        "--clients {asked}: {there} of {needed} agents can be used{because}; on each host: tidemark \
         agent --nats {url}; tidemark agents --nats {url} lists them"
    )]
    Agents {
        /// As it was asked.
        asked: String,
        /// How many are needed.
        needed: usize,
        /// How many can be used.
        there: usize,
        /// Why the others can't.
        because: String,
        /// The server.
        url: String,
    },
    /// An agent did not take its part.
    #[error("client {agent}: {why}")]
    Refused {
        /// Its name.
        agent: String,
        /// What it said.
        why: String,
    },
    /// NATS did not do what it was asked.
    #[error("NATS: {0}")]
    Nats(String),
    /// A run that can't be taken up.
    #[error("run {run}: {why}")]
    Run {
        /// The run.
        run: String,
        /// Why not.
        why: String,
    },
    /// The operating system.
    #[error("{0}")]
    System(String),
}

impl ClientsError {
    /// What NATS said, whatever was asked.
    pub(crate) fn nats(error: impl std::fmt::Display) -> Self {
        Self::Nats(error.to_string())
    }
}
