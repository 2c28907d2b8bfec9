//! Dropping a workload's tables, and nothing else.

use super::begin::living;
use super::decide::{refuse_no_table, refuse_referrers, why_not_ours};
use super::guard::{Guard, in_the_way};
use super::proof::{self, Proof};
use super::{on_session, plans, statement};
use crate::control::StopHandle;
use crate::error::EngineError;
use std::fmt;
use std::sync::Arc;
use tidemark_drivers::catalog::{self, Drops};
use tidemark_drivers::lock::Scope;
use tidemark_drivers::{Connector, Session, journal};
use tidemark_workloads::{TablePlan, Workload};

/// So many tables are named in a message.
const NAMED: usize = 5;

/// Why tables were not dropped, or not all of them.
#[derive(Debug, Clone)]
pub struct DropFailure {
    /// The reason.
    pub error: Box<EngineError>,
    /// The table whose drop failed, if it was that.
    pub table: Option<String>,
    /// Tables that are gone.
    pub dropped: Vec<String>,
    /// Tables that were to be dropped and are still there; none when dropping did not begin.
    pub left: Vec<String>,
}

impl From<EngineError> for DropFailure {
    fn from(error: EngineError) -> Self {
        Self {
            error: error.into(),
            table: None,
            dropped: Vec::new(),
            left: Vec::new(),
        }
    }
}

impl DropFailure {
    /// What kept tables from being dropped; `None` when all were.
    pub(super) fn of(drops: &Drops) -> Option<Self> {
        if drops.left.is_empty() {
            return None;
        }
        let (table, error) = match (drops.failure.clone(), drops.kept.clone()) {
            (_, Some(why)) => (None, EngineError::Refused(why)),
            (Some((table, error)), None) => (Some(table), statement(error)),
            (None, None) => (None, EngineError::Interrupted),
        };
        Some(Self {
            error: error.into(),
            table,
            dropped: drops.dropped.clone(),
            left: drops.left.clone(),
        })
    }
}

impl fmt::Display for DropFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.table {
            Some(table) => write!(f, "table {table} could not be dropped: {}", self.error)?,
            None => write!(f, "{}", self.error)?,
        }
        if self.left.is_empty() {
            return Ok(());
        }
        let (gone, left) = (self.dropped.len(), self.left.len());
        if gone == 0 {
            return write!(f, "; no table was dropped");
        }
        let verb = if left == 1 { "is" } else { "are" };
        write!(
            f,
            "; {gone} of {} tables were dropped ({}), {left} {verb} still there ({})",
            gone + left,
            named(&self.dropped),
            named(&self.left)
        )
    }
}

impl std::error::Error for DropFailure {}

/// The first few names.
fn named(tables: &[String]) -> String {
    let first = tables.iter().take(NAMED).map(String::as_str);
    let mut names = first.collect::<Vec<_>>().join(", ");
    if tables.len() > NAMED {
        names += &format!(" and {} more", tables.len() - NAMED);
    }
    names
}

/// Drops the workload's tables where they are there; gives the names of those dropped. `force`
/// also drops tables that are not the benchmark's. Ends between two tables when `stop` says so.
///
/// # Errors
/// [`DropFailure`], with [`EngineError::Refused`] when one of the names belongs to a table that is not
/// the benchmark's, or another table refers to one of them: then none is dropped.
pub fn drop_tables(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    sessions: usize,
    force: bool,
    stop: &StopHandle,
) -> Result<Vec<String>, DropFailure> {
    let (workload, stop) = (Arc::clone(workload), stop.clone());
    let connector = &connector.clone().unlimited();
    let _guard = Guard::take(connector, Scope::Database)?;
    let drops = on_session(connector, async move |session: &mut Session| {
        let journal = journal::read(session).await.map_err(statement)?;
        let clients = journal.unwrap_or_default().clients;
        if let Some((_, who)) = living(session, clients.clone()).await?.into_iter().next() {
            return Err(in_the_way(who));
        }
        let there = there(session, workload.as_ref(), sessions, force, &stop).await?;
        let go_on = || !stop.is_stopped();
        // No row is compared with those of a load.
        let drops = proof::drop_by(session, workload.as_ref(), 0, &there, go_on).await;
        let forgotten = journal::forget(session, &drops.absent()).await;
        if !drops.left.is_empty() {
            // Why they are left is what is told.
            return Ok(drops);
        }
        forgotten.map_err(statement)?;
        for client in clients {
            journal::leave(session, client.number)
                .await
                .map_err(statement)?;
        }
        journal::drop_if_empty(session).await.map_err(statement)?;
        Ok(drops)
    })?;
    match DropFailure::of(&drops) {
        Some(failure) => Err(failure),
        None => Ok(drops.dropped),
    }
}

/// The workload's tables that are there, if all of them may be dropped. Who asks to drop a benchmark's
/// tables gives them away; the proof is that they are the benchmark's.
async fn there(
    session: &mut Session,
    workload: &dyn Workload,
    sessions: usize,
    force: bool,
    stop: &StopHandle,
) -> Result<Vec<(usize, TablePlan, Proof)>, EngineError> {
    let mut there = Vec::new();
    let proof = match force {
        true => Proof::Insisted,
        false => Proof::Released,
    };
    for (index, plan) in plans(workload, session, sessions)?.into_iter().enumerate() {
        if stop.is_stopped() {
            return Err(EngineError::Interrupted);
        }
        let found = catalog::describe_table(session, &plan.name)
            .await
            .map_err(statement)?;
        let Some(found) = found else { continue };
        refuse_no_table(&found)?;
        if !force && let Some(why) = why_not_ours(workload, &found) {
            return Err(EngineError::Refused(format!(
                "table {} is not the benchmark's: it has {why}; nothing was dropped. Add --force \
                 to drop it anyway",
                plan.name
            )));
        }
        there.push((index, plan, proof.clone()));
    }
    if !force {
        let names: Vec<String> = there.iter().map(|(_, plan, _)| plan.name.clone()).collect();
        refuse_referrers(session, &names, &names).await?;
    }
    Ok(there)
}
