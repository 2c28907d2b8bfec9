//! The scaling factor of a run, which is that of its tables.

use super::target::target;
use super::{definition, only_postgres};
use crate::exit::{ExitCode, Failure};
use crate::plan::BoundWorkload;
use tidemark_core::{DbError, ErrorClass, OptionValues, Source};
use tidemark_engine::EngineError;
use tidemark_runtime::block_on;
use tidemark_workloads::pgbench::Pgbench;

/// Sets the scaling factor to the number of branches, where a built-in script runs. Scripts of users
/// may have no such tables; they get what `--scale` says.
///
/// # Errors
/// [`Failure`] when the target can't be asked.
pub fn look(options: &mut OptionValues) -> Result<(), Failure> {
    let target = target(options)?;
    only_postgres(target.protocol)?;
    let workload = Pgbench::new(options)?;
    if workload.settings().builtins.is_empty() {
        return Ok(());
    }
    let plan = BoundWorkload::new(definition()?, options, target, false)?;
    let connector = plan.connector.clone().unlimited();
    let counted = block_on(async move {
        let mut session = connector.connect(0).await?;
        let rows = session.query("SELECT COUNT(*) FROM pgbench_branches").await;
        session.close().await;
        rows.map(|rows| rows.int(0, 0).unwrap_or(0))
    });
    let counted: Result<i64, DbError> =
        counted.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
    let count = match counted {
        Ok(count) => count,
        // The look at all tables says which are not there, and what makes them.
        Err(error) if error.class == ErrorClass::Missing => return Ok(()),
        Err(error) if error.class == ErrorClass::Refused => {
            return Err(EngineError::Connect { session: 0, error }.into());
        }
        Err(error) => return Err(error.into()),
    };
    if count < 1 {
        return Err(Failure::new(
            ExitCode::NotPrepared,
            "table pgbench_branches has no rows; load the tables first: tidemark pgbench -i",
        ));
    }
    let said = options.uint("scale");
    if options.source("scale") == Source::CommandLine && said != count.unsigned_abs() {
        eprintln!(
            "tidemark: --scale={said} is ignored: pgbench_branches has {count} rows, which is the \
             scaling factor"
        );
    }
    options.set("scale", &count.to_string(), Source::CommandLine)?;
    Ok(())
}
