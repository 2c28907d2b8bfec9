//! One of many runs, digested to what their document needs.

use super::latencies::Latencies;
use crate::ReportError;
use crate::digest::{Digest, groups, states_errors};
use crate::family::Family;
use crate::load::LoadKind;
use crate::load_words::open_loop_stated;
use crate::merge::{add_interval, per_second};
use serde::Serialize;
use tidemark_analysis::compare::ComparedRun;
use tidemark_analysis::costs::{Cost, costs, lag_too_much};
use tidemark_analysis::setup::version;
use tidemark_analysis::telling_settings;
use tidemark_analysis::{Finding, Presence, Resources, RunCosts, Setup, Severity};
use tidemark_core::record::MachineFigures;
use tidemark_core::record::{
    ClientHost, EffectiveOption, EncodedHistogram, Experiments, HostLoad, Imported, Interval,
    LatencyEnd, LeftLines, Phase, QueryOutcome, RateUnit, RunRecord, RunState, Setting, Topology,
};
use tidemark_core::{Engine, ServerInfo, StudyPlace, redact_url};
use tidemark_diagnosis::{Diagnosis, can_diagnose, diagnose};
use tidemark_stats::Histogram;

/// Points of a run's small picture over time; it is some 300 pixels wide.
const POINTS: usize = 150;

/// One run, digested: totals, findings, and a short series. It is a few kilobytes, whatever the
/// record was, so that records of many runs can be read one by one.
#[derive(Debug, Clone, Serialize)]
pub struct RunDigest {
    pub(crate) id: String,
    pub(crate) started_at: String,
    #[serde(flatten)]
    pub(crate) state: RunState,
    pub(crate) tidemark_version: String,
    pub(crate) workload: String,
    /// URL, password as `***`.
    pub(crate) target: String,
    /// Where another tool stated its figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) imported: Option<Source>,
    pub(crate) server: Option<ServerInfo>,
    pub(crate) study: Option<StudyPlace>,
    pub(crate) tags: Vec<String>,
    pub(crate) note: String,
    pub(crate) command: Vec<String>,
    #[serde(skip)]
    pub(crate) sessions: usize,
    /// None that a document does not state.
    #[serde(rename = "sessions")]
    pub(crate) sessions_stated: Option<usize>,
    /// Clients that made it together.
    #[serde(skip_serializing_if = "is_one")]
    pub(crate) clients: usize,
    /// Those of them that were not there to its end.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) clients_missing: usize,
    pub(crate) terminals: Option<usize>,
    pub(crate) rate: Option<f64>,
    #[serde(skip)]
    pub(crate) open_loop: bool,
    /// None where a document does not say it.
    #[serde(rename = "open_loop")]
    pub(crate) open_loop_stated: Option<bool>,
    /// Whether terminals pause between transactions.
    pub(crate) thinks: bool,
    pub(crate) inject_rtt_ms: f64,
    #[serde(skip)]
    pub(crate) elapsed_s: f64,
    /// None that a document does not state.
    #[serde(rename = "elapsed_s")]
    pub(crate) elapsed_stated: Option<f64>,
    /// None that a document does not state.
    #[serde(rename = "transactions")]
    pub(crate) transactions_stated: Option<u64>,
    #[serde(skip)]
    pub(crate) transactions: u64,
    /// What the throughput counts.
    pub(crate) rate_unit: RateUnit,
    /// The throughput; not a number where it is not known.
    #[serde(rename = "throughput")]
    pub(crate) transactions_per_s: f64,
    /// It, where it is of transactions.
    #[serde(rename = "transactions_per_s")]
    pub(crate) only_transactions_per_s: Option<f64>,
    pub(crate) statements_per_s: f64,
    /// Sessions that the client's own time between transactions keeps busy, on average; 0 where that
    /// time is in the latencies.
    pub(crate) between: f64,
    /// Response times where there are any, service times else; or as another tool stated them.
    pub(crate) latency: Option<Latencies>,
    /// Whether these are response times.
    pub(crate) response_times: bool,
    #[serde(skip)]
    pub(crate) errors: u64,
    /// None where they were not counted; a document may not say.
    #[serde(rename = "errors")]
    pub(crate) errors_stated: Option<u64>,
    /// None that a document does not state.
    pub(crate) reconnects: Option<u64>,
    /// Its family's own.
    #[serde(flatten)]
    pub(crate) metrics: Metrics,
    pub(crate) types: Vec<TypeDigest>,
    pub(crate) queries: Vec<QueryDigest>,
    pub(crate) findings: Vec<Finding>,
    /// Whether its figures may be used: it is a result, and no finding says not to.
    pub(crate) usable: bool,
    pub(crate) client: ClientHost,
    /// What the client itself used of its host's processors, without waiting for arrivals.
    pub(crate) client_cpu_percent: Option<f64>,
    /// Share of the client host's processors that was busy, where the system told.
    pub(crate) host_busy: Option<f64>,
    pub(crate) settings: Vec<Setting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) topology: Option<Topology>,
    pub(crate) hosts: Vec<HostLoad>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<MachineFigures>,
    pub(crate) notes: Vec<String>,
    /// With those that were not given.
    #[serde(skip)]
    pub(crate) options: Vec<(String, EffectiveOption)>,
    /// Of all transactions, to add to those of repeats.
    #[serde(skip)]
    pub(crate) latencies: EncodedHistogram,
    pub(crate) series: Vec<DigestSample>,
    /// What a transaction took on average.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) costs: Vec<Cost>,
    /// Whether the server's counters lag too much to tell any.
    #[serde(skip)]
    pub(crate) counters_lag: bool,
    /// What it used of processors, disks and the network, where that was observed.
    #[serde(skip_serializing_if = "Resources::is_empty")]
    pub(crate) resources: Resources,
    /// What limits it; absent of what can't be diagnosed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diagnosis: Option<Diagnosis>,
    /// What experiments around its job showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) experiments: Option<Experiments>,
    /// What makes it another run than a second one.
    #[serde(skip)]
    pub(crate) setup: Setup,
    /// When and where its load was, if that is known.
    #[serde(skip)]
    pub(crate) presence: Option<Presence>,
    /// `None` where the run can't be compared.
    #[serde(skip)]
    pub(crate) measured: Option<ComparedRun>,
}

/// What families tell beside rates and latencies.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Metrics {
    /// New-Orders a minute.
    pub tpmc: Option<f64>,
    /// Transactions a minute of all types, as another tool states them; HammerDB's are the
    /// database's own count.
    pub tpm: Option<f64>,
    /// It in percent of what the warehouses' terminals could make, where they think as specified.
    pub efficiency_percent: Option<f64>,
    /// Where a price was given.
    pub price: Option<PriceDigest>,
    /// Queries an hour at the scale factor, of a full test.
    pub qphh: Option<f64>,
}

impl Metrics {
    /// Of a family that has none.
    pub const NONE: Metrics = Metrics {
        tpmc: None,
        tpm: None,
        efficiency_percent: None,
        price: None,
        qphh: None,
    };

    /// As another tool's output states them.
    fn stated(imported: &Imported) -> Self {
        let figure = |name: &str| imported.figure(name).map(|f| f.value);
        Self {
            tpmc: figure("tpmc"),
            tpm: figure("tpm").or(figure("tpm_total")),
            efficiency_percent: figure("efficiency"),
            ..Self::NONE
        }
    }
}

/// What a system costs over three years, and what that is for each tpmC.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PriceDigest {
    pub amount: f64,
    pub currency: String,
    /// `None` where no New-Order ended.
    pub per_tpmc: Option<f64>,
}

/// The document that a run was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Source {
    pub tool: String,
    pub tool_version: Option<String>,
    /// Without its folder.
    pub file: String,
    pub first_line: u64,
    pub last_line: u64,
    /// What the run's record has and the document does not state.
    pub derived: Vec<String>,
    /// Lines that were not understood.
    pub not_understood: Vec<LeftLines>,
}

impl Source {
    fn of(imported: &Imported) -> Self {
        Self {
            tool: imported.tool.clone(),
            tool_version: imported.tool_version.clone(),
            file: imported.file.clone(),
            first_line: imported.first_line,
            last_line: imported.last_line,
            derived: imported.derived.clone(),
            not_understood: imported.not_understood.clone(),
        }
    }
}

/// One transaction type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TypeDigest {
    pub name: String,
    pub count: u64,
    pub per_s: f64,
    pub latency: Option<Latencies>,
}

/// One query of a benchmark that asks questions.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct QueryDigest {
    pub name: String,
    pub stream: u64,
    pub took_s: f64,
    #[serde(flatten)]
    pub outcome: QueryOutcome,
}

/// Some seconds of the measurement.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct DigestSample {
    /// Their middle, from the start of the measurement.
    pub at_s: f64,
    pub transactions_per_s: f64,
    pub p95_ms: Option<f64>,
}

fn is_one(clients: &usize) -> bool {
    *clients == 1
}

fn is_none(clients: &usize) -> bool {
    *clients == 0
}

impl RunDigest {
    /// Digests a record with its intervals.
    ///
    /// # Errors
    /// [`ReportError`] when a latency distribution of the record can't be read.
    pub fn of(record: &RunRecord) -> Result<Self, ReportError> {
        if record.is_watch() {
            return Err(ReportError::Watch(record.id.clone()));
        }
        let d = Digest::of_totals(record)?;
        let costs = costs(record);
        let flows = record.queries.is_empty();
        let types = d.types.iter().map(|(name, latency)| TypeDigest {
            name: (*name).into(),
            count: latency.count,
            per_s: d.per_second(latency.count),
            latency: Latencies::of(latency),
        });
        let queries = record.queries.iter().map(|q| QueryDigest {
            name: q.name.clone(),
            stream: q.stream,
            took_s: q.took_ms / 1000.0,
            outcome: q.outcome.clone(),
        });
        let findings = tidemark_analysis::findings(record)?;
        let invalid = findings.iter().any(|f| f.severity == Severity::Invalid);
        let imported = record.imported.as_ref();
        let is_result = is_result(
            &record.state,
            imported.is_some(),
            d.all.count,
            d.transactions_per_s(),
        );
        let thinks = tidemark_analysis::option(record, "think-time").is_some_and(|t| t != "0s")
            || d.totals.all.response.is_some() && d.kind == LoadKind::Closed;
        let family = Family::of(&record.workload);
        let unit = record.rate_unit();
        let sessions = record.sessions_opened.unwrap_or(record.sessions);
        Ok(Self {
            id: record.id.clone(),
            started_at: record.started_at.clone(),
            state: record.state.clone(),
            tidemark_version: record.tidemark_version.clone(),
            workload: record.workload.clone(),
            target: redact_url(&record.target),
            imported: imported.map(Source::of),
            server: record.server.clone(),
            study: record.study.clone(),
            tags: record.tags.clone(),
            note: record.note.clone(),
            command: record.command.clone(),
            sessions,
            sessions_stated: Some(sessions).filter(|n| imported.is_none() || *n > 0),
            clients: record.clients.len().max(1),
            clients_missing: record
                .clients
                .iter()
                .filter(|client| client.state.is_missing())
                .count(),
            terminals: record.terminals,
            rate: record.rate,
            open_loop: d.kind.is_open_loop(),
            open_loop_stated: open_loop_stated(record, d.kind),
            thinks,
            inject_rtt_ms: record.inject_rtt_ms,
            elapsed_s: d.totals.elapsed_s,
            elapsed_stated: Some(d.totals.elapsed_s).filter(|_| !record.is_derived("elapsed_s")),
            transactions_stated: Some(d.all.count).filter(|n| {
                record.imported.is_none()
                    || *n > 0 && unit == RateUnit::Transactions && !record.is_derived("count")
            }),
            transactions: d.all.count,
            rate_unit: unit,
            transactions_per_s: d.transactions_per_s(),
            only_transactions_per_s: Some(d.transactions_per_s())
                .filter(|_| unit == RateUnit::Transactions),
            statements_per_s: match unit {
                RateUnit::Statements => d.transactions_per_s(),
                _ => d.statements_per_s(),
            },
            between: between(record, d.totals.elapsed_s),
            latency: Latencies::of(&d.all),
            response_times: d.all.response.is_some(),
            errors: d.totals.ignored_errors,
            errors_stated: states_errors(record).then_some(d.totals.ignored_errors),
            reconnects: Some(d.totals.reconnects)
                .filter(|n| *n > 0 || imported.is_none_or(|i| i.figure("reconnects").is_some())),
            metrics: match (&record.imported, family) {
                (Some(imported), _) => Metrics::stated(imported),
                (None, family) => family.map_or(Metrics::NONE, |f| (f.metrics)(&d)),
            },
            types: types.collect(),
            queries: queries.collect(),
            usable: is_result && !invalid,
            client: record.client.clone(),
            client_cpu_percent: client_cpu_percent(record, d.totals.elapsed_s),
            host_busy: record.usage.host_busy,
            settings: telling_settings(record).cloned().collect(),
            topology: record.topology.clone(),
            counters_lag: lag_too_much(record, &costs),
            costs,
            resources: Resources::of(record),
            diagnosis: can_diagnose(record).then(|| diagnose(record)),
            experiments: record.experiments.clone(),
            hosts: d.totals.hosts.clone(),
            machine: record.machine.clone(),
            notes: record.notes.clone(),
            options: record.options.clone().into_iter().collect(),
            latencies: EncodedHistogram(d.all.latency().encode()),
            series: if flows {
                series(&record.intervals)?
            } else {
                Vec::new()
            },
            setup: Setup::of(record),
            presence: Presence::of(record),
            measured: ComparedRun::of(record, &findings).ok(),
            findings,
        })
    }

    /// What its transactions cost by its own account, as one of the repeats of that number.
    pub(crate) fn own_costs(&self, group: usize) -> RunCosts<'_> {
        RunCosts {
            presence: self.presence.as_ref(),
            costs: &self.costs,
            transactions: self.transactions,
            group: self.counts().then_some(group),
        }
    }

    /// The run's id; ids sort by the start of a run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Emulated users: terminals, or the sessions where each is one.
    pub(crate) fn users(&self) -> usize {
        self.terminals.unwrap_or(self.sessions)
    }

    /// Whether it is a result: it ended as asked, and measured something. One that was cut off is
    /// listed, and in no figure.
    pub(crate) fn counts(&self) -> bool {
        is_result(
            &self.state,
            self.imported.is_some(),
            self.transactions,
            self.transactions_per_s,
        )
    }

    /// The rules that say not to use its figures.
    pub(crate) fn invalid_rules(&self) -> Vec<&'static str> {
        let findings = self.findings.iter();
        let invalid = findings.filter(|f| f.severity == Severity::Invalid);
        invalid.map(|f| f.rule).collect()
    }

    /// When it started, where that is known.
    pub(crate) fn started(&self) -> Option<&str> {
        let derived = self.imported.as_ref().map(|source| &source.derived);
        let is_derived = derived.is_some_and(|d| d.iter().any(|what| what == "started_at"));
        (!is_derived).then_some(self.started_at.as_str())
    }

    /// How long it was, where that is known.
    pub(crate) fn elapsed(&self) -> Option<f64> {
        self.elapsed_stated
    }

    /// The severest of its findings.
    pub(crate) fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }

    /// `engine version`, or the URL's scheme where nothing answered.
    pub(crate) fn server_name(&self) -> Option<String> {
        let (engine, version) = self.server_version()?;
        Some(format!("{engine} {version}"))
    }

    /// The engine and the version that its server told.
    pub(crate) fn server_version(&self) -> Option<(Engine, &str)> {
        let server = self.server.as_ref()?;
        Some((server.engine, version(server.engine, &server.version)))
    }
}

/// A rate that was stated may be of less than one transaction. Of an imported output that is cut the lines
/// that are there are a result, which its finding doubts.
fn is_result(state: &RunState, is_imported: bool, transactions: u64, per_s: f64) -> bool {
    let has_ended = match state {
        RunState::Finished => true,
        RunState::Interrupted => is_imported,
        _ => false,
    };
    has_ended && (transactions > 0 || per_s > 0.0)
}

fn client_cpu_percent(record: &RunRecord, elapsed_s: f64) -> Option<f64> {
    let (used_s, cores) = (record.usage.work_s(), record.client.cores);
    // Warm-up is in what was used.
    let without_warmup = || {
        let warm = record.intervals.iter().any(|i| i.phase == Phase::Warmup);
        (!warm).then_some(elapsed_s)
    };
    let seconds = record.usage.seconds.or_else(without_warmup)?;
    let known = used_s > 0.0 && cores > 0 && seconds > 0.0;
    known.then(|| used_s / seconds / cores as f64 * 100.0)
}

/// As the rule has it: added where it counted, no session could ever be missed.
fn between(record: &RunRecord, elapsed_s: f64) -> f64 {
    if record.latency_end == LatencyEnd::Session {
        return 0.0;
    }
    let each_s = record.totals.fairness.between_avg_s.unwrap_or(0.0);
    let sessions = record.sessions_opened.unwrap_or(record.sessions);
    if elapsed_s > 0.0 {
        each_s * sessions as f64 / elapsed_s
    } else {
        0.0
    }
}

/// The measurement over time, in at most [`POINTS`] steps or so.
fn series(intervals: &[Interval]) -> Result<Vec<DigestSample>, ReportError> {
    let from = intervals.iter().position(|i| i.phase == Phase::Measure);
    let measured = intervals.get(from.unwrap_or(intervals.len())..);
    let mut latency = Histogram::new();
    let groups = groups(measured.unwrap_or_default(), POINTS).0;
    let samples = groups.into_iter().map(|group| {
        latency.clear();
        let mut count = 0u64;
        for interval in group {
            for (name, stats) in &interval.types {
                let shown = stats.response.as_ref().unwrap_or(&stats.service);
                count = count.saturating_add(stats.count);
                add_interval(&mut latency, interval, name, shown)?;
            }
        }
        let length_s = group.iter().map(|i| i.length_ms).sum::<f64>() / 1000.0;
        let start_s = group.first().map_or(0.0, |i| i.start_ms as f64 / 1000.0);
        Ok(DigestSample {
            at_s: start_s + length_s / 2.0,
            transactions_per_s: per_second(count, length_s),
            p95_ms: match (latency.is_empty(), group) {
                (false, _) => Some(latency.percentile_ns(95.0) as f64 / 1e6),
                (true, [one]) => stated_p95(one),
                _ => None,
            },
        })
    });
    samples.collect()
}

/// As another tool stated it of all transactions of an interval.
fn stated_p95(interval: &Interval) -> Option<f64> {
    let mut types = interval.types.values();
    match (types.next(), types.next()) {
        (Some(all), None) => all.quantiles.as_ref()?.percentile_ms(95.0),
        _ => None,
    }
}
