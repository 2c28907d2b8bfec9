//! Processes of this machine: named so that no later process with the same number is taken for
//! them, looked at, signalled.

mod identity;
mod signal;

pub use identity::{Liveness, ProcessId, alive, all, arguments, boot_id, group, started};
pub use signal::{Signal, children, kill_and_reap, kill_group, signal, wait_until};
