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

use crate::exit::{ExitCode, Failure};
use crate::gotpc::{Command, cleanup, csv};
pub use flags::TOOL;
pub use job::FRONT;
use tidemark_workloads::Definition;

/// Its command line as clap has it.
///
/// # Errors
/// [`Failure`] when this build lacks the workload.
pub fn grammar() -> Result<clap::Command, Failure> {
    TOOL.grammar()
}

/// Runs a go-tpc command line: `words` after `tpcc`, `args` with everything, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    TOOL.main(words, |command, work| match command {
        Command::Prepare if work.options.text("output-type") == "csv" => csv::write(work),
        Command::Prepare => prepare::prepare(work),
        Command::Run => FRONT.perform(&job::order(
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
    crate::gotpc::options_of(&TOOL, line)
}
