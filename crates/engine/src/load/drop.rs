//! Dropping a workload's tables, and nothing else.

use super::begin::living;
use super::decide::{is_ours, refuse_view};
use super::guard::{Guard, in_the_way};
use super::{on_session, plans, statement};
use crate::error::EngineError;
use std::sync::Arc;
use tidemark_drivers::lock::Scope;
use tidemark_drivers::{Connector, Session, catalog, journal};
use tidemark_workloads::Workload;

/// Drops the workload's tables where they are there; gives the names of those dropped. `force`
/// also drops tables that are not the benchmark's.
///
/// # Errors
/// [`EngineError::Refused`] when one of the names belongs to a table that is not the benchmark's:
/// then none is dropped.
pub fn drop_tables(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    sessions: usize,
    force: bool,
) -> Result<Vec<String>, EngineError> {
    let workload = Arc::clone(workload);
    let connector = &connector.clone().unlimited();
    let _guard = Guard::take(connector, Scope::Database)?;
    on_session(connector, async move |session: &mut Session| {
        let journal = journal::read(session).await.map_err(statement)?;
        let clients = journal.unwrap_or_default().clients;
        if let Some((_, who)) = living(session, clients.clone()).await?.into_iter().next() {
            return Err(in_the_way(who));
        }
        let mut there = Vec::new();
        for plan in plans(workload.as_ref(), session, sessions)? {
            let found = catalog::describe_table(session, &plan.name)
                .await
                .map_err(statement)?;
            let Some(found) = found else { continue };
            refuse_view(session, &plan.name).await?;
            if !force && !is_ours(workload.as_ref(), &found) {
                let columns: Vec<_> = found
                    .columns
                    .iter()
                    .map(|c| format!("{} {}", c.name, c.type_name))
                    .collect();
                return Err(EngineError::Refused(format!(
                    "table {} is not the benchmark's: it has the columns {}; nothing was dropped. \
                     Add --force to drop it all the same",
                    plan.name,
                    columns.join(", ")
                )));
            }
            there.push(plan.name);
        }
        catalog::drop_tables(session, &there)
            .await
            .map_err(statement)?;
        journal::forget(session, &there).await.map_err(statement)?;
        for client in clients {
            journal::leave(session, client.number)
                .await
                .map_err(statement)?;
        }
        journal::drop_if_empty(session).await.map_err(statement)?;
        Ok(there)
    })
}
