//! What several clients are to do.

use crate::protocol::OnLoss;
use std::time::Duration;
use tidemark_core::Job;
use tidemark_core::record::RunRecord;

/// How long things take.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Leases are renewed so often.
    pub renew: Duration,
    /// An answer takes no longer.
    pub answer: Duration,
    /// An agent that nobody hears any more, as NATS says, is lost after this time.
    pub gone: Duration,
    /// One that does not answer is lost after this time.
    pub silent: Duration,
    /// A load that is not renewed is killed after this time, and ends by itself before
    /// ([`crate::stop_after`]).
    pub lease: Duration,
    /// From the moment at which all are ready until all begin.
    pub lead: Duration,
    /// The run's entry, which NATS keeps for a day, is written again so often.
    pub entry: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            renew: Duration::from_millis(400),
            answer: Duration::from_secs(1),
            gone: Duration::from_millis(1200),
            silent: Duration::from_secs(4),
            lease: Duration::from_secs(10),
            lead: Duration::from_millis(500),
            entry: Duration::from_secs(3600),
        }
    }
}

/// What several clients are to do.
#[derive(Debug, Clone)]
pub struct ClientsPlan {
    /// The run's id: letters, digits, `-` and `_`.
    pub run: String,
    /// How many agents (`3`), or which (`a,b,c`).
    pub clients: String,
    /// Version of this program.
    pub version: String,
    /// The whole job; each client gets it with its own shard.
    pub job: Job,
    /// The record so far, for whoever takes the run up.
    pub record: Option<Box<RunRecord>>,
    /// What to do when a client is lost.
    pub on_loss: OnLoss,
    /// How long things take.
    pub timing: Timing,
}
