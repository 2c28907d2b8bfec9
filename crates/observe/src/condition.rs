//! The condition that this host is in before a load: what Linux tells in `/proc` and `/sys`.

use crate::client::proc::{CpuTicks, cpus, memory};
use crate::usage::{Usage, usage};
use std::fs::read_to_string;
use std::path::Path;
use std::time::{Duration, Instant};

/// Ticks of `/proc/stat` in a second: the same on every Linux that this is built for (time(7)).
const USER_HZ: f64 = 100.0;

/// What a host was like over a short time. What the system does not tell is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostCondition {
    /// How the processors' frequencies are governed, each word once.
    pub governors: Vec<String>,
    /// What the kernel takes the time from.
    pub clock_source: Option<String>,
    /// Processors.
    pub cores: usize,
    /// Processors that others than this process kept busy.
    pub others_cores: Option<f64>,
    /// Share of the processors' time that a hypervisor gave to others.
    pub stolen: Option<f64>,
    /// Bytes of swap in use.
    pub swap_used: Option<u64>,
    /// Pages swapped in and out.
    pub swapped_pages: Option<u64>,
    /// Bytes of memory, and of these what programs can still have.
    pub memory: Option<(u64, u64)>,
    /// Percent of the last ten seconds in which some task waited for memory.
    pub memory_stall: Option<f64>,
    /// Ports that the kernel gives to outgoing connections.
    pub ports: Option<u64>,
}

/// What is counted at one moment.
#[derive(Default)]
struct Counted {
    ticks: CpuTicks,
    own_s: f64,
    swapped: Option<u64>,
}

impl HostCondition {
    /// Looks twice, with this time between; waits for it.
    pub fn over(time: Duration) -> Self {
        let root = Path::new("/");
        let (before, began) = (counted(root), Instant::now());
        std::thread::sleep(time);
        let after = counted(root);
        Self::between(root, &before, &after, began.elapsed())
    }

    fn between(root: &Path, before: &Counted, after: &Counted, time: Duration) -> Self {
        let read = |path: &str| read_to_string(root.join(path)).unwrap_or_default();
        let meminfo = read("proc/meminfo");
        let bytes = |name: &str| memory(&meminfo, name);
        let ticks = after.ticks.since(&before.ticks);
        let total = ticks.total();
        let is_told = total > 0;
        let busy_s = (ticks.user + ticks.system) as f64 / USER_HZ;
        let seconds = time.as_secs_f64().max(1e-3);
        let others = (busy_s - (after.own_s - before.own_s)).max(0.0) / seconds;
        let clock = read("sys/devices/system/clocksource/clocksource0/current_clocksource");
        Self {
            governors: governors(root),
            clock_source: Some(clock.trim().to_string()).filter(|name| !name.is_empty()),
            cores: cpus(&read("proc/stat")).count(),
            others_cores: is_told.then_some(others),
            stolen: is_told.then(|| ticks.steal as f64 / total as f64),
            swap_used: bytes("SwapTotal")
                .zip(bytes("SwapFree"))
                .map(|(total, free)| total.saturating_sub(free)),
            swapped_pages: before
                .swapped
                .zip(after.swapped)
                .map(|(before, after)| after.saturating_sub(before)),
            memory: bytes("MemTotal").zip(bytes("MemAvailable")),
            memory_stall: stall(&read("proc/pressure/memory")),
            ports: ports(&read("proc/sys/net/ipv4/ip_local_port_range")),
        }
    }
}

fn counted(root: &Path) -> Counted {
    let read = |path: &str| read_to_string(root.join(path)).unwrap_or_default();
    let mut ticks = CpuTicks::default();
    cpus(&read("proc/stat")).for_each(|(_, cpu)| ticks.add(&cpu));
    let vmstat = read("proc/vmstat");
    let pages = |name: &str| -> Option<u64> {
        let line = vmstat.lines().find_map(|l| l.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    let swapped = pages("pswpin ").zip(pages("pswpout "));
    Counted {
        ticks,
        own_s: usage().since(&Usage::default()).work_s(),
        swapped: swapped.map(|(pages_in, pages_out)| pages_in.saturating_add(pages_out)),
    }
}

/// Documentation/admin-guide/pm/cpufreq.rst. Virtual machines mostly have none.
fn governors(root: &Path) -> Vec<String> {
    let folder = root.join("sys/devices/system/cpu");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let read = |entry: std::fs::DirEntry| {
        let text = read_to_string(entry.path().join("cpufreq/scaling_governor"));
        text.ok().map(|text| text.trim().to_string())
    };
    let mut all: Vec<String> = entries.filter_map(read).collect();
    all.sort();
    all.dedup();
    all
}

/// Documentation/accounting/psi.rst.
fn stall(pressure: &str) -> Option<f64> {
    let some = pressure.lines().find_map(|l| l.strip_prefix("some "))?;
    let mut words = some.split_ascii_whitespace();
    words.find_map(|w| w.strip_prefix("avg10=")?.parse().ok())
}

/// Documentation/networking/ip-sysctl.rst.
fn ports(range: &str) -> Option<u64> {
    let mut words = range.split_ascii_whitespace();
    let mut next = || words.next()?.parse::<u64>().ok();
    let (first, last) = (next()?, next()?);
    last.checked_sub(first).map(|more| more + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_host_is_read_from_its_files() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let nothing = HostCondition::between(
            root.path(),
            &counted(root.path()),
            &counted(root.path()),
            Duration::from_secs(1),
        );
        assert_eq!(nothing, HostCondition::default());
        put(
            "proc/stat",
            "cpu  0 0 0 0\ncpu0 100 0 0 800 0 0 0 0\ncpu1 0 0 0 900 0 0 0 0\n",
        );
        put("proc/vmstat", "pswpin 5\npswpout 7\n");
        let mut before = counted(root.path());
        put(
            "proc/stat",
            "cpu  0 0 0 0\ncpu0 150 0 0 830 0 0 0 20\ncpu1 10 0 0 990 0 0 0 0\n",
        );
        put("proc/vmstat", "pswpin 6\npswpout 17\n");
        put(
            "proc/meminfo",
            "MemTotal: 100 kB\nMemAvailable: 40 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n",
        );
        put(
            "proc/pressure/memory",
            "some avg10=1.25 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.10 total=5\n",
        );
        put("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        for cpu in ["cpu0", "cpu1"] {
            let file = format!("sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor");
            put(&file, "powersave\n");
        }
        put(
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "hpet\n",
        );
        let after = counted(root.path());
        before.own_s = after.own_s - 0.1;
        let found = HostCondition::between(root.path(), &before, &after, Duration::from_secs(1));
        let others = found.others_cores.unwrap();
        assert!((others - 0.5).abs() < 1e-9, "{others}");
        let stolen = found.stolen.unwrap();
        assert!((stolen - 20.0 / 200.0).abs() < 1e-9, "{stolen}");
        assert_eq!(
            (found.governors, found.cores),
            (vec!["powersave".into()], 2)
        );
        assert_eq!(found.clock_source.as_deref(), Some("hpet"));
        assert_eq!(
            (found.swap_used, found.swapped_pages),
            (Some(6144), Some(11))
        );
        assert_eq!(found.memory, Some((102_400, 40_960)));
        assert_eq!(
            (found.memory_stall, found.ports),
            (Some(1.25), Some(28_232))
        );
    }
}
