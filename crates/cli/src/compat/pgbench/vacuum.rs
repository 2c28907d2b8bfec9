//! What pgbench does before a run: it vacuums its tables, and empties the history.

use super::only_postgres;
use crate::exit::{ExitCode, Failure};
use crate::plan::BoundWorkload;
use crate::record_outputs::say;
use std::io::Write;
use std::sync::Arc;
use tidemark_core::{DbError, OptionValues};
use tidemark_drivers::catalog;
use tidemark_engine::{bears_mark, why_not_ours};
use tidemark_runtime::block_on;

const HISTORY: &str = "pgbench_history";
const SMALL: [&str; 2] = ["pgbench_branches", "pgbench_tellers"];
const LARGE: &str = "pgbench_accounts";

/// Vacuums the tables that a run needs, unless `--no-vacuum` is given. Rows of the history are deleted
/// only where Tidemark made the table.
///
/// # Errors
/// [`Failure`] when no session can be had.
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
    say(out, "starting vacuum...");
    let done = block_on(async move {
        let mut session = connector.connect(0).await?;
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
        let history = catalog::describe_table(&mut session, HISTORY).await?;
        match history {
            // As before a drop: nothing of anybody else's may hang on it.
            Some(found)
                if bears_mark(&*workload, &found) && why_not_ours(&*workload, &found).is_none() =>
            {
                // Tables that inherit from it since then are not its rows (manual, "TRUNCATE").
                let sql = format!("TRUNCATE ONLY {HISTORY}");
                session.query(&sql).await?;
            }
            Some(_) => {
                said +=
                    &format!("\ntidemark: {HISTORY} was not made by Tidemark: its rows are kept");
            }
            None => {}
        }
        session.close().await;
        Ok::<String, DbError>(said)
    });
    let said = done.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))??;
    say(out, &format!("end.{said}\n"));
    Ok(())
}
