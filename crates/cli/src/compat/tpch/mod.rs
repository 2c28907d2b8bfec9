//! `tidemark tpch`: TPC-H with go-tpc's command line.

mod answers;
mod flags;
mod job;
mod refresh;
mod run;
mod share;
mod size;
mod test_plan;
mod tiflash;
mod unchanged_rows;
mod verdict;
mod watch;

use crate::compat::gotpc::GoTpcCommand;
use crate::exit::{ExitCode, Failure};
use crate::frontend::{Frontend, StudySupport};
use crate::texts::workloads as summaries;
pub use flags::TOOL;
pub use share::ask_share;

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "tpch",
    about: "Run TPC-H with the command line of go-tpc",
    words: "As for go-tpc: [FLAGS] prepare|run|cleanup; --help lists them",
    main,
    grammar: || TOOL.grammar(),
    options: || TOOL.flags().map(|f| f.spec).collect(),
    commands: &[],
    examples: TOOL.first_examples,
    has_password_letter: true,
    flags_first: true,
    runs: Some(&job::ADAPTER),
    summaries: &[("tpch", summaries::tpch)],
    study: Some(StudySupport {
        // A build without the workload says so when its command is looked at.
        takes: |phase, option| TOOL.takes(GoTpcCommand::of(phase), option).unwrap_or(false),
        shapes: |option| TOOL.shapes.contains(&option),
        is_property: |_| false,
        options: |step, url| TOOL.of_step(step, url),
    }),
};

/// Runs a go-tpc command line: `words` after `tpch`, `args` with everything, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    TOOL.main(&job::ADAPTER, args, words)
}
