//! Whether the tables that a load would make are there already.

use super::begin::living;
use super::mark;
use super::{LoadSpec, on_session, plans, statement};
use crate::error::EngineError;
use std::sync::Arc;
use tidemark_core::ErrorClass;
use tidemark_drivers::{Connector, Session, catalog, journal};
use tidemark_workloads::Workload;

/// Whether a client that lives is loading into the database.
///
/// # Errors
/// [`EngineError`] when it can't be looked at.
pub fn is_being_loaded(connector: &Connector) -> Result<bool, EngineError> {
    on_session(
        &connector.clone().unlimited(),
        async move |session: &mut Session| {
            let journal = journal::read(session).await.map_err(statement)?;
            let clients = journal.unwrap_or_default().clients;
            Ok(!living(session, clients).await?.is_empty())
        },
    )
}

/// Whether every table bears the mark that this very load leaves at its end: the same schema, number
/// of rows and seed. What runs have changed in them since then is not looked at.
///
/// # Errors
/// [`EngineError`] when they can't be looked at. A database that is not there holds no table.
pub fn is_loaded(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
) -> Result<bool, EngineError> {
    let (workload, spec) = (Arc::clone(workload), spec.clone());
    let looked = on_session(
        &connector.clone().unlimited(),
        async move |session: &mut Session| {
            let journal = journal::read(session).await.map_err(statement)?;
            let journal = journal.unwrap_or_default();
            let plans = plans(workload.as_ref(), session, spec.terminals)?;
            for plan in &plans {
                let mark = catalog::table_mark(session, &plan.name)
                    .await
                    .map_err(statement)?;
                let verified = journal.of(&plan.name).next().is_none();
                if !verified || !mark::is_mark_of(mark.as_deref(), true, plan, spec.seed) {
                    return Ok(false);
                }
            }
            Ok(!plans.is_empty())
        },
    );
    match looked {
        Err(EngineError::Connect { error, .. }) if error.class == ErrorClass::Missing => Ok(false),
        looked => looked,
    }
}
