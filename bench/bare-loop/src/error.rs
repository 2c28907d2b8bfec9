//! Why the loop could not run.

use std::io;

/// Why the loop could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoopError {
    /// The socket failed, or the server said nothing for too long.
    #[error("socket: {0}")]
    Io(#[from] io::Error),
    /// The server answered with an error.
    #[error("the server says: {0}")]
    Server(String),
    /// The server answered with something this loop does not know.
    #[error("{0}")]
    Protocol(String),
    /// What was asked for is not for this loop.
    #[error("{0}")]
    Usage(String),
    /// A thread of the loop died.
    #[error("a session's thread died")]
    Thread,
}
