//! `tidemark tpcc`: TPC-C with go-tpc's command line and output.

mod check;
mod flags;
#[cfg(test)]
mod flags_tests;
mod job;
mod plan;
mod prepare;
mod printer;
mod run;

use crate::compat::gotpc::{Command, cleanup, csv};
use crate::exit::{ExitCode, Failure};
use crate::frontend::{Frontend, StudyWords};
pub use flags::TOOL;
use job::ADAPTER;
use tidemark_workloads::Definition;

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "tpcc",
    about: "Run TPC-C with go-tpc's own command line",
    words: "As for go-tpc: [FLAGS] prepare|run|check|cleanup; --help lists them",
    main,
    grammar: || TOOL.grammar(),
    options: || TOOL.flags().map(|f| f.spec).collect(),
    commands: &[("check", "tpcc check")],
    for_beginners: true,
    has_password_letter: true,
    flags_first: true,
    runs: Some(&job::ADAPTER),
    study: Some(StudyWords {
        // A build without the workload says so when its command is looked at.
        takes: |phase, option| TOOL.takes(Command::of(phase), option).unwrap_or(false),
        shapes: |option| TOOL.shapes.contains(&option),
        is_property: |_| false,
        check: |words| TOOL.check(words),
    }),
};

/// Runs a go-tpc command line: `words` after `tpcc`, `args` with everything, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    TOOL.main(words, |command, work| match command {
        Command::Prepare if work.options.text("output-type") == "csv" => csv::write(work),
        Command::Prepare => prepare::prepare(work),
        Command::Run => ADAPTER.perform(&job::order(
            work.options.clone(),
            work.definition,
            args.to_vec(),
        )?),
        Command::Check => check::alone(work),
        Command::Cleanup => cleanup(work),
    })
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
