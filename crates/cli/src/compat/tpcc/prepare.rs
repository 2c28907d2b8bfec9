//! `prepare`.

use super::check;
use crate::compat::gotpc::{self, Work};
use crate::exit::{ExitCode, Failure};
use crate::loading::{is_kept, say};

/// Makes and fills the tables, tells what was verified, and checks the consistency conditions.
///
/// # Errors
/// [`Failure`] as the engine's; [`ExitCode::Check`] when a condition does not hold.
pub(super) fn prepare(work: &Work<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan(true)?;
    let mut out = work.aside();
    if is_kept(work.options, &plan, &work.load_spec()?, &mut out)? {
        return Ok(ExitCode::Success);
    }
    gotpc::load(work, &plan, &mut out)?;
    if !work.options.flag("no-check") {
        check::after(work, &plan, work.load_spec()?.threads, &mut out)?;
    }
    say(&mut out, "Finished");
    Ok(ExitCode::Success)
}
