//! The command line of `tidemark pgbench` as clap knows it.

use super::flags::{
    CHOOSING, COMMON, DATABASE, FLAGS, LETTERS, REFUSED, RUN, SELECT, general, of_workload,
};
use crate::grammar::arg;
use crate::help;
use clap::{Arg, ArgAction};
use tidemark_core::OptionSpec;

/// The flags that people use first, in their order.
const MOST_USED: &[&str] = &[
    "initialize",
    "scale",
    "client",
    "time",
    "transactions",
    "protocol",
    "builtin",
    "file",
    "rate",
    "progress",
    "host",
    "report",
];

const EXAMPLES: &str = "\
On a PostgreSQL server (set PGPASSWORD):
  tidemark pgbench -i -s 10 -h 127.0.0.1 -U user db
  tidemark pgbench -c 16 -T 60 -M prepared -S -h 127.0.0.1 -U user db
  tidemark pgbench -c 16 -T 60 -P 5 -r -f my.sql@3 -b tpcb-like@1 -U user db
With a URL: tidemark pgbench --target=postgres://user@h1:5433/db -c 4 -T 10";

fn plain(name: &'static str, letter: char, takes: bool, help: &'static str) -> Arg {
    let arg = Arg::new(name)
        .long(name)
        .help(help)
        .action(ArgAction::Append);
    let arg = match letter {
        ' ' => arg,
        letter => arg.short(letter),
    };
    match takes {
        true => arg.num_args(1).value_name("TEXT").allow_hyphen_values(true),
        false => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("on")
            .value_name("on|off"),
    }
}

/// Everything that clap is to know of the command line.
pub fn command_line() -> clap::Command {
    let own = FLAGS.iter().map(|flag| {
        let spec = OptionSpec {
            name: flag.long,
            ..flag.spec
        };
        let arg = arg(&spec, flag.letter, flag.group);
        // Studies and jobs call it by the option's own name.
        let arg = match flag.spec.name == flag.long {
            true => arg,
            false => arg.alias(flag.spec.name),
        };
        (flag.group, flag.long, arg)
    });
    let of_scripts = of_workload().map(|spec| {
        let found = LETTERS.iter().find(|(name, ..)| *name == spec.name);
        let (letter, group) = found.map_or((' ', RUN), |(_, letter, group)| (*letter, *group));
        (group, spec.name, arg(spec, letter, group))
    });
    let choosing = CHOOSING.iter().map(|(name, letter, takes, help)| {
        let arg = plain(name, *letter, *takes, help).help_heading(SELECT);
        (SELECT, *name, arg)
    });
    let general = general().map(|spec| {
        let title = help::OWN_GENERAL;
        (title, spec.name, arg(spec, ' ', title))
    });
    let all = own.chain(choosing).chain(of_scripts).chain(general);
    let mut command = clap::Command::new("tidemark pgbench")
        .about("pgbench's scripts with pgbench's command line and output")
        .version(env!("TIDEMARK_VERSION"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .infer_long_args(true)
        .override_usage("tidemark pgbench [OPTION]... [DBNAME]")
        .arg(
            Arg::new(DATABASE.name)
                .value_name("DBNAME")
                .help("database name, or postgres://user@host/db; default PGDATABASE, or the user"),
        )
        .arg(
            Arg::new("help")
                .long("help")
                .short('?')
                .help("show this help")
                .help_heading(COMMON)
                .action(ArgAction::Help),
        )
        .arg(
            Arg::new("version")
                .long("version")
                .short('V')
                .help("show the version")
                .help_heading(COMMON)
                .action(ArgAction::Version),
        );
    for (title, arg) in help::most_used_first(MOST_USED, all) {
        command = command.arg(arg.help_heading(title));
    }
    for (name, letter, takes, why) in REFUSED {
        command = command.arg(plain(name, letter, takes, why).hide(true));
    }
    let refused: String = REFUSED
        .iter()
        .map(|(name, .., why)| format!("\n  --{name}: {why}"))
        .collect();
    let command = help::opened_with(command, &super::FRONTEND.examples);
    command.after_help(format!(
        "{EXAMPLES}\n\nNot supported:{refused}\n\n{}",
        help::exit_codes()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::flags::every_option;
    use super::*;

    #[test]
    fn no_name_or_letter_is_taken_twice() {
        command_line().debug_assert();
        let mut options: Vec<&str> = every_option().iter().map(|o| o.name).collect();
        options.extend(of_workload().map(|o| o.name));
        options.sort_unstable();
        let before = options.len();
        options.dedup();
        assert_eq!(options.len(), before);
    }
}
