//! Filling in a run record around what the engine measures.

use crate::interrupt;
use crate::plan::BoundWorkload;
use crate::runner::Order;
use crate::secrets::redact;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::record::{
    ClientUsage, EffectiveOption, LatencyEnd, RunRecord, RunState, SCHEMA_VERSION, Setting,
    TableState, Totals,
};
use tidemark_core::{DbError, Isolation, Job, Pacing, ServerInfo, redact_url};
use tidemark_drivers::catalog::{self, Summed};
use tidemark_drivers::{Connector, Session, default_level, settings};
use tidemark_engine::{
    EngineError, RunResult, Started, is_loaded_by, is_ours, is_unfinished, why_not_ours,
};
use tidemark_observe::{
    HostSampler, Observing, Sampling, SeriesSource, Sink, client_host, sources,
};
use tidemark_runtime::{block_on, timeout};
use tidemark_workloads::Workload;
use uuid::Uuid;

/// Looking at the tables after a run may take so long.
const LONGEST_LOOK: Duration = Duration::from_secs(60);
/// A count that takes longer is given up, and with it all others: another session may hold a lock, or
/// there are more rows than anybody said.
const LONGEST_COUNT: Duration = Duration::from_secs(10);
/// More rows than this, as asked for or by a table's keys, are not counted: a COUNT(*) would take
/// longer than many a run, and leave the cache as no run before it would find it.
const MOST_COUNTED_ROWS: u64 = 20_000_000;

/// What the target said of itself before the run.
#[derive(Debug, Clone)]
pub struct Described {
    /// Engine and version.
    pub server: ServerInfo,
    /// Whether it runs on the client's own host; `None` of an embedded database.
    pub on_client: Option<bool>,
    /// Settings that matter.
    pub settings: Vec<Setting>,
    /// The isolation level of the run's transactions.
    pub isolation: Option<Isolation>,
    /// Of the named tables, those that are there.
    pub there: Vec<String>,
    /// Of the named tables, those whose load did not end.
    pub unfinished: Vec<String>,
    /// Of the named tables, those that are not the workload's, and what they have instead.
    pub foreign: Vec<(String, String)>,
    /// Rows and keys of those, unless they are too many to count.
    pub tables: Vec<TableState>,
    /// In short, what those hold that a study has loaded, where a study makes the run.
    pub contents: BTreeMap<String, String>,
    /// What could not be read.
    pub notes: Vec<String>,
}

/// Asks the target for its version, settings and the tables that the workload needs.
///
/// # Errors
/// [`EngineError::Connect`] when no session can be opened. What a session then can't read becomes
/// a note: a collector that fails never fails a run.
pub fn describe(job: &Job, plan: &BoundWorkload) -> Result<Described, EngineError> {
    let (connector, workload, sessions) = (&plan.connector, &plan.workload, job.load.terminals);
    let of_study = StudyTables::of(job);
    let mut described = look(connector, workload, sessions, MOST_COUNTED_ROWS, of_study)?;
    described.notes.extend(job.notes.iter().cloned());
    Ok(described)
}

/// The same with at most so many rows counted, as asked for; 0 counts none.
///
/// # Errors
/// As [`describe`].
pub fn describe_counting(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    sessions: usize,
    most_rows: u64,
) -> Result<Described, EngineError> {
    look(connector, workload, sessions, most_rows, None)
}

fn look(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    sessions: usize,
    most_rows: u64,
    of_study: Option<StudyTables>,
) -> Result<Described, EngineError> {
    let (connector, workload) = (looking(connector), Arc::clone(workload));
    block_on(async move {
        let opened = connector.connect(0).await;
        let mut session = opened.map_err(|error| EngineError::Connect { session: 0, error })?;
        let mut notes = Vec::new();
        let settings = settings_of(&mut session, &mut notes).await;
        let isolation = match connector.options().isolation {
            Some(level) => Some(level),
            None => default_level(&mut session).await.unwrap_or_else(|e| {
                notes.push(format!("the isolation level could not be read: {e}"));
                None
            }),
        };
        let plans = workload
            .tables(&session.dialect(), sessions)
            .unwrap_or_default();
        let asked: u64 = plans.iter().map(|p| p.rows).sum();
        let mut most = (asked <= most_rows).then_some(most_rows);
        if most.is_none() {
            notes.push(format!("rows were not counted: {asked} were requested"));
        }
        limit_counts(&mut session).await;
        let (mut there, mut tables) = (Vec::new(), Vec::new());
        let mut contents = BTreeMap::new();
        let (mut unfinished, mut foreign) = (Vec::new(), Vec::new());
        for table in workload.needs(sessions) {
            match table_state(
                &mut session,
                workload.as_ref(),
                &table,
                most,
                of_study.as_ref(),
            )
            .await
            {
                Ok(TableLook::Absent) => {}
                Ok(TableLook::Unfinished) => unfinished.push(table),
                Ok(TableLook::Foreign(why)) => foreign.push((table, why)),
                Ok(TableLook::There) => there.push(table),
                Ok(TableLook::Counted(mut state, held)) => {
                    contents.extend(held.map(|held| (table.clone(), held)));
                    let plan = plans.iter().enumerate().find(|(_, p)| p.name == table);
                    state.expected_rows =
                        plan.and_then(|(index, plan)| workload.loaded_rows(index, plan));
                    tables.push(state);
                    there.push(table);
                }
                Err(e) => {
                    notes.push(format!("table {table} could not be checked: {e}"));
                    most = None;
                    // The run itself will tell what is wrong with it.
                    there.push(table);
                }
            }
        }
        let server = session.server().clone();
        let on_client = on_client(&mut session, &connector);
        session.close().await;
        Ok(Described {
            server,
            on_client,
            settings,
            isolation,
            there,
            unfinished,
            foreign,
            tables,
            contents,
            notes,
        })
    })?
}

/// The settings that matter; what can't be read, and a pooler, go to the notes.
pub async fn settings_of(session: &mut Session, notes: &mut Vec<String>) -> Vec<Setting> {
    if session.is_pooled() {
        notes.push(
            "a pooler is between client and server; the number of its server sessions is unknown"
                .into(),
        );
    }
    let read = settings::settings_that_matter(session).await;
    read.unwrap_or_else(|e| {
        notes.push(format!("the target's settings could not be read: {e}"));
        Vec::new()
    })
}

/// Whether the server is on this host; of several hosts the others may be elsewhere.
pub fn on_client(session: &mut Session, connector: &Connector) -> Option<bool> {
    let here = session.is_on_this_host();
    here.filter(|here| !here || connector.hosts().len() == 1)
}

/// For a session that looks at tables: embedded engines know limits only from their options.
fn looking(connector: &Connector) -> Connector {
    match connector.is_blocking() {
        true => connector.clone().limited(LONGEST_COUNT),
        false => connector.clone().unlimited(),
    }
}

/// Has the server end counts that take too long. A server that can't is waited for.
async fn limit_counts(session: &mut Session) {
    if let Some(sql) = session.dialect().limit_queries(LONGEST_COUNT) {
        let _unlimited = session.simple(&sql).await;
    }
}

/// What looking at a table found.
enum TableLook {
    Absent,
    Unfinished,
    Foreign(String),
    There,
    /// With what it holds in short, where a study loaded it and makes the run.
    Counted(TableState, Option<String>),
}

async fn table_state(
    session: &mut Session,
    workload: &dyn Workload,
    table: &str,
    most: Option<u64>,
    of_study: Option<&StudyTables>,
) -> Result<TableLook, DbError> {
    let Some(found) = catalog::describe_table(session, table).await? else {
        return Ok(TableLook::Absent);
    };
    if is_unfinished(&found) {
        return Ok(TableLook::Unfinished);
    }
    if !is_ours(workload, &found) {
        let why = why_not_ours(workload, &found).unwrap_or_default();
        return Ok(TableLook::Foreign(why));
    }
    let Some(most) = most else {
        return Ok(TableLook::There);
    };
    let keys = match found.primary_key.as_slice() {
        [key] => catalog::key_range(session, table, key).await?,
        _ => None,
    };
    if keys.is_some_and(|(low, high)| low.abs_diff(high) > most) {
        return Ok(TableLook::There);
    }
    let rows = catalog::row_count(session, table).await?;
    let state = TableState {
        table: table.into(),
        rows,
        expected_rows: None,
        min_key: keys.map(|k| k.0),
        max_key: keys.map(|k| k.1),
    };
    // By this the study's next load tells what it may drop ([`tidemark_core::LeftBehind`]).
    let held = match of_study.filter(|of| is_loaded_by(&found, &of.study)) {
        Some(of) => Some(catalog::contents_of(session, &found, rows, keys, of.summed).await?),
        None => None,
    };
    Ok(TableLook::Counted(state, held))
}

/// What a study wants to know of the tables that it has loaded.
#[derive(Debug, Clone)]
pub struct StudyTables {
    /// The study's id.
    study: String,
    /// Every row of tables that a later load of the study is to replace, where a run may have written;
    /// the count has read them already. What takes too long is given up, and the load then refuses.
    summed: Summed,
}

impl StudyTables {
    /// Of a run that a study makes.
    pub fn of(job: &Job) -> Option<Self> {
        let place = job.study.as_ref()?;
        Some(Self {
            study: place.study.clone(),
            summed: match job.sum_tables {
                true => Summed::All,
                false => Summed::CHEAP,
            },
        })
    }
}

/// A record in the making.
pub struct Recording {
    /// The record so far. It holds no intervals until it leaves the process.
    pub record: RunRecord,
    /// What the client and its host have to do from the start of the load.
    host: HostSampler,
    /// What gives series while the load goes on.
    sampling: Option<Sampling>,
}

impl Recording {
    /// A record of a run that is about to begin.
    pub fn new(order: &Order, described: Described) -> Self {
        let (job, spec) = (&order.job, &order.job.load);
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
            notes: described.notes,
            options,
            sessions: spec.sessions,
            terminals: (spec.terminals != spec.sessions).then_some(spec.terminals),
            warmup_s: Some(spec.warmup.as_secs_f64()),
            inject_rtt_ms: spec.inject_rtt.as_secs_f64() * 1000.0,
            executors: 0,
            rate: match spec.pacing {
                Pacing::Rate(rate) => Some(rate),
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
        }
    }

    /// The load begins: what the client uses counts from here, and series go to `sink`.
    pub fn started(&mut self, begun: &Started, connector: &Connector, sink: &Sink) {
        self.host = HostSampler::new();
        let warmup = Duration::from_secs_f64(self.record.warmup_s.unwrap_or_default());
        let watch = self.record.job.as_ref().map(|job| job.watch.clone());
        let watch = watch.unwrap_or_default();
        let all = sources(&Observing {
            observe: &watch.observe,
            host: watch.observe_host.as_deref(),
            connector,
            engine: self.record.server.as_ref().map(|server| server.engine),
            on_client: self.record.target_on_client,
            pid: None,
            makes_load: true,
        });
        self.record.observed = all.unseen;
        self.sampling = Some(Sampling::start(all.sources, warmup, sink));
        self.record.load_began_at = Some(jiff::Timestamp::now().to_string());
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
    }

    /// Looks at the tables after the run, if that can be done in reasonable time.
    pub fn look_again(&mut self, connector: &Connector, workload: &Arc<dyn Workload>) {
        let workload = Arc::clone(workload);
        let of_study = self.record.job.as_ref().and_then(StudyTables::of);
        let before: Vec<String> = self
            .record
            .tables_before
            .iter()
            .map(|t| t.table.clone())
            .collect();
        let connector = looking(connector);
        let look = async move {
            let mut session = connector.connect(0).await?;
            limit_counts(&mut session).await;
            let mut states = Vec::with_capacity(before.len());
            let mut contents = BTreeMap::new();
            for table in &before {
                if let TableLook::Counted(state, held) = table_state(
                    &mut session,
                    workload.as_ref(),
                    table,
                    Some(MOST_COUNTED_ROWS),
                    of_study.as_ref(),
                )
                .await?
                {
                    states.push(state);
                    contents.extend(held.map(|held| (table.clone(), held)));
                }
            }
            session.close().await;
            Ok::<_, DbError>((states, contents))
        };
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
