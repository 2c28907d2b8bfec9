//! `tidemark sysbench cpu|memory|fileio|threads|mutex`: sysbench's tests of the machine, which need no
//! database.

mod files;
mod job;
mod options;
mod parse;
mod run;
mod workers;

pub use job::{HostOrder, order_of_job};
pub use options::TESTS;
#[cfg(test)]
pub use options::help;
pub use parse::{HostTestCommand, asked};

use super::QUIET;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::jobs::is_waited_for;
use crate::stdio::print;
use parse::HostCommand;
use tidemark_hosttests::HostError;

/// Does what a command line asks for; `args` are all of it, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(asked: HostTestCommand, args: &[String]) -> Result<ExitCode, Failure> {
    let (test, options) = (asked.test, asked.options);
    let says = options.uint("verbosity") >= QUIET && !options.flag("print-job");
    if says {
        print(&tidemark_compat::sysbench::version_line(env!(
            "TIDEMARK_VERSION"
        )));
        for warning in &asked.warnings {
            print(&format!("WARNING: {warning}\n"));
        }
    }
    match asked.command {
        HostCommand::Help => {
            print(&crate::help::in_language(&options::help(test)));
            Ok(ExitCode::Success)
        }
        HostCommand::Prepare => {
            interrupt::listen_saying("removing the files made so far; press Ctrl-C again to quit");
            files::prepare(&options)
        }
        HostCommand::Cleanup => files::cleanup(&options),
        HostCommand::Run => {
            interrupt::listen();
            perform(&job::order(test, options, args.to_vec())?)
        }
    }
}

/// Runs a test, or prints its job where that was asked for.
///
/// # Errors
/// As the run's.
pub fn perform(order: &HostOrder) -> Result<ExitCode, Failure> {
    if is_waited_for() {
        return Err(Failure::usage(format!(
            "sysbench {} tests this machine: there is no database to diagnose; for example: tidemark \
             diagnose sysbench oltp_read_write --target=sqlite:bench.db run",
            order.test.name
        )));
    }
    if order.options.flag("print-job") {
        print(&format!("{}\n", order.job.to_json()));
        return Ok(ExitCode::Success);
    }
    run::run(order)
}

/// What kept a test from being made.
fn failure(error: HostError) -> Failure {
    let code = match &error {
        HostError::Foreign { .. } | HostError::Unproven { .. } => ExitCode::Refused,
        HostError::Missing { .. } | HostError::Size { .. } => ExitCode::NotPrepared,
        HostError::Changed { .. } => ExitCode::Check,
        HostError::Options(_) => ExitCode::Usage,
        HostError::Interrupted => ExitCode::Interrupted,
        HostError::Unfinished { cause, .. } if matches!(**cause, HostError::Interrupted) => {
            ExitCode::Interrupted
        }
        HostError::File { .. } | HostError::System { .. } | HostError::Unfinished { .. } => {
            ExitCode::Failed
        }
    };
    Failure::new(code, error.to_string())
}
