//! Disks, pressure and context switches of this machine.

use super::proc::ProcFile;
use crate::source::Samples;
use std::collections::HashMap;
use std::path::Path;

/// So many disks are told of.
const MOST_DISKS: usize = 16;
/// Bytes of a sector in `/proc/diskstats`, whatever the disk has.
const SECTOR: f64 = 512.0;

/// Metrics that a host has wherever they are read.
pub(crate) mod metrics {
    use crate::source::Metric;

    /// Reads and writes of disks, each with its label `disk`.
    pub const DISK: [Metric; 10] = [
        Metric::count("disk.reads"),
        Metric::bytes("disk.read"),
        Metric::time("disk.read-time", 1.0),
        Metric::count("disk.writes"),
        Metric::bytes("disk.written"),
        Metric::time("disk.write-time", 1.0),
        Metric::total("disk.busy", "ratio", 3, 1e-3),
        // The mean number of requests in flight: their time in a second.
        Metric::total("disk.queue", "requests", 2, 1e-3),
        Metric::count("disk.flushes"),
        Metric::time("disk.flush-time", 1.0),
    ];
    /// Share of the time in which some task, or all of them, waited for a resource; of microseconds.
    pub const PRESSURE: [(&str, &str, Metric); 4] = [
        (
            "cpu",
            "some",
            Metric::total("pressure.cpu.some", "ratio", 3, 1e-6),
        ),
        (
            "io",
            "some",
            Metric::total("pressure.io.some", "ratio", 3, 1e-6),
        ),
        (
            "io",
            "full",
            Metric::total("pressure.io.full", "ratio", 3, 1e-6),
        ),
        (
            "memory",
            "some",
            Metric::total("pressure.memory.some", "ratio", 3, 1e-6),
        ),
    ];
    /// Of all processors.
    pub const SWITCHES: Metric = Metric::total("context-switches", "1/s", 0, 1.0);
    /// Tasks that run or could.
    pub const RUNNING: Metric = Metric::gauge("processes.running", "tasks", 0);
    /// Tasks that wait for I/O.
    pub const BLOCKED: Metric = Metric::gauge("processes.blocked", "tasks", 0);
}

/// In the order of [`metrics::DISK`]; what the kernel does not count has none.
type DiskTotals = [Option<f64>; 10];

pub(super) struct Machine {
    stat: ProcFile,
    diskstats: ProcFile,
    pressure: [ProcFile; 3],
    /// By name: the first totals, until something changed.
    disks: HashMap<String, Option<DiskTotals>>,
    told: usize,
}

impl Machine {
    pub fn new() -> Self {
        Self {
            stat: ProcFile::new("/proc/stat"),
            diskstats: ProcFile::new("/proc/diskstats"),
            pressure: [
                "/proc/pressure/cpu",
                "/proc/pressure/io",
                "/proc/pressure/memory",
            ]
            .map(ProcFile::new),
            disks: HashMap::new(),
            told: 0,
        }
    }

    pub fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let stat = self.stat.read()?;
        let told = [
            ("ctxt", metrics::SWITCHES),
            ("procs_running", metrics::RUNNING),
            ("procs_blocked", metrics::BLOCKED),
        ];
        for (name, metric) in told {
            if let Some(value) = line(stat, name) {
                samples.tell(&metric, &[], value);
            }
        }
        for (file, resource) in self.pressure.iter_mut().zip(["cpu", "io", "memory"]) {
            // Kernels without pressure stall information have no such files.
            let Ok(text) = file.read() else { continue };
            for (of, kind, metric) in &metrics::PRESSURE {
                if *of == resource
                    && let Some(total) = pressure(text, kind)
                {
                    samples.tell(metric, &[], total);
                }
            }
        }
        self.disks(samples)
    }

    fn disks(&mut self, samples: &mut Samples) -> Result<(), String> {
        for (name, totals) in disks(self.diskstats.read()?) {
            let Some(first) = self.disks.get_mut(name) else {
                let is_whole = Path::new("/sys/block").join(name).exists();
                let is_real = !["loop", "ram", "zram", "fd", "sr"]
                    .iter()
                    .any(|p| name.starts_with(p));
                if is_whole && is_real && self.told < MOST_DISKS {
                    self.disks.insert(name.into(), Some(totals));
                }
                continue;
            };
            match first {
                // One that nobody uses makes no series.
                Some(first) if *first == totals => continue,
                Some(_) => {
                    *first = None;
                    self.told += 1;
                }
                None => {}
            }
            for (metric, total) in metrics::DISK.iter().zip(totals) {
                if let Some(total) = total {
                    samples.tell(metric, &[("disk", name)], total);
                }
            }
        }
        Ok(())
    }
}

/// The number of a line of `/proc/stat`.
fn line(stat: &str, name: &str) -> Option<f64> {
    let rest = stat
        .lines()
        .find_map(|l| l.strip_prefix(name)?.strip_prefix(' '))?;
    rest.trim().parse().ok()
}

/// Microseconds of stall (Documentation/accounting/psi.rst).
fn pressure(text: &str, kind: &str) -> Option<f64> {
    let line = text.lines().find_map(|l| l.strip_prefix(kind))?;
    line.split("total=").nth(1)?.trim().parse().ok()
}

/// Disks and partitions by name, with totals in the order of [`metrics::DISK`]
/// (Documentation/admin-guide/iostats.rst).
fn disks(diskstats: &str) -> impl Iterator<Item = (&str, DiskTotals)> {
    diskstats.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(2);
        let name = words.next()?;
        let numbers: Vec<f64> = words.map_while(|w| w.parse().ok()).collect();
        let n = |at: usize| numbers.get(at).copied();
        let bytes = |at: usize| n(at).map(|sectors| sectors * SECTOR);
        (numbers.len() >= 11).then(|| {
            let totals = [
                n(0),
                bytes(2),
                n(3),
                n(4),
                bytes(6),
                n(7),
                n(9),
                n(10),
                // Flushes, which Linux counts from 5.5 on.
                n(15),
                n(16),
            ];
            (name, totals)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_pressure_and_switches_are_read() {
        let old = "   8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n   8 1 sda1 1 2\n";
        let found: Vec<_> = disks(old).collect();
        assert_eq!(found.len(), 1);
        let (name, totals) = found[0];
        assert_eq!(name, "sda");
        let counted = [1.0, 1536.0, 4.0, 5.0, 3584.0, 8.0, 10.0, 11.0].map(Some);
        assert_eq!((&totals[..8], &totals[8..]), (&counted[..], &[None; 2][..]));
        let new = "259 0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
        assert_eq!(disks(new).next().unwrap().1[8..], [16.0, 17.0].map(Some));
        let psi = "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n";
        assert_eq!(pressure(psi, "full"), Some(5.0));
        assert_eq!(pressure("", "some"), None);
        assert_eq!(line("cpu 1 2\nctxt 99\n", "ctxt"), Some(99.0));
    }
}
