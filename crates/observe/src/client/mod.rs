//! The client's host as a source of series: what its processors did, what the client's own threads
//! got of them and waited for, memory, network.
//!
//! | series | unit | labels | of |
//! | --- | --- | --- | --- |
//! | `cpu.busy`, `cpu.user`, `cpu.system`, `cpu.iowait`, `cpu.steal` | `ratio` | `core` | `/proc/stat` |
//! | `cpu.interrupts` | `ratio` | | `/proc/stat`: interrupts, of `cpu.system`; the mean of all |
//! | `threads.cpu`, `threads.run-delay` | `cores`, `ms/s` | `threads`: `load`, `observing`, `other` | `schedstat` |
//! | `cgroup.quota`, `cgroup.used-up`, `cgroup.throttled` | `cores`, `ratio`, `ms/s` | | `cpu.max`, `cpu.stat` |
//! | `memory.used`, `memory.available`, `memory.resident` | `bytes` | | `meminfo`, own `status` |
//! | `network.received`, `.sent`, `.packets-received`, `.packets-sent` | `bytes/s`, `1/s` | `interface` | `net/dev` |
//! | `disk.…` | `bytes/s`, `1/s`, `ms/s`, `ratio` | `disk` | `/proc/diskstats` |
//! | `pressure.…`, `context-switches`, `processes.…` | `ratio`, `1/s` | | `/proc/pressure`, `/proc/stat` |
//! | `tcp.segments-sent`, `tcp.retransmits`, `tcp.timeouts` | `1/s` | | `net/snmp`, `netstat` |
//!
//! Busy is whatever is neither idle nor waiting for a disk; what the hypervisor took is in it. Of more
//! than [`MOST_CORES`] processors only `cpu.busy` is kept for each, and the rest as means of all.
//! Where a system has no `/proc`, the host's load is all that is told.

mod machine;
pub(crate) mod proc;
mod threads;

use crate::cgroup::Throttling;
use crate::load::HostSampler;
use crate::source::{Samples, SeriesHandle, SeriesSource};
use machine::Machine;
pub(crate) use machine::metrics;
use proc::{CpuTicks, ProcFile, Traffic, counter, cpus, interfaces, memory};
use std::collections::HashMap;
use threads::ThreadGroups;
use tidemark_core::observe::CLIENT_HOST;
use tidemark_core::record::Gap;

/// So many processors are told of in full.
pub const MOST_CORES: usize = 32;
/// So many interfaces are told of: a host of containers has one for each.
const MOST_INTERFACES: usize = 16;
/// What the kernel counts in hundredths of a second has two digits.
const RATIO_DIGITS: i8 = 2;
/// Memory to 10 kB, traffic to 100 bytes a second: less is noise that takes room.
const MEMORY_DIGITS: i8 = -4;
const TRAFFIC_DIGITS: i8 = -2;
/// Names of what a processor did, but for being busy.
const STATES: [&str; 4] = ["cpu.user", "cpu.system", "cpu.iowait", "cpu.steal"];

/// The machine that makes the load, once a second.
pub struct ClientHostSource {
    looks: u64,
    cpu: Cpu,
    threads: ThreadGroups,
    throttling: Throttling,
    memory: Memory,
    network: Network,
    tcp: Tcp,
    machine: Machine,
    elsewhere: Option<Elsewhere>,
}

impl Default for ClientHostSource {
    fn default() -> Self {
        Self::new()
    }
}

impl ClientHostSource {
    /// Nothing is opened yet.
    pub fn new() -> Self {
        Self {
            looks: 0,
            cpu: Cpu::new(),
            threads: ThreadGroups::new(),
            throttling: Throttling::default(),
            memory: Memory::new(),
            network: Network::new(),
            tcp: Tcp::new(),
            machine: Machine::new(),
            elsewhere: None,
        }
    }
}

impl SeriesSource for ClientHostSource {
    fn name(&self) -> &str {
        CLIENT_HOST
    }

    fn start(&mut self, _gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let has_proc = std::path::Path::new("/proc/stat").exists();
        self.elsewhere = (!has_proc).then(Elsewhere::new);
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.sample(samples);
            return Ok(());
        }
        self.looks += 1;
        self.throttling.sample("self", samples);
        // Each part tells what it can, whatever becomes of the others.
        let parts = [
            self.cpu.sample(samples),
            self.threads.sample(samples, self.looks),
            self.memory.sample(samples),
            self.network.sample(samples),
            self.tcp.sample(samples),
            self.machine.sample(samples),
        ];
        let failed: Vec<String> = parts.into_iter().filter_map(Result::err).collect();
        match failed.is_empty() {
            true => Ok(()),
            false => Err(failed.join("; ")),
        }
    }
}

struct Cpu {
    file: ProcFile,
    cores: Cores,
}

impl Cpu {
    fn new() -> Self {
        Self {
            file: ProcFile::new("/proc/stat"),
            cores: Cores::default(),
        }
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        self.cores.tell(self.file.read()?, samples);
        Ok(())
    }
}

#[derive(Default)]
struct Cores {
    known: HashMap<u32, Core>,
    /// Means over all processors, where there are too many to tell of each.
    means: Option<[SeriesHandle; 4]>,
    /// The kernel's work for networks and disks, of no task's time.
    interrupts: Option<SeriesHandle>,
}

struct Core {
    seen: CpuTicks,
    busy: SeriesHandle,
    /// Not of too many processors.
    states: Option<[SeriesHandle; 4]>,
}

impl Cores {
    fn tell(&mut self, stat: &str, samples: &mut Samples) {
        let few = cpus(stat).count() <= MOST_CORES;
        let mut all = CpuTicks::default();
        for (number, ticks) in cpus(stat) {
            let core = self.known.entry(number).or_insert_with(|| {
                let number = number.to_string();
                let labels = [("core", number.as_str())];
                let mut column = |name| samples.rate(name, "ratio", &labels, RATIO_DIGITS);
                Core {
                    seen: ticks,
                    busy: column("cpu.busy"),
                    states: few.then(|| STATES.map(column)),
                }
            });
            let passed = ticks.since(&core.seen);
            core.seen = ticks;
            put(samples, Some(core.busy), core.states, &passed);
            all.add(&passed);
        }
        if !few {
            let mut column = |name| samples.rate(name, "ratio", &[], RATIO_DIGITS);
            let means = *self.means.get_or_insert_with(|| STATES.map(&mut column));
            put(samples, None, Some(means), &all);
        }
        let interrupts = *self
            .interrupts
            .get_or_insert_with(|| samples.rate("cpu.interrupts", "ratio", &[], 3));
        samples.put(interrupts, all.interrupts as f64 / all.total() as f64);
    }
}

fn put(
    samples: &mut Samples,
    busy: Option<SeriesHandle>,
    states: Option<[SeriesHandle; 4]>,
    passed: &CpuTicks,
) {
    let total = passed.total() as f64;
    // A processor that is switched off passes no time: a gap.
    let ratio = |ticks: u64| ticks as f64 / total;
    if let Some(busy) = busy {
        samples.put(busy, ratio(passed.user + passed.system + passed.steal));
    }
    let values = [passed.user, passed.system, passed.iowait, passed.steal];
    for (column, ticks) in states.into_iter().flatten().zip(values) {
        samples.put(column, ratio(ticks));
    }
}

struct Memory {
    host: ProcFile,
    own: ProcFile,
    columns: Option<[SeriesHandle; 3]>,
}

impl Memory {
    fn new() -> Self {
        Self {
            host: ProcFile::new("/proc/meminfo"),
            own: ProcFile::new("/proc/self/status"),
            columns: None,
        }
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let [used, available, resident] = *self.columns.get_or_insert_with(|| {
            ["memory.used", "memory.available", "memory.resident"]
                .map(|name| samples.gauge(name, "bytes", &[], MEMORY_DIGITS))
        });
        let host = self.host.read()?;
        let total = memory(host, "MemTotal");
        if let (Some(total), Some(free)) = (total, memory(host, "MemAvailable")) {
            samples.put(used, total.saturating_sub(free) as f64);
            samples.put(available, free as f64);
        }
        if let Some(own) = memory(self.own.read()?, "VmRSS") {
            samples.put(resident, own as f64);
        }
        Ok(())
    }
}

struct Network {
    file: ProcFile,
    /// By name; columns are of those through which something went.
    seen: HashMap<String, (Traffic, Option<[SeriesHandle; 4]>)>,
    told: usize,
}

impl Network {
    fn new() -> Self {
        Self {
            file: ProcFile::new("/proc/self/net/dev"),
            seen: HashMap::new(),
            told: 0,
        }
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        for (name, traffic) in interfaces(self.file.read()?) {
            let Some((first, columns)) = self.seen.get_mut(name) else {
                self.seen.insert(name.into(), (traffic, None));
                continue;
            };
            if columns.is_none() && traffic != *first && self.told < MOST_INTERFACES {
                self.told += 1;
                *columns = Some(self::columns(samples, name));
            }
            for (column, total) in columns.iter().flatten().zip(traffic) {
                samples.total(*column, total as f64);
            }
        }
        Ok(())
    }
}

fn columns(samples: &mut Samples, interface: &str) -> [SeriesHandle; 4] {
    let labels = [("interface", interface)];
    [
        samples.rate("network.received", "bytes/s", &labels, TRAFFIC_DIGITS),
        samples.rate("network.packets-received", "1/s", &labels, 0),
        samples.rate("network.sent", "bytes/s", &labels, TRAFFIC_DIGITS),
        samples.rate("network.packets-sent", "1/s", &labels, 0),
    ]
}

struct Tcp {
    snmp: ProcFile,
    netstat: ProcFile,
    columns: Option<[SeriesHandle; 3]>,
}

impl Tcp {
    fn new() -> Self {
        Self {
            snmp: ProcFile::new("/proc/self/net/snmp"),
            netstat: ProcFile::new("/proc/self/net/netstat"),
            columns: None,
        }
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let columns = *self.columns.get_or_insert_with(|| {
            ["tcp.segments-sent", "tcp.retransmits", "tcp.timeouts"]
                .map(|name| samples.rate(name, "1/s", &[], 0))
        });
        let snmp = self.snmp.read()?;
        let (sent, again) = (
            counter(snmp, "Tcp:", "OutSegs"),
            counter(snmp, "Tcp:", "RetransSegs"),
        );
        let timeouts = counter(self.netstat.read()?, "TcpExt:", "TCPTimeouts");
        for (column, total) in columns.into_iter().zip([sent, again, timeouts]) {
            if let Some(total) = total {
                samples.total(column, total as f64);
            }
        }
        Ok(())
    }
}

/// A host without `/proc`.
struct Elsewhere {
    sampler: HostSampler,
    columns: Option<[SeriesHandle; 3]>,
}

impl Elsewhere {
    fn new() -> Self {
        Self {
            sampler: HostSampler::new(),
            columns: None,
        }
    }

    fn sample(&mut self, samples: &mut Samples) {
        let [busy, cpu, used] = *self.columns.get_or_insert_with(|| {
            [
                samples.rate("cpu.busy", "ratio", &[], RATIO_DIGITS),
                samples.rate("threads.cpu", "cores", &[("threads", "all")], 3),
                samples.gauge("memory.used", "bytes", &[], MEMORY_DIGITS),
            ]
        });
        let load = self.sampler.sample();
        samples.put(busy, load.cpu_busy);
        samples.put(cpu, load.process_cpus + load.awake_cpus);
        samples.put(used, load.memory_used_bytes as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn without_proc_the_hosts_load_is_told() {
        let mut samples = Samples::new("client-host", Duration::from_secs(1));
        let mut elsewhere = Elsewhere::new();
        for at in [None, Some(0)] {
            std::thread::sleep(Duration::from_millis(250));
            samples.begin(at);
            elsewhere.sample(&mut samples);
        }
        let names: Vec<String> = samples.series().into_iter().map(|s| s.key.name).collect();
        assert_eq!(names, ["cpu.busy", "threads.cpu", "memory.used"]);
    }

    #[test]
    fn of_many_processors_each_ones_business_is_told_and_the_rest_as_means() {
        let line = |n: usize, busy: u64| format!("cpu{n} {busy} 0 0 {} 0 0 0 0 0 0\n", 100 - busy);
        let stat = |busy: u64| -> String { (0..64).map(|n| line(n, busy)).collect() };
        let mut cores = Cores::default();
        let mut samples = Samples::new("client-host", Duration::from_secs(1));
        for (at, busy) in [(None, 0), (Some(0), 30)] {
            samples.begin(at);
            cores.tell(&stat(busy), &mut samples);
        }
        let series = samples.series();
        assert_eq!(series.len(), 64 + 5);
        let user = series.iter().find(|s| s.key.name == "cpu.user").unwrap();
        assert!(user.key.labels.is_empty());
    }
}
