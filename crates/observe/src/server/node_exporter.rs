//! The database's host by its node_exporter, under the names that the client's host has.

use super::access::EndpointAccess;
use super::exposition::{SampleLine, lines};
use super::http::get;
use super::url::Url;
use crate::client::metrics;
use crate::db::LONGEST;
use crate::source::{Metric, Samples, SeriesSource};
use std::collections::{BTreeMap, HashMap};
use tidemark_core::observe::SERVER_HOST;
use tidemark_core::record::{Gap, GapKind};

/// Where node_exporter listens unless it is told otherwise.
const PORT: u16 = 9100;
/// So many disks and interfaces are told of, each; of more processors than that only `cpu.busy` is told of
/// each, and the rest as means of all, as of the client's host.
const MOST: usize = 32;
/// What is asked of it: all of it takes it several times as long.
const COLLECTORS: [&str; 9] = [
    "cpu",
    "diskstats",
    "loadavg",
    "meminfo",
    "netdev",
    "netstat",
    "pressure",
    "stat",
    "uname",
];

const BUSY: Metric = Metric::total("cpu.busy", "ratio", 2, 1.0);
const USED: Metric = Metric::gauge("memory.used", "bytes", -4);
const AVAILABLE: Metric = Metric::gauge("memory.available", "bytes", -4);

/// What is told as it is, once.
const PLAIN: [(&str, Metric); 10] = [
    ("node_context_switches_total", metrics::SWITCHES),
    ("node_procs_running", metrics::RUNNING),
    ("node_procs_blocked", metrics::BLOCKED),
    (
        "node_pressure_cpu_waiting_seconds_total",
        Metric::total("pressure.cpu.some", "ratio", 3, 1.0),
    ),
    (
        "node_pressure_io_waiting_seconds_total",
        Metric::total("pressure.io.some", "ratio", 3, 1.0),
    ),
    (
        "node_pressure_io_stalled_seconds_total",
        Metric::total("pressure.io.full", "ratio", 3, 1.0),
    ),
    (
        "node_pressure_memory_waiting_seconds_total",
        Metric::total("pressure.memory.some", "ratio", 3, 1.0),
    ),
    (
        "node_netstat_Tcp_OutSegs",
        Metric::count("tcp.segments-sent"),
    ),
    (
        "node_netstat_Tcp_RetransSegs",
        Metric::count("tcp.retransmits"),
    ),
    (
        "node_netstat_TcpExt_TCPTimeouts",
        Metric::count("tcp.timeouts"),
    ),
];

/// What each disk has, in the order of [`metrics::DISK`], with what makes its unit.
const OF_DISKS: [(&str, f64); 10] = [
    ("node_disk_reads_completed_total", 1.0),
    ("node_disk_read_bytes_total", 1.0),
    ("node_disk_read_time_seconds_total", 1e3),
    ("node_disk_writes_completed_total", 1.0),
    ("node_disk_written_bytes_total", 1.0),
    ("node_disk_write_time_seconds_total", 1e3),
    ("node_disk_io_time_seconds_total", 1e3),
    ("node_disk_io_time_weighted_seconds_total", 1e3),
    ("node_disk_flush_requests_total", 1.0),
    ("node_disk_flush_requests_time_seconds_total", 1e3),
];

/// What each interface has.
const OF_INTERFACES: [(&str, Metric); 4] = [
    (
        "node_network_receive_bytes_total",
        Metric::bytes("network.received"),
    ),
    (
        "node_network_transmit_bytes_total",
        Metric::bytes("network.sent"),
    ),
    (
        "node_network_receive_packets_total",
        Metric::count("network.packets-received"),
    ),
    (
        "node_network_transmit_packets_total",
        Metric::count("network.packets-sent"),
    ),
];

const INTERRUPTS: Metric = Metric::total("cpu.interrupts", "ratio", 3, 1.0);

/// Modes of a processor by the series that they make.
const MODES: [(&str, Metric, &[&str]); 4] = [
    (
        "user",
        Metric::total("cpu.user", "ratio", 2, 1.0),
        &["user", "nice"],
    ),
    (
        "system",
        Metric::total("cpu.system", "ratio", 2, 1.0),
        &["system", "irq", "softirq"],
    ),
    (
        "iowait",
        Metric::total("cpu.iowait", "ratio", 2, 1.0),
        &["iowait"],
    ),
    (
        "steal",
        Metric::total("cpu.steal", "ratio", 2, 1.0),
        &["steal"],
    ),
];

/// Asks a node_exporter for what some of its collectors have. What it replied, and where it is asked again.
///
/// # Errors
/// In words, with the address.
pub(super) fn ask(
    url: &str,
    access: &EndpointAccess,
    collectors: &[&str],
) -> Result<(Url, String), String> {
    let plain = Url::parse(url, PORT)?.with(access);
    let of: Vec<String> = collectors
        .iter()
        .map(|c| format!("collect[]={c}"))
        .collect();
    let few = plain.asking(&of.join("&"));
    // One that has not all collectors refuses to choose among them.
    match get(&few, LONGEST) {
        Ok(text) => Ok((few, text)),
        Err(_) => get(&plain, LONGEST).map(|text| (plain, text)),
    }
}

/// A node_exporter.
pub(crate) struct NodeExporter {
    url: String,
    access: EndpointAccess,
    from: Option<Url>,
    /// First totals of disks and interfaces, by name, until something changed.
    idle: HashMap<String, f64>,
}

impl NodeExporter {
    pub fn new(url: &str, access: &EndpointAccess) -> Self {
        Self {
            url: url.into(),
            access: access.clone(),
            from: None,
            idle: HashMap::new(),
        }
    }

    fn tell(&mut self, text: &str, samples: &mut Samples) {
        let mut cores: BTreeMap<u32, HashMap<String, f64>> = BTreeMap::new();
        let mut memory = [None; 2];
        for line in lines(text) {
            if let Some((_, metric)) = PLAIN.iter().find(|(name, _)| *name == line.name) {
                samples.tell(metric, &[], line.value);
            }
            match line.name {
                "node_cpu_seconds_total" => {
                    let core = line.label("cpu").and_then(|c| c.parse().ok());
                    if let Some((core, mode)) = core.zip(line.label("mode")) {
                        cores.entry(core).or_default().insert(mode, line.value);
                    }
                }
                "node_memory_MemTotal_bytes" => memory[0] = Some(line.value),
                "node_memory_MemAvailable_bytes" => memory[1] = Some(line.value),
                _ => self.device(&line, samples),
            }
        }
        if let [Some(total), Some(available)] = memory {
            samples.tell(&USED, &[], total - available);
            samples.tell(&AVAILABLE, &[], available);
        }
        let few = cores.len() <= MOST;
        let mean = |of: &[&str]| {
            let each = cores
                .values()
                .map(|modes| -> f64 { of.iter().filter_map(|mode| modes.get(*mode)).sum() });
            each.sum::<f64>() / cores.len() as f64
        };
        if !cores.is_empty() {
            samples.tell(&INTERRUPTS, &[], mean(&["irq", "softirq"]));
        }
        if !few {
            for (_, metric, of) in &MODES {
                samples.tell(metric, &[], mean(of));
            }
        }
        for (core, modes) in &cores {
            let core = core.to_string();
            let labels = [("core", core.as_str())];
            let busy: f64 = MODES
                .iter()
                .filter(|(name, _, _)| *name != "iowait")
                .flat_map(|(_, _, of)| of.iter())
                .filter_map(|mode| modes.get(*mode))
                .sum();
            samples.tell(&BUSY, &labels, busy);
            for (_, metric, of) in MODES.iter().filter(|_| few) {
                let total: f64 = of.iter().filter_map(|mode| modes.get(*mode)).sum();
                samples.tell(metric, &labels, total);
            }
        }
    }

    fn device(&mut self, line: &SampleLine<'_>, samples: &mut Samples) {
        let place = OF_DISKS.iter().position(|(name, _)| *name == line.name);
        let of_disk = place.and_then(|at| metrics::DISK.get(at).zip(OF_DISKS.get(at)));
        let of_interface = OF_INTERFACES.iter().find(|(name, _)| *name == line.name);
        let (metric, scale, label) = match (of_disk, of_interface) {
            (Some((metric, (_, scale))), _) => (metric, *scale, "disk"),
            (None, Some((_, metric))) => (metric, 1.0, "interface"),
            (None, None) => return,
        };
        let Some(device) = line.label("device") else {
            return;
        };
        // What nobody uses makes no series.
        let known = self.idle.len() < MOST * (OF_DISKS.len() + OF_INTERFACES.len());
        let key = format!("{} {device}", metric.name);
        let first = match self.idle.get(&key) {
            None if !known => return,
            None => {
                self.idle.insert(key, line.value);
                return;
            }
            Some(first) => *first,
        };
        if first != line.value {
            samples.tell(metric, &[(label, &device)], line.value * scale);
        }
    }
}

impl SeriesSource for NodeExporter {
    fn name(&self) -> &str {
        SERVER_HOST
    }

    fn start(&mut self, _gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let failed = |why: String| Gap::new(GapKind::Failed, why);
        let (url, text) = ask(&self.url, &self.access, &COLLECTORS).map_err(failed)?;
        if !lines(&text).any(|line| line.name == "node_cpu_seconds_total") {
            return Err(failed(format!(
                "{}: the reply is not from a node_exporter",
                self.url
            )));
        }
        self.from = Some(url);
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let Some(url) = &self.from else {
            return Ok(());
        };
        let text = get(url, LONGEST)?;
        samples.are_of_now();
        self.tell(&text, samples);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn of_many_processors_each_ones_business_is_told() {
        let mut exporter = NodeExporter::new("", &EndpointAccess::default());
        let mut samples = Samples::new(SERVER_HOST, Duration::from_millis(10));
        for (at, user, steal) in [(None, 0.0, 0.0), (Some(0), 0.5, 0.25)] {
            std::thread::sleep(Duration::from_millis(10));
            samples.begin(at);
            let line = |core: usize, mode: &str, seconds: f64| {
                format!("node_cpu_seconds_total{{cpu=\"{core}\",mode=\"{mode}\"}} {seconds}\n")
            };
            // Only the second half of them works.
            let of = |core: usize| {
                let user = if core >= 48 { user } else { 0.0 };
                line(core, "user", user) + &line(core, "steal", steal) + &line(core, "softirq", 0.0)
            };
            let text: String = (0..96).map(of).collect();
            exporter.tell(&text, &mut samples);
        }
        let series = samples.series();
        let named = |name: &str| series.iter().filter(|s| s.key.name == name).count();
        assert_eq!(named("cpu.busy"), 96);
        for name in ["cpu.user", "cpu.steal", "cpu.interrupts"] {
            let found: Vec<_> = series.iter().filter(|s| s.key.name == name).collect();
            assert!(found.len() == 1 && found[0].key.labels.is_empty(), "{name}");
        }
        let mean = |name: &str| {
            let of = series.iter().filter(|s| s.key.name == name);
            of.map(|s| s.summary().unwrap().unwrap().max)
                .fold(0.0, f64::max)
        };
        // Half of the processors by the mean, all of them by their own.
        assert!(mean("cpu.user") < mean("cpu.busy"), "{series:?}");
    }
}
