//! What pgbench does before a run: it vacuums its tables, and empties the history.

use super::only_postgres;
use crate::exit::{ExitCode, Failure};
use crate::plan::BoundWorkload;
use crate::record_outputs::say;
use std::io::Write;
use std::sync::Arc;
use tidemark_core::{ErrorClass, OptionValues};
use tidemark_drivers::Access;
use tidemark_engine::{EngineError, empty_table};
use tidemark_runtime::block_on;

const HISTORY: &str = "pgbench_history";
const SMALL: [&str; 2] = ["pgbench_branches", "pgbench_tellers"];
const LARGE: &str = "pgbench_accounts";

/// Vacuums the tables that a run needs, unless `--no-vacuum` is given. The history loses its rows only where
/// it is proven to be Tidemark's.
///
/// # Errors
/// [`Failure`] when no session can be had, or when it is lost.
pub fn before_run(
    options: &OptionValues,
    plan: &BoundWorkload,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    only_postgres(plan.target.protocol)?;
    let needed = plan.workload.needs(1);
    if options.flag("no-vacuum") || needed.is_empty() {
        return Ok(());
    }
    let all = options.flag("vacuum-all");
    let connector = plan.connector.clone().unlimited();
    let workload = Arc::clone(&plan.workload);
    let access = match workload.only_reads() {
        true => Access::ReadOnly,
        false => Access::ReadWrite,
    };
    say(out, "starting vacuum...");
    let done = block_on(async move {
        // What refuses the run's own sessions refuses them before anything is emptied.
        let own = connector.connect_for(0, access).await;
        let own = own.map_err(|error| EngineError::Connect { session: 0, error })?;
        own.close().await;
        let connected = connector.connect(0).await;
        let mut session = connected.map_err(|error| EngineError::Connect { session: 0, error })?;
        let mut said = String::new();
        let mut tables: Vec<String> = SMALL.iter().map(|t| format!("VACUUM {t}")).collect();
        if all {
            tables.push(format!("VACUUM ANALYZE {LARGE}"));
        }
        for sql in tables {
            // A server without it runs as well.
            if let Err(error) = session.query(&sql).await {
                said += &format!("\ntidemark: {sql}: {error} (ignored)");
            }
        }
        match empty_table(&mut session, &*workload, HISTORY).await {
            Ok(None) => {}
            Ok(Some(why)) => {
                said += &format!(
                    "\ntidemark: {why}: its rows are kept. To skip this step, add -n; to create \
                     pgbench's tables again, run -i --replace"
                );
            }
            // As pgbench: who may not empty it runs as well.
            Err(EngineError::Statement { error, .. })
                if error.class != ErrorClass::ConnectionLost =>
            {
                said += &format!("\ntidemark: emptying {HISTORY}: {error} (ignored)");
            }
            Err(error) => return Err(error),
        }
        session.close().await;
        Ok::<String, EngineError>(said)
    });
    let said = done.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))??;
    say(out, &format!("end.{said}\n"));
    Ok(())
}
