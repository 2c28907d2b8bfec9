//! `tidemark tpcc`: TPC-C with go-tpc's command line and output.

mod check;
mod flags;
#[cfg(test)]
mod flags_tests;
mod job;
mod plan;
mod printer;
mod run;

use crate::compat::gotpc::GoTpcCommand;
use crate::exit::{ExitCode, Failure};
use crate::frontend::{Frontend, StudySupport};
use crate::texts::workloads as summaries;
pub use flags::TOOL;
use tidemark_workloads::Definition;

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "tpcc",
    about: "Run TPC-C with the command line of go-tpc",
    words: "As for go-tpc: [FLAGS] prepare|run|check|cleanup; --help lists them",
    main,
    grammar: || TOOL.grammar(),
    options: || TOOL.flags().map(|f| f.spec).collect(),
    commands: &[("check", "tpcc check")],
    examples: TOOL.first_examples,
    has_password_letter: true,
    flags_first: true,
    runs: Some(&job::ADAPTER),
    summaries: &[("tpcc", summaries::tpcc)],
    study: Some(StudySupport {
        // A build without the workload says so when its command is looked at.
        takes: |phase, option| TOOL.takes(GoTpcCommand::of(phase), option).unwrap_or(false),
        shapes: |option| TOOL.shapes.contains(&option),
        is_property: |_| false,
        options: |step, url| TOOL.of_step(step, url),
    }),
};

/// Runs a go-tpc command line: `words` after `tpcc`, `args` with everything, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    TOOL.main(&job::ADAPTER, args, words)
}

/// The workload's row of the registry.
///
/// # Errors
/// [`Failure`] when this build lacks it.
pub fn definition() -> Result<&'static Definition, Failure> {
    TOOL.definition()
}

/// The options of a command line that is understood.
#[cfg(test)]
pub fn options_of(line: &str) -> tidemark_core::OptionValues {
    crate::compat::gotpc::options_of(&TOOL, line)
}
