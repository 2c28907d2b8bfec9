//! `--initialize`.

use super::only_postgres;
use crate::exit::{ExitCode, Failure};
use crate::loading::{self, is_kept};
use crate::plan::{BoundWorkload, load_spec};
use crate::record_outputs::say;
use crate::render::language;
use crate::runner::Order;
use crate::stdio::Stderr;
use std::io::Write;
use tidemark_core::Source;
use tidemark_engine::Replace;

/// Makes and fills the tables. Those that Tidemark made, or that have no rows, are made anew; others
/// are kept unless `--replace` is given.
///
/// # Errors
/// [`Failure`] as the engine's: [`ExitCode::Refused`] for tables that Tidemark did not make.
pub fn load(order: &Order) -> Result<ExitCode, Failure> {
    only_postgres(order.target.protocol)?;
    let (plan, mut spec) = (BoundWorkload::of(order)?, load_spec(&order.job));
    let mut out: Box<dyn Write> = match order.options.flag("quiet") {
        true => Box::new(std::io::sink()),
        false => Box::new(Stderr),
    };
    if is_kept(&order.job, &plan, &spec, &mut out)? {
        return Ok(ExitCode::Success);
    }
    // Rows are given up by those who say so; pgbench's own default does without. A study knows which
    // tables are its own.
    let is_said = order.options.source("init-steps") != Source::Default;
    let drops = is_said && order.options.text("init-steps").contains('d') && spec.study.is_none();
    if spec.replace == Replace::Nothing && drops {
        spec.replace = Replace::Made;
    }
    let report = loading::load(&plan, &spec, language(&order.job.outputs.lang), &mut out)?;
    let seconds = report.elapsed.as_secs_f64();
    say(&mut Stderr, &format!("done in {seconds:.2} s.\n"));
    Ok(ExitCode::Success)
}
