//! The flags of `tidemark ycsb`: go-ycsb's, and Tidemark's beside them, as clap knows them.

use super::properties::{CONNECTION, OWN, property_of};
use crate::exit::ExitCode;
use crate::grammar::arg;
use crate::native::{LOAD, NATIVE, PREPARED};
use clap::{Arg, ArgAction};
use tidemark_core::{OptionKind, OptionSpec, option};

/// The one table.
const TABLE: OptionSpec = option("table", OptionKind::Text, "usertable", "name of the table");
/// Throughput or database.
pub(super) const TARGET: OptionSpec = option(
    "target",
    OptionKind::Text,
    "",
    "a whole number: operations a second to keep, at equal distances; else the URL of the \
     database, as mysql://user@h1:4000,h2:4000/db, postgres://user@host/db, sqlite:ycsb.db",
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
Begin with, on a MariaDB or MySQL server:
  tidemark ycsb load mysql -P workloada -p recordcount=100000 -p mysql.user=user --threads 4
  tidemark ycsb run mysql -P workloada -p recordcount=100000 -p operationcount=0 \\
      -p mysql.user=user --threads 16 --time 1m
or without a server:
  tidemark ycsb load sqlite -P workloadc -p sqlite.db=ycsb.db
  tidemark ycsb run sqlite -P workloadc -p sqlite.db=ycsb.db --threads 4

Workloads a to f of the paper are built in (-P workloada); a file of that path wins.
MYSQL_PWD or PGPASSWORD in the environment hold the password.";

/// Everything that clap is to know of the command line.
pub fn command_line() -> clap::Command {
    let words = |name: &'static str, letter: char| {
        Arg::new(name)
            .long(name)
            .short(letter)
            .num_args(1)
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
            .help_heading("As go-ycsb has them")
    };
    let mut command = clap::Command::new("tidemark ycsb")
        .about("YCSB with go-ycsb's command line, properties and output")
        .version(env!("TIDEMARK_VERSION"))
        .override_usage("tidemark ycsb <load|run> <mysql|pg|sqlite> [FLAGS]")
        .arg(
            Arg::new("COMMAND")
                .value_name("COMMAND")
                .help("load makes and fills the table, run measures"),
        )
        .arg(Arg::new("DB").value_name("DATABASE").help(
            "mysql (also mariadb, tidb), pg (also postgresql, cockroach, cdb) or sqlite; --target \
             URL says it, too",
        ))
        .arg(words("property_file", 'P').value_name("FILE").help(
            "file of properties, or the name of a built-in workload; several are read in turn",
        ))
        .arg(
            words("prop", 'p')
                .value_name("NAME=VALUE")
                .help("property; it wins over files"),
        )
        .arg(arg(&TABLE, ' ', "As go-ycsb has them"))
        .arg(arg(&TARGET, ' ', "As go-ycsb has them"));
    for spec in OWN {
        let title = match spec.name {
            "threads" | "interval" => "As go-ycsb has them",
            _ => "Tidemark's own",
        };
        command = command.arg(arg(spec, ' ', title));
    }
    for spec in general() {
        command = command.arg(arg(spec, ' ', "As with every command"));
    }
    let codes: String = ExitCode::ALL
        .iter()
        .map(|(code, meaning)| format!("  {:3}  {meaning}\n", *code as u8))
        .collect();
    command.after_help(format!(
        "{EXAMPLES}\n\nProperties:\n{}\nExit codes:\n{}",
        property_lines(),
        codes.trim_end()
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
