//! What happens in a run of several clients.

use crate::clock::Offset;
use crate::protocol::Message;

/// What a client is, before it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFacts {
    /// The agent.
    pub agent: String,
    /// Its host.
    pub hostname: String,
    /// How far its clock is ahead.
    pub clock: Offset,
}

/// What became of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEnd {
    /// What it is; its clock as it was compared last.
    pub facts: ClientFacts,
    /// Nanoseconds from the moment at which all were to begin until it did.
    pub late_ns: Option<i64>,
    /// Why it is lost, if it is.
    pub lost: Option<String>,
}

/// What happens, in order.
#[derive(Debug)]
pub enum CoordinatorEvent {
    /// These clients take part.
    Chosen(Vec<ClientFacts>),
    /// All are ready, and begin at this moment of this host's monotonic clock, in nanoseconds.
    Begins(i64),
    /// A client's load said something. Each message comes once, in the client's order.
    Message(u32, Box<Message>),
    /// A client is lost. Nothing more of it comes.
    Lost {
        /// Which.
        client: u32,
        /// Why.
        why: String,
        /// When it was noticed, by this host's monotonic clock in nanoseconds.
        at_ns: i64,
    },
    /// Each client has said its last message or is lost.
    Over {
        /// What became of each, in order.
        clients: Vec<ClientEnd>,
        /// Parts of messages that did not count: of earlier leases and lost clients.
        refused: u64,
    },
    /// Nothing more comes, and why.
    Failed(crate::ClientsError),
}
