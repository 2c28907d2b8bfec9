//! What a record says that causes are judged by, read once.

use crate::host::{Disk, Host, Tasks};
use crate::load::Load;
use crate::measured::{JudgedWindow, RecordSeries, SummedSeries};
use crate::number::percent_within;
use crate::parts::MeanParts;
use crate::pauses::{Pause, pauses};
use crate::sessions::Activity;
use crate::thresholds::{CHURN, DISTANT_MS, FEWEST_LOOKS, LOOPBACK_MS, MOST};
use crate::{Evidence, PartKind, Split, WaitClass};
use tidemark_analysis::observed;
use tidemark_core::observe::{CLIENT_HOST, NETWORK, SERVER_ACTIVITY, SERVER_NODES, SERVER_STATUS};
use tidemark_core::record::RunRecord;

/// All of it.
pub(crate) struct Observations<'r> {
    pub record: &'r RunRecord,
    pub series: RecordSeries<'r>,
    pub load: Load,
    /// What is known of the mean of all transactions.
    pub known: MeanParts,
    /// Of all transactions.
    pub split: Split,
    /// What the server's parts came to by what was left of the latency for them, before they were made to
    /// fit.
    pub over: f64,
    /// Times in which no transaction ended though some were due, in seconds; `None` where nobody looked.
    pub stalls: Option<Vec<(f64, f64)>>,
    /// Shorter ones, in which all sessions waited.
    pub pauses: Vec<Pause>,
    /// The client's host.
    pub client: Option<Host>,
    /// The database's host, which may be the client's.
    pub host: Option<Host>,
    /// The client's threads.
    pub threads: Option<Tasks>,
    /// The server's processes.
    pub server: Option<Tasks>,
    pub activity: Option<Activity>,
    /// The disk of the database's host that is busiest.
    pub disk: Option<Disk>,
    /// Whether client and server share a host.
    pub is_shared: bool,
    pub is_embedded: bool,
}

impl<'r> Observations<'r> {
    /// `None` of a record without transactions.
    pub fn of(record: &'r RunRecord) -> Option<Self> {
        let window = JudgedWindow::of(record)?;
        let series = RecordSeries { record, window };
        let load = Load::of(record)?;
        let is_embedded = observed::is_embedded(record);
        let is_shared = is_embedded || record.target_on_client == Some(true);
        let client = Host::of(&series, CLIENT_HOST);
        let source = observed::server_host(record);
        let host = source.and_then(|source| Host::of(&series, source));
        let disk = source.and_then(|source| Disk::busiest(&series, source));
        let mut seen = Self {
            record,
            series,
            known: MeanParts::default(),
            split: Split::default(),
            over: 0.0,
            stalls: tidemark_analysis::stalls(record),
            pauses: pauses(record, &load),
            threads: Tasks::of_client(&series),
            server: Tasks::of_server(&series),
            activity: Activity::of(&series),
            load,
            client,
            host,
            disk,
            is_shared,
            is_embedded,
        };
        seen.known = seen.mean_parts();
        (seen.split, seen.over) = seen.known.split_and_over();
        Some(seen)
    }

    fn mean_parts(&self) -> MeanParts {
        let load = &self.load;
        let latency = &load.latency;
        let mut waits_ms = self.waits_ms();
        let (mut server_cpu_ms, in_server_ms) = match self.is_embedded {
            true => (
                self.threads.as_ref().map(|t| load.each_ms(t.cpu.mean())),
                None,
            ),
            false => (
                self.server
                    .as_ref()
                    .map(|t| load.each_ms(t.cpu.mean() * self.own_part())),
                self.activity.as_ref().map(|a| load.each_ms(a.in_server())),
            ),
        };
        let tasks = match self.is_embedded {
            true => &self.threads,
            false => &self.server,
        };
        if let Some(delay) = tasks.as_ref().and_then(|t| t.delay.as_ref()) {
            // Milliseconds per second are thousandths of tasks that wait.
            let waiting = load.each_ms(delay.mean() / 1000.0 * self.own_part());
            waits_ms.push((WaitClass::RunQueue, waiting));
        }
        if server_cpu_ms.is_none() {
            let on_cpu = self.activity.as_ref().and_then(|a| a.cpu);
            server_cpu_ms = on_cpu.map(|sessions| load.each_ms(sessions));
        }
        // Opening connections takes the server's CPU, too, between the transactions.
        let opened = self.record.totals.reconnects as f64 / (latency.count as f64).max(1.0);
        if let (true, Some(in_server_ms), Some(cpu_ms)) =
            (opened >= CHURN, in_server_ms, server_cpu_ms.as_mut())
        {
            let queued = waits_ms
                .iter_mut()
                .filter(|(class, _)| *class == WaitClass::RunQueue);
            let mut all: Vec<&mut f64> = queued.map(|(_, ms)| ms).collect();
            all.push(cpu_ms);
            let sum: f64 = all.iter().map(|ms| **ms).sum();
            let factor = (in_server_ms / sum.max(1e-9)).min(1.0);
            all.into_iter().for_each(|ms| *ms *= factor);
        }
        MeanParts {
            mean_ms: latency.mean_ms,
            waiting_ms: latency.waiting_ms,
            paused_ms: latency.paused_ms,
            client_ms: latency.client_ms(),
            is_embedded: self.is_embedded,
            added_ms: self.record.inject_rtt_ms * load.round_trips,
            in_server_ms,
            server_cpu_ms,
            waits_ms,
        }
    }

    /// The part of the sessions that use the server's CPU which are the run's.
    fn own_part(&self) -> f64 {
        let Some(activity) = self.activity.as_ref().filter(|_| !self.is_embedded) else {
            return 1.0;
        };
        let own = activity.cpu.unwrap_or(0.0) + activity.executing;
        let others = activity.others.cpu + activity.others.executing;
        match own > 0.0 {
            true => own / (own + others),
            false => 1.0,
        }
    }

    /// The server's waits by class, as far as sessions, counters and disks tell.
    fn waits_ms(&self) -> Vec<(WaitClass, f64)> {
        let load = &self.load;
        let Some(activity) = &self.activity else {
            // Sessions of SQLite count how long they wait for its lock.
            let waiting = match self.is_embedded {
                true => self.row_lock_sessions(),
                false => 0.0,
            };
            let of_lock = (WaitClass::TableLock, load.each_ms(waiting));
            return (waiting > 0.0).then_some(of_lock).into_iter().collect();
        };
        let mut waits = activity.waits.clone();
        if activity.executing > 0.0 {
            // MariaDB and MySQL show neither row locks nor reads as states of their own.
            let rows = self.row_lock_sessions().min(activity.executing);
            let reads = self.reading_sessions().min(activity.executing - rows);
            waits.insert(WaitClass::RowLock, rows);
            waits.insert(WaitClass::DataRead, reads);
            // A session that commits is on a processor at times, too.
            if let (Some(log), Some(on_cpu)) =
                (waits.get_mut(&WaitClass::Log), self.commits_on_cpu())
            {
                *log *= 1.0 - on_cpu;
            }
        }
        let each = waits.into_iter().filter(|(_, sessions)| *sessions > 0.0);
        each.map(|(class, sessions)| (class, load.each_ms(sessions)))
            .collect()
    }

    /// The part of MariaDB's and MySQL's sessions that commit which is on a processor, or waits for one: as of
    /// all sessions. `None` of servers that tell waits, and where the server's CPU is not seen.
    pub fn commits_on_cpu(&self) -> Option<f64> {
        let activity = self.activity.as_ref().filter(|a| a.executing > 0.0)?;
        let server = self.server.as_ref()?;
        let delay = server.delay.as_ref().map_or(0.0, SummedSeries::mean) / 1000.0;
        let on_cpu = (server.cpu.mean() + delay) / activity.in_server().max(1e-9);
        Some(on_cpu.clamp(0.0, 1.0))
    }

    /// Sessions that waited for row locks, of SQLite for its one lock, by the server's counters.
    pub fn row_lock_sessions(&self) -> f64 {
        let by_time = self.status("locks.wait-time").map(|c| c.mean() / 1000.0);
        let by_look = self.status("locks.waiting").map(|c| c.mean());
        by_time.unwrap_or(0.0).max(by_look.unwrap_or(0.0))
    }

    /// The same as a share of the latency. Who may not look at sessions may still see counters.
    pub fn counted_lock_waits(&self) -> f64 {
        self.split
            .share(self.load.each_ms(self.row_lock_sessions()))
    }

    /// Sessions that waited for pages to be read: reads that the server had asked for and not got, or
    /// those whose cache missed, as long as reads took.
    fn reading_sessions(&self) -> f64 {
        let pending = self.status("data.pending-reads").map_or(0.0, |c| c.mean());
        let misses = self.status("buffer.misses").map_or(0.0, |c| c.mean());
        let Some(disk) = self.disk.as_ref().filter(|_| misses > 0.0) else {
            return pending;
        };
        let one_ms = match disk.reads.mean() > 0.0 {
            true => disk.read_time.mean() / disk.reads.mean(),
            false => 0.0,
        };
        // The disk's own time has none of what a quota holds back before it.
        pending.max(misses.min(disk.reads.mean()) * one_ms / 1000.0)
    }

    /// A counter of the server.
    pub fn status(&self, name: &str) -> Option<SummedSeries> {
        self.series.column(SERVER_STATUS, name)
    }

    /// The mean of a duration over the nodes of a cluster, each counted as often as it measured it.
    pub fn node_ms(&self, name: &str) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for instance in self.series.labels(SERVER_NODES, name, "instance") {
            let of = |name: &str| {
                self.series.column_of(SERVER_NODES, name, |s| {
                    s.key.labels.get("instance").is_some_and(|i| i == instance)
                })
            };
            if let Some(ms) = of(name) {
                let times = of(&format!("{name}.rate")).map_or(1.0, |rate| rate.mean());
                sum += ms.mean() * times;
                count += times;
            }
        }
        (count > 0.0).then(|| sum / count)
    }

    /// Share of the mean latency of a part.
    pub fn share(&self, part: PartKind) -> f64 {
        self.split.share(self.split.ms(part))
    }

    /// Share of the mean latency of one class of waits.
    pub fn wait_share(&self, class: WaitClass) -> f64 {
        self.split.share(self.split.wait_ms(class))
    }

    /// Half of the interval of the share of these waits: they are samples. Infinite where there are too few.
    pub fn half(&self, classes: &[WaitClass]) -> f64 {
        let activity = self.activity.as_ref();
        let of_looks = activity.and_then(|activity| activity.spread(classes));
        // MariaDB and MySQL count what is no state of theirs.
        let of_counter = || {
            let names: &[&str] = match classes {
                [WaitClass::RowLock] => &["locks.wait-time", "locks.waiting"],
                [WaitClass::TableLock] if self.is_embedded => &["locks.wait-time"],
                _ => &["data.pending-reads", "buffer.misses"],
            };
            let counted = names.iter().filter_map(|name| self.status(name));
            let counted = counted
                .map(|c| (c.half(), c.mean()))
                .find(|(_, m)| *m > 0.0);
            counted.map(|(half, mean)| half / mean)
        };
        let spread = of_looks.or_else(of_counter).unwrap_or(f64::INFINITY);
        let share: f64 = classes.iter().map(|class| self.wait_share(*class)).sum();
        match spread.is_finite() {
            true => share * spread,
            false => f64::INFINITY,
        }
    }

    /// The share of these waits for a sentence.
    pub fn said(&self, classes: &[WaitClass]) -> String {
        let share: f64 = classes.iter().map(|class| self.wait_share(*class)).sum();
        percent_within(share, self.half(classes))
    }

    /// Whether a share of these waits is the largest part whatever chance did to the samples.
    pub fn is_most(&self, share: f64, classes: &[WaitClass]) -> bool {
        share - self.half(classes) >= MOST
    }

    /// Whether too few seconds were looked at to say what sessions were at.
    pub fn is_thin(&self) -> bool {
        let activity = self.activity.as_ref();
        activity.is_some_and(|activity| activity.points < FEWEST_LOOKS)
    }

    /// Milliseconds of a round trip without the server's work, where one was measured that is longer than
    /// those within a host: the kernel's shortest of the sessions' sockets, or the shortest ping.
    pub fn round_trip_ms(&self) -> Option<f64> {
        let least = |name: &str| {
            let column = self.series.column(NETWORK, name)?;
            column.points.iter().map(|(_, v)| *v).reduce(f64::min)
        };
        let kernel = least("network.min_rtt").filter(|ms| *ms >= LOOPBACK_MS);
        let before = self.record.ping_before.map(|ping| ping.min_ms);
        let pings = [before, least("ping.latency")].into_iter().flatten();
        let ping = pings.reduce(f64::min).filter(|ms| *ms >= DISTANT_MS);
        // What is between, a proxy, is near for the kernel.
        kernel.into_iter().chain(ping).reduce(f64::max)
    }

    /// Share of the latency that passed waiting in the server, but for processors.
    pub fn true_waits(&self) -> f64 {
        let waits = self.split.ms(PartKind::ServerWait) - self.split.wait_ms(WaitClass::RunQueue);
        self.split.share(waits)
    }

    /// A figure of the load itself as evidence.
    pub fn evidence(&self, metric: &str, value: f64, unit: &str) -> Evidence {
        let window = self.series.window;
        Evidence {
            metric: metric.into(),
            value,
            unit: unit.into(),
            cores: None,
            from_s: window.from_ms as f64 / 1000.0,
            to_s: window.to_ms as f64 / 1000.0,
        }
    }

    /// Those of these counters of the server that are there, as evidence.
    pub fn statuses(&self, names: &[&str]) -> impl Iterator<Item = Evidence> {
        let counters = names.iter().filter_map(move |name| self.status(name));
        counters.map(|counter| counter.evidence())
    }

    /// Sessions at waits of a class, as evidence.
    pub fn wait_evidence(&self, class: WaitClass) -> Option<Evidence> {
        let of_class =
            |wait: &str| crate::waits::doing(wait) == crate::waits::SessionActivity::Wait(class);
        let is_it = |wait: Option<&String>| wait.is_some_and(|wait| of_class(wait));
        let column = self
            .series
            .column_over_all(SERVER_ACTIVITY, "sessions", |s| {
                s.key.labels.get("state").is_some_and(|s| s == "active")
                    && is_it(s.key.labels.get("wait"))
            })?;
        let waits = self.series.labels(SERVER_ACTIVITY, "sessions", "wait");
        let names: Vec<&str> = waits.into_iter().filter(|wait| of_class(wait)).collect();
        let mut evidence = column.evidence();
        evidence.metric = format!("{SERVER_ACTIVITY} sessions ({})", names.join(", "));
        Some(evidence)
    }

    /// The share of the processors of the database's host that is busy.
    pub fn host_busy(&self) -> Option<f64> {
        self.host.as_ref().map(Host::load)
    }

    /// The share of the host's processors that client and server use, with what the hypervisor takes; all
    /// that is busy where they are not seen.
    pub fn own_busy(&self) -> Option<f64> {
        let host = self.host.as_ref()?;
        let others = self.others().unwrap_or(0.0);
        Some((host.busy.mean() - others) / host.cores)
    }

    /// Processors that neither client nor server nor observing uses, nor the kernel for interrupts; `None`
    /// unless all are seen.
    pub fn others(&self) -> Option<f64> {
        let host = self.host.as_ref()?;
        let of_client = match self.is_shared {
            true => self.threads.as_ref()?.all,
            false => 0.0,
        };
        let of_server = match self.is_embedded {
            true => 0.0,
            false => self.server.as_ref()?.all,
        };
        let kernel = host.steal() + host.interrupted();
        Some((host.busy.mean() - kernel - of_client - of_server).max(0.0))
    }
}
