//! How much CPU the client may use: its cores, or less under a quota (Linux: control groups of both
//! versions; kernel documentation, `cgroup-v2.rst` and `scheduler/sched-bwc.rst`).

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Where control groups are.
const ROOT: &str = "/sys/fs/cgroup";

/// Cores that this process and its children may use, which may be a part of one.
pub fn may_use(cores: usize) -> f64 {
    let own = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let quota = least(&own, Path::new(ROOT));
    quota.unwrap_or(f64::INFINITY).min(cores.max(1) as f64)
}

/// The smallest quota of the groups that a process is in, and those around them.
fn least(groups: &str, root: &Path) -> Option<f64> {
    let of_line = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let is_cpu = controllers.split(',').any(|c| c == "cpu");
        let (root, quota): (PathBuf, fn(&Path) -> Option<f64>) = match controllers {
            "" => (root.into(), version_2),
            _ if is_cpu => (root.join(controllers), version_1),
            _ => return None,
        };
        let group = root.join(path.trim_start_matches('/'));
        let within = |folder: &&Path| folder.starts_with(&root);
        let around = group.ancestors().take_while(within);
        around.filter_map(quota).min_by(f64::total_cmp)
    };
    groups.lines().filter_map(of_line).min_by(f64::total_cmp)
}

/// `cpu.max`: quota and period in microseconds, or `max`.
fn version_2(group: &Path) -> Option<f64> {
    let text = read_to_string(group.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota, period)
}

fn version_1(group: &Path) -> Option<f64> {
    let read = |name: &str| read_to_string(group.join(name)).ok();
    share(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?)
}

fn share(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    // Version 1 writes -1 for none.
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_smallest_quota_around_a_process_counts() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        put("a/cpu.max", "50000 100000\n");
        put("a/b/cpu.max", "max 100000\n");
        assert_eq!(least("0::/a/b\n", root.path()), Some(0.5));
        assert_eq!(least("0::/\n", root.path()), None);
        put("cpu,cpuacct/x/cpu.cfs_quota_us", "20000\n");
        put("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
        put("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        put("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
        let groups = "4:memory:/x\n3:cpu,cpuacct:/x\n0::/\n";
        assert_eq!(least(groups, root.path()), Some(0.2));
        assert!(may_use(4) <= 4.0);
    }
}
