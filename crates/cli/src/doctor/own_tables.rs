//! Statements of a workload on its own tables, where doctor may make none: they are prepared and not
//! executed, and only where Tidemark has loaded the tables.

use super::proof::{Proven, Unproven, named};
use std::sync::Arc;
use tidemark_core::DbError;
use tidemark_drivers::{Connector, Session, catalog};
use tidemark_engine::{is_marked_loaded, is_unfinished};
use tidemark_workloads::Workload;
use tidemark_workloads::tpch::{Parameters, query};

/// What came of it.
#[derive(Debug)]
pub enum OnOwnTables {
    /// So many were prepared.
    Prepared(Proven),
    /// Tidemark has not loaded all of its tables.
    NotLoaded,
}

/// Prepares each statement.
///
/// # Errors
/// [`Unproven`] of the first that can't be.
pub async fn prepare(
    connector: Connector,
    workload: Arc<dyn Workload>,
    scale: Option<f64>,
) -> Result<OnOwnTables, Unproven> {
    let unnamed = |error| Unproven::Statement(String::new(), error);
    let mut session = connector.connect(0).await.map_err(unnamed)?;
    let there = are_loaded(&mut session, workload.as_ref()).await;
    if !there.map_err(unnamed)? {
        session.close().await;
        return Ok(OnOwnTables::NotLoaded);
    }
    session.keep_texts();
    let prepared = workload.statements().prepare(&mut session).await;
    prepared.map_err(|error| named(&session, error))?;
    if let Some(scale) = scale {
        for query in &query::ALL {
            let parameters = Parameters::validation(query.number, scale);
            let prepared = session
                .prepare(&query.sql(&parameters, &session.dialect()))
                .await;
            prepared.map_err(|error| Unproven::Statement(query.to_string(), error))?;
        }
    }
    let prepared = session.given_texts().len();
    session.close().await;
    Ok(OnOwnTables::Prepared(Proven {
        executed: 0,
        prepared,
    }))
}

async fn are_loaded(session: &mut Session, workload: &dyn Workload) -> Result<bool, DbError> {
    for table in workload.needs(1) {
        let found = catalog::describe_table(session, &table).await?;
        let is_loaded = found.is_some_and(|found| {
            let mark = found.comment.as_deref().unwrap_or_default();
            found.no_table.is_none()
                && is_marked_loaded(mark)
                && !is_unfinished(&found)
                && workload.can_be(&found)
        });
        if !is_loaded {
            return Ok(false);
        }
    }
    Ok(true)
}
