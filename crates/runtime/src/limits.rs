//! How many sockets, and how much of the processors, the process may have.

#[cfg(unix)]
const OPEN_MAX: u64 = 10_240;

/// Raises the soft limit of open files to the hard one (getrlimit(2)) and gives what holds now;
/// `None` is no limit.
#[cfg(unix)]
pub fn raise_open_files() -> Option<u64> {
    use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    // macOS takes no soft limit beyond OPEN_MAX, whatever the hard one says (setrlimit(2) there).
    let holds = [hard, OPEN_MAX.min(hard)]
        .into_iter()
        .find(|limit| soft < *limit && setrlimit(Resource::RLIMIT_NOFILE, *limit, hard).is_ok())
        .unwrap_or(soft);
    (holds != RLIM_INFINITY).then_some(holds)
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn raise_open_files() -> Option<u64> {
    None
}

/// Whether what the process spends waiting it lacks for its work: where it has a single processor, or
/// where a quota (Linux's control groups, as containers use them) gives it less time than its
/// processors have, and stops it for many milliseconds when that is used up.
#[cfg(target_os = "linux")]
pub fn is_short_of_cpu() -> bool {
    // The standard library looks at quotas, and calls less than one processor one.
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    cores == 1 || cores < allowed_cores().len()
}

/// Other systems have no such quotas.
#[cfg(not(target_os = "linux"))]
pub fn is_short_of_cpu() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1)
}

/// The numbers of the cores that the calling thread may run on, in order; none where the system doesn't
/// say.
#[cfg(target_os = "linux")]
pub fn allowed_cores() -> Vec<usize> {
    use nix::sched::{CpuSet, sched_getaffinity};
    let Ok(allowed) = sched_getaffinity(nix::unistd::Pid::from_raw(0)) else {
        return Vec::new();
    };
    (0..CpuSet::count())
        .filter(|core| allowed.is_set(*core).unwrap_or(false))
        .collect()
}

/// Other systems don't say it.
#[cfg(not(target_os = "linux"))]
pub fn allowed_cores() -> Vec<usize> {
    Vec::new()
}

#[cfg(all(test, unix))]
mod tests {
    #[test]
    fn the_limit_is_what_the_system_says_it_is() {
        let raised = super::raise_open_files();
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let line = limits.lines().find(|l| l.starts_with("Max open files"));
        if let Some(line) = line {
            let soft = line.split_whitespace().nth(3).and_then(|n| n.parse().ok());
            assert_eq!(raised, soft);
        }
    }
}
