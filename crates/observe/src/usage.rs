//! What the process itself uses, from the operating system's own accounting.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tidemark_core::record::ClientUsage;

/// What this process (all its threads) has used since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// CPU seconds in user space.
    pub cpu_user_s: f64,
    /// CPU seconds in the kernel.
    pub cpu_system_s: f64,
    /// Of these two together, what executors took to stay awake for arrivals.
    pub cpu_awake_s: f64,
    /// Largest resident memory so far, in bytes.
    pub max_resident_bytes: u64,
}

impl Usage {
    /// What was used between an earlier look and this one. Resident memory has no difference: it is
    /// the largest until this look.
    pub fn since(&self, earlier: &Usage) -> ClientUsage {
        ClientUsage {
            cpu_user_s: (self.cpu_user_s - earlier.cpu_user_s).max(0.0),
            cpu_system_s: (self.cpu_system_s - earlier.cpu_system_s).max(0.0),
            cpu_awake_s: (self.cpu_awake_s - earlier.cpu_awake_s).max(0.0),
            max_resident_bytes: self.max_resident_bytes,
            ..ClientUsage::default()
        }
    }
}

/// Looks now. Zero where the system does not answer.
pub fn usage() -> Usage {
    let Ok(used) = getrusage(UsageWho::RUSAGE_SELF) else {
        return Usage::default();
    };
    let seconds = |t: nix::sys::time::TimeVal| t.num_microseconds() as f64 / 1e6;
    let max_rss = u64::try_from(used.max_rss()).unwrap_or(0);
    Usage {
        cpu_user_s: seconds(used.user_time()),
        cpu_system_s: seconds(used.system_time()),
        cpu_awake_s: tidemark_runtime::busy_polled().as_secs_f64(),
        // getrusage(2): kilobytes on Linux, bytes on macOS.
        max_resident_bytes: high_water_mark().unwrap_or(if cfg!(target_os = "macos") {
            max_rss
        } else {
            max_rss * 1024
        }),
    }
}

/// Linux's `ru_maxrss` survives `execve`: a small process started by a large one shows the large
/// one's peak. `VmHWM` (proc_pid_status(5)) belongs to this program alone.
fn high_water_mark() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    crate::client::proc::memory(&status, "VmHWM")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn work_is_counted_as_user_time() {
        let before = usage();
        let start = Instant::now();
        let mut x = 1u64;
        let cpu = || {
            let used = usage().since(&before);
            used.cpu_user_s + used.cpu_system_s
        };
        while cpu() < 0.2 && start.elapsed() < Duration::from_secs(60) {
            for _ in 0..10_000 {
                x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            }
        }
        // Other tests of this process run beside it, so there may be more.
        let used = cpu();
        let cores = std::thread::available_parallelism().unwrap().get() as f64;
        let most = start.elapsed().as_secs_f64() * cores + 0.1;
        assert!((0.2..most).contains(&used), "{used} of {most}");
    }

    #[test]
    fn touched_memory_is_counted_in_bytes() {
        let before = usage().max_resident_bytes;
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        let after = usage().max_resident_bytes;
        assert!(after >= 64 << 20, "{after}");
        assert!(after < before + (256 << 20), "{before} then {after}");
        drop(block);
    }

    #[test]
    fn a_difference_is_never_negative() {
        let later = Usage {
            cpu_user_s: 2.0,
            cpu_system_s: 0.5,
            cpu_awake_s: 1.5,
            max_resident_bytes: 7,
        };
        let swapped = Usage::default().since(&later);
        assert_eq!((swapped.cpu_user_s, swapped.cpu_system_s), (0.0, 0.0));
        assert_eq!((swapped.cpu_awake_s, swapped.work_s()), (0.0, 0.0));
        let used = later.since(&Usage {
            cpu_user_s: 0.5,
            ..Usage::default()
        });
        assert_eq!((used.cpu_user_s, used.cpu_system_s), (1.5, 0.5));
        assert_eq!((used.cpu_awake_s, used.work_s()), (1.5, 0.5));
        assert_eq!(used.max_resident_bytes, 7);
    }
}
