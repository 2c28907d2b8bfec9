//! The `tidemark` command: parses, wires, exits.

/// Prints a line.
macro_rules! say {
    () => { $crate::output::print("\n") };
    ($($arg:tt)*) => { $crate::output::print(&format!("{}\n", format_args!($($arg)*))) };
}

/// Shadows the standard library's: all that is said on the error output is harmless to a terminal.
macro_rules! eprintln {
    ($($arg:tt)*) => { $crate::output::complain(&format!("{}\n", format_args!($($arg)*))) };
}

/// The same without the end of a line.
macro_rules! eprint {
    ($($arg:tt)*) => { $crate::output::complain(&format!($($arg)*)) };
}

mod args;
mod care;
mod chosen;
mod compare;
mod deleting;
mod demo;
mod doctor;
mod exchange;
mod exit;
mod gotpc;
mod grammar;
mod imported;
mod interrupt;
mod labels;
mod loading;
mod measuring;
mod misplaced;
mod native;
#[cfg(test)]
mod native_tests;
mod oltpbench;
mod outlet;
mod output;
mod outputs;
mod pacing;
mod plan;
mod program;
mod progress;
mod ready;
mod recording;
mod render;
mod reporting;
mod runs;
mod sandboxes;
mod secrets;
mod shell;
mod storing;
mod study;
mod sysbench;
mod target;
mod tpcc;
mod tpch;
mod watching;
mod written;
mod ycsb;

use clap::Parser;
use exit::{ExitCode, Failure};
use std::path::Path;
use std::process;

fn main() -> process::ExitCode {
    study::end_with_study();
    program::name_process();
    tidemark_store::tell_upgrades(|done| {
        let (path, copy) = (done.path.display(), done.copy.display());
        eprintln!(
            "tidemark: {path} is upgraded to the format of this version; a copy of what it was is {copy}"
        );
    });
    let done = secrets::arguments().and_then(|args| {
        tidemark_observe::raise_open_files();
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

/// What was done may have gone well; what could not be said of it is a failure all the same.
fn unless_unsaid(code: ExitCode) -> ExitCode {
    match output::failure() {
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
        return sysbench::main(args, rest);
    }
    // These grammars are other tools' and not clap's subcommands.
    match rest.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        Some(("sysbench", words)) => return sysbench::main(args, words),
        Some(("tpcc", words)) => return tpcc::main(args, words),
        Some(("tpch", words)) => return tpch::main(args, words),
        Some(("ycsb", words)) => return ycsb::main(args, words),
        Some(("oltpbench", words)) => return oltpbench::main(args, words),
        // Some flags of go-tpc's may even stand before the workload, as in its own manual.
        Some((flag, _)) if flag.starts_with('-') && flag.len() > 1 => {
            let named = rest.iter().position(|w| w == "tpcc" || w == "tpch");
            if let Some((before, [name, after @ ..])) =
                named.and_then(|at| rest.split_at_checked(at))
            {
                let words = [before, after].concat();
                return match name.as_str() {
                    "tpch" => tpch::main(args, &words),
                    _ => tpcc::main(args, &words),
                };
            }
        }
        Some((word, words)) => misplaced::refuse(word, words)?,
        None => {}
    }
    let cli = match args::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return Ok(misplaced::told(&error, rest)),
    };
    match cli.command {
        args::Command::Demo(demo) => demo::demo(args, &demo),
        args::Command::Sysbench { args: words } => sysbench::main(args, &words),
        args::Command::Tpcc { args: words } => tpcc::main(args, &words),
        args::Command::Tpch { args: words } => tpch::main(args, &words),
        args::Command::Ycsb { args: words } => ycsb::main(args, &words),
        args::Command::Oltpbench { args: words } => oltpbench::main(args, &words),
        args::Command::Study(words) => study::study(&words),
        args::Command::Workloads => runs::workloads(),
        args::Command::Runs(list) => runs::list(&list),
        args::Command::Show(show) => runs::show(&show),
        args::Command::Report(report) => reporting::report(&report),
        args::Command::Compare(words) => compare::compare_runs(&words),
        args::Command::Tag(tag) => labels::tag(&tag),
        args::Command::Note(note) => labels::note(&note),
        args::Command::Delete(delete) => deleting::delete(&delete),
        args::Command::Export(export) => exchange::export(&export),
        args::Command::Import(import) => exchange::import(&import),
        args::Command::Store(care) => care::store(&care),
        args::Command::Up(up) => sandboxes::up(&up),
        args::Command::Down(down) => sandboxes::down(&down),
        args::Command::Doctor(target) => doctor::doctor(&target),
        args::Command::Completions(completions) => shell::completions(&completions),
        args::Command::Man(man) => shell::man(&man),
    }
}
