//! How the operating system schedules threads.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Processor time that all threads of this process have used; zero where the system does not say.
pub fn process_cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// How long the calling thread has waited for a processor while it could run (Linux's `schedstat`,
/// Documentation/scheduler/sched-stats); `None` where the system does not say.
pub fn thread_run_delay() -> Option<Duration> {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let waited = account.split_ascii_whitespace().nth(1)?;
    waited.parse().ok().map(Duration::from_nanos)
}

/// Makes this thread one that does not take the processor from others when it is woken (Linux's
/// `SCHED_BATCH`, sched(7)); whether the system took it.
///
/// Where load and database share processors, each reply would otherwise stop the server in the
/// middle of its next one. On an idle processor a woken thread runs at once all the same.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn do_not_preempt() -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the pointer is to a live, initialised structure, which the call only reads; thread 0
    // is the calling one.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &parameters) == 0 }
}

/// Other systems have nothing like it.
#[cfg(not(target_os = "linux"))]
pub fn do_not_preempt() -> bool {
    false
}

/// How long a thread of short turns runs at most while others wait; the kernel takes no less.
#[cfg(target_os = "linux")]
const SHORT_TURN: Duration = Duration::from_micros(100);

/// Makes the turns of this thread on a processor short, so that they come soon (Linux 6.12 and later:
/// a slice of `SCHED_OTHER`, sched_setattr(2)); whether the system took it. Older ones take it and do as
/// before.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn take_short_turns() -> bool {
    let size = size_of::<libc::sched_attr>();
    let mut attributes = std::mem::MaybeUninit::<libc::sched_attr>::zeroed();
    // SAFETY: the kernel writes at most `size` bytes, which the structure has; thread 0 is the calling one.
    let is_read =
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, attributes.as_mut_ptr(), size, 0) == 0 };
    // SAFETY: every field is a number, for which zeros are a value, too.
    let mut attributes = unsafe { attributes.assume_init() };
    attributes.sched_runtime = u64::try_from(SHORT_TURN.as_nanos()).unwrap_or(u64::MAX);
    // SAFETY: the pointer is to a live, initialised structure, which the call only reads.
    is_read && unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 }
}

/// Other systems have nothing like it.
#[cfg(not(target_os = "linux"))]
pub fn take_short_turns() -> bool {
    false
}

/// The number of the core that this thread runs on, which may be another one at once; `None` where the
/// system doesn't say.
#[cfg(target_os = "linux")]
#[inline]
pub fn current_core() -> Option<usize> {
    nix::sched::sched_getcpu().ok()
}

/// Other systems don't say it.
#[cfg(not(target_os = "linux"))]
pub fn current_core() -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn the_thread_is_a_batch_thread_afterwards() {
        assert!(super::do_not_preempt());
        // proc_pid_stat(5), field 41: the scheduling policy; SCHED_BATCH is 3.
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = stat.rsplit(')').next().unwrap();
        assert_eq!(after_name.split_whitespace().nth(38), Some("3"));
    }

    #[test]
    fn a_thread_of_short_turns_is_one_of_its_priority() {
        let priority = || {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            let after_name = stat.rsplit(')').next().unwrap();
            // proc_pid_stat(5), fields 18 and 19 (nice), and 41 (policy).
            let fields: Vec<&str> = after_name.split_whitespace().collect();
            [fields[15], fields[16], fields[38]].map(str::to_string)
        };
        let before = priority();
        assert!(super::take_short_turns());
        assert_eq!(priority(), before);
    }
}
