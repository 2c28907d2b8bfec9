//! `tidemark study`: a matrix of runs from a file.
//!
//! Each step is executed as a child process, with the command line that a user would type: what a
//! study does can be repeated by hand, and a run that crashes takes no study with it.

mod advice;
pub mod args;
mod begin;
mod child;
mod ending;
mod execute;
mod file;
mod following;
mod hosts;
mod left;
mod outcome;
mod pace;
mod parent;
mod private;
mod put_back;
mod resume;
mod servers;
mod settings;
mod status;
mod targets;
mod unusable;
mod view;
mod vocabulary;

pub use parent::end_with_study;

use crate::exit::{ExitCode, Failure};
use args::Command;
use tidemark_study::plan_text;

/// Does what the words ask for.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn study(words: &args::Study) -> Result<ExitCode, Failure> {
    match &words.command {
        Command::Plan(plan) => {
            let read = file::read(&plan.file)?;
            let by_hand = private::by_hand(&read.plan.places)?;
            crate::output::print(&(plan_text(&read.study, &read.plan) + &by_hand));
            Ok(ExitCode::Success)
        }
        Command::Run(run) => begin::run(run),
        Command::Resume(resume) => resume::resume(resume),
        Command::Status(status) => status::status(status),
    }
}
