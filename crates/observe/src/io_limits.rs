//! What control groups allow a process on each disk: requests and bytes a second (Linux, both versions; kernel
//! documentation, `cgroup-v2.rst`, "io.max", and `cgroup-v1/blkio-controller.rst`, "throttling").

use crate::source::{Metric, Samples};
use std::collections::BTreeMap;
use std::fs::{canonicalize, read_to_string};
use std::path::{Path, PathBuf};

/// Where control groups are.
const ROOT: &str = "/sys/fs/cgroup";
/// Where devices are found by their numbers.
const DEVICES: &str = "/sys/dev/block";

/// What may be limited: its metric, its word in `io.max`, and version 1's file.
const KINDS: [(Metric, &str, &str); 4] = [
    (
        Metric::gauge("cgroup.reads-allowed", "1/s", 0),
        "riops",
        "blkio.throttle.read_iops_device",
    ),
    (
        Metric::gauge("cgroup.writes-allowed", "1/s", 0),
        "wiops",
        "blkio.throttle.write_iops_device",
    ),
    (
        Metric::gauge("cgroup.read-allowed", "bytes/s", -3),
        "rbps",
        "blkio.throttle.read_bps_device",
    ),
    (
        Metric::gauge("cgroup.written-allowed", "bytes/s", -3),
        "wbps",
        "blkio.throttle.write_bps_device",
    ),
];

/// Limits by device number and place in [`KINDS`]: of a group and those around it the smallest.
type Limits = BTreeMap<(String, usize), f64>;

/// Tells the limits of a process by its number. Without any it tells nothing.
pub(crate) fn sample(process: &str, samples: &mut Samples) {
    let groups = read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
    tell(&groups, Path::new(ROOT), Path::new(DEVICES), samples);
}

fn tell(groups: &str, root: &Path, devices: &Path, samples: &mut Samples) {
    for ((number, kind), allowed) in limits(groups, root) {
        // A device is told by its name, as disks are.
        let named = canonicalize(devices.join(&number)).ok();
        let name = named.as_deref().and_then(Path::file_name);
        if let (Some(name), Some((metric, ..))) = (name, KINDS.get(kind)) {
            samples.tell(metric, &[("disk", &name.to_string_lossy())], allowed);
        }
    }
}

fn limits(groups: &str, root: &Path) -> Limits {
    let mut limits = Limits::new();
    for line in groups.lines() {
        let Some((controllers, path)) = line.split_once(':').and_then(|(_, l)| l.split_once(':'))
        else {
            continue;
        };
        let is_io = controllers.split(',').any(|c| c == "blkio");
        let (root, read): (PathBuf, fn(&Path, &mut Limits)) = match controllers {
            "" => (root.into(), version_2),
            _ if is_io => (root.join(controllers), version_1),
            _ => continue,
        };
        let group = root.join(path.trim_start_matches('/'));
        let around = group.ancestors().take_while(|g| g.starts_with(&root));
        around.for_each(|group| read(group, &mut limits));
    }
    limits
}

fn least(limits: &mut Limits, number: &str, kind: usize, allowed: &str) {
    // `max` is none, and so is version 1's 0.
    if let Some(allowed) = allowed.parse::<f64>().ok().filter(|a| *a > 0.0) {
        let known = limits.entry((number.into(), kind)).or_insert(allowed);
        *known = known.min(allowed);
    }
}

/// `io.max`: `8:16 rbps=2097152 wbps=max riops=max wiops=120`.
fn version_2(group: &Path, limits: &mut Limits) {
    let text = read_to_string(group.join("io.max")).unwrap_or_default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let number = words.next().unwrap_or_default();
        for (word, allowed) in words.filter_map(|word| word.split_once('=')) {
            let kind = KINDS.iter().position(|(_, of, _)| *of == word);
            if let Some(kind) = kind {
                least(limits, number, kind, allowed);
            }
        }
    }
}

/// A file for each: `8:16 120`.
fn version_1(group: &Path, limits: &mut Limits) {
    for (kind, (_, _, file)) in KINDS.iter().enumerate() {
        let text = read_to_string(group.join(file)).unwrap_or_default();
        for (number, allowed) in text.lines().filter_map(|line| line.split_once(' ')) {
            least(limits, number, kind, allowed.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    fn put(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn both_versions_limit_each_device_and_the_smallest_counts() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| put(root.path(), path, text);
        put(
            "a/io.max",
            "8:0 rbps=max wbps=2000000 riops=400 wiops=max\n",
        );
        put("a/b/io.max", "8:0 rbps=max wbps=max riops=500 wiops=100\n");
        let of = |groups: &str| -> Vec<(String, &str, f64)> {
            let all = limits(groups, root.path()).into_iter();
            all.map(|((number, kind), allowed)| (number, KINDS[kind].1, allowed))
                .collect()
        };
        let disk = |kind, allowed| ("8:0".to_string(), kind, allowed);
        let all = [
            disk("riops", 400.0),
            disk("wiops", 100.0),
            disk("wbps", 2e6),
        ];
        assert_eq!(of("0::/a/b\n"), all);
        assert_eq!(of("0::/\n"), []);
        put(
            "blkio/x/blkio.throttle.read_iops_device",
            "254:0 400\n254:16 0\n",
        );
        put(
            "blkio/x/blkio.throttle.write_bps_device",
            "254:0 1000\nTotal 5\n",
        );
        let found = of("3:blkio:/x\n2:cpu:/x\nnonsense\n");
        assert_eq!(found[0], ("254:0".to_string(), "riops", 400.0));
        assert_eq!(found[1], ("254:0".to_string(), "wbps", 1000.0));
    }

    #[test]
    fn limits_are_told_by_the_names_of_disks() {
        let root = tempfile::tempdir().unwrap();
        put(
            root.path(),
            "cgroup/a/io.max",
            "8:0 riops=400\n9:9 riops=7\n",
        );
        put(root.path(), "block/vda/size", "1");
        let devices = root.path().join("dev");
        fs::create_dir(&devices).unwrap();
        std::os::unix::fs::symlink("../block/vda", devices.join("8:0")).unwrap();
        let mut samples = Samples::new("server-process", Duration::from_secs(1));
        for at in [None, Some(0), Some(1000)] {
            samples.begin(at);
            tell(
                "0::/a\n",
                &root.path().join("cgroup"),
                &devices,
                &mut samples,
            );
        }
        let series = samples.series();
        let [only] = series.as_slice() else {
            panic!("{series:?}");
        };
        assert_eq!(only.key.name, "cgroup.reads-allowed");
        assert_eq!(only.key.labels.get("disk").map(String::as_str), Some("vda"));
        let points: Vec<f64> = only.points().unwrap().map(|p| p.unwrap().value).collect();
        assert_eq!(points, [400.0, 400.0]);
    }
}
