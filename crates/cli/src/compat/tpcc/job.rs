//! A load and a run of TPC-C as jobs.

use super::{TOOL, run};
use crate::compat::gotpc::{self, job, parse};
use crate::exit::Failure;
use crate::jobs::{Adapter, dashed};
use crate::runner::JobOrder;
use tidemark_core::{JobKind, OptionValues};
use tidemark_workloads::Definition;

/// `tidemark tpcc prepare` and `run`.
pub const ADAPTER: Adapter = Adapter {
    name: TOOL.name,
    defaults: |definition| parse::defaults(&TOOL, definition),
    connects: job::connects,
    placed: job::PLACED,
    is_other: |kind, name| job::is_other(&TOOL, kind, name),
    words: Some(job::words),
    word: dashed,
    order,
    load: Some(|order| gotpc::prepare(&TOOL, order)),
    run: run::run,
};

fn order(
    kind: JobKind,
    options: OptionValues,
    definition: &'static Definition,
    command: Vec<String>,
) -> Result<JobOrder, Failure> {
    job::order((&TOOL, &ADAPTER), kind, options, definition, command)
}
