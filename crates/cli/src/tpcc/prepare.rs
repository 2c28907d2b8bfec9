//! `prepare` and `cleanup`.

use super::{Work, check, database};
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::loading::{Told, say, tell};
use tidemark_engine::drop_tables;

/// Makes and fills the tables, tells what was verified, and checks the consistency conditions.
///
/// # Errors
/// [`Failure`] as the engine's; [`ExitCode::Check`] when a condition does not hold.
pub(super) fn prepare(work: &Work<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan(true)?;
    let spec = work.load_spec()?;
    let mut out = work.aside();
    database::ensure(work, &plan, &mut out)?;
    let report = {
        let mut observer = Told::new(&mut out);
        tidemark_engine::prepare(
            &plan.connector,
            &plan.workload,
            &spec,
            &interrupt::handle(),
            &mut observer,
        )?
    };
    tell(&report, &mut out);
    if !work.options.flag("no-check") {
        check::after(work, &plan, spec.threads, &mut out)?;
    }
    say(&mut out, "Finished");
    Ok(ExitCode::Success)
}

/// Drops the tables.
///
/// # Errors
/// [`Failure`] as the engine's; [`ExitCode::Refused`] for a table that is not the benchmark's.
pub(super) fn cleanup(work: &Work<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan(false)?;
    let dropped = drop_tables(
        &plan.connector,
        &plan.workload,
        work.load_spec()?.terminals,
        work.options.flag("force"),
    )?;
    let mut out = work.aside();
    for table in dropped {
        say(&mut out, &format!("Dropping table '{table}'..."));
    }
    say(&mut out, "Finished");
    Ok(ExitCode::Success)
}
