//! `prepare` and `cleanup`, as far as they are the same for all workloads.

use super::{Work, database};
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::loading::{Told, drop_all, say, tell};
use crate::plan::Plan;
use std::io::Write;

/// Makes and fills the tables, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's.
pub fn load(work: &Work<'_>, plan: &Plan, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = work.load_spec()?;
    database::ensure(work, plan, out)?;
    let report = {
        let mut observer = Told::new(out);
        tidemark_engine::prepare(
            &plan.connector,
            &plan.workload,
            &spec,
            &interrupt::handle(),
            &mut observer,
        )?
    };
    tell(&report, out);
    Ok(())
}

/// Drops the tables.
///
/// # Errors
/// [`Failure`] as the engine's; [`ExitCode::Refused`] for a table that is not the benchmark's.
pub fn cleanup(work: &Work<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan(false)?;
    let terminals = work.load_spec()?.terminals;
    let mut out = work.aside();
    drop_all(&plan, terminals, work.options.flag("force"), &mut out)?;
    say(&mut out, "Finished");
    Ok(ExitCode::Success)
}
