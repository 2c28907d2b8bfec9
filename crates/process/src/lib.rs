//! Processes of this machine: named so that no later process with the same number is taken for
//! them, looked at, signalled.

mod identity;
mod signal;

pub use identity::{Liveness, ProcessId, alive, arguments, boot_id, started};
pub use signal::{children, kill_and_reap, kill_group, signal, wait_until};
