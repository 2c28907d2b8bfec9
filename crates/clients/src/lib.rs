//! Several client hosts as one: agents that make load, and one coordinator. They meet at a NATS server
//! with JetStream.
//!
//! An [`Agent`] on each host takes its part of a run, starts the load as a process of its own, and ends it
//! when the coordinator's lease is not renewed. A [`ClientsRun`] is the coordinator's side: it chooses agents,
//! compares clocks, lets all begin at one moment, and gives what they measured, message by message, each
//! once and in order. What the messages come to is for its user.

mod agent;
mod choice;
mod clock;
mod collect;
mod connection;
mod coordinator;
mod error;
mod event;
mod found_run;
mod held;
mod inbox;
mod lease;
mod listing;
mod local;
mod plan;
mod process;
mod protocol;
mod publisher;
mod renewing;
mod run;
mod simulated;
mod ssh;
#[cfg(test)]
mod tests;

pub use agent::Agent;
pub use clock::{Offset, instant_of, now_ns};
pub use connection::NatsOptions;
pub use error::ClientsError;
pub use event::{ClientEnd, ClientFacts, CoordinatorEvent};
pub use held::{Hear, Launch, Load};
pub use lease::stop_after;
pub use listing::{Listed, ListedState, list};
pub use local::{Local, find_server};
pub use plan::{ClientsPlan, Timing};
pub use process::{Admit, Processes};
pub use protocol::{Down, HeldRate, Lease, Message, OnLoss, RunEntry, Up, is_name, name_of_host};
pub use run::ClientsRun;
pub use simulated::Simulated;
pub use ssh::{Ssh, start as start_by_ssh};

/// What everything here runs on: one thread, for there is little to do.
fn runtime() -> Result<tokio::runtime::Runtime, ClientsError> {
    let built = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    built.map_err(|e| ClientsError::System(format!("the runtime can't be started: {e}")))
}
