//! Emptying one of a workload's tables, and nothing else.

use super::proof::{self, Proof, ProofScope};
use super::{plans, statement};
use crate::error::EngineError;
use tidemark_drivers::Session;
use tidemark_drivers::catalog::DropVerdict;
use tidemark_workloads::Workload;

/// Empties one of the workload's tables, of the PostgreSQL family, that is the benchmark's and that
/// Tidemark loaded. Gives why its rows are kept, if they are; a table that is not there has none.
///
/// # Errors
/// [`EngineError::Statement`] with the server's error; [`EngineError::Unsupported`] where the engine has
/// no such tables.
pub async fn empty_table(
    session: &mut Session,
    workload: &dyn Workload,
    table: &str,
) -> Result<Option<String>, EngineError> {
    let plans = plans(workload, session, 1)?;
    let planned = plans
        .iter()
        .enumerate()
        .find(|(_, plan)| plan.name == table);
    let Some((index, plan)) = planned else {
        let name = workload.name();
        return Ok(Some(format!("table {table} is not one of {name}'s")));
    };
    let looked = ProofScope {
        workload,
        plan,
        index,
        // No row is compared with those of a load.
        seed: 0,
    };
    let emptied = proof::empty_by(session, &looked, &Proof::Marked).await;
    Ok(match emptied.map_err(statement)? {
        DropVerdict::Keep(why) => Some(why),
        DropVerdict::Drop | DropVerdict::Gone => None,
    })
}
