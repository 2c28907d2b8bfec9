//! `prepare` and `cleanup`.

use super::{GoTpcWork, Tool, database};
use crate::exit::{ExitCode, Failure};
use crate::loading::{drop_all, is_kept, load, say};
use crate::pacing::terminals_and_sessions;
use crate::plan::{BoundWorkload, load_spec};
use crate::runner::JobOrder;

/// Makes and fills the tables, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's, and of what the load ends with.
pub fn prepare(tool: &Tool, order: &JobOrder) -> Result<ExitCode, Failure> {
    let work = GoTpcWork::new(tool, &order.options)?;
    let (plan, spec) = (BoundWorkload::of(order)?, load_spec(&order.job));
    let mut out = work.aside();
    if is_kept(&order.job, &plan, &spec, &mut out)? {
        return Ok(ExitCode::Success);
    }
    database::ensure(&work, &plan, &mut out)?;
    load(&plan, &spec, work.lang, &mut out)?;
    (tool.after_load)(&work, &plan, &mut out)?;
    say(&mut out, "Finished");
    Ok(ExitCode::Success)
}

/// Drops the tables.
///
/// # Errors
/// [`Failure`] as the engine's; [`ExitCode::Refused`] for a table that is not the benchmark's.
pub(super) fn cleanup(work: &GoTpcWork<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan()?;
    let (terminals, _) = terminals_and_sessions(work.options)?;
    let mut out = work.aside();
    drop_all(&plan, terminals, work.options.flag("force"), &mut out)?;
    say(&mut out, "Finished");
    Ok(ExitCode::Success)
}
