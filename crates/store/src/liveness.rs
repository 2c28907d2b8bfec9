//! Whether the process that writes a run still lives, and for how long nothing was written.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use tidemark_process::{Liveness, ProcessId, boot_id};

/// Milliseconds since 1970, for telling how long nothing was written.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|d| i64::try_from(d.as_millis()).ok())
        .unwrap_or(0)
}
