//! Plans of queries, asked when nothing is measured.

use super::{StreamsSpec, lane};
use crate::error::EngineError;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{Connector, plan_text};
use tidemark_runtime::block_on;

/// A query's name, and its plan or why it can't be had.
pub type PlanOf = (String, Result<String, DbError>);

/// Asks the plan of each query (its name and its SQL); with `analyze` each is executed for it, for
/// as long as a query may take.
///
/// # Errors
/// [`EngineError::Connect`] and [`EngineError::Init`]. A plan that can't be had is told in its
/// place.
pub fn plans(
    connector: &Connector,
    queries: &[(String, String)],
    analyze: bool,
    spec: &StreamsSpec,
) -> Result<Vec<PlanOf>, EngineError> {
    let queries = queries.to_vec();
    let spec = StreamsSpec {
        // A plan alone is had soon, also of a query that is not.
        query_limit: spec.query_limit.filter(|_| analyze),
        ..spec.clone()
    };
    let connector = lane::limited(connector, spec.query_limit);
    let asking = async move {
        let mut session = lane::open(&connector, 0, &spec).await?;
        let mut plans = Vec::with_capacity(queries.len());
        for (name, sql) in &queries {
            let explain = session.dialect().explain(sql, analyze);
            let asked = session.query(&explain).await;
            let lost = matches!(&asked, Err(e) if e.class == ErrorClass::ConnectionLost);
            plans.push((name.clone(), asked.map(|rows| plan_text(&rows))));
            if lost {
                session = lane::open(&connector, 0, &spec).await?;
            }
        }
        session.close().await;
        Ok(plans)
    };
    block_on(asking)?
}
