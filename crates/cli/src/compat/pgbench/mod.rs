//! `tidemark pgbench`: pgbench's command line and output over Tidemark's engine.

mod arguments;
mod flags;
mod job;
mod load;
mod log;
mod parse;
mod printer;
mod run;
mod scale;
mod scripts;
mod target;
mod vacuum;

use job::ADAPTER;

use crate::exit::{ExitCode, Failure};
use crate::frontend::{Frontend, StudySupport};
use crate::interrupt;
use crate::stdio::print;
use crate::texts::workloads as summaries;
use parse::Invocation;
use tidemark_core::{JobKind, Protocol};
use tidemark_workloads::Definition;

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "pgbench",
    about: "Run pgbench's scripts on PostgreSQL with the command line of pgbench",
    words: "As for pgbench: [OPTION]... [DBNAME]; --help lists them",
    main,
    grammar: || Ok(arguments::command_line()),
    options: flags::every_option,
    commands: &[],
    examples: [
        "tidemark pgbench --builtin=list",
        "tidemark pgbench --show-script=tpcb-like",
    ],
    has_password_letter: false,
    flags_first: false,
    runs: Some(&job::ADAPTER),
    summaries: &[("pgbench", summaries::pgbench)],
    study: Some(StudySupport {
        takes: |kind, option| flags::takes(kind, option),
        shapes: |option| SHAPES.contains(&option),
        is_property: |_| false,
        options: parse::of_step,
    }),
};

/// Options that say what the tables are.
pub const SHAPES: &[&str] = &[
    "scale",
    "fillfactor",
    "foreign-keys",
    "unlogged-tables",
    "tablespace",
    "index-tablespace",
];

/// Runs a command line of pgbench: `words` after `pgbench`, `args` with everything, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    match parse::parse(definition()?, words)? {
        Invocation::Print(text) => {
            print(&text);
            Ok(ExitCode::Success)
        }
        Invocation::Do {
            kind,
            mut options,
            hints,
        } => {
            hints.iter().for_each(|h| eprintln!("tidemark: {h}"));
            interrupt::listen();
            if kind == JobKind::Run && !options.flag("print-job") {
                scale::look(&mut options)?;
            }
            let order = job::order(kind, *options, definition()?, args.to_vec())?;
            ADAPTER.perform(&order)
        }
    }
}

/// The workload's row of the registry.
///
/// # Errors
/// [`Failure`] when this build lacks it.
fn definition() -> Result<&'static Definition, Failure> {
    tidemark_workloads::find("pgbench").map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
}

/// Refuses databases that speak another protocol.
///
/// # Errors
/// [`Failure`] of bad usage.
fn only_postgres(protocol: Protocol) -> Result<(), Failure> {
    match protocol {
        Protocol::Postgres => Ok(()),
        _ => Err(Failure::usage(
            "pgbench runs on PostgreSQL, YugabyteDB and CockroachDB only; for example \
             --target=postgres://user@host/db",
        )),
    }
}
