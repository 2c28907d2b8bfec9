//! How a client begins a load: it joins one that goes on, or makes the tables and the journal. And
//! how it leaves.

use super::create_tables::{Making, note_joining, refuse_keyless};
use super::decide::{self, Decision};
use super::guard::{Guard, in_the_way};
use super::mark;
use super::proof::{self, Proof, ProofScope};
use super::table_work::TableWork;
use super::{
    DropFailure, LoadFailure, LoadObserver, LoadSpec, Replace, grid, on_session, plans, statement,
};
use crate::control::StopHandle;
use crate::error::EngineError;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::DbError;
use tidemark_drivers::catalog::{self, Drops, Summed};
use tidemark_drivers::journal::{Client, Journal, LoadPart, PartState};
use tidemark_drivers::lock::{Life, Scope, life};
use tidemark_drivers::{Connector, Dialect, Session, journal};
use tidemark_runtime::sleep;
use tidemark_workloads::{TablePlan, Workload};

/// Within this time a server notices that a client is gone that was killed just now.
const NOTICED: Duration = Duration::from_secs(2);
/// Pause before a client that is in the way is looked for again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Where no lock tells, a client lives whose beats go on for this long.
pub(super) const BEATS_APART: Duration = Duration::from_secs(15);

/// One client's share of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Me {
    /// Its number in the journal.
    pub number: u64,
    /// What it loads: clients of one load have the same.
    pub load: u64,
}

impl Me {
    /// As the journal has it.
    pub fn load_text(&self) -> String {
        format!("{:016x}", self.load)
    }
}

/// How a load was found.
pub(super) struct BegunLoad {
    pub me: Me,
    pub works: Vec<TableWork>,
    /// Rows of all tables.
    pub rows_total: u64,
}

/// What was seen before anything was changed.
enum Beginning {
    /// Others are loading the same.
    Join {
        plans: Vec<TablePlan>,
        others: usize,
    },
    /// Nobody else is at work.
    Start(Vec<(TablePlan, Decision)>),
}

/// Looks at what is there, and makes what is missing.
///
/// # Errors
/// [`LoadFailure`]; its `began` is set when tables may have been changed.
pub(super) fn begin(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    number: u64,
    stop: &StopHandle,
    observer: &mut dyn LoadObserver,
) -> Result<BegunLoad, LoadFailure> {
    // An embedded database is locked as long as the load.
    let _setup = match connector.is_blocking() {
        true => None,
        false => Some(Guard::take(connector, Scope::Database)?),
    };
    let (me, seen) = look(connector, workload, spec, number)?;
    let rows = |index: usize, plan: &TablePlan| workload.row_count(index, 0, plan.rows, spec.seed);
    let rows_total = match &seen {
        Beginning::Join { plans, .. } => plans.iter().enumerate().map(|(i, p)| rows(i, p)).sum(),
        Beginning::Start(decided) => {
            let plans = decided.iter().map(|(plan, _)| plan).enumerate();
            plans.map(|(i, p)| rows(i, p)).sum()
        }
    };
    let others = match &seen {
        Beginning::Join { others, .. } => *others,
        Beginning::Start(_) => 0,
    };
    let began = move |error| LoadFailure {
        error,
        began: true,
        anew: spec.replace != Replace::Nothing,
        dropping: None,
        rows_done: 0,
        rows_total,
    };
    let works = match seen {
        Beginning::Join { plans, .. } => join(connector, workload, spec, me, plans)?,
        Beginning::Start(decided) => {
            let cleared = clear(connector, workload, spec, &decided, stop)?;
            for (index, (plan, decision)) in decided.iter().enumerate() {
                let there = decision.rows_there(workload.as_ref(), index, spec.seed);
                observer.creating(&plan.name, rows(index, plan), there);
            }
            start(connector, workload, spec, me, decided, cleared).map_err(began)?
        }
    };
    if others > 0 {
        observer.joining(others);
        for work in &works {
            let all = rows(work.index, &work.plan);
            observer.creating(&work.plan.name, all, work.rows_there());
        }
    }
    Ok(BegunLoad {
        me,
        works,
        rows_total,
    })
}

/// What is there, and what is to be done about it.
fn look(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    number: u64,
) -> Result<(Me, Beginning), EngineError> {
    let (workload, spec) = (Arc::clone(workload), spec.clone());
    on_session(connector, async move |session: &mut Session| {
        let plans = plans(workload.as_ref(), session, spec.terminals)?;
        let me = Me {
            number,
            load: mark::digest_of_all(&plans, &spec),
        };
        let give_up = Instant::now() + NOTICED;
        let (journal, living) = loop {
            let journal = journal::read(session).await.map_err(statement)?;
            let clients = journal.as_ref().map(|j| j.clients.clone());
            let living = living(session, clients.unwrap_or_default()).await?;
            let of_another_load = living.iter().find(|(c, _)| c.load != me.load_text());
            match of_another_load {
                None => break (journal, living),
                Some((_, who)) if Instant::now() >= give_up => {
                    return Err(in_the_way(who.clone()));
                }
                Some(_) => sleep(LOOK_AGAIN).await,
            }
        };
        if !living.is_empty() {
            let others = living.len();
            return Ok((me, Beginning::Join { plans, others }));
        }
        for plan in &plans {
            decide::settle(session, plan, &spec).await?;
        }
        // Other benchmarks may be loading beside this one.
        let journal = journal.map(|mut journal| {
            let is_ours = |line: &journal::JournalLine| plans.iter().any(|p| p.name == line.table);
            journal.lines.retain(is_ours);
            journal
        });
        let mut decided = Vec::with_capacity(plans.len());
        for (index, plan) in plans.into_iter().enumerate() {
            let looked = ProofScope {
                workload: workload.as_ref(),
                plan: &plan,
                index,
                seed: spec.seed,
            };
            let decision = decide::decide(session, &looked, &spec, journal.as_ref()).await?;
            decided.push((plan, decision));
        }
        refuse_keyless(session, &decided).await?;
        if spec.replace != Replace::Anything {
            let all: Vec<String> = decided.iter().map(|(p, _)| p.name.clone()).collect();
            let old = names(&decided, |decision| decision.dropped_by().is_some());
            decide::refuse_referrers(session, &old, &all).await?;
        }
        Ok((me, Beginning::Start(decided)))
    })
}

/// Those clients that live, and who they are as far as the server tells.
///
/// # Errors
/// A lost connection.
pub(super) async fn living(
    session: &mut Session,
    clients: Vec<Client>,
) -> Result<Vec<(Client, Option<String>)>, EngineError> {
    let mut living = Vec::new();
    let mut unknown = Vec::new();
    for client in clients {
        match life(session, client.number).await.map_err(statement)? {
            Life::Alive(who) => living.push((client, who)),
            Life::Dead => {}
            Life::Unknown => unknown.push(client),
        }
    }
    if !unknown.is_empty() {
        sleep(BEATS_APART).await;
        let now = journal::read(session).await.map_err(statement)?;
        let now = now.unwrap_or_default().clients;
        let beats = |c: &Client| {
            now.iter()
                .any(|n| n.number == c.number && n.beats != c.beats)
        };
        living.extend(unknown.into_iter().filter(beats).map(|c| (c, None)));
    }
    Ok(living)
}

/// Makes the tables and takes part in their load.
fn start(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    me: Me,
    decided: Vec<(TablePlan, Decision)>,
    (dialect, before): (Dialect, Journal),
) -> Result<Vec<TableWork>, EngineError> {
    let all_bytes = decided.iter().map(|(plan, _)| grid::bytes(plan)).sum();
    let making = Making {
        spec: spec.clone(),
        all_bytes,
        decided,
        before,
    };
    let plans = making.run(connector, dialect)?;
    let works = join(connector, workload, spec, me, plans)?;
    match works.iter().find(|work| !work.is_in_journal()) {
        Some(work) => Err(lines_lost(&work.plan.name)),
        None => Ok(works),
    }
}

/// One session wrote the lines, another read none.
fn lines_lost(table: &str) -> EngineError {
    EngineError::Refused(format!(
        "the load journal has lost the rows of table {table} that were just written: the server \
         rolls back what is not committed (autocommit=0), or replies come from a lagging \
         replica. Nothing was loaded; let sessions commit each statement, use one writable host, \
         and run prepare again"
    ))
}

/// Names of those tables for which something else is decided than for others.
fn names(decided: &[(TablePlan, Decision)], which: fn(&Decision) -> bool) -> Vec<String> {
    let decided = decided.iter().filter(|(_, decision)| which(decision));
    decided.map(|(plan, _)| plan.name.clone()).collect()
}

/// Makes the journal, and clears away what ended clients left there, what it says of tables that are
/// made anew, and the tables to drop; gives the journal as it was.
///
/// # Errors
/// [`LoadFailure`] whose `began` is not set: then no table was made, and the journal is as it was but for
/// tables that are gone.
fn clear(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    decided: &[(TablePlan, Decision)],
    stop: &StopHandle,
) -> Result<(Dialect, Journal), LoadFailure> {
    let proven = decided.iter().enumerate().filter_map(|(index, (plan, d))| {
        let proof = d.dropped_by()?;
        Some((index, plan.clone(), proof.clone()))
    });
    let old: Vec<(usize, TablePlan, Proof)> = proven.collect();
    let (workload, seed) = (Arc::clone(workload), spec.seed);
    let anew = names(decided, |decision| !decision.goes_on());
    let stop = stop.clone();
    let (dialect, before, drops) = on_session(connector, async move |session: &mut Session| {
        journal::create(session).await.map_err(statement)?;
        let before = journal::read(session).await.map_err(statement)?;
        let before = before.unwrap_or_default();
        let cleared: Result<Drops, DbError> = async {
            for client in &before.clients {
                journal::leave(session, client.number).await?;
            }
            // A table without its lines would look as if it had no rows yet.
            let go_on = || !stop.is_stopped();
            let drops = proof::drop_by(session, workload.as_ref(), seed, &old, go_on).await;
            match drops.left.is_empty() {
                true => journal::forget(session, &anew).await?,
                false => journal::forget(session, &drops.absent()).await?,
            }
            Ok(drops)
        }
        .await;
        let is_done = cleared.as_ref().is_ok_and(|drops| drops.left.is_empty());
        if !is_done {
            // The reason for giving up is what is told.
            let _ = journal::drop_if_empty(session).await;
        }
        let drops = cleared.map_err(statement)?;
        Ok((session.dialect(), before, drops))
    })?;
    match DropFailure::of(&drops) {
        None => Ok((dialect, before)),
        Some(dropping) => Err(LoadFailure {
            dropping: Some(Box::new(dropping.clone())),
            ..LoadFailure::from(*dropping.error)
        }),
    }
}

/// Takes part in a load that goes on.
fn join(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    me: Me,
    plans: Vec<TablePlan>,
) -> Result<Vec<TableWork>, EngineError> {
    let (workload, spec) = (Arc::clone(workload), spec.clone());
    on_session(connector, async move |session: &mut Session| {
        for plan in &plans {
            note_joining(session, plan, &spec)
                .await
                .map_err(statement)?;
        }
        journal::join(session, me.number, &me.load_text())
            .await
            .map_err(statement)?;
        works(session, workload.as_ref(), &spec, plans).await
    })
}

/// The tables with what the journal says of them.
async fn works(
    session: &mut Session,
    workload: &dyn Workload,
    spec: &LoadSpec,
    plans: Vec<TablePlan>,
) -> Result<Vec<TableWork>, EngineError> {
    let journal = journal::read(session).await.map_err(statement)?;
    let journal = journal.unwrap_or_default();
    let mut works = Vec::with_capacity(plans.len());
    for (index, plan) in plans.into_iter().enumerate() {
        let transactional = catalog::is_transactional(session, &plan.name)
            .await
            .map_err(statement)?;
        let name = plan.name.clone();
        let lines = journal.of(&name);
        works.push(TableWork::new(
            index,
            plan,
            transactional,
            lines,
            workload,
            spec.seed,
        ));
    }
    Ok(works)
}

/// Leaves a load that is complete. The last of its clients takes the journal away.
///
/// # Errors
/// The server's error.
pub(super) fn leave(connector: &Connector, me: Me, tables: Vec<String>) -> Result<(), EngineError> {
    let _setup = match connector.is_blocking() {
        true => None,
        false => Some(Guard::take(connector, Scope::Database)?),
    };
    on_session(connector, async move |session: &mut Session| {
        let journal = journal::read(session).await.map_err(statement)?;
        let Some(journal) = journal else {
            return Ok(());
        };
        journal::leave(session, me.number)
            .await
            .map_err(statement)?;
        let mut others = journal.clients;
        others.retain(|client| client.number != me.number);
        let living = living(session, others.clone()).await?;
        let lives = |c: &Client| living.iter().any(|(l, _)| l.number == c.number);
        for dead in others.iter().filter(|c| !lives(c)) {
            journal::leave(session, dead.number)
                .await
                .map_err(statement)?;
        }
        if living.is_empty() {
            journal::forget(session, &tables).await.map_err(statement)?;
            journal::drop_if_empty(session).await.map_err(statement)?;
        }
        Ok(())
    })
}

/// Leaves a load that goes on without this client: others, or the next call, take its claims.
/// What can't be done, they do.
pub(super) fn give_up(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
    me: Me,
    notes: bool,
) {
    let owner = me.number.to_string();
    let (workload, spec) = (Arc::clone(workload), spec.clone());
    let left = on_session(connector, async move |session: &mut Session| {
        let work: Result<(), DbError> = async {
            let journal = journal::read(session).await?.unwrap_or_default();
            let mine = |line: &&journal::JournalLine| {
                line.state == PartState::Claimed && line.owner == owner
            };
            for line in journal.lines.iter().filter(mine) {
                journal::reopen(session, &line.table, line.part, &owner).await?;
            }
            journal::leave(session, me.number).await
        }
        .await;
        work.map_err(statement)?;
        match notes {
            true => note_contents(session, workload.as_ref(), &spec).await,
            false => Ok(()),
        }
    });
    // The reason for giving up is what is told.
    drop(left);
}

/// Notes in the marks of a study's unfinished tables what they have by now, so that its load of other
/// data can tell whether that is still all. Tables with other rows than the journal says get no note.
async fn note_contents(
    session: &mut Session,
    workload: &dyn Workload,
    spec: &LoadSpec,
) -> Result<(), EngineError> {
    let Some(owner) = spec.owner() else {
        return Ok(());
    };
    let journal = journal::read(session).await.map_err(statement)?;
    let journal = journal.unwrap_or_default();
    if !journal.clients.is_empty() {
        return Ok(());
    }
    for (index, plan) in plans(workload, session, spec.terminals)?.iter().enumerate() {
        let text = catalog::table_mark(session, &plan.name).await;
        let text = text.map_err(statement)?.unwrap_or_default();
        let mark = mark::Mark::of(&text).filter(|m| !m.loaded && m.owner == Some(owner));
        if !mark.is_some_and(|m| m.is_of(plan, spec.seed)) {
            continue;
        }
        let rows = |line: &journal::JournalLine| match (line.part, line.state) {
            (LoadPart::Chunk { first, units }, PartState::Done) => {
                workload.row_count(index, first, units, spec.seed)
            }
            _ => 0,
        };
        let done: u64 = journal.of(&plan.name).map(rows).sum();
        // Who ends a load does not wait for a sum over many rows: without one, they are not dropped
        // without a word of the user's.
        let contents =
            catalog::contents_with(session, &plan.name, Summed::UpTo(spec.summed_rows)).await;
        let contents = contents.map_err(statement)?.unwrap_or_default();
        if catalog::rows_in(&contents) == Some(done) {
            let mark = mark::given_up(plan, spec.seed, owner, &contents);
            catalog::mark_table(session, &plan.name, &mark)
                .await
                .map_err(statement)?;
        }
    }
    Ok(())
}
