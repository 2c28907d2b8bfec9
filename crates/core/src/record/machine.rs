//! What short tests of the machine showed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What short tests of the client's machine showed, before a study began: one thread each, and nothing
/// else of Tidemark's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineFigures {
    /// Searches a second for the prime numbers up to 10,000 (`sysbench cpu`).
    pub cpu_events_per_s: f64,
    /// Memory read, in MiB a second, in blocks of 1 MiB (`sysbench memory`).
    pub memory_read_mib_per_s: f64,
    /// Memory written, likewise.
    pub memory_write_mib_per_s: f64,
    /// Mean milliseconds of an fsync after a write of 16 KiB (`sysbench fileio`).
    pub fsync_mean_ms: f64,
    /// Their 95th percentile.
    pub fsync_p95_ms: f64,
    /// The folder whose disk that is.
    pub folder: String,
}
