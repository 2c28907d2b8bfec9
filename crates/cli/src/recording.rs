//! Filling in a run record around what the engine measures.

use crate::interrupt;
use crate::looking::{Described, StudyTables, look_again};
use crate::runner::Order;
use crate::secrets::redact;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::observe::CLIENT_HOST;
use tidemark_core::record::{
    ClientUsage, EffectiveOption, LatencyEnd, RunRecord, RunState, SCHEMA_VERSION, Totals,
};
use tidemark_core::{Pacing, redact_url};
use tidemark_drivers::Connector;
use tidemark_engine::{EngineError, RunResult, Started};
use tidemark_observe::{
    HostSampler, Observing, Sampling, SeriesSource, Sink, client_host, sources,
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
    /// Whether others make the load: then they observe their hosts, and this process all else.
    pub is_coordinator: bool,
}

impl Recording {
    /// A record of a run that is about to begin.
    pub fn new(order: &Order, described: Described) -> Self {
        let (job, whole) = (&order.job, &order.job.load);
        let spec = &whole.own();
        let mut options: BTreeMap<_, _> = order
            .options
            .shown()
            .map(|(name, value, source)| {
                (
                    name.to_string(),
                    EffectiveOption {
                        value: redact_url(value),
                        source,
                    },
                )
            })
            .collect();
        if spec.busy_poll.is_zero()
            && let Some(effective) = options.get_mut("busy-poll")
        {
            effective.value = "0".into();
        }
        let record = RunRecord {
            schema_version: SCHEMA_VERSION,
            id: Uuid::now_v7().to_string(),
            tidemark_version: env!("TIDEMARK_VERSION").into(),
            started_at: jiff::Timestamp::now().to_string(),
            state: RunState::Running,
            study: job.study.clone(),
            command: redact(&order.command),
            workload: job.workload.name.clone(),
            target: order.target.to_string(),
            job: Some(job.clone()),
            latency_end: LatencyEnd::Session,
            target_on_client: described.on_client,
            server: Some(described.server),
            settings: described.settings,
            isolation: described.isolation,
            ping_before: described.ping,
            server_disks: described.disks,
            notes: described.notes,
            options,
            sessions: spec.sessions,
            terminals: (spec.terminals != spec.sessions).then_some(spec.terminals),
            warmup_s: Some(spec.warmup.as_secs_f64()),
            inject_rtt_ms: spec.inject_rtt.as_secs_f64() * 1000.0,
            executors: 0,
            rate: match spec.pacing {
                Pacing::Rate(rate) => Some(spec.shard.of_rate(rate)),
                _ => None,
            },
            seed: spec.seed,
            client: client_host(),
            usage: ClientUsage::default(),
            tables_before: described.tables,
            contents_before: described.contents,
            tables_after: Vec::new(),
            intervals: Vec::new(),
            totals: Totals::default(),
            errors: Vec::new(),
            ..RunRecord::default()
        };
        Self {
            record,
            host: HostSampler::new(),
            sampling: None,
            is_coordinator: false,
        }
    }

    /// The load begins: what the client uses counts from here, and series go to `sink`.
    pub fn started(&mut self, begun: &Started, connector: &Connector, sink: &Sink) {
        self.host = HostSampler::new();
        let warmup = Duration::from_secs_f64(self.record.warmup_s.unwrap_or_default());
        let watch = self.record.job.as_ref().map(|job| job.watch.clone());
        let mut watch = watch.unwrap_or_default();
        if self.is_coordinator {
            watch.observe = watch.observe.without(CLIENT_HOST);
        }
        let all = sources(&Observing {
            observe: &watch.observe,
            host: watch.observe_host.as_deref(),
            nodes: watch.observe_nodes.as_deref(),
            connector,
            engine: self.record.server.as_ref().map(|server| server.engine),
            on_client: self.record.target_on_client,
            pid: None,
            makes_load: true,
        });
        self.record.observed = all.unseen;
        // A led run begins a moment later.
        let until = warmup + begun.ahead;
        self.sampling = Some(Sampling::start(all.sources, until, sink));
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
        sink: &Sink,
    ) -> Self {
        let sampling = Sampling::start_every(sources, Some(every), Duration::ZERO, sink);
        Self {
            record,
            host: HostSampler::new(),
            sampling: Some(sampling),
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

    /// The load is over.
    fn ended(&mut self) {
        self.record.usage = self.host.usage();
        if let Some(ended) = self.sampling.take().map(Sampling::end) {
            self.record.notes.extend(ended.notes);
            self.record.observed.splice(0..0, ended.observed);
            self.record.server_statements = ended.statements;
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
