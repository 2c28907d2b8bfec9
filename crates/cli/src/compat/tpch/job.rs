//! A load and a run of TPC-H as jobs.

use super::test_plan::TestPlan;
use super::{TOOL, run};
use crate::compat::gotpc::{self, job, parse};
use crate::exit::Failure;
use crate::jobs::{Adapter, dashed};
use crate::runner::JobOrder;
use tidemark_core::JobKind;
use tidemark_core::{OptionValues, PreparedMode, RunSpec};
use tidemark_workloads::Definition;

/// `tidemark tpch prepare` and `run`. How many streams there are, how long they ask and with which values
/// are settings of its own; the load of a run follows from them.
pub const ADAPTER: Adapter = Adapter {
    name: TOOL.name,
    defaults: |definition| parse::defaults(&TOOL, definition),
    connects: job::connects,
    placed: &[job::DROPDATA],
    is_other: |kind, name| job::is_other(&TOOL, kind, name),
    words: Some(job::words),
    word: dashed,
    order,
    load: Some(|order| gotpc::prepare(&TOOL, order)),
    run: run::run,
};

/// What a command line asks for. A seed that the clock gave is the job's from now on.
fn order(
    kind: JobKind,
    mut options: OptionValues,
    definition: &'static Definition,
    command: Vec<String>,
) -> Result<JobOrder, Failure> {
    if kind == JobKind::Run
        && let Some(seed) = TestPlan::new(&options)?.seed
    {
        let source = options.source("seed");
        options.set("seed", &seed.to_string(), source)?;
    }
    job::order((&TOOL, &ADAPTER), kind, options, definition, command)
}

/// What a run is asked to do.
///
/// # Errors
/// [`Failure`] of bad usage.
pub(super) fn run_spec(options: &OptionValues) -> Result<RunSpec, Failure> {
    let asked = TestPlan::new(options)?;
    Ok(RunSpec {
        sessions: asked.streams,
        terminals: asked.streams,
        seed: asked.seed.unwrap_or(0),
        // A query is asked once, and planned with its values.
        prepared: PreparedMode::Text,
        connect_timeout: options.time("connect-timeout"),
        reconnect_timeout: options.time("reconnect-timeout"),
        inject_rtt: options.time("inject-rtt"),
        statement_timeout: Some(options.time("statement-timeout")).filter(|t| !t.is_zero()),
        ..RunSpec::default()
    })
}
