//! The `tidemark` command: parses, wires, exits.
//!
//! [`main_with`] is all that a program needs; one that has families of workloads of its own hands them
//! over ([`Family`]):
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     tidemark::main_with(None)
//! }
//! ```

/// Prints a line.
macro_rules! say {
    () => { $crate::stdio::print("\n") };
    ($($arg:tt)*) => { $crate::stdio::print(&format!("{}\n", format_args!($($arg)*))) };
}

/// Shadows the standard library's: all that is said on the error output is harmless to a terminal.
macro_rules! eprintln {
    ($($arg:tt)*) => { $crate::stdio::complain(&format!("{}\n", format_args!($($arg)*))) };
}

/// The same without the end of a line.
macro_rules! eprint {
    ($($arg:tt)*) => { $crate::stdio::complain(&format!($($arg)*)) };
}

mod args;
mod attaching;
mod audit;
mod authored;
mod chart_files;
mod clients;
mod columns;
mod compare;
mod compat;
mod delete;
mod demo;
mod diagnose;
mod doctor;
mod documents;
mod exchange;
mod exit;
mod frontend;
mod grammar;
mod help;
mod hints;
mod imported;
mod importing;
mod interrupt;
mod jobs;
mod live_output;
mod loading;
mod looking;
mod measuring;
mod messages;
mod native;
#[cfg(test)]
mod native_tests;
mod pacing;
mod plan;
mod program;
mod progress;
mod ready;
mod record_outputs;
mod recording;
mod render;
mod report_files;
mod reporting;
mod run_selection;
mod runner;
mod runs;
mod sandboxes;
mod secrets;
mod shell;
mod stdio;
mod store_check;
mod storing;
mod study;
mod tags;
mod target;
mod texts;
mod usage_hints;
mod user_files;
mod watch;
mod watching;

pub use clap::Command as ClapCommand;
pub use compat::sysbench::main as sysbench;
pub use exit::{ExitCode, Failure};
pub use frontend::{Frontend, StepOptions, StudySupport};
pub use jobs::{Adapter, LoadOption};
pub use runner::JobOrder;

use clap::FromArgMatches;
use std::path::Path;
use std::process;

/// A family of workloads, with all that commands and reports know of it.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Its workloads.
    pub workloads: &'static [tidemark_workloads::Family],
    /// What reports say of its runs.
    pub reports: &'static [tidemark_report::Family],
    /// Its command.
    pub frontends: &'static [Frontend],
}

/// The whole program, with one family beside those that it has.
pub fn main_with(family: Option<&'static Family>) -> process::ExitCode {
    study::end_with_study();
    program::name_process();
    tidemark_store::tell_upgrades(|done| {
        let (path, copy) = (done.path.display(), done.copy.display());
        eprintln!("tidemark: upgraded {path} to the format of this version; the backup is {copy}");
    });
    let done = add(family)
        .and_then(|()| secrets::arguments())
        .and_then(|args| {
            messages::speak(&args);
            tidemark_runtime::raise_open_files();
            // What the loader read of the program to fill it in is read once.
            tidemark_runtime::forget_program_text();
            dispatch(&args)
        });
    let code = match done {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("tidemark: {}", failure.message);
            failure.code
        }
    };
    process::ExitCode::from(unless_unsaid(code) as u8)
}

fn add(family: Option<&'static Family>) -> Result<(), Failure> {
    let Some(family) = family else {
        return Ok(());
    };
    tidemark_workloads::add_families(family.workloads)
        .and_then(|()| tidemark_report::add_families(family.reports))
        .and_then(|()| frontend::TABLE.add(family.frontends))
        .map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
}

/// What was done may have gone well; what could not be said of it is a failure all the same.
fn unless_unsaid(code: ExitCode) -> ExitCode {
    match stdio::failure() {
        Some(error) => {
            eprintln!("tidemark: standard output could not be written: {error}");
            if code == ExitCode::Success {
                ExitCode::Failed
            } else {
                code
            }
        }
        None => code,
    }
}

fn dispatch(args: &[String]) -> Result<ExitCode, Failure> {
    let (program, rest) = args
        .split_first()
        .map_or(("", args), |(p, r)| (p.as_str(), r));
    // A link named `sysbench` is the sysbench command.
    if Path::new(program)
        .file_stem()
        .is_some_and(|name| name == "sysbench")
    {
        return compat::sysbench::main(args, rest);
    }
    // These grammars are other tools' and not clap's subcommands.
    if let Some((word, words)) = rest.split_first() {
        if let Some(found) = frontend::find(word) {
            return diagnose::after_run::run(found, args, words);
        }
        // Some flags of go-tpc's may even stand before the workload, as in its own manual.
        if word.starts_with('-') && word.len() > 1 {
            let named = |w: &str| frontend::find(w).filter(|found| found.flags_first);
            let mut words = rest.iter().enumerate();
            if let Some((at, found)) = words.find_map(|(at, w)| Some((at, named(w)?))) {
                let words = [&rest[..at], &rest[at + 1..]].concat();
                return (found.main)(args, &words);
            }
        } else {
            usage_hints::refuse(word, words)?;
        }
    }
    // A benchmark's words behind `diagnose` are its own.
    let (args, of_benchmark) = diagnose::parted(args);
    let (args, rest) = (args, args.get(1..).unwrap_or_default());
    let matches = match args::command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return Ok(usage_hints::told(&error, rest)),
    };
    if let Some((word, given)) = matches.subcommand()
        && let Some(found) = frontend::find(word)
    {
        let words = given.get_many::<String>(args::WORDS).unwrap_or_default();
        return (found.main)(args, &words.cloned().collect::<Vec<_>>());
    }
    let cli = match args::Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return Ok(usage_hints::told(&error, rest)),
    };
    match cli.command {
        args::Command::Demo(demo) => demo::demo(args, &demo),
        args::Command::Exec(words) => jobs::exec(args, &words),
        args::Command::Schema(words) => jobs::schema(&words),
        args::Command::Study(words) => study::study(&words),
        args::Command::Workloads(words) => runs::workloads(words.lang),
        args::Command::Runs(list) => runs::list(&list),
        args::Command::Show(show) => runs::show(&show),
        args::Command::Report(report) => reporting::report(&report),
        args::Command::Compare(words) => compare::compare_runs(&words),
        args::Command::Tag(tag) => tags::tag(&tag),
        args::Command::Note(note) => tags::note(&note),
        args::Command::Delete(delete) => delete::delete(&delete),
        args::Command::Export(export) => exchange::export(&export),
        args::Command::Import(import) => exchange::import(&import),
        args::Command::Audit(words) => audit::audit(&words),
        args::Command::Store(care) => store_check::store(&care),
        args::Command::Up(up) => sandboxes::up(&up),
        args::Command::Down(down) => sandboxes::down(&down),
        args::Command::Doctor(target) => doctor::doctor(&target),
        args::Command::Diagnose(words) => diagnose::diagnose(&words, of_benchmark),
        args::Command::Watch(words) => watch::watch(args, &words),
        args::Command::Agent(words) => clients::agents::agent(&words),
        args::Command::Agents(words) => clients::agents::agents(&words),
        args::Command::Attach(words) => clients::attach(&words),
        args::Command::ClientLoad => clients::work(),
        args::Command::ClientBeside(words) => Err(clients::end_with_agent(&words.words)),
        args::Command::Completions(completions) => shell::completions(&completions),
        args::Command::Man(man) => shell::man(&man),
    }
}
