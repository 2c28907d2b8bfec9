//! What the workloads with go-tpc's command line have in common: its grammar, where the database is,
//! and loading.

mod advice;
pub mod csv;
mod database;
pub mod flags;
pub mod job;
pub mod parse;
mod prepare;
mod target;
mod value_aliases;
mod work;

pub use prepare::prepare;
pub use work::GoTpcWork;

use crate::exit::{ExitCode, Failure};
use crate::help::Examples;
use crate::interrupt;
use crate::jobs::Adapter;
use crate::plan::BoundWorkload;
use crate::stdio::print;
use flags::{Flag, FlagGroup};
use parse::Invocation;
use prepare::cleanup;
use std::io::Write;
use tidemark_core::JobKind;
use tidemark_core::{OptionValues, RunSpec};
use tidemark_workloads::Definition;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoTpcCommand {
    /// Make and fill the tables.
    Prepare,
    /// Make load and measure.
    Run,
    /// Check the tables.
    Check,
    /// Drop the tables.
    Cleanup,
}

impl GoTpcCommand {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            GoTpcCommand::Prepare => "prepare",
            GoTpcCommand::Run => "run",
            GoTpcCommand::Check => "check",
            GoTpcCommand::Cleanup => "cleanup",
        }
    }
}

impl GoTpcCommand {
    /// What a study's step is.
    pub const fn of(kind: JobKind) -> Self {
        match kind {
            JobKind::Load => GoTpcCommand::Prepare,
            JobKind::Run => GoTpcCommand::Run,
        }
    }
}

/// The command line of one workload.
pub struct Tool {
    /// Its word, which is the workload's name in the registry too.
    pub name: &'static str,
    /// The benchmark's name.
    pub title: &'static str,
    /// What it can be asked to do.
    pub commands: &'static [GoTpcCommand],
    /// What these do.
    pub commands_help: &'static str,
    /// Its flags by titles.
    pub groups: &'static [FlagGroup],
    /// What go-tpc takes for this workload and Tidemark has no use for.
    pub idle: &'static [Flag],
    /// Other names of flags.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Options of every command that make no sense here.
    pub without: &'static [&'static str],
    /// Flags that say what tables there are, for the command that makes them.
    pub shapes: &'static [&'static str],
    /// Flags of an example.
    pub example: &'static str,
    /// The flags that people use first, in their order.
    pub most_used: &'static [&'static str],
    /// Command lines that work as they stand, which open its help.
    pub first_examples: Examples,
    /// More command lines, for servers.
    pub examples: &'static str,
    /// In how many files `--output-type=csv` writes a table.
    pub files: fn(table: &str, options: &OptionValues) -> u64,
    /// What a run is asked to do.
    pub run_spec: fn(&OptionValues) -> Result<RunSpec, Failure>,
    /// What a load ends with.
    pub after_load: fn(&GoTpcWork<'_>, &BoundWorkload, &mut dyn Write) -> Result<(), Failure>,
    /// The command that checks the tables, where there is one.
    pub check: fn(&GoTpcWork<'_>) -> Result<ExitCode, Failure>,
}

impl Tool {
    /// The workload's row of the registry.
    ///
    /// # Errors
    /// [`Failure`] when this build lacks it.
    pub fn definition(&self) -> Result<&'static Definition, Failure> {
        tidemark_workloads::find(self.name)
            .map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
    }

    /// Everything that clap is to know of its command line, for completions and manual pages.
    ///
    /// # Errors
    /// [`Failure`] when this build lacks the workload.
    pub fn grammar(&self) -> Result<clap::Command, Failure> {
        let commands: Vec<&str> = self.commands.iter().map(|c| c.name()).collect();
        let grammar = parse::grammar(self, self.definition()?);
        Ok(grammar.mut_arg("COMMAND", |arg| arg.value_parser(commands)))
    }

    /// Understands `words` and does what they ask for; `args` is everything, for the record.
    ///
    /// # Errors
    /// [`Failure`] with its exit code.
    pub fn main(
        &self,
        adapter: &Adapter,
        args: &[String],
        words: &[String],
    ) -> Result<ExitCode, Failure> {
        match parse::parse(self, words)? {
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
                match command {
                    GoTpcCommand::Cleanup => interrupt::listen_saying(interrupt::DROPPING),
                    _ => interrupt::listen(),
                }
                let done = self.act(adapter, command, &options, args);
                done.map_err(|failure| advice::in_go_tpcs_words(failure, &options))
            }
        }
    }

    fn act(
        &self,
        adapter: &Adapter,
        command: GoTpcCommand,
        options: &OptionValues,
        args: &[String],
    ) -> Result<ExitCode, Failure> {
        let work = GoTpcWork::new(self, options)?;
        let perform = |kind| {
            let (options, command) = (options.clone(), args.to_vec());
            adapter.perform(&(adapter.order)(kind, options, work.definition, command)?)
        };
        let writes_files = options.text("output-type") == "csv" && !options.flag("print-job");
        match command {
            GoTpcCommand::Prepare if writes_files => csv::write(&work),
            GoTpcCommand::Prepare => perform(JobKind::Load),
            GoTpcCommand::Run => perform(JobKind::Run),
            GoTpcCommand::Check => (self.check)(&work),
            GoTpcCommand::Cleanup => cleanup(&work),
        }
    }
}

/// The options of a command line that is understood.
#[cfg(test)]
pub fn options_of(tool: &Tool, line: &str) -> OptionValues {
    let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
    match parse::parse(tool, &words).unwrap() {
        Invocation::Do { options, .. } => *options,
        Invocation::Print(text) => panic!("{text}"),
    }
}
