//! Hosts, their disks, and the threads of client and server on them.

use crate::Evidence;
use crate::measured::{RecordSeries, SummedSeries};
use crate::number::percent_within;
use std::collections::BTreeMap;
use tidemark_core::observe::{CLIENT_HOST, SERVER_PROCESS};
use tidemark_core::series::Series;

/// Processors of a host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Host {
    pub cores: f64,
    /// Processors that are busy, with whatever.
    pub busy: SummedSeries,
    pub stolen: Option<SummedSeries>,
    /// Of them, what serves interrupts, which is no task's.
    pub interrupts: Option<SummedSeries>,
    /// Share of the time in which some task waited for a disk.
    pub io_pressure: Option<SummedSeries>,
}

impl Host {
    /// `None` where its processors were not seen.
    pub fn of(series: &RecordSeries<'_>, source: &str) -> Option<Self> {
        // Clients of several hosts each have a core of a number.
        let cores = cores(series, source);
        Some(Self {
            cores: cores.values().sum::<usize>().max(1) as f64,
            busy: series.column(source, "cpu.busy")?,
            stolen: of_all(series, source, "cpu.steal", &cores),
            interrupts: of_all(series, source, "cpu.interrupts", &cores),
            io_pressure: series.column(source, "pressure.io.some"),
        })
    }

    /// Processors that are busy, as evidence.
    pub fn busy_evidence(&self) -> Evidence {
        self.part(&self.busy)
    }

    /// Those that the hypervisor took.
    pub fn stolen_evidence(&self) -> Option<Evidence> {
        self.stolen.as_ref().map(|stolen| self.part(stolen))
    }

    /// Shares of its processors, added up.
    fn part(&self, of: &SummedSeries) -> Evidence {
        Evidence {
            unit: "cores".into(),
            cores: Some(self.cores),
            ..of.evidence()
        }
    }

    /// The share of its processors that is busy.
    pub fn load(&self) -> f64 {
        self.busy.mean() / self.cores
    }

    /// Half of the interval of that share.
    pub fn half(&self) -> f64 {
        self.busy.half() / self.cores
    }

    /// It for a sentence.
    pub fn said(&self) -> String {
        percent_within(self.load(), self.half())
    }

    /// Processors that serve interrupts.
    pub fn interrupted(&self) -> f64 {
        self.interrupts.as_ref().map_or(0.0, SummedSeries::mean)
    }

    /// Processors that the hypervisor took.
    pub fn steal(&self) -> f64 {
        self.stolen.as_ref().map_or(0.0, SummedSeries::mean)
    }
}

fn is_of_one(series: &Series) -> bool {
    series.key.labels.contains_key("core")
}

/// The client that has told of a series, where there are several.
fn client(series: &Series) -> Option<&str> {
    series.key.labels.get("client").map(String::as_str)
}

/// Processors that are told of, by the client that tells of them.
fn cores<'r>(series: &RecordSeries<'r>, source: &str) -> BTreeMap<Option<&'r str>, usize> {
    let mut cores = BTreeMap::new();
    for one in series.named(source, "cpu.busy").filter(|s| is_of_one(s)) {
        *cores.entry(client(one)).or_default() += 1;
    }
    cores
}

/// Processors at something, of all hosts. Of many processors there is only the mean of a host's.
fn of_all(
    series: &RecordSeries<'_>,
    source: &str,
    name: &str,
    cores: &BTreeMap<Option<&str>, usize>,
) -> Option<SummedSeries> {
    let mut hosts = BTreeMap::<Option<&str>, (Vec<&Series>, Vec<&Series>)>::new();
    for one in series.named(source, name) {
        let (each, means) = hosts.entry(client(one)).or_default();
        match is_of_one(one) {
            true => each.push(one),
            false => means.push(one),
        }
    }
    let metric = format!("{source} {name}");
    let sum = |all: Vec<&Series>| SummedSeries::of(all.into_iter(), series.window, &metric);
    let of_hosts = hosts.into_iter().filter_map(|(host, (each, means))| {
        sum(each).or_else(|| {
            let cores = cores.get(&host).copied().unwrap_or(1);
            Some(sum(means)?.times(cores as f64))
        })
    });
    of_hosts.reduce(SummedSeries::plus)
}

/// Threads or processes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tasks {
    /// Processors that they use; of the client, the threads that make the load.
    pub cpu: SummedSeries,
    /// Milliseconds per second in which they waited for one.
    pub delay: Option<SummedSeries>,
    /// Processors with what else they do: observing, reporting.
    pub all: f64,
    /// The quota of their control group.
    pub quota: Option<Quota>,
}

/// A quota of processors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quota {
    pub cores: f64,
    /// Share of the periods in which it was used up before their end.
    pub used_up: SummedSeries,
    /// Milliseconds per second in which run queues were stopped; several at the same time add up.
    pub throttled: Option<SummedSeries>,
}

impl Quota {
    /// `None` without a quota, and where it was not seen.
    fn of(series: &RecordSeries<'_>, source: &str) -> Option<Self> {
        // Of clients on several hosts each has its own periods: a share of all is the mean.
        let groups = series.named(source, "cgroup.used-up").count().max(1);
        let used_up = series.column(source, "cgroup.used-up")?;
        Some(Self {
            cores: series.column(source, "cgroup.quota")?.mean(),
            used_up: used_up.times(1.0 / groups as f64),
            throttled: series.column(source, "cgroup.throttled"),
        })
    }

    pub fn evidence(&self) -> Vec<Evidence> {
        let throttled = self.throttled.as_ref().map(SummedSeries::evidence);
        std::iter::once(self.used_up.evidence())
            .chain(throttled)
            .collect()
    }
}

impl Tasks {
    /// The client's.
    pub fn of_client(series: &RecordSeries<'_>) -> Option<Self> {
        let of = |name: &str| {
            series.column_of(CLIENT_HOST, name, |s| {
                s.key
                    .labels
                    .get("threads")
                    .is_some_and(|t| t == "load" || t == "all")
            })
        };
        Some(Self {
            cpu: of("threads.cpu")?,
            delay: of("threads.run-delay"),
            all: series.column(CLIENT_HOST, "threads.cpu")?.mean(),
            quota: Quota::of(series, CLIENT_HOST),
        })
    }

    /// The server's, where it runs on this host.
    pub fn of_server(series: &RecordSeries<'_>) -> Option<Self> {
        let user = series.column(SERVER_PROCESS, "process.cpu-user")?;
        let mut cpu = series.column_of(SERVER_PROCESS, "process.cpu-system", |_| true)?;
        cpu.metric = format!("{SERVER_PROCESS} process.cpu-user + process.cpu-system");
        for ((_, system), (_, user)) in cpu.points.iter_mut().zip(&user.points) {
            *system += user;
        }
        let observing = series.column(SERVER_PROCESS, "process.cpu-observing");
        let all = cpu.mean() + observing.map_or(0.0, |c| c.mean());
        Some(Self {
            cpu,
            delay: series.column(SERVER_PROCESS, "process.run-delay"),
            all,
            quota: Quota::of(series, SERVER_PROCESS),
        })
    }

    /// Tasks that waited for a processor on average.
    pub fn waiting(&self) -> f64 {
        self.delay.as_ref().map_or(0.0, |c| c.mean() / 1000.0)
    }
}

/// A disk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Disk {
    pub busy: SummedSeries,
    pub queue: SummedSeries,
    pub reads: SummedSeries,
    pub read_time: SummedSeries,
    pub writes: SummedSeries,
    pub flushes: Option<SummedSeries>,
    pub flush_time: Option<SummedSeries>,
    /// What the server's control group allows on it.
    pub allowed: Vec<Allowed>,
}

/// A limit of a control group on a disk, and what is used of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Allowed {
    pub kind: AllowedKind,
    pub most: SummedSeries,
    pub used: SummedSeries,
}

/// What is limited, each a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowedKind {
    Reads,
    Writes,
    BytesRead,
    BytesWritten,
}

/// Each limit with its metric, and that of what is used of it.
const ALLOWED: [(AllowedKind, &str, &str); 4] = [
    (AllowedKind::Reads, "cgroup.reads-allowed", "disk.reads"),
    (AllowedKind::Writes, "cgroup.writes-allowed", "disk.writes"),
    (AllowedKind::BytesRead, "cgroup.read-allowed", "disk.read"),
    (
        AllowedKind::BytesWritten,
        "cgroup.written-allowed",
        "disk.written",
    ),
];

impl Disk {
    /// The one that is busy most of the time, of those that hold the server's data where these are known;
    /// disks upon disks tell of the same requests.
    pub fn busiest(series: &RecordSeries<'_>, source: &str) -> Option<Self> {
        let mut names = series.labels(source, "disk.busy", "disk");
        let data = &series.record.server_disks;
        let holds = |name: &&str| data.iter().any(|disk| disk.device == *name);
        if names.iter().any(holds) {
            names.retain(holds);
        }
        let disks = names.into_iter().filter_map(|name| {
            let on_it = |source: &str, metric: &str| {
                series.column_of(source, metric, |s| {
                    s.key.labels.get("disk").is_some_and(|d| d == name)
                })
            };
            let of = |metric: &str| on_it(source, metric);
            let allowed = ALLOWED.iter().filter_map(|(kind, most, used)| {
                Some(Allowed {
                    kind: *kind,
                    most: on_it(SERVER_PROCESS, most)?,
                    used: of(used)?,
                })
            });
            Some(Self {
                busy: of("disk.busy")?,
                queue: of("disk.queue")?,
                reads: of("disk.reads")?,
                read_time: of("disk.read-time")?,
                writes: of("disk.writes")?,
                flushes: of("disk.flushes"),
                flush_time: of("disk.flush-time"),
                allowed: allowed.collect(),
            })
        });
        disks.max_by(|a, b| a.busy.mean().total_cmp(&b.busy.mean()))
    }
}
