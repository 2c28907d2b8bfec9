//! The CPU that control groups leave to a process: their quota, and how often and how long it stopped the
//! group (Linux, both versions; kernel documentation, `cgroup-v2.rst` and `scheduler/sched-bwc.rst`).

use crate::source::{Metric, Samples};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Where control groups are.
const ROOT: &str = "/sys/fs/cgroup";

const CORES: Metric = Metric::gauge("cgroup.quota", "cores", 2);
/// Of the periods in which the group ran, those in which it was stopped.
const USED_UP: Metric = Metric::gauge("cgroup.used-up", "ratio", 2);
/// Of each processor's run queue; several may be stopped at the same time.
const THROTTLED: Metric = Metric::time("cgroup.throttled", 1e-3);

/// Processors that this process and its children may use by a quota, which may be a part of one; `None`
/// without a quota.
pub fn cpu_quota() -> Option<f64> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    smallest(&groups, Path::new(ROOT)).map(|limit| limit.cores)
}

/// A group with a quota.
#[derive(Debug, Clone, PartialEq)]
struct GroupQuota {
    cores: f64,
    group: PathBuf,
}

/// What a group was given and could not use, since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Stopped {
    periods: u64,
    throttled: u64,
    throttled_us: f64,
}

/// The smallest quota of the groups that a process is in, and of those around them.
fn smallest(groups: &str, root: &Path) -> Option<GroupQuota> {
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
        let around = group.ancestors().take_while(|g| g.starts_with(&root));
        let limits = around.filter_map(|group| {
            Some(GroupQuota {
                cores: quota(group)?,
                group: group.into(),
            })
        });
        limits.min_by(|a, b| a.cores.total_cmp(&b.cores))
    };
    let limits = groups.lines().filter_map(of_line);
    limits.min_by(|a, b| a.cores.total_cmp(&b.cores))
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

/// `cpu.stat`: version 2 counts microseconds, version 1 nanoseconds.
fn stopped(stat: &str) -> Option<Stopped> {
    let of = |name: &str| {
        let line = stat.lines().find_map(|l| l.strip_prefix(name))?;
        line.strip_prefix(' ')?.trim().parse::<u64>().ok()
    };
    let us = of("throttled_usec").map(|us| us as f64);
    let by_ns = || of("throttled_time").map(|ns| ns as f64 / 1000.0);
    Some(Stopped {
        periods: of("nr_periods")?,
        throttled: of("nr_throttled")?,
        throttled_us: us.or_else(by_ns)?,
    })
}

/// What the quota of a process does to it, look by look. Without a quota it tells nothing.
#[derive(Debug, Default)]
pub(crate) struct Throttling {
    last: Option<(PathBuf, Stopped)>,
}

impl Throttling {
    /// Of a process by its number, or of `self`.
    pub fn sample(&mut self, process: &str, samples: &mut Samples) {
        let groups = read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
        self.tell(&groups, Path::new(ROOT), samples);
    }

    fn tell(&mut self, groups: &str, root: &Path, samples: &mut Samples) {
        let limit = smallest(groups, root);
        let read = |limit: GroupQuota| {
            let stat = read_to_string(limit.group.join("cpu.stat")).ok()?;
            Some((limit, stopped(&stat)?))
        };
        let Some((limit, now)) = limit.and_then(read) else {
            self.last = None;
            return;
        };
        samples.tell(&CORES, &[], limit.cores);
        samples.tell(&THROTTLED, &[], now.throttled_us);
        let before = self.last.replace((limit.group.clone(), now));
        if let Some((of, before)) = before
            && of == limit.group
        {
            let periods = now.periods.saturating_sub(before.periods);
            let throttled = now.throttled.saturating_sub(before.throttled);
            // A group that slept used up nothing.
            let share = throttled as f64 / (periods as f64).max(1.0);
            samples.tell(&USED_UP, &[], share.min(1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    /// Files of control groups below a folder.
    fn put(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn the_smallest_quota_around_a_process_counts() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| put(root.path(), path, text);
        let least = |groups: &str| smallest(groups, root.path()).map(|limit| limit.cores);
        put("a/cpu.max", "50000 100000\n");
        put("a/b/cpu.max", "max 100000\n");
        assert_eq!(least("0::/a/b\n"), Some(0.5));
        assert_eq!(least("0::/\n"), None);
        put("cpu,cpuacct/x/cpu.cfs_quota_us", "20000\n");
        put("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
        put("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        put("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
        let groups = "4:memory:/x\n3:cpu,cpuacct:/x\n0::/\n";
        assert_eq!(least(groups), Some(0.2));
        // A group beyond what is mounted here has no files.
        assert_eq!(least("0::/../x\nnonsense\n"), None);
    }

    #[test]
    fn both_versions_count_what_was_stopped() {
        let told = stopped("usage_usec 5\nnr_periods 30\nnr_throttled 7\nthrottled_usec 2500\n");
        let expected = Stopped {
            periods: 30,
            throttled: 7,
            throttled_us: 2500.0,
        };
        assert_eq!(told, Some(expected));
        let told = stopped("nr_periods 30\nnr_throttled 7\nthrottled_time 2500000\n");
        assert_eq!(told, Some(expected));
        // The root of version 2 has no quota.
        assert_eq!(stopped("usage_usec 5\nuser_usec 1\n"), None);
        assert_eq!(stopped("nr_periods x\n"), None);
    }

    #[test]
    fn a_quota_is_told_with_the_share_of_periods_in_which_it_was_used_up() {
        let root = tempfile::tempdir().unwrap();
        let mut throttling = Throttling::default();
        let mut samples = Samples::new("client-host", Duration::from_millis(8));
        let groups = "0::/a\n";
        samples.begin(None);
        throttling.tell(groups, root.path(), &mut samples);
        samples.begin(Some(0));
        throttling.tell(groups, root.path(), &mut samples);
        assert!(samples.series().is_empty(), "without a quota");
        put(root.path(), "a/cpu.max", "50000 100000\n");
        for (at, periods, throttled) in [(1000, 100, 50), (2000, 110, 58), (3000, 110, 58)] {
            let us = throttled * 1000;
            let stat =
                format!("nr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec {us}\n");
            put(root.path(), "a/cpu.stat", &stat);
            std::thread::sleep(Duration::from_millis(2));
            samples.begin(Some(at));
            throttling.tell(groups, root.path(), &mut samples);
        }
        let points = |name: &str| -> Vec<(i64, f64)> {
            let series = samples.series();
            let one = series.iter().find(|s| s.key.name == name).unwrap();
            let points = one.points().unwrap().map(Result::unwrap);
            points.map(|p| (p.at_ms, p.value)).collect()
        };
        assert_eq!(
            points("cgroup.quota"),
            [(1000, 0.5), (2000, 0.5), (3000, 0.5)]
        );
        // Eight of ten periods, and none of none.
        assert_eq!(points("cgroup.used-up"), [(2000, 0.8), (3000, 0.0)]);
        let stopped = points("cgroup.throttled");
        assert!(stopped[0].1 > 0.0 && stopped[1].1 == 0.0, "{stopped:?}");
    }
}
