//! Processes of this machine: named so that no later process with the same number is taken for
//! them, looked at, signalled; and what others see of this one.
//!
//! ```
//! use tidemark_process::{Liveness, ProcessId, boot_id};
//! let mut me = ProcessId::own("db1");
//! assert_eq!(me.liveness(boot_id().as_deref()), Liveness::Alive);
//! // The same number, started at another time: another process.
//! me.pid_started = Some("1".into());
//! assert_eq!(me.liveness(boot_id().as_deref()), Liveness::Gone);
//! ```

mod environment;
mod identity;
mod signal;

pub use environment::hide_variables;
pub use identity::{Liveness, ProcessId, alive, all, arguments, boot_id, group, started};
pub use signal::{Signal, children, kill_and_reap, kill_group, signal, wait_until};
