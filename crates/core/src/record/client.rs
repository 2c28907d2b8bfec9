//! The machine that made the load, and what the client used of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine that made the load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientHost {
    /// Host name.
    pub hostname: String,
    /// Operating system and its version.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// CPU model name.
    pub cpu_model: String,
    /// Logical cores that the process may use.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// What the client process itself used during the measurement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientUsage {
    /// CPU seconds in user space.
    pub cpu_user_s: f64,
    /// CPU seconds in the kernel.
    pub cpu_system_s: f64,
    /// Of these two together, what threads took to stay awake for arrivals of an open loop.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cpu_awake_s: f64,
    /// Largest resident memory in bytes.
    pub max_resident_bytes: u64,
    /// Seconds in which it was used, warm-up included; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Share of the client host's processors that was busy meanwhile, 0 to 1, with whatever ran there;
    /// absent where the system did not tell, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy: Option<f64>,
    /// Threads of the load that could run and waited for a processor, on average, warm-up included;
    /// absent where the system did not tell, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_threads: Option<f64>,
}

impl ClientUsage {
    /// CPU seconds of what the load itself took.
    pub fn work_s(&self) -> f64 {
        (self.cpu_user_s + self.cpu_system_s - self.cpu_awake_s).max(0.0)
    }
}

pub(super) fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
