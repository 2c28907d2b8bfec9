//! go-tpc's flags as a job, and a job as go-tpc's flags.

use super::{GoTpcCommand, GoTpcWork, Tool, flags};
use crate::exit::Failure;
use crate::jobs::{Adapter, LoadOption, load_option};
use crate::pacing::sets_its_length;
use crate::plan::loading_spec;
use crate::runner::JobOrder;
use tidemark_core::JobKind;
use tidemark_core::duration_text::written;
use tidemark_core::{IgnoreErrors, Job, OptionValues};
use tidemark_workloads::Definition;

/// Flags of files, which no job writes, and those that the definition's own follow.
const OTHER: &[&str] = &["output-type", "output-dir", "tables", "use-fk", "snapshot"];

/// Whether a flag makes no part of a job of this kind.
pub fn is_other(tool: &Tool, kind: JobKind, name: &str) -> bool {
    let is_of_loads = name == "no-check" && kind == JobKind::Run;
    is_of_loads || OTHER.contains(&name) || tool.idle().any(|flag| flag.spec.name == name)
}

/// Whether a flag says where the database is.
pub fn connects(name: &str) -> bool {
    flags::connection().any(|flag| flag == name)
}

/// The words behind the options.
pub fn words(job: &Job) -> (Vec<String>, Vec<String>) {
    let command = GoTpcCommand::of(job.kind()).name();
    (Vec::new(), vec![command.into()])
}

/// What a command line asks for.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order(
    (tool, adapter): (&Tool, &Adapter),
    kind: JobKind,
    options: OptionValues,
    definition: &'static Definition,
    command: Vec<String>,
) -> Result<JobOrder, Failure> {
    if kind == JobKind::Load && options.text("output-type") == "csv" {
        return Err(Failure::usage(
            "--output-type=csv and --print-job cannot be combined: a job writes no files",
        ));
    }
    let target = GoTpcWork::new(tool, &options)?.target()?;
    let load = match kind {
        JobKind::Load => loading_spec(&options, "seed")?,
        JobKind::Run => (tool.run_spec)(&options)?,
    };
    adapter.ordered(kind, options, definition, target, load, command)
}

/// How long the run is, unless its schedule says so.
pub fn time(job: &Job) -> Option<String> {
    let time = job.load.time.filter(|_| !sets_its_length(&job.load.pacing));
    time.map(written)
}

/// As `--ignore-error` has it.
pub fn ignores(job: &Job) -> Option<String> {
    match &job.load.ignore_errors {
        IgnoreErrors::All => Some("on".into()),
        IgnoreErrors::Retryable { .. } => Some("off".into()),
        IgnoreErrors::Codes(_) => None,
    }
}

/// Another name of `--replace`.
pub const DROPDATA: LoadOption = load_option("dropdata", "prepare.replace", |_| None);

/// Flags of a workload that is made of transactions.
pub const PLACED: &[LoadOption] = &[
    DROPDATA,
    load_option("terminals", "load.terminals", |_| None),
    load_option("time", "load.time", time),
    load_option("count", "load.events", |j| {
        let own = !sets_its_length(&j.load.pacing);
        own.then(|| j.load.events.unwrap_or(0).to_string())
    }),
    load_option("warmup", "load.warmup", |j| Some(written(j.load.warmup))),
    load_option("seed", "load.seed", |j| Some(j.load.seed.to_string())),
    load_option("ignore-error", "load.ignore_errors", ignores),
    load_option("max-procs", "load.executors", |_| None),
];
