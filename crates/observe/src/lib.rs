//! Facts about the client (the machine that makes the load, and what the process itself uses), and
//! whatever else watches a run beside its load: a [`SeriesSource`] gives series, and [`Sampling`] looks
//! at sources while the run goes on.
//!
//! Nothing here fails: what a system does not tell stays empty or zero, because a run must not end
//! for want of a decoration.
//!
//! ```
//! use std::time::Duration;
//! use tidemark_observe::Samples;
//! let mut samples = Samples::new("rack", Duration::from_secs(1));
//! let power = samples.gauge("power", "W", &[("socket", "1")], 0);
//! samples.begin(Some(0));
//! samples.put(power, 212.0);
//! let series = samples.series();
//! assert_eq!((series[0].key.name.as_str(), series[0].key.unit.as_str()), ("power", "W"));
//! ```

#[cfg(test)]
extern crate self as tidemark_observe;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod cgroup;
mod client;
mod condition;
mod db;
mod disk;
mod host;
mod io_limits;
mod kept_files;
mod load;
mod look;
mod network;
mod observing;
mod own;
mod sampling;
mod server;
mod source;
mod topology;
mod usage;

pub use cgroup::cpu_quota;
pub use client::{ClientHostSource, MOST_CORES};
pub use condition::HostCondition;
pub use disk::{HostExporter, data_disks, disks_of};
pub use host::client_host;
pub use load::{ClientLoad, HostSampler};
pub use look::look;
pub use observing::{Observing, Sources, sources};
pub use sampling::{Sampling, SamplingResult, SeriesSink};
pub use server::EndpointAccess;
pub use source::{Metric, Samples, SeriesHandle, SeriesSource};
pub use topology::{TopologyError, read_topology, with_members};
pub use usage::{Usage, usage};
