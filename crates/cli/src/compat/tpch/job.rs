//! A run of TPC-H as a job.

use super::asked::Asked;
use super::{TOOL, run};
use crate::compat::gotpc::{Work, job, parse};
use crate::exit::Failure;
use crate::jobs::{Adapter, dashed};
use crate::runner::Order;
use tidemark_core::{OptionValues, PreparedMode, RunSpec};
use tidemark_workloads::Definition;

/// `tidemark tpch run`. How many streams there are, how long they ask and with which values are settings
/// of its own; the load of the job follows from them.
pub const ADAPTER: Adapter = Adapter {
    name: TOOL.name,
    defaults: |definition| parse::defaults(&TOOL, definition),
    connects: job::connects,
    load: &[],
    is_other: |name| job::is_other(&TOOL, name),
    words: Some(|_| (Vec::new(), vec!["run".into()])),
    word: dashed,
    understand: |words, command| {
        order(job::run_options(&TOOL, words)?, TOOL.definition()?, command)
    },
    order,
    run: run::run,
};

/// What a command line asks for. A seed that the clock gave is the job's from now on.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order(
    mut options: OptionValues,
    definition: &'static Definition,
    command: Vec<String>,
) -> Result<Order, Failure> {
    let asked = Asked::new(&options)?;
    if let Some(seed) = asked.seed {
        let source = options.source("seed");
        options.set("seed", &seed.to_string(), source)?;
    }
    let target = Work::new(&TOOL, &options)?.target()?;
    let workload = (definition.build)(&options)?;
    let load = RunSpec {
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
    };
    ADAPTER.ordered(options, definition, workload, target, load, command)
}
