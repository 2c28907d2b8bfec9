//! `tidemark tpcc`: TPC-C with go-tpc's command line and output.

mod advice;
mod check;
mod csv;
mod database;
mod flags;
pub mod parse;
mod plan;
mod prepare;
mod printer;
mod run;
mod target;

use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::output::{Aside, print};
use parse::{Command, Invocation};
use tidemark_core::OptionValues;
use tidemark_report::Lang;
use tidemark_report::tpcc::OutputStyle;
use tidemark_workloads::Definition;

/// Runs a go-tpc command line: `words` after `tpcc`, `args` with everything, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    let definition = definition()?;
    match parse::parse(definition, words)? {
        Invocation::Print(text) => {
            print(&text);
            Ok(ExitCode::Success)
        }
        Invocation::Do {
            command,
            options,
            hints,
        } => {
            hints.iter().for_each(|h| eprintln!("tidemark: {h}"));
            interrupt::listen();
            let work = Work::new(definition, &options)?;
            let done = match command {
                Command::Prepare if options.text("output-type") == "csv" => csv::write(&work),
                Command::Prepare => prepare::prepare(&work),
                Command::Run => run::run(&work, args),
                Command::Check => check::alone(&work),
                Command::Cleanup => prepare::cleanup(&work),
            };
            done.map_err(|failure| advice::in_go_tpcs_words(failure, &options))
        }
    }
}

/// The workload's row of the registry.
///
/// # Errors
/// [`Failure`] when this build lacks it.
pub fn definition() -> Result<&'static Definition, Failure> {
    tidemark_workloads::find("tpcc").map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
}

/// A command line that was understood.
pub struct Work<'a> {
    definition: &'static Definition,
    options: &'a OptionValues,
    style: OutputStyle,
    lang: Lang,
}

impl<'a> Work<'a> {
    fn new(definition: &'static Definition, options: &'a OptionValues) -> Result<Self, Failure> {
        Ok(Self {
            definition,
            options,
            style: options.text("output").parse().map_err(Failure::usage)?,
            lang: options.text("lang").parse().map_err(Failure::usage)?,
        })
    }

    /// Where lines go that go-tpc does not print.
    fn aside(&self) -> Aside {
        Aside::of(self.style)
    }
}
