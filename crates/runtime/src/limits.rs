//! How many sockets the process may have.

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
