//! `tidemark study`: a matrix of runs from a file.
//!
//! Each step is a child process, `tidemark exec -`, that is given its job: a run that crashes takes no
//! study with it. `study plan` shows the command line that asks for the same.

pub mod admin_sessions;
mod advice;
pub mod args;
mod diagnosing;
mod execute;
mod file;
pub mod interrupt;
mod invalid_runs;
mod machine;
mod outcome;
mod parent_process;
mod plan_text;
mod private;
mod put_back;
mod resume;
mod run_follower;
mod servers;
mod settings;
mod start;
mod status;
pub mod step_process;
mod tables_left;
pub mod targets;
mod time_left;
mod view;
mod vocabulary;

pub use parent_process::{PARENT_VARIABLE, end_with_study};

use crate::exit::{ExitCode, Failure};
use args::StudyCommand;
use plan_text::plan_text;

/// Does what the words ask for.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn study(words: &args::Study) -> Result<ExitCode, Failure> {
    match &words.command {
        StudyCommand::Plan(plan) => {
            let read = file::read(&plan.file)?;
            let by_hand = private::by_hand(&read.plan.places, plan.lang)?;
            crate::stdio::print(&(plan_text(&read.study, &read.plan, plan.lang) + &by_hand));
            Ok(ExitCode::Success)
        }
        StudyCommand::Run(run) => start::run(run),
        StudyCommand::Resume(resume) => resume::resume(resume),
        StudyCommand::Status(status) => status::status(status),
    }
}
