//! Why a laboratory did not start.

use std::io;
use std::net::SocketAddr;

/// Why a laboratory did not start.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// It can't listen there.
    #[error("can't listen at {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The system gave no poller, timer or thread.
    #[error("the system refuses what a laboratory needs: {0}")]
    System(#[from] io::Error),
    /// A setting makes no sense.
    #[error("{0}")]
    Config(String),
}
