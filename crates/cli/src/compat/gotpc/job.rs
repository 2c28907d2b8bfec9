//! go-tpc's flags as a job, and a job as go-tpc's flags.

use super::parse::{self, Invocation};
use super::{Command, Tool, flags};
use crate::exit::Failure;
use crate::jobs::{LoadOption, load_option, no_run};
use crate::pacing::sets_its_length;
use tidemark_core::duration_text::written;
use tidemark_core::{IgnoreErrors, Job, OptionValues};

/// Flags that are another command's, or have no effect.
const OTHER: &[&str] = &[
    "dropdata",
    "output-type",
    "output-dir",
    "tables",
    "no-check",
    "use-fk",
    "snapshot",
];

/// Whether a flag makes no part of a run.
pub fn is_other(tool: &Tool, name: &str) -> bool {
    OTHER.contains(&name) || tool.idle().any(|flag| flag.spec.name == name)
}

/// Whether a flag says where the database is.
pub fn connects(name: &str) -> bool {
    flags::connection().any(|flag| flag == name)
}

/// What words ask for: the options of a run.
///
/// # Errors
/// [`Failure`] of bad usage, and of words that run no load.
pub fn run_options(tool: &Tool, words: &[String]) -> Result<OptionValues, Failure> {
    match parse::parse(tool, words)? {
        Invocation::Do {
            command: Command::Run,
            options,
            ..
        } => Ok(*options),
        _ => Err(no_run()),
    }
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

/// Flags of a run that is made of transactions.
pub const LOAD: &[LoadOption] = &[
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
