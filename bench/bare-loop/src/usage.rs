//! What the process used, from the operating system's own accounting. The yardstick shares no
//! code with what is measured against it.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io;

/// What this process used since it started.
pub(crate) struct Usage {
    /// CPU seconds in user space.
    pub(crate) cpu_user_s: f64,
    /// CPU seconds in the kernel.
    pub(crate) cpu_system_s: f64,
    /// Largest resident memory in bytes.
    pub(crate) max_rss_bytes: u64,
}

/// Looks now.
pub(crate) fn usage() -> io::Result<Usage> {
    let used = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |t: TimeVal| t.num_microseconds() as f64 / 1e6;
    // getrusage(2): in kilobytes on Linux. The launcher's memory is in it when the launcher
    // forked; VmHWM of proc_pid_status(5) begins anew at execve.
    let inherited = u64::try_from(used.max_rss()).unwrap_or(0) * 1024;
    Ok(Usage {
        cpu_user_s: seconds(used.user_time()),
        cpu_system_s: seconds(used.system_time()),
        max_rss_bytes: high_water_mark().unwrap_or(inherited),
    })
}

fn high_water_mark() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
