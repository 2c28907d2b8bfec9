//! Reading what Linux tells in `/proc` (proc(5)), again and again: files stay open.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// A file of `/proc`; its content is made anew whenever it is read from its beginning.
pub(crate) struct ProcFile {
    path: &'static str,
    file: Option<File>,
    content: Vec<u8>,
}

impl ProcFile {
    pub fn new(path: &'static str) -> Self {
        Self {
            path,
            file: None,
            content: Vec::new(),
        }
    }

    /// Its content now.
    pub fn read(&mut self) -> Result<&str, String> {
        let Self {
            path,
            file,
            content,
        } = self;
        let refused = |e: &dyn std::fmt::Display| format!("{path} can't be read: {e}");
        let file = match file {
            Some(file) => file,
            none => none.insert(File::open(*path).map_err(|e| refused(&e))?),
        };
        content.clear();
        content.resize(content.capacity().max(4096), 0);
        let mut length = 0;
        loop {
            let room = content.get_mut(length..).unwrap_or(&mut []);
            match file.read_at(room, length as u64).map_err(|e| refused(&e))? {
                0 => break,
                n => length += n,
            }
            if length == content.len() {
                content.resize(length * 2, 0);
            }
        }
        content.truncate(length);
        std::str::from_utf8(content).map_err(|e| refused(&e))
    }
}

/// Processor time by what it was for, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTicks {
    pub user: u64,
    pub system: u64,
    pub iowait: u64,
    pub steal: u64,
    pub idle: u64,
    /// Of the system's: interrupts and what they leave to do.
    pub interrupts: u64,
}

impl CpuTicks {
    pub fn total(&self) -> u64 {
        self.user + self.system + self.iowait + self.steal + self.idle
    }

    pub fn add(&mut self, other: &Self) {
        self.user += other.user;
        self.system += other.system;
        self.iowait += other.iowait;
        self.steal += other.steal;
        self.idle += other.idle;
        self.interrupts += other.interrupts;
    }

    /// What passed since an earlier look. Idle and waiting time may go backwards (proc(5)).
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            iowait: self.iowait.saturating_sub(earlier.iowait),
            steal: self.steal.saturating_sub(earlier.steal),
            idle: self.idle.saturating_sub(earlier.idle),
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
        }
    }
}

/// The processors of `/proc/stat`, by number.
pub(crate) fn cpus(stat: &str) -> impl Iterator<Item = (u32, CpuTicks)> {
    stat.lines().filter_map(|line| {
        let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
        // The first line is of all, and has no number.
        let number = words.next()?;
        if line.starts_with("cpu ") {
            return None;
        }
        let mut ticks = [0_u64; 8];
        for (tick, word) in ticks.iter_mut().zip(words) {
            // Added up later: no sum of a hostile file shall overflow.
            *tick = word.parse::<u64>().ok()?.min(1 << 56);
        }
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
        let ticks = CpuTicks {
            user: user + nice,
            system: system + irq + softirq,
            iowait,
            steal,
            idle,
            interrupts: irq + softirq,
        };
        Some((number.parse().ok()?, ticks))
    })
}

/// A line of `/proc/meminfo` or `/proc/PID/status`, in bytes.
pub(crate) fn memory(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|l| l.strip_prefix(name))?;
    let kib = line.strip_prefix(':')?.trim().strip_suffix("kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What went through an interface: bytes and packets received, bytes and packets sent.
pub(super) type Traffic = [u64; 4];

/// The interfaces of `/proc/net/dev`.
pub(super) fn interfaces(dev: &str) -> impl Iterator<Item = (&str, Traffic)> {
    dev.lines().filter_map(|line| {
        let (name, numbers) = line.split_once(':')?;
        let number = |n: usize| numbers.split_ascii_whitespace().nth(n)?.parse().ok();
        Some((
            name.trim(),
            [number(0)?, number(1)?, number(8)?, number(9)?],
        ))
    })
}

/// A counter of `/proc/net/snmp` or `netstat`: a line of names, then one of numbers.
pub(super) fn counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|l| l.starts_with(protocol));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let place = names.split_ascii_whitespace().position(|n| n == name)?;
    numbers.split_ascii_whitespace().nth(place)?.parse().ok()
}

/// Nanoseconds on a processor, and waiting for one, of a task's `schedstat`.
pub(crate) fn schedule(schedstat: &str) -> Option<(u64, u64)> {
    let mut words = schedstat.split_ascii_whitespace();
    let mut number = || words.next()?.parse().ok();
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_by_number() {
        let stat =
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 40 5 6 7 8 0 0\ncpu3 1 0 0 1\nintr 5 0 0\n";
        let seen: Vec<_> = cpus(stat).collect();
        let first = CpuTicks {
            user: 3,
            system: 16,
            iowait: 5,
            steal: 8,
            idle: 40,
            interrupts: 13,
        };
        assert_eq!((seen.len(), seen[0], seen[1].0), (2, (0, first), 3));
        assert_eq!((first.total(), seen[1].1.total()), (72, 2));
        let less = CpuTicks { idle: 30, ..first };
        assert_eq!(less.since(&first), CpuTicks::default());
        let huge = format!("cpu0{}", format!(" {}", u64::MAX).repeat(10));
        assert!(cpus(&huge).next().unwrap().1.total() > 1 << 56);
        assert_eq!(cpus("cpu\ncpux 1\ncpu1 a\n").count(), 0);
    }

    #[test]
    fn memory_is_read_by_its_whole_name() {
        let text = "MemTotal:  16 kB\nMemFree: 3 kB\nVmRSS:\t  20 kB\nMem: 1 kB\nBad: 2\n";
        assert_eq!(memory(text, "MemTotal"), Some(16 << 10));
        assert_eq!(memory(text, "VmRSS"), Some(20 << 10));
        assert_eq!(memory(text, "Bad"), None);
        assert_eq!(memory(text, "None"), None);
    }

    #[test]
    fn interfaces_and_counters_are_read() {
        let dev = "Inter-| Receive | Transmit\n face |bytes packets\n    \
                   lo: 10 2 0 0 0 0 0 0 30 4 0 0 0 0 0 0\n  eth0:5 1 0 0\n";
        assert_eq!(
            interfaces(dev).collect::<Vec<_>>(),
            [("lo", [10, 2, 30, 4])]
        );
        let snmp = "Ip: A B\nIp: 1 2\nTcp: RtoAlgorithm OutSegs RetransSegs\nTcp: 1 70 3\n";
        assert_eq!(counter(snmp, "Tcp:", "RetransSegs"), Some(3));
        assert_eq!(counter(snmp, "Tcp:", "InErrs"), None);
        assert_eq!(counter("Tcp: RetransSegs\n", "Tcp:", "RetransSegs"), None);
        assert_eq!(schedule("123 45 6\n"), Some((123, 45)));
        assert_eq!(schedule("123"), None);
    }

    #[test]
    fn a_file_is_read_anew_and_whole() {
        let mut status = ProcFile::new("/proc/self/stat");
        let first = status.read().unwrap().to_string();
        assert!(first.ends_with('\n'), "{first:?}");
        let mut long = ProcFile::new("/proc/self/smaps");
        let length = long.read().unwrap().len();
        assert!(
            length > 4096 && long.read().unwrap().ends_with('\n'),
            "{length}"
        );
        let absent = ProcFile::new("/proc/none").read().unwrap_err();
        assert!(absent.starts_with("/proc/none can't be read: "), "{absent}");
    }
}
