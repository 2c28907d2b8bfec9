//! Figures as OpenMetrics text.

use super::SharedMetrics;
use super::buckets::buckets;
use super::figures::{RunMetrics, phase_name};
use crate::{ClientNow, ClientStage};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use tidemark_core::record::Phase;
use tidemark_report::{Merged, TypeLatency};
use tidemark_stats::Histogram;

/// Labels of a sample.
type Labels = Vec<(&'static str, String)>;

/// The page that is fetched.
#[derive(Debug)]
pub(super) struct MetricsPage(Registry);

impl MetricsPage {
    pub fn new(figures: SharedMetrics) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(figures));
        Self(registry)
    }

    /// As OpenMetrics 1.0 has it, `# EOF` at its end.
    pub fn open_metrics(&self) -> String {
        let mut text = String::new();
        // Writing to memory can't fail.
        let written = encode(&mut text, &self.0);
        debug_assert!(written.is_ok());
        text
    }
}

impl Collector for SharedMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let mut families = Families(&mut encoder);
        families.process()?;
        let figures = self.lock();
        if figures.run.is_some() {
            families.run(&figures)?;
            families.transactions(&figures)?;
            families.statements(&figures)?;
            families.errors(&figures)?;
            families.latencies(&figures)?;
            families.now(&figures)?;
            families.observed(&figures)?;
            families.clients(&figures.clients)?;
        }
        Ok(())
    }
}

fn of_phase(phase: Phase) -> (&'static str, String) {
    ("phase", phase_name(phase).into())
}

/// Writes one family of samples after the other.
struct Families<'a, 'b>(&'a mut DescriptorEncoder<'b>);

impl Families<'_, '_> {
    fn counter<V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        samples: impl IntoIterator<Item = (Labels, V)>,
    ) -> fmt::Result {
        let kind = MetricType::Counter;
        let mut family = self.0.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in samples {
            family
                .encode_family(&labels)?
                .encode_counter::<NoLabelSet, V, f64>(&value, None)?;
        }
        Ok(())
    }

    fn gauge<V: EncodeGaugeValue>(&mut self, name: &str, help: &str, value: V) -> fmt::Result {
        let mut family = self
            .0
            .encode_descriptor(name, help, None, MetricType::Gauge)?;
        family.encode_gauge(&value)
    }

    fn gauges<V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        samples: impl IntoIterator<Item = (Labels, V)>,
    ) -> fmt::Result {
        let kind = MetricType::Gauge;
        let mut family = self.0.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in samples {
            family.encode_family(&labels)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    fn histogram<'h>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels, &'h Histogram)>,
    ) -> fmt::Result {
        let (unit, kind) = (Unit::Seconds, MetricType::Histogram);
        let mut family = self.0.encode_descriptor(name, help, Some(&unit), kind)?;
        for (labels, latencies) in samples {
            let (sum, count) = (latencies.sum_ns() as f64 / 1e9, latencies.count());
            let mut sample = family.encode_family(&labels)?;
            sample.encode_histogram::<NoLabelSet>(sum, count, &buckets(latencies), None)?;
        }
        Ok(())
    }

    /// By the name that every client library of Prometheus gives it.
    fn process(&mut self) -> fmt::Result {
        let used = tidemark_observe::usage();
        let cpu = used.cpu_user_s + used.cpu_system_s;
        let help = "User and system CPU time of the client process";
        let sample = [(Labels::new(), cpu)];
        self.counter("process_cpu", help, Some(Unit::Seconds), sample)
    }

    fn run(&mut self, figures: &RunMetrics) -> fmt::Result {
        let Some(run) = &figures.run else {
            return Ok(());
        };
        let mut labels: Labels = vec![
            ("run", run.id.clone()),
            ("workload", run.workload.clone()),
            ("engine", run.engine.clone()),
            ("version", run.version.clone()),
            ("tidemark_version", run.tidemark_version.clone()),
        ];
        if let Some((study, cell)) = &run.study {
            labels.push(("study", study.clone()));
            labels.push(("cell", cell.clone()));
        }
        let help = "Workload, engine, engine version and record id of the run";
        let kind = MetricType::Info;
        let mut info = self.0.encode_descriptor("tidemark_run", help, None, kind)?;
        info.encode_info(&labels)?;
        self.counter(
            "tidemark_elapsed",
            "Time under load",
            Some(Unit::Seconds),
            figures
                .phases()
                .map(|(phase, sum)| (vec![of_phase(phase)], sum.length_ms / 1000.0)),
        )
    }

    fn transactions(&mut self, figures: &RunMetrics) -> fmt::Result {
        self.counter(
            "tidemark_transactions",
            "Successful transactions by type",
            None,
            figures.phases().flat_map(|(phase, sum)| {
                let types = sum.types.iter();
                types.map(move |(name, t)| (vec![("type", name.clone()), of_phase(phase)], t.count))
            }),
        )?;
        let noted = |sum: &Merged| !sum.notes.is_empty();
        if figures.phases().any(|(_, sum)| noted(sum)) {
            self.counter(
                "tidemark_outcomes",
                "Outcomes that the workload counts",
                None,
                figures.phases().flat_map(|(phase, sum)| {
                    let notes = sum.notes.iter();
                    notes.map(move |(name, n)| {
                        (vec![("outcome", name.clone()), of_phase(phase)], *n)
                    })
                }),
            )?;
        }
        Ok(())
    }

    fn statements(&mut self, figures: &RunMetrics) -> fmt::Result {
        self.counter(
            "tidemark_statements",
            "Statements by group; other is transaction control and writes that changed nothing",
            None,
            figures.phases().flat_map(|(phase, sum)| {
                let s = sum.statements;
                [("read", s.read), ("write", s.write), ("other", s.other)]
                    .map(|(group, n)| (vec![("group", group.into()), of_phase(phase)], n))
            }),
        )
    }

    fn errors(&mut self, figures: &RunMetrics) -> fmt::Result {
        self.counter(
            "tidemark_errors",
            "Errors of statements and sessions, by class and by the engine's code",
            None,
            figures.errors.iter().map(|((phase, class, code), n)| {
                let labels = vec![
                    ("class", class.to_string()),
                    ("code", code.clone()),
                    ("phase", phase.to_string()),
                ];
                (labels, *n)
            }),
        )?;
        self.of_phases(
            figures,
            "tidemark_ignored_errors",
            "Ignored and retried errors",
            |sum| sum.ignored_errors,
        )?;
        self.of_phases(
            figures,
            "tidemark_reconnects",
            "Reconnected sessions",
            |sum| sum.reconnects,
        )?;
        let help = "Time during which a host was unreachable";
        let outages = figures.phases();
        let outages = outages.map(|(phase, sum)| (vec![of_phase(phase)], sum.outage_ms / 1000.0));
        self.counter("tidemark_outage", help, Some(Unit::Seconds), outages)
    }

    /// A count a phase.
    fn of_phases(
        &mut self,
        figures: &RunMetrics,
        name: &str,
        help: &str,
        count: impl Fn(&Merged) -> u64,
    ) -> fmt::Result {
        let samples = figures.phases();
        let samples = samples.map(|(phase, sum)| (vec![of_phase(phase)], count(sum)));
        self.counter(name, help, None, samples)
    }

    fn latencies(&mut self, figures: &RunMetrics) -> fmt::Result {
        let of = |pick: fn(&TypeLatency) -> Option<&Histogram>| {
            figures.phases().flat_map(move |(phase, sum)| {
                sum.types.iter().filter_map(move |(name, t)| {
                    Some((vec![("type", name.clone()), of_phase(phase)], pick(t)?))
                })
            })
        };
        self.histogram(
            "tidemark_service_time",
            "From the first statement until the session has the last reply and can continue, of \
             successful transactions",
            of(|t| Some(&t.service)),
        )?;
        if of(|t| t.response.as_ref()).next().is_some() {
            self.histogram(
                "tidemark_response_time",
                "From the moment a transaction was due until the session has its last reply",
                of(|t| t.response.as_ref()),
            )?;
        }
        if of(|t| t.server.as_ref()).next().is_some() {
            self.histogram(
                "tidemark_server_and_network_time",
                "The part of the service time until replies reached the client host",
                of(|t| t.server.as_ref()),
            )?;
        }
        Ok(())
    }

    fn observed(&mut self, figures: &RunMetrics) -> fmt::Result {
        let help = "Newest value of each observed series; rates are per second";
        let kind = MetricType::Gauge;
        let mut family = self
            .0
            .encode_descriptor("tidemark_observed", help, None, kind)?;
        for (labels, value) in figures.observed.samples() {
            family.encode_family(labels)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    /// Of each of several clients; nothing of one that makes the load alone.
    fn clients(&mut self, clients: &[ClientNow]) -> fmt::Result {
        if clients.is_empty() {
            return Ok(());
        }
        let of = |value: fn(&ClientNow) -> Option<f64>| {
            clients.iter().filter_map(move |client| {
                let labels: Labels = vec![("client", client.name.clone())];
                Some((labels, value(client)?))
            })
        };
        let help = "1 while the client makes load";
        let is_running = |client: &ClientNow| Some(f64::from(client.stage == ClientStage::Running));
        self.gauges("tidemark_client_running", help, None, of(is_running))?;
        let help = "Transactions per second of the client's last interval";
        let rate = |client: &ClientNow| Some(client.rate);
        self.gauges("tidemark_client_rate", help, None, of(rate))?;
        let help = "95 % of the client's transactions in its last interval took no longer";
        let p95 = |client: &ClientNow| Some(client.p95_ns? as f64 / 1e9);
        let seconds = Some(Unit::Seconds);
        self.gauges("tidemark_client_p95", help, seconds, of(p95))?;
        let help = "Processors that the client used";
        let name = "tidemark_client_cpus";
        self.gauges(name, help, None, of(|client| client.cpus))?;
        let help = "Share of the processors of the client's host that was busy";
        let name = "tidemark_client_host_busy";
        self.gauges(name, help, None, of(|client| client.host_busy))?;
        let help = "By how much the client's clock may be wrong";
        let error = |client: &ClientNow| Some(client.clock_error_ms / 1e3);
        let seconds = Some(Unit::Seconds);
        self.gauges("tidemark_client_clock_error", help, seconds, of(error))
    }

    fn now(&mut self, figures: &RunMetrics) -> fmt::Result {
        let now = &figures.now;
        self.gauge("tidemark_sessions", "Sessions connected", now.sessions)?;
        let help = "Transactions in flight";
        self.gauge("tidemark_concurrency", help, now.concurrency)?;
        let help = "1 during the measurement, 0 in the warm-up and after the run";
        self.gauge("tidemark_measuring", help, u64::from(now.is_measuring))?;
        if !figures.run.as_ref().is_some_and(|run| run.open_loop) {
            return Ok(());
        }
        let help = "Arrivals waiting for a free session";
        self.gauge("tidemark_queue_length", help, now.queue_length)?;
        let help = "Requested arrivals per second";
        self.gauge("tidemark_rate_asked", help, now.rate.unwrap_or(0.0))?;
        self.of_phases(
            figures,
            "tidemark_delayed_arrivals",
            "Arrivals delayed because no session was free",
            |sum| sum.delayed_arrivals,
        )?;
        self.of_phases(
            figures,
            "tidemark_dropped_arrivals",
            "Arrivals dropped because the backlog was full",
            |sum| sum.dropped_arrivals,
        )
    }
}
