//! A run of TPC-C as a job.

use super::{TOOL, plan, run};
use crate::compat::gotpc::{Work, job, parse};
use crate::exit::Failure;
use crate::jobs::{Adapter, dashed};
use crate::runner::Order;
use tidemark_core::OptionValues;
use tidemark_workloads::Definition;

/// `tidemark tpcc run`.
pub const ADAPTER: Adapter = Adapter {
    name: TOOL.name,
    defaults: |definition| parse::defaults(&TOOL, definition),
    connects: job::connects,
    load: job::LOAD,
    is_other: |name| job::is_other(&TOOL, name),
    words: Some(|_| (Vec::new(), vec!["run".into()])),
    word: dashed,
    understand: |words, command| {
        order(job::run_options(&TOOL, words)?, TOOL.definition()?, command)
    },
    order,
    run: run::run,
};

/// What a command line asks for.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order(
    options: OptionValues,
    definition: &'static Definition,
    command: Vec<String>,
) -> Result<Order, Failure> {
    let work = Work::new(&TOOL, &options)?;
    let (load, target) = (plan::run_spec(&work)?, work.target()?);
    let workload = (definition.build)(&options)?;
    ADAPTER.ordered(options, definition, workload, target, load, command)
}
