//! Why a run or a load ended early.

use std::time::Duration;
use tidemark_core::DbError;

/// Why a run or a load ended early.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// A session could not be opened.
    #[error("{}{error}", of(*.session))]
    Connect {
        /// Which session, from 0.
        session: usize,
        /// What the driver said.
        error: DbError,
    },
    /// A session's statements could not be prepared.
    #[error("{}{error}", of(*.session))]
    Init {
        /// Which session, from 0.
        session: usize,
        /// What the driver said.
        error: DbError,
    },
    /// Not all sessions were ready in time.
    #[error("only {ready} of {asked} sessions were ready after {} s", .after.as_secs_f64())]
    InitTimeout {
        /// Sessions ready.
        ready: usize,
        /// Sessions asked for.
        asked: usize,
        /// The time allowed.
        after: Duration,
    },
    /// Fewer sessions can be had than were asked for.
    #[error(
        "{asked} sessions requested, {possible} possible: {reason}. Request fewer, raise that \
         limit, or continue with fewer: --fewer-sessions=go-on"
    )]
    TooFewSessions {
        /// Sessions asked for.
        asked: usize,
        /// Sessions that can be had.
        possible: usize,
        /// What the target or the operating system said.
        reason: String,
    },
    /// A statement failed in a way that neither the driver nor the user calls ignorable.
    #[error("{}{error}", of(*.session))]
    Statement {
        /// Which session, from 0.
        session: usize,
        /// What the driver said.
        error: DbError,
    },
    /// A lost session could not be opened again in the time allowed.
    #[error("{}connection lost and not restored within {} s: {error}", of(*.session), .after.as_secs_f64())]
    NotBack {
        /// Which session, from 0.
        session: usize,
        /// The time allowed.
        after: Duration,
        /// The last attempt's error.
        error: DbError,
    },
    /// Of several clients that make a run together, one was lost or failed.
    #[error("{0}")]
    Clients(String),
    /// Transactions in progress were cut off after the run's end (`--forced-shutdown`).
    #[error(
        "in-flight transactions did not finish in time and were aborted; the results exclude \
         these slowest ones"
    )]
    ForcedShutdown,
    /// A table is in the way of a load or of a cleanup.
    #[error("{0}")]
    Refused(String),
    /// What was loaded is not what was asked for.
    #[error("{0}")]
    Check(String),
    /// The workload can't be had on this engine.
    #[error("{0}")]
    Unsupported(String),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// The operating system refused a thread, a poller or a socket.
    #[error("the client's operating system: {0}")]
    System(String),
}

/// Names the session, unless it is the first: then its number says nothing.
fn of(session: usize) -> String {
    match session {
        0 => String::new(),
        n => format!("session {n}: "),
    }
}

impl EngineError {
    /// The driver's error behind it, if there is one.
    pub fn db(&self) -> Option<&DbError> {
        match self {
            EngineError::Connect { error, .. }
            | EngineError::Init { error, .. }
            | EngineError::Statement { error, .. }
            | EngineError::NotBack { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> Self {
        EngineError::System(error.to_string())
    }
}
