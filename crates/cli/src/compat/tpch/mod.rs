//! `tidemark tpch`: TPC-H with go-tpc's command line.

mod answers;
mod asked;
mod flags;
mod job;
mod refresh;
mod run;
mod size;
mod tiflash;
mod untouched;
mod watch;

use crate::compat::gotpc::{Command, Work, cleanup, csv, load};
use crate::exit::{ExitCode, Failure};
use crate::frontend::{Frontend, StudyWords};
use crate::loading::{is_kept, say};
pub use flags::TOOL;
use job::ADAPTER;

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "tpch",
    about: "Load and run TPC-H with go-tpc's own command line",
    words: "As for go-tpc: [FLAGS] prepare|cleanup; --help lists them",
    main,
    grammar: || TOOL.grammar(),
    options: || TOOL.flags().map(|f| f.spec).collect(),
    commands: &[],
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

/// Runs a go-tpc command line: `words` after `tpch`, `args` with everything, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    TOOL.main(words, |command, work| match command {
        Command::Prepare if work.options.text("output-type") == "csv" => csv::write(work),
        Command::Prepare => prepare(work),
        Command::Cleanup => cleanup(work),
        Command::Run => ADAPTER.perform(&job::order(
            work.options.clone(),
            work.definition,
            args.to_vec(),
        )?),
        Command::Check => Err(Failure::usage(format!(
            "{} is not offered for TPC-H",
            command.name()
        ))),
    })
}

/// Makes and fills the tables, and tells what was verified.
fn prepare(work: &Work<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan(true)?;
    let mut out = work.aside();
    if is_kept(work.options, &plan, &work.load_spec()?, &mut out)? {
        return Ok(ExitCode::Success);
    }
    load(work, &plan, &mut out)?;
    if work.options.uint("tiflash-replica") > 0 {
        tiflash::wait(&plan, &mut out)?;
    }
    say(&mut out, "Finished");
    Ok(ExitCode::Success)
}
