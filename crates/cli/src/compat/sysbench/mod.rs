//! `tidemark sysbench`: sysbench's command line and output over Tidemark's engine.

mod advice;
mod config_file;
mod help;
pub mod host;
mod job;
pub mod lua;
mod options;
pub mod parse;
pub mod prepare;
mod printer;
mod run;
pub mod script_files;
mod settings;
mod stat;
pub mod target;

use job::ADAPTER;

use crate::exit::{ExitCode, Failure};
use crate::frontend::{Frontend, StudySupport};
use crate::help::{in_language, most_used_first, opened_with};
use crate::interrupt;
use crate::stdio::print;
use crate::texts::workloads as summaries;
use parse::{Invocation, ScriptCommand};
use tidemark_core::JobKind;
use tidemark_core::{OptionSpec, OptionValues, Shard, Source};
use tidemark_lua::COMMAND_OPTION;
use tidemark_workloads::{CommandLine, Definition, families};

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "sysbench",
    about: "Run sysbench OLTP with the command line of sysbench",
    words: "As for sysbench: [options]... SCRIPT COMMAND; --help lists them",
    main,
    grammar: || Ok(grammar()),
    options: every_option,
    commands: &[
        ("prepare", "sysbench oltp_read_write prepare"),
        ("prewarm", "sysbench oltp_read_write prewarm"),
        ("run", "sysbench oltp_read_write run"),
        ("cleanup", "sysbench oltp_read_write cleanup"),
    ],
    examples: [
        "tidemark sysbench oltp_read_write --target=sqlite:bench.db --tables=4 prepare",
        "tidemark sysbench oltp_read_write --target=sqlite:bench.db --tables=4 --threads=4 --time=10 run",
    ],
    has_password_letter: false,
    flags_first: false,
    runs: Some(&job::ADAPTER),
    summaries: &[
        ("oltp_point_select", summaries::oltp_point_select),
        ("oltp_read_only", summaries::oltp_read_only),
        ("oltp_read_write", summaries::oltp_read_write),
        ("oltp_write_only", summaries::oltp_write_only),
        ("oltp_insert", summaries::oltp_insert),
        ("oltp_delete", summaries::oltp_delete),
        ("oltp_update_index", summaries::oltp_update_index),
        ("oltp_update_non_index", summaries::oltp_update_non_index),
        ("bulk_insert", summaries::bulk_insert),
        ("select_random_points", summaries::select_random_points),
        ("select_random_ranges", summaries::select_random_ranges),
        ("oltp_insert_batch", summaries::oltp_insert_batch),
        ("oltp_upsert_batch", summaries::oltp_upsert_batch),
    ],
    study: Some(StudySupport {
        takes: |_, option| takes(option),
        shapes: |option| SHAPES.contains(&option),
        is_property: |_| false,
        options: settings::of_step,
    }),
};

/// Every general option.
pub fn every_option() -> Vec<tidemark_core::OptionSpec> {
    let groups = options::GROUPS.iter();
    groups.flat_map(|group| group.options).copied().collect()
}

/// Pages of help, by their commands.
#[cfg(test)]
pub(super) fn pages_of_help() -> Vec<(String, String)> {
    let of_scripts = scripts().map(|d| (d.name, help::of_script(d)));
    let of_tests = host::TESTS.iter().map(|t| (t.name, host::help(t)));
    let named = |(name, page): (&str, String)| (format!("sysbench {name} help"), page);
    let general = [("sysbench --help".into(), help::general())];
    general
        .into_iter()
        .chain(of_scripts.chain(of_tests).map(named))
        .collect()
}

/// Runs a sysbench command line: `words` without the program's name, `args` with everything, for
/// the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    if let Some(asked) = host::asked(words)? {
        return host::main(asked, args);
    }
    match parse::parse(words)? {
        Invocation::GeneralHelp => {
            print(&in_language(&help::general()));
            Ok(ExitCode::Success)
        }
        Invocation::Version => {
            print(&tidemark_compat::sysbench::version_line(env!(
                "TIDEMARK_VERSION"
            )));
            Ok(ExitCode::Success)
        }
        Invocation::Workload {
            definition,
            command,
            options,
            warnings,
        } => {
            begin(&options, &warnings);
            execute(definition, command, &options, args)
        }
        Invocation::Script {
            script,
            command,
            options,
            warnings,
        } => {
            begin(&options, &warnings);
            interrupt::listen();
            let definition = tidemark_lua::definition_of(&script);
            let done = match options.text_opt("clients") {
                Some(_) => command_of_clients(&command, definition, &options, args),
                None => lua::command(&script, &command, definition, &options, Shard::WHOLE),
            };
            done.map_err(|failure| advice::in_the_users_words(failure, &options))
        }
    }
}

/// A script's command as a load of several clients, who share it where it is parallel.
fn command_of_clients(
    command: &str,
    definition: &'static Definition,
    options: &OptionValues,
    args: &[String],
) -> Result<ExitCode, Failure> {
    let mut options = options.clone();
    options.set(COMMAND_OPTION, command, Source::CommandLine)?;
    ADAPTER.perform(&job::order(
        JobKind::Load,
        options,
        definition,
        args.to_vec(),
    )?)
}

/// Prints what stands before everything else.
fn begin(options: &OptionValues, warnings: &[String]) {
    if options.uint("verbosity") >= QUIET && !options.flag("print-job") {
        print(&tidemark_compat::sysbench::version_line(env!(
            "TIDEMARK_VERSION"
        )));
        warnings
            .iter()
            .for_each(|w| print(&format!("WARNING: {w}\n")));
    }
}

/// The command line as clap has it, for completions and manual pages: every option of every script.
pub fn grammar() -> clap::Command {
    let tests = host::TESTS.iter().map(|test| test.name);
    let names: Vec<&str> = scripts().map(|d| d.name).chain(tests).collect();
    let command = clap::Command::new("tidemark sysbench")
        .about("The sysbench OLTP family with sysbench's own command line and output")
        .override_usage("tidemark sysbench [options]... SCRIPT COMMAND")
        .arg(clap::Arg::new("SCRIPT").value_parser(names))
        .arg(clap::Arg::new("COMMAND").value_parser(parse::command_words()));
    let general = titled().into_iter();
    let tables = scripts().flat_map(|d| d.options.iter().copied());
    let of_scripts = tables.flatten().map(|spec| ("Options of scripts", *spec));
    let of_tests = host::TESTS.iter().flat_map(|test| test.options);
    let of_tests = of_tests.map(|spec| ("Options of tests of the machine", *spec));
    let all = general.chain(of_scripts).chain(of_tests);
    crate::grammar::described(
        opened_with(command, &FRONTEND.examples),
        all.map(|(title, spec)| (spec, title)),
    )
}

/// The options that people use first, in their order; those of tables are the scripts'.
const MOST_USED: &[&str] = &[
    "tables",
    "table-size",
    "threads",
    "time",
    "rate",
    "report-interval",
    "percentile",
    "target",
    "warmup-time",
    "report",
];

/// The general options under their titles, and those of scripts that people use first.
fn titled() -> Vec<(&'static str, OptionSpec)> {
    let first = ["tables", "table-size"].into_iter().filter_map(|name| {
        let mut tables = scripts().flat_map(|d| d.options.iter().copied().flatten());
        let spec = tables.find(|o| o.name == name)?;
        Some(("", spec.name, *spec))
    });
    let groups = options::GROUPS.iter().flat_map(|group| {
        let named = |spec: &OptionSpec| (group.title, spec.name, *spec);
        group.options.iter().map(named)
    });
    most_used_first(MOST_USED, first.chain(groups))
}

/// The workloads that are sysbench's scripts.
fn scripts() -> impl Iterator<Item = &'static Definition> {
    let own = families().filter(|f| f.command == CommandLine::SYSBENCH);
    own.flat_map(|family| family.definitions)
}

/// Whether a workload or the command itself has an option.
pub fn takes(option: &str) -> bool {
    let general = options::GROUPS.iter().flat_map(|g| g.options);
    let own = scripts().flat_map(|d| d.options.iter().copied().flatten());
    general.chain(own).any(|o| o.name == option)
}

/// Options that say what the tables are.
pub const SHAPES: &[&str] = &[
    "tables",
    "table-size",
    "auto-inc",
    "secondary",
    "create-secondary",
    "create-table-options",
    "mysql-storage-engine",
    "pgsql-variant",
    "partitioning",
    "partitions",
    "key-order",
    "rand-seed",
];

/// From this verbosity on more than errors is printed, as with sysbench.
const QUIET: u64 = 3;

/// Loads or runs a script with options by name; for `demo`.
///
/// # Errors
/// As [`main`].
pub fn perform(
    kind: JobKind,
    script: &str,
    said: &[(&str, String)],
    args: &[String],
) -> Result<ExitCode, Failure> {
    let said = said.iter().map(|(name, value)| (*name, value.as_str()));
    let (definition, options) = settings::of_settings(script, said)?;
    interrupt::listen();
    ADAPTER.perform(&job::order(kind, options, definition, args.to_vec())?)
}

fn execute(
    definition: &'static Definition,
    command: ScriptCommand,
    options: &OptionValues,
    args: &[String],
) -> Result<ExitCode, Failure> {
    if command == ScriptCommand::Help {
        print(&in_language(&help::of_script(definition)));
        return Ok(ExitCode::Success);
    }
    match command {
        ScriptCommand::Cleanup => interrupt::listen_saying(interrupt::DROPPING),
        _ => interrupt::listen(),
    }
    let mut out = prepare::outlet(options);
    let perform = |kind| {
        let order = job::order(kind, options.clone(), definition, args.to_vec())?;
        ADAPTER.perform(&order)
    };
    let done = match command {
        ScriptCommand::Prepare => perform(JobKind::Load),
        ScriptCommand::Prewarm => {
            prepare::prewarm(definition, options, &mut out).map(|()| ExitCode::Success)
        }
        ScriptCommand::Cleanup => {
            prepare::cleanup(definition, options, &mut out).map(|()| ExitCode::Success)
        }
        ScriptCommand::Run => perform(JobKind::Run),
        ScriptCommand::Help => Ok(ExitCode::Success),
    };
    done.map_err(|failure| advice::in_the_users_words(failure, options))
}
