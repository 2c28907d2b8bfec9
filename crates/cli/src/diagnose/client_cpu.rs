//! How much CPU the client may use: its cores, or less under a quota.

use tidemark_observe::cpu_quota;

/// Cores that this process and its children may use, which may be a part of one.
pub fn may_use(cores: usize) -> f64 {
    let quota = cpu_quota();
    quota.unwrap_or(f64::INFINITY).min(cores.max(1) as f64)
}
