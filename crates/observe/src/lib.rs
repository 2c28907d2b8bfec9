//! Facts about the client: the machine that makes the load, and what the process itself uses.
//!
//! Nothing here fails: what a system does not tell stays empty or zero, because a run must not end
//! for want of a decoration.

mod host;
mod load;
mod usage;

pub use host::client_host;
pub use load::{HostLoad, HostSampler};
pub use usage::{Usage, usage};
