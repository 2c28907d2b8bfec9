//! The flags of `tidemark ycsb`: go-ycsb's, and Tidemark's beside them, as clap knows them.

use super::properties::{CONNECTION, OWN, property_of};
use crate::grammar::arg;
use crate::help;
use crate::native::{LOAD, NATIVE, PREPARED};
use clap::{Arg, ArgAction};
use tidemark_core::{OptionKind, OptionSpec, option};

/// The one table.
const TABLE: OptionSpec = option("table", OptionKind::Text, "usertable", "table name");
/// Throughput or database.
pub(super) const TARGET: OptionSpec = option(
    "target",
    OptionKind::Text,
    "",
    "a whole number: target throughput in operations per second, evenly spaced; otherwise the \
     database URL, for example mysql://user@h1:4000,h2:4000/db, postgres://user@host/db, \
     sqlite:ycsb.db",
);

/// Options of every command that are flags here, too. Users of YCSB do not think.
pub(super) fn general() -> impl Iterator<Item = &'static OptionSpec> {
    let other = ["target", "think-time"];
    LOAD.iter()
        .chain([&PREPARED])
        .chain(NATIVE)
        .filter(move |o| !other.contains(&o.name))
}

/// Every flag that sets an option of the same name.
pub(super) fn flags() -> impl Iterator<Item = &'static OptionSpec> {
    OWN.iter().chain([&TABLE]).chain(general())
}

/// Whether an option is a flag, and no property.
pub fn is_flag(option: &str) -> bool {
    flags().any(|o| o.name == option)
}

const EXAMPLES: &str = "\
On a MariaDB or MySQL server (set MYSQL_PWD; for pg, PGPASSWORD):
  tidemark ycsb load mysql -P workloada -p recordcount=100000 -p mysql.user=user --threads 4
  tidemark ycsb run mysql -P workloada -p recordcount=100000 -p operationcount=0 \\
      -p mysql.user=user --threads 16 --time 1m

Workloads a to f of the paper are built in (-P workloada); an existing file of that path is used
instead.";

const TOOL: &str = "go-ycsb";
/// The flags that people use first, in their order.
const MOST_USED: &[&str] = &[
    "property_file",
    "prop",
    "threads",
    "target",
    "interval",
    "time",
    "warmup",
    "rate",
    "out",
    "report",
];

/// Everything that clap is to know of the command line.
pub fn command_line() -> clap::Command {
    let words = |name: &'static str, letter: char| {
        Arg::new(name)
            .long(name)
            .short(letter)
            .num_args(1)
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
    };
    let mut command = clap::Command::new("tidemark ycsb")
        .about("YCSB with go-ycsb's command line, properties and output")
        .version(env!("TIDEMARK_VERSION"))
        .override_usage("tidemark ycsb <load|run> <mysql|pg|sqlite> [FLAGS]")
        .arg(
            Arg::new("COMMAND")
                .value_name("COMMAND")
                .help("load creates and fills the table, run benchmarks"),
        )
        .arg(Arg::new("DB").value_name("DATABASE").help(
            "mysql (also mariadb, tidb), pg (also postgresql, cockroach, cdb) or sqlite; not \
             needed with --target=URL",
        ));
    let file = words("property_file", 'P')
        .value_name("FILE")
        .help("property file, or the name of a built-in workload; several are read in order");
    let property = words("prop", 'p')
        .value_name("NAME=VALUE")
        .help("property; overrides files");
    let titled =
        |title: &'static str| move |spec: &OptionSpec| (title, spec.name, arg(spec, ' ', title));
    let (theirs, ours): (Vec<_>, Vec<_>) = OWN
        .iter()
        .partition(|spec| ["threads", "interval"].contains(&spec.name));
    let all = [(TOOL, "property_file", file), (TOOL, "prop", property)]
        .into_iter()
        .chain([&TABLE, &TARGET].map(titled(TOOL)))
        .chain(theirs.into_iter().map(titled(TOOL)))
        .chain(ours.into_iter().map(titled(help::OWN)))
        .chain(general().map(titled(help::OWN_GENERAL)));
    for (title, arg) in help::most_used_first(MOST_USED, all) {
        command = command.arg(arg.help_heading(title));
    }
    let command = help::opened_with(command, &super::FRONTEND.examples);
    command.after_help(format!(
        "{EXAMPLES}\n\nProperties:\n{}\n{}",
        property_lines(),
        help::exit_codes()
    ))
}

/// A line for each property that sets something.
fn property_lines() -> String {
    let specs = tidemark_workloads::ycsb::OPTIONS.iter().chain(CONNECTION);
    specs
        .map(|spec| {
            let default = match spec.default {
                "" => String::new(),
                default => format!(" [{default}]"),
            };
            let name = property_of(spec.name);
            format!("  {name:<26} {}{default}\n", spec.help)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_or_letter_is_taken_twice() {
        command_line().debug_assert();
    }
}
