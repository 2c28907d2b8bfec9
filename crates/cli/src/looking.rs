//! A look at the target before a run and after it: version, settings, tables, round trips.

use crate::plan::BoundWorkload;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::observe::NETWORK;
use tidemark_core::record::{Disk, Ping, Setting, TableState, Topology};
use tidemark_core::{DbError, Engine, Isolation, Job, Observe, Pacing, ServerInfo};
use tidemark_drivers::catalog::{self, Summed};
use tidemark_drivers::{Connector, Session, default_level, settings};
use tidemark_engine::{EngineError, is_loaded_by, is_ours, is_unfinished, why_not_ours};
use tidemark_observe::{EndpointAccess, HostExporter, data_disks, with_members};
use tidemark_runtime::block_on;
use tidemark_workloads::{TablePlan, Workload};

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
    /// Statements that do nothing, where the network is observed.
    pub ping: Option<Ping>,
    /// The disks of a server on this host.
    pub disks: Vec<Disk>,
    /// The hosts of its cluster.
    pub topology: Option<Topology>,
    /// What could not be read.
    pub notes: Vec<String>,
    /// What no record holds.
    pub beside: TargetHints,
}

impl Described {
    /// Of a target at which somebody else has looked.
    pub fn unknown() -> Self {
        Self {
            server: ServerInfo {
                engine: Engine::Mysql,
                version: String::new(),
            },
            on_client: None,
            settings: Vec::new(),
            isolation: None,
            there: Vec::new(),
            unfinished: Vec::new(),
            foreign: Vec::new(),
            tables: Vec::new(),
            contents: BTreeMap::new(),
            ping: None,
            disks: Vec::new(),
            topology: None,
            notes: Vec::new(),
            beside: TargetHints::default(),
        }
    }
}

/// What a look at the target tells for hints alone.
#[derive(Debug, Clone, Default)]
pub struct TargetHints {
    /// About how many rows those tables have that are too large to count: what their keys span.
    pub about: Vec<TableState>,
    /// The quickest of a few trivial statements, where arrivals come at a rate.
    pub round_trip: Option<Duration>,
}

/// So many trivial statements are timed,
const PINGS: usize = 5;
/// unless they take longer than this.
const LONGEST_PINGS: Duration = Duration::from_millis(300);

/// The quickest of a few trivial statements; none where one fails.
async fn round_trip(session: &mut Session) -> Option<Duration> {
    let begun = Instant::now();
    let mut quickest = None;
    for _ in 0..PINGS {
        let sent = Instant::now();
        session.simple("SELECT 1").await.ok()?;
        let took = sent.elapsed();
        quickest = Some(quickest.map_or(took, |least: Duration| least.min(took)));
        if begun.elapsed() > LONGEST_PINGS {
            break;
        }
    }
    quickest
}

/// So many statements that do nothing are timed before a load,
const PINGS_BEFORE: usize = 10;
/// until they have taken this long.
const LONGEST_PINGS_BEFORE: Duration = Duration::from_millis(100);

/// Statements that do nothing; none where one fails. The first is not counted: what it needs may not
/// be in any cache yet.
pub async fn ping(session: &mut Session) -> Option<Ping> {
    let begun = Instant::now();
    let mut times = Vec::with_capacity(PINGS_BEFORE);
    session.ping().await.ok()?;
    while times.len() < PINGS_BEFORE && (times.is_empty() || begun.elapsed() < LONGEST_PINGS_BEFORE)
    {
        times.push(session.ping().await.ok()?.as_secs_f64() * 1000.0);
    }
    Ping::of(&times)
}

/// The node_exporter of the database's host, if one is named.
pub fn host_exporter(url: Option<&str>, ca: Option<&Path>) -> Option<HostExporter> {
    url.map(|url| HostExporter {
        url: url.into(),
        access: EndpointAccess::from_environment(ca),
    })
}

/// Asks the target for its version, settings, members and the tables that the workload needs. What its
/// members are is added to the topology of a file.
///
/// # Errors
/// [`EngineError::Connect`] when no session can be opened. What a session then can't read becomes
/// a note: a collector that fails never fails a run.
pub fn describe(
    job: &Job,
    plan: &BoundWorkload,
    file: Option<Topology>,
) -> Result<Described, EngineError> {
    let (connector, workload, sessions) = (&plan.connector, &plan.workload, job.load.terminals);
    let asks = Asks {
        of_study: StudyTables::of(job),
        round_trip: matches!(job.load.pacing, Pacing::Rate(_) | Pacing::Steps(_)),
        observe: job.watch.observe.clone(),
        access: EndpointAccess::from_environment(job.watch.observe_ca.as_deref()),
        exporter: host_exporter(
            job.watch.observe_host.as_deref(),
            job.watch.observe_ca.as_deref(),
        ),
        file,
    };
    let most_rows = match job.skip_row_counts {
        true => 0,
        false => MOST_COUNTED_ROWS,
    };
    let mut described = look(connector, workload, sessions, most_rows, asks)?;
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
    let asks = Asks {
        of_study: None,
        round_trip: false,
        observe: Observe::Off,
        access: EndpointAccess::default(),
        exporter: None,
        file: None,
    };
    look(connector, workload, sessions, most_rows, asks)
}

/// What is looked at beside the tables' rows.
struct Asks {
    of_study: Option<StudyTables>,
    round_trip: bool,
    observe: Observe,
    access: EndpointAccess,
    exporter: Option<HostExporter>,
    file: Option<Topology>,
}

fn look(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    sessions: usize,
    most_rows: u64,
    asks: Asks,
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
        let mut counting = match most_rows {
            0 => Counting::Nothing,
            most if asked <= most => Counting::UpTo(most),
            _ => Counting::Keys,
        };
        if most_rows > 0 && asked > most_rows {
            notes.push(format!("rows were not counted: {asked} were requested"));
        }
        limit_counts(&mut session).await;
        let mut beside = TargetHints::default();
        if asks.round_trip && !connector.is_blocking() {
            beside.round_trip = round_trip(&mut session).await;
        }
        let pings = asks.observe.wants(NETWORK) && !connector.is_blocking() && !session.is_pooled();
        let ping = match pings {
            true => ping(&mut session).await,
            false => None,
        };
        let (mut there, mut tables) = (Vec::new(), Vec::new());
        let mut contents = BTreeMap::new();
        let (mut unfinished, mut foreign) = (Vec::new(), Vec::new());
        for table in workload.needs(sessions) {
            match table_state(
                &mut session,
                workload.as_ref(),
                &table,
                counting,
                asks.of_study.as_ref(),
            )
            .await
            {
                Ok(TableLook::Absent) => {}
                Ok(TableLook::Unfinished) => unfinished.push(table),
                Ok(TableLook::Foreign(why)) => foreign.push((table, why)),
                Ok(TableLook::There(None)) => there.push(table),
                Ok(TableLook::There(Some(mut state))) => {
                    state.expected_rows = expected(workload.as_ref(), &plans, &table);
                    beside.about.push(state);
                    there.push(table);
                }
                Ok(TableLook::Counted(mut state, held)) => {
                    contents.extend(held.map(|held| (table.clone(), held)));
                    state.expected_rows = expected(workload.as_ref(), &plans, &table);
                    tables.push(state);
                    there.push(table);
                }
                Err(e) => {
                    notes.push(format!("table {table} could not be checked: {e}"));
                    counting = Counting::Nothing;
                    // The run itself will tell what is wrong with it.
                    there.push(table);
                }
            }
        }
        let server = session.server().clone();
        let on_client = on_client(&mut session, &connector);
        let disks = data_disks(
            &mut session,
            connector.target(),
            &asks.observe,
            on_client,
            asks.exporter.as_ref(),
        )
        .await;
        let topology = with_members(
            &mut session,
            &connector,
            &asks.observe,
            &asks.access,
            asks.file,
        )
        .await;
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
            ping,
            disks,
            topology,
            notes,
            beside,
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

/// What is counted of a table.
#[derive(Clone, Copy)]
enum Counting {
    /// Its rows, unless its keys span more.
    UpTo(u64),
    /// What its keys span alone.
    Keys,
    /// Nothing.
    Nothing,
}

/// How many rows a table has after its load, where that can be said.
fn expected(workload: &dyn Workload, plans: &[TablePlan], table: &str) -> Option<u64> {
    let mut plans = plans.iter().enumerate();
    let (index, plan) = plans.find(|(_, plan)| plan.name == table)?;
    workload.loaded_rows(index, plan)
}

/// What looking at a table found.
enum TableLook {
    Absent,
    Unfinished,
    Foreign(String),
    /// With what its keys span, where they are numbers.
    There(Option<TableState>),
    /// With what it holds in short, where a study loaded it and makes the run.
    Counted(TableState, Option<String>),
}

async fn table_state(
    session: &mut Session,
    workload: &dyn Workload,
    table: &str,
    counting: Counting,
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
    let most = match counting {
        Counting::Nothing => return Ok(TableLook::There(None)),
        Counting::Keys => None,
        Counting::UpTo(most) => Some(most),
    };
    let keys = match found.primary_key.as_slice() {
        [key] => catalog::key_range(session, table, key).await?,
        _ => None,
    };
    let span = keys.map(|(low, high)| low.abs_diff(high).saturating_add(1));
    if most.is_none_or(|most| span.is_some_and(|span| span > most)) {
        let about = span.map(|rows| TableState {
            table: table.into(),
            rows,
            expected_rows: None,
            min_key: keys.map(|k| k.0),
            max_key: keys.map(|k| k.1),
        });
        return Ok(TableLook::There(about));
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

/// Rows and keys of tables after a run, with what those hold in short that a study has loaded.
///
/// # Errors
/// The server's.
pub async fn look_again(
    connector: Connector,
    workload: Arc<dyn Workload>,
    tables: Vec<String>,
    of_study: Option<StudyTables>,
) -> Result<(Vec<TableState>, BTreeMap<String, String>), DbError> {
    let mut session = looking(&connector).connect(0).await?;
    limit_counts(&mut session).await;
    let mut states = Vec::with_capacity(tables.len());
    let mut contents = BTreeMap::new();
    for table in &tables {
        let (counting, of_study) = (Counting::UpTo(MOST_COUNTED_ROWS), of_study.as_ref());
        let look = table_state(&mut session, workload.as_ref(), table, counting, of_study);
        if let TableLook::Counted(state, held) = look.await? {
            states.push(state);
            contents.extend(held.map(|held| (table.clone(), held)));
        }
    }
    session.close().await;
    Ok((states, contents))
}
