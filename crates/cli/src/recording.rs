//! Filling in a run record around what the engine measures.

use crate::interrupt;
use crate::looking::{Described, StudyTables, look_again};
use crate::runner::JobOrder;
use crate::secrets::redact;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::observe::CLIENT_HOST;
use tidemark_core::record::{
    ClientUsage, EffectiveOption, LatencyEnd, Observed, RunRecord, RunState, SCHEMA_VERSION,
};
use tidemark_core::{Job, OptionValues, Pacing, redact_url};
use tidemark_drivers::Connector;
use tidemark_engine::{EngineError, RunResult, Started};
use tidemark_lua::OF_JOBS;
use tidemark_observe::{
    ClientHostSource, EndpointAccess, HostSampler, Observing, Sampling, SeriesSink, SeriesSource,
    client_host, sources,
};
use tidemark_runtime::{block_on, timeout};
use tidemark_workloads::Workload;
use uuid::Uuid;

/// Looking at the tables after a run may take so long.
const LONGEST_LOOK: Duration = Duration::from_secs(60);
/// A record in the making.
pub struct Recording {
    /// The record so far. It holds no intervals until it leaves the process.
    pub record: RunRecord,
    /// What the client and its host have to do from the start of the load.
    host: HostSampler,
    /// What gives series while the load goes on.
    sampling: Option<Sampling>,
    /// Sources that can't be had, which nobody was told yet.
    untold: Vec<Observed>,
    /// Whether others make the load: then they observe their hosts, and this process all else.
    pub is_coordinator: bool,
}

impl Recording {
    /// A record of a run that is about to begin.
    pub fn new(order: &JobOrder, described: Described) -> Self {
        let target = order.target.to_string();
        let record = begun(&order.job, &order.options, &order.command, target);
        Self::of_record(RunRecord {
            target_on_client: described.on_client,
            server: Some(described.server),
            settings: described.settings,
            isolation: described.isolation,
            ping_before: described.ping,
            server_disks: described.disks,
            topology: described.topology,
            notes: described.notes,
            tables_before: described.tables,
            contents_before: described.contents,
            ..record
        })
    }

    /// A record of a test of the machine that is about to begin.
    pub fn of_machine(job: &Job, options: &OptionValues, command: &[String]) -> Self {
        Self::of_record(begun(job, options, command, job.target.url.clone()))
    }

    fn of_record(record: RunRecord) -> Self {
        Self {
            record,
            host: HostSampler::new(),
            sampling: None,
            untold: Vec::new(),
            is_coordinator: false,
        }
    }

    /// A test of the machine begins, as [`Recording::started`].
    pub fn machine_started(&mut self, begun: &Started, sink: &SeriesSink) {
        let mut sources: Vec<Box<dyn SeriesSource>> = Vec::new();
        let watch = self.record.job.as_ref().map(|job| &job.watch);
        if watch.is_some_and(|watch| watch.observe.wants(CLIENT_HOST)) {
            sources.push(Box::new(ClientHostSource::new()));
        }
        self.begins(begun, sources, sink);
    }

    /// The load begins: what the client uses counts from here, and series go to `sink`.
    pub fn started(&mut self, begun: &Started, connector: &Connector, sink: &SeriesSink) {
        let watch = self.record.job.as_ref().map(|job| job.watch.clone());
        let mut watch = watch.unwrap_or_default();
        if self.is_coordinator {
            watch.observe = watch.observe.without(CLIENT_HOST);
        }
        let all = sources(&Observing {
            observe: &watch.observe,
            host: watch.observe_host.as_deref(),
            nodes: watch.observe_nodes.as_deref(),
            prometheus: watch.observe_prometheus.as_deref(),
            access: EndpointAccess::from_environment(watch.observe_ca.as_deref()),
            connector,
            engine: self.record.server.as_ref().map(|server| server.engine),
            on_client: self.record.target_on_client,
            pid: None,
            makes_load: true,
            by_clients: self.is_coordinator,
        });
        self.untold.clone_from(&all.unseen);
        self.record.observed = all.unseen;
        self.begins(begun, all.sources, sink);
    }

    fn begins(&mut self, begun: &Started, sources: Vec<Box<dyn SeriesSource>>, sink: &SeriesSink) {
        self.host = HostSampler::new();
        let warmup = Duration::from_secs_f64(self.record.warmup_s.unwrap_or_default());
        // A led run begins a moment later.
        self.sampling = Some(Sampling::start(sources, warmup + begun.ahead, sink));
        let began = jiff::Timestamp::now()
            + jiff::SignedDuration::try_from(begun.ahead).unwrap_or_default();
        self.record.load_began_at = Some(began.to_string());
        self.record.executors = begun.executors;
        self.record.sessions_opened = Some(begun.sessions).filter(|n| *n < self.record.sessions);
        self.record
            .fewer_sessions_because
            .clone_from(&begun.fewer_because);
    }

    /// A record of a watch that begins: these sources are sampled from here on.
    pub fn of_watch(
        record: RunRecord,
        sources: Vec<Box<dyn SeriesSource>>,
        every: Duration,
        sink: &SeriesSink,
    ) -> Self {
        let sampling = Sampling::start_every(sources, Some(every), Duration::ZERO, sink);
        Self {
            record,
            host: HostSampler::new(),
            sampling: Some(sampling),
            untold: Vec::new(),
            is_coordinator: false,
        }
    }

    /// The watch is over: what its sources saw, and how long it was.
    pub fn watched(&mut self, length: Duration, state: RunState) {
        self.ended();
        // What the client used is of a load.
        self.record.usage = ClientUsage::default();
        self.record.watched_s = Some(length.as_secs_f64());
        self.record.state = state;
    }

    /// Sources that can't be had or could not start, and why: those that were not told before.
    pub fn failed_to_start(&mut self) -> Vec<Observed> {
        let sampling = self.sampling.as_mut();
        let mut all = std::mem::take(&mut self.untold);
        all.extend(sampling.map(Sampling::failed_to_start).unwrap_or_default());
        all
    }

    /// The load is over.
    fn ended(&mut self) {
        self.record.usage = self.host.usage();
        if let Some(ended) = self.sampling.take().map(Sampling::end) {
            self.record.notes.extend(ended.notes);
            self.record.observed.splice(0..0, ended.observed);
            self.record.server_statements = ended.statements;
            self.record.load_totals = ended.load_totals;
        }
    }

    /// Takes over what was measured.
    pub fn finish(&mut self, result: &RunResult) {
        self.ended();
        self.record.state = result.state.clone();
        self.record.executors = result.executors;
        self.record.sessions_opened =
            Some(result.sessions_opened).filter(|n| *n < self.record.sessions);
        self.record.totals = result.totals.clone();
        self.record.steps = result.steps.clone();
        self.record.outages = result.outages.clone();
        self.record.dead_times = result.dead_times.clone();
        self.record.errors = result.errors.counts().to_vec();
        self.record.usage.waiting_threads = result.waiting_threads;
    }

    /// Looks at the tables after the run, if that can be done in reasonable time.
    pub fn look_again(&mut self, connector: &Connector, workload: &Arc<dyn Workload>) {
        let of_study = self.record.job.as_ref().and_then(StudyTables::of);
        let before = self.record.tables_before.iter();
        let before = before.map(|t| t.table.clone()).collect();
        let look = look_again(connector.clone(), Arc::clone(workload), before, of_study);
        let failed = match block_on(timeout(interrupt::left_of(LONGEST_LOOK), look)) {
            Ok(Ok(Ok((states, contents)))) => {
                self.record.tables_after = states;
                self.record.contents_after = contents;
                return;
            }
            Ok(Ok(Err(e))) => e.to_string(),
            Ok(Err(_)) => "no reply in time".into(),
            Err(e) => e.to_string(),
        };
        let note = format!("tables could not be checked after the run: {failed}");
        self.record.notes.push(note);
    }

    /// The run failed before any load was made.
    pub fn failed(&mut self, error: &EngineError) {
        self.ended();
        self.record.state = match error {
            EngineError::Interrupted => RunState::Interrupted,
            other => RunState::Failed(other.to_string()),
        };
    }
}

/// What is known of a run before its target is looked at.
fn begun(job: &Job, options: &OptionValues, command: &[String], target: String) -> RunRecord {
    // A client's record is of its own share.
    let spec = &job.load.own();
    let shown = options.shown().filter(|(name, ..)| !OF_JOBS.contains(name));
    let shown = shown.map(|(name, value, source)| {
        let value = redact_url(value);
        (name.to_string(), EffectiveOption { value, source })
    });
    let mut options: BTreeMap<_, _> = shown.collect();
    if spec.busy_poll.is_zero()
        && let Some(effective) = options.get_mut("busy-poll")
    {
        effective.value = "0".into();
    }
    RunRecord {
        schema_version: SCHEMA_VERSION,
        id: Uuid::now_v7().to_string(),
        tidemark_version: env!("TIDEMARK_VERSION").into(),
        started_at: jiff::Timestamp::now().to_string(),
        state: RunState::Running,
        study: job.study.clone(),
        command: redact(command),
        workload: job.workload.name.clone(),
        target,
        job: Some(job.clone()),
        latency_end: LatencyEnd::Session,
        options,
        sessions: spec.sessions,
        terminals: (spec.terminals != spec.sessions).then_some(spec.terminals),
        warmup_s: Some(spec.warmup.as_secs_f64()),
        inject_rtt_ms: spec.inject_rtt.as_secs_f64() * 1000.0,
        rate: match spec.pacing {
            Pacing::Rate(rate) => Some(spec.shard.of_rate(rate)),
            _ => None,
        },
        seed: spec.seed,
        client: client_host(),
        machine: job.machine.clone(),
        tags: job.outputs.tags.clone(),
        note: job.outputs.note.clone(),
        ..RunRecord::default()
    }
}
